//! Steps that the enrolments of TOTP factors and passkeys share: which session or challenge permits them, and how
//! two-step sign-in is turned on.

use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::undo::UndoableEvent;
use latchkey_domain::user::User;
use latchkey_store::{CompletedSignIn, Enroller, StoreResult, TurnedOn, UndoLink};

use super::{entry, request_code};
use crate::form::{Results, Script, Slot};
use crate::tables::challenges::{self, Challenge};
use crate::tables::users::{self, Account};
use crate::tables::{audit_events, operators, outbox, recovery_codes, sessions, undo_tokens};

/// Handles of the statements that read the session or challenge that permits an enrolment, with its account.
pub(crate) struct EnrollerReads {
    enroller: Enroller,
    found: Slot,
    identity_owner: Option<Slot>,
}

/// A live session or challenge that permits an enrolment, with its account.
pub(crate) enum Enrolling {
    Session(Box<Account>),
    Challenge(Box<Challenge>),
}

impl Enrolling {
    pub(crate) fn account(&self) -> &Account {
        match self {
            Self::Session(account) => account,
            Self::Challenge(challenge) => &challenge.account,
        }
    }

    pub(crate) fn user(&self) -> &User {
        &self.account().user
    }
}

impl EnrollerReads {
    /// Adds the statements that lock the user's row, and read the session or challenge that permits the
    /// enrolment.
    pub(crate) fn lock(script: &mut Script, enroller: &Enroller, now: Timestamp) -> Self {
        match enroller {
            Enroller::Session(user_id, _) => users::lock_by_id(script, *user_id),
            Enroller::Challenge(challenge, _) => challenges::lock_user(script, *challenge),
        };
        Self::find(script, enroller, now)
    }

    pub(crate) fn find(script: &mut Script, enroller: &Enroller, now: Timestamp) -> Self {
        let (found, identity_owner) = match enroller {
            Enroller::Session(_, session_id) => (sessions::find_live(script, *session_id, now), None),
            Enroller::Challenge(challenge, _) => {
                let found = challenges::find(script, *challenge);
                (found, Some(challenges::find_identity_owner(script, *challenge)))
            }
        };
        Self { enroller: enroller.clone(), found, identity_owner }
    }

    /// Decodes the session or challenge that permits an enrolment; `None` if it is not live, or does not permit it.
    pub(crate) fn enrolling(&self, results: &Results<'_>) -> StoreResult<Option<Enrolling>> {
        Ok(match &self.enroller {
            Enroller::Session(user_id, _) => {
                let account = results.find(self.found, users::read_account)?;
                account.filter(|account| account.user.id == *user_id).map(Box::new).map(Enrolling::Session)
            }
            Enroller::Challenge(_, terms) => {
                let may_enroll = |challenge: &Challenge| {
                    challenge.is_live(terms) && challenge.kinds(&terms.rules).contains(&ChallengeKind::Enroll)
                };
                let challenge = challenges::challenge(results, self.found)?.filter(may_enroll);
                challenge.map(Box::new).map(Enrolling::Challenge)
            }
        })
    }

    /// Returns whether the identity of the first factor is linked to the account, as [`Challenge::is_identity_linked`]
    /// does. True for a session, because its identities are linked already.
    pub(crate) fn is_identity_linked(
        &self,
        results: &Results<'_>,
        enrolling: &Enrolling,
    ) -> StoreResult<Option<bool>> {
        match (enrolling, self.identity_owner) {
            (Enrolling::Challenge(challenge), Some(owner)) => {
                Ok(challenge.is_identity_linked(challenges::identity_owner(results, owner)?))
            }
            _ => Ok(Some(true)),
        }
    }
}

/// True if two-step sign-in may be turned on: the email address is verified, and its password, if any, is known to come
/// from the owner of the mailbox. Otherwise a later verification by the mailbox's owner would remove the factor again.
pub(crate) fn may_have_two_step(account: &Account) -> bool {
    account.user.email_verified && !account.standing().has_unproven_password
}

/// Turns two-step sign-in on. All sessions of the account end, in case one of them is stolen. A new session
/// replaces the caller's. It has authentication level 2 (two factors) only if a second factor was used in it.
pub(crate) fn turn_on(
    writes: &mut Script,
    enrolling: &Enrolling,
    is_linked: bool,
    turned_on: &TurnedOn,
    now: Timestamp,
) -> StoreResult<()> {
    let (user, session, events) = (enrolling.user(), &turned_on.session, &turned_on.events);
    request_code::end_all_of(writes, user.id, now);
    recovery_codes::replace(writes, user.id, &turned_on.recovery_codes, now);
    users::set_two_step(writes, user.id, Some(now));
    users::touch(writes, user.id, now);
    sessions::end_all_of(writes, user.id, now);
    if turned_on.sleeps {
        operators::sleep(writes, user.id, now);
    }
    for event in [&events.two_step_on, &events.recovery_codes_made] {
        audit_events::record_in(writes, event.clone(), user.id, session.id)?;
    }
    match enrolling {
        Enrolling::Session(_) => entry::reopen(writes, user.id, session)?,
        Enrolling::Challenge(challenge) => {
            let completed = CompletedSignIn {
                session: NewSession::clone(session),
                guard: turned_on.guard.clone(),
                event: events.signed_in.clone(),
                linked: events.linked.clone(),
                mail: turned_on.linked_mail.clone(),
            };
            entry::complete(writes, challenge, &completed, is_linked)?;
        }
    }
    outbox::notify(writes, user, turned_on.mail.as_ref(), MailKind::TwoStepOn, now);
    if let (Some(_), Some(undo)) = (&turned_on.mail, &turned_on.undo)
        && user.may_be_notified(MailKind::TwoStepOn)
    {
        let link = UndoLink { event: UndoableEvent::TwoStepOn, happened_at: now };
        undo_tokens::insert(writes, user.id, undo, link, &user.email, false);
    }
    Ok(())
}
