//! Credentials by which a caller may add a second factor, called enrollers: a session, or the challenge of a sign-in.
//! Also builds the data that are written when the first factor turns two-step sign-in on.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_domain::client::{Client, OpenedFor};
use latchkey_domain::identity::ProviderKey;
use latchkey_domain::long_code::LongCode;
use latchkey_domain::session::{AuthMethod, AuthMethods, Level, SessionKind};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_domain::user::User;
use latchkey_store::{
    CompletedSignIn, Enroller, FoundChallenge, LiveSession, NewMail, NewToken, TurnedOn, TurnedOnEvents,
};

use super::recovery_codes::NewCodes;
use super::{Factors, TwoStepOn};
use crate::error::{Error, Result};
use crate::kernel::ActFact;
use crate::refusal::{AUTH_UNAUTHORIZED, INVALID_CHALLENGE, REAUTHENTICATION_REQUIRED, Refusal};
use crate::sessions::authenticate::Caller;
use crate::sessions::{FreshCaller, SessionDraft, SignInClient};

/// The credential by which a caller may add a second factor: a session, or a challenge of a sign-in.
pub enum FactorEnroller {
    /// A session with a fresh access token (recent sign-in or reauthentication). Beginning an enrolment in a
    /// session requires it.
    Fresh(FreshCaller),
    /// A session whose access token need not be fresh. It suffices to complete an enrolment, not to begin
    /// one.
    Session(Caller),
    /// A challenge of a sign-in that is answered by enrolling a factor. It permits both to begin and to complete the
    /// enrolment.
    Challenge(ChallengeId),
}

/// The session or challenge by which a factor is added, with its account, as read from the database.
pub(crate) struct FoundEnroller {
    pub(crate) enroller: Enroller,
    pub(crate) user: User,
    /// Authentication methods: of the sign-in that opened the session, or of the first factor that preceded the
    /// challenge.
    pub(super) methods: AuthMethods,
    /// Authentication level of the session; level 1 (one factor) for a challenge.
    pub(super) level: Level,
    /// Identity provider that authenticated the user before the challenge; `None` for a session and for a sign-in by
    /// password.
    provider: Option<ProviderKey>,
    /// Side that gets the session which turning two-step sign-in on opens; `None` for an app session, whose request names
    /// the client type.
    pub(super) opened_for: Option<OpenedFor>,
}

/// Tokens and recovery codes that the caller gets when two-step sign-in is turned on, in plain text. The store gets
/// only hashes and MACs.
pub(crate) struct Opening {
    session: SessionDraft,
    recovery_codes: Vec<LongCode>,
}

impl Factors {
    /// Converts a credential into the form in which the store checks it, to begin an enrolment. For a
    /// session, the sign-in or reauthentication of the access token must be recent.
    pub(crate) fn beginning(&self, enroller: &FactorEnroller, now: Timestamp) -> Result<Enroller> {
        match enroller {
            FactorEnroller::Fresh(fresh) => Ok(of_session(fresh.caller())),
            FactorEnroller::Session(_) => Err(Error::Refused(&REAUTHENTICATION_REQUIRED)),
            FactorEnroller::Challenge(id) => Ok(self.of_challenge(id, now)),
        }
    }

    /// Finds the session or challenge that a credential stands for, with its account.
    pub(crate) async fn find_enroller(
        &self,
        enroller: FactorEnroller,
        now: Timestamp,
    ) -> Result<FoundEnroller> {
        let caller = match enroller {
            FactorEnroller::Fresh(fresh) => fresh.caller(),
            FactorEnroller::Session(caller) => caller,
            FactorEnroller::Challenge(id) => {
                let FoundChallenge { user, methods, provider, opened_for, .. } =
                    self.enrolling_challenge(&id, now).await?;
                return Ok(FoundEnroller {
                    enroller: self.of_challenge(&id, now),
                    user,
                    methods: methods.ok_or(&INVALID_CHALLENGE)?,
                    level: Level::One,
                    provider,
                    opened_for: Some(opened_for),
                });
            }
        };
        let live = self.kernel.store.find_live_session(caller.session_id, now).await?;
        let LiveSession { user, session } = live.ok_or(&AUTH_UNAUTHORIZED)?;
        Ok(FoundEnroller {
            enroller: of_session(caller),
            user,
            methods: session.methods,
            level: session.level,
            provider: None,
            opened_for: match session.kind {
                SessionKind::App => None,
                SessionKind::Pages => Some(OpenedFor::Pages),
                SessionKind::Console => Some(OpenedFor::Console),
            },
        })
    }

    /// Finds a live challenge that accepts the enrolment of a factor as its answer; fails with [`INVALID_CHALLENGE`]
    /// otherwise.
    pub(super) async fn enrolling_challenge(
        &self,
        id: &ChallengeId,
        now: Timestamp,
    ) -> Result<FoundChallenge> {
        let terms = self.sessions.challenge_terms(now);
        let found = self.kernel.store.find_challenge(id.hash(), terms).await?;
        let found = found.filter(|found| found.kinds.contains(&ChallengeKind::Enroll));
        Ok(*found.ok_or(&INVALID_CHALLENGE)?)
    }

