//! Challenges, which ask for a second factor or for a reauthentication: beginning a reauthentication, mailing its code,
//! answering a challenge. The challenge of a sign-in is begun in [`crate::sessions`], that of a password reset in
//! [`crate::passwords`], that of an undo link in the module `undo`.

use std::sync::Arc;

use latchkey_domain::challenge::{ChallengeId, ChallengeKind, ChallengePurpose};
use latchkey_domain::client::{Client, OpenedFor};
use latchkey_domain::codes::Purpose;
use latchkey_domain::password::Password;
use latchkey_domain::reason::Reason;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_domain::user::User;
use latchkey_store::{BeginReauthentication, FoundChallenge};

use crate::error::{Error, Result};
use crate::factors::Factors;
use crate::kernel::Kernel;
use crate::mailbox::Mailbox;
use crate::mailbox::redirect_target::RedirectInput;
use crate::passkeys::{Assertion, Passkeys, RequestOptions};
use crate::passwords::Passwords;
use crate::refusal::{AUTH_UNAUTHORIZED, INVALID_CHALLENGE, NOTHING_TO_ASK_FOR};
use crate::sessions::{Challenge, Credential, Entrance, PageSignedIn, Presented, Sessions, SignInClient};
use crate::settings::EmailMethod;
use crate::tokens::access_tokens::AccessToken;

mod answer;
mod completion;
mod judge;

/// The use cases of challenges.
pub struct Challenges {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) factors: Arc<Factors>,
    pub(crate) passkeys: Arc<Passkeys>,
}

/// A live challenge, as a page shows it.
pub struct ShownChallenge {
    pub purpose: ChallengePurpose,
    /// Side that a sign-in opens a session for, or that a step-up was begun in.
    pub opened_for: OpenedFor,
    /// Kinds of answers that the challenge accepts now, strongest first.
    pub kinds: Vec<ChallengeKind>,
    /// Request options for the answer by passkey that were issued last; `None` if there were none.
    pub passkey_options: Option<RequestOptions>,
    /// Account of the challenge.
    pub user: User,
    /// Number of unused recovery codes.
    pub recovery_codes_left: u32,
    pub expires_at: Timestamp,
}

/// An answer to a challenge, as a client sends it.
pub struct Answer {
    pub challenge: ChallengeId,
    pub kind: ChallengeKind,
    /// The TOTP, recovery or email code, unvalidated; `None` if `kind` needs no code.
    pub code: Option<String>,
    /// The password; `None` unless `kind` is a password.
    pub password: Option<Password>,
    /// The browser's WebAuthn response; `None` unless `kind` is a passkey.
    pub assertion: Option<Assertion>,
}

/// Outcome of a correct answer to a challenge. It depends on the purpose of the challenge.
pub enum Answered {
    /// Sign-in: a session was opened, or a further challenge was begun.
    Entered(Entrance),
    /// Reauthentication of an app session: it continues, and gets a new access token with the time of the answer.
    Reauthenticated { user: Box<User>, access: AccessToken },
    /// Reauthentication of a page session: it continues under a new token, with the time of the answer.
    Renewed(Box<PageSignedIn>),
    /// Password reset: a new reset token was issued.
    Reset { token: LinkToken, expires_at: Timestamp },
    /// Undo link: the change of the account was reversed.
    Undone,
}

impl Challenges {
    /// Begins a reauthentication of the caller's session. Its challenge replaces an earlier one of the same session. If
    /// the operator requires two-step sign-in, a session of level 1 (one factor) ends instead, as at a refresh.
    pub async fn reauthenticate(
        &self,
        credential: impl Into<Credential<'_>>,
        from: &SignInClient,
    ) -> Result<Challenge> {
        let now = self.kernel.now();
        let Presented { live, .. } = self.sessions.presented(credential.into(), now).await?;
        let (id, challenge) = self.sessions.draft_challenge(from, now);
        let expires_at = challenge.expires_at;
        let begin = BeginReauthentication {
            session_id: live.session.id,
            challenge,
            takes: self.factors.reauthentication_takes(live.session.id),
            rules: self.sessions.factor_rules(),
            level_two_required: self.sessions.level_two_required(&from.client, now),
            now,
        };
        let outcome = self.kernel.store.begin_reauthentication(begin).await?;
        let refuse = |limited| self.kernel.limited(limited, live.user.email.key(), &from.client);
        let kinds = outcome.map_err(refuse)?.ok_or(&AUTH_UNAUTHORIZED)?;
        if kinds.is_empty() {
            return Err(Error::Refused(&NOTHING_TO_ASK_FOR));
        }
        Ok(Challenge { id, kinds, expires_at })
    }

    /// Mails the code that answers a reauthentication of an account without password and two-step sign-in.
    pub async fn send_code(&self, challenge: ChallengeId, client: &Client) -> Result<()> {
        let found = self.find(&challenge, self.kernel.now()).await?;
        if !found.kinds.contains(&ChallengeKind::EmailCode) {
            let problem = "is of a challenge that no mailed code answers";
            return Err(Error::validation("challengeId", Reason::NotAllowed, problem));
        }
        let (purpose, method) = (Purpose::Reauthenticate, EmailMethod::Code);
        let redirect = RedirectInput::default();
        self.mailbox.request_code(found.user.email, purpose, method, redirect, client).await
    }

    /// Returns what a page shows of a challenge. Changes nothing, and counts no attempt.
    pub async fn inspect(&self, challenge: &ChallengeId) -> Result<ShownChallenge> {
        let found = *self.find(challenge, self.kernel.now()).await?;
        Ok(ShownChallenge {
            purpose: found.purpose,
            opened_for: found.opened_for,
            passkey_options: self.passkeys.issued_options(&found),
            kinds: found.kinds,
            user: found.user,
            recovery_codes_left: found.recovery_codes_left,
            expires_at: found.expires_at,
        })
    }

    /// Finds a challenge that is neither answered, expired nor out of attempts; fails with
    /// [`INVALID_CHALLENGE`] if there is none.
    async fn find(&self, challenge: &ChallengeId, now: Timestamp) -> Result<Box<FoundChallenge>> {
        let terms = self.sessions.challenge_terms(now);
        let found = self.kernel.store.find_challenge(challenge.hash(), terms).await?;
        found.ok_or(Error::Refused(&INVALID_CHALLENGE))
    }
}