    fn of_challenge(&self, id: &ChallengeId, now: Timestamp) -> Enroller {
        Enroller::Challenge(id.hash(), self.sessions.challenge_terms(now))
    }

    /// Prepares the rows that are written if the added factor turns two-step sign-in on, with a session of
    /// level 2 (two factors). If the added factor is a passkey, `passkey` is its `amr` value.
    pub(crate) fn draft_enrolled(
        &self,
        found: &FoundEnroller,
        passkey: Option<AuthMethod>,
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<(TurnedOn, Opening)> {
        let methods = found.methods.clone();
        let (methods, level) = ChallengeKind::Enroll.raise(passkey, methods, Level::One);
        self.draft_turned_on(found, (methods, level), from, now)
    }

    /// Prepares the rows that are written when two-step sign-in is turned on: a session, recovery codes, audit events
    /// and mails.
    pub(super) fn draft_turned_on(
        &self,
        found: &FoundEnroller,
        (methods, level): (AuthMethods, Level),
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<(TurnedOn, Opening)> {
        let client = &from.client;
        let event = |kind| self.kernel.event(kind, Actor::User, Some(client), now);
        let from = from.for_side(found.opened_for).ok_or(gone(&found.enroller))?;
        let session = self.sessions.draft_session(methods, level, &from, now)?;
        let new = NewCodes::new(&self.codes_key, &*self.kernel.entropy, found.user.id);
        let guard = match found.enroller {
            Enroller::Session(..) => None,
            Enroller::Challenge(..) => self.passwords.guard(found.user.email.key(), client),
        };
        let completed =
            self.sessions.completed_sign_in(&session.session, found.provider.as_ref(), guard, client, now)?;
        let CompletedSignIn { session: opened, guard, event: signed_in, linked, mail: linked_mail } =
            completed;
        let (mail, undo) = match self.undoable_mail(client, now)? {
            Some((mail, undo)) => (Some(mail), Some(undo)),
            None => (self.kernel.required_notification(Some(client), None, now)?, None),
        };
        let turned_on = TurnedOn {
            session: opened,
            guard,
            recovery_codes: new.macs,
            events: TurnedOnEvents {
                two_step_on: event(AuditKind::TwoStepOn),
                recovery_codes_made: event(AuditKind::RecoveryCodesMade),
                signed_in,
                linked,
            },
            mail,
            linked_mail,
            undo,
            sleeps: self.puts_to_sleep(found),
        };
        Ok((turned_on, Opening { session, recovery_codes: new.codes }))
    }

    /// True if the grant of an operator falls asleep by a new factor: none of the account's was shown, so that whoever took
    /// over the mailbox may be adding it. An account with two-step sign-in showed one to begin.
    pub(crate) fn puts_to_sleep(&self, found: &FoundEnroller) -> bool {
        let user = &found.user;
        let is_vouched = user.has_two_step() || (found.level == Level::Two && self.sessions.has_factor(user));
        self.kernel.operators.require_second_factor && !is_vouched
    }

    /// Returns the session that was opened when two-step sign-in was turned on, and the recovery codes in plain text.
    pub(crate) fn turned_on(&self, user: User, opening: Opening, now: Timestamp) -> Result<TwoStepOn> {
        let Opening { session, recovery_codes } = opening;
        Ok(TwoStepOn { opened: self.sessions.opened(user, session, now)?, recovery_codes })
    }

    /// Creates the security notification about an added factor with an undo link, and the token of the link. `None` if the
    /// setting `auth.undo_factor_ttl` is zero, or no mail transport is configured.
    pub(crate) fn undoable_mail(
        &self,
        client: &Client,
        now: Timestamp,
    ) -> Result<Option<(NewMail, NewToken)>> {
        if self.lifetimes.undo.is_zero() {
            return Ok(None);
        }
        let token = LinkToken::new(self.kernel.entropy.bytes());
        let expires_at = now.plus(self.lifetimes.undo);
        let fact = ActFact::Undo(&token, expires_at);
        let mail = self.kernel.required_notification(Some(client), Some(fact), now)?;
        Ok(mail.map(|mail| (mail, NewToken { hash: token.hash(), expires_at })))
    }
}

const fn of_session(caller: Caller) -> Enroller {
    Enroller::Session(caller.user_id, caller.session_id)
}

/// Returns the refusal for a session or challenge that is no longer live.
pub(crate) const fn gone(enroller: &Enroller) -> &'static Refusal {
    match enroller {
        Enroller::Session(..) => &AUTH_UNAUTHORIZED,
        Enroller::Challenge(..) => &INVALID_CHALLENGE,
    }
}
