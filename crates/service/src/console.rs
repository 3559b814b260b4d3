//! The operator console: its sign-in, sessions and step-up. An operator is an account with an active grant
//! ([`crate::operators`]). Role and grant are read at every request, so a change of them acts on the next one.

use std::sync::Arc;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::challenge::ChallengeId;
use latchkey_domain::client::{Client, OpenedFor};
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{Act, RECENT_FACTOR};
use latchkey_domain::page_session::{BrowserSecret, ConsoleToken};
use latchkey_domain::password::Password;
use latchkey_domain::session::Level;
use latchkey_store::EndedSession;

use crate::accounts::Accounts;
use crate::challenges::{Answer, Answered, Challenges, ShownChallenge};
use crate::error::{Error, Result};
use crate::factors::Factors;
use crate::kernel::Kernel;
use crate::operators::Operators;
use crate::passkeys::{Assertion, Passkeys};
use crate::passwords::Passwords;
use crate::refusal::INVALID_CHALLENGE;
use crate::sessions::{
    Challenge, ConsoleSession, ConsoleSignIn, ConsoleSignedIn, Entrance, Opens, Sessions, SignInClient,
};

mod activation;
mod new_account;

pub use activation::{ActivationLogin, ActivationStep, EnrolledFactor};

/// The use cases of console sessions.
pub struct Console {
    kernel: Arc<Kernel>,
    sessions: Arc<Sessions>,
    passwords: Arc<Passwords>,
    factors: Arc<Factors>,
    passkeys: Arc<Passkeys>,
    challenges: Arc<Challenges>,
    accounts: Arc<Accounts>,
    operators: Operators,
}

/// The outcome of a sign-in to the console with a correct first factor.
pub enum ConsoleEntrance {
    /// A session was opened.
    SignedIn(Box<ConsoleSignedIn>),
    /// No session was opened yet. The challenge asks for a second factor first.
    Challenged(Challenge),
}

impl Console {
    pub(crate) fn new(challenges: &Arc<Challenges>, accounts: Arc<Accounts>) -> Self {
        Self {
            kernel: challenges.kernel.clone(),
            sessions: challenges.sessions.clone(),
            passwords: challenges.passwords.clone(),
            factors: challenges.factors.clone(),
            passkeys: challenges.passkeys.clone(),
            challenges: challenges.clone(),
            accounts,
            operators: Operators { kernel: challenges.kernel.clone() },
        }
    }

    /// Finds the live console session of a browser. `None` if the browser is not the one that the session was opened in,
    /// if the grant is not active any more, or if the account lacks the second factor that operators need. The database is
    /// read each time, in one statement.
    pub async fn find(
        &self,
        token: &ConsoleToken,
        browser: &BrowserSecret,
        client: &Client,
    ) -> Result<Option<ConsoleSession>> {
        let now = self.kernel.now();
        let found = self.kernel.store.find_console_session(token.hash(), browser.hash(), now).await?;
        let Some(mut found) = found.filter(|one| self.sessions.has_operator_factor(&one.live.user)) else {
            return Ok(None);
        };
        let idle = self.sessions.console_idle();
        found.live = self.sessions.store_use(found.live, idle, client, now).await?;
        Ok(Some(ConsoleSession::new(found, browser.hash())))
    }

    /// Opens a console session for a correct password, or begins the challenge for the second factor. An account without an
    /// active grant gets the response of a wrong password, at the same cost, and counts against the same limits.
    pub async fn sign_in(
        &self,
        email: Email,
        password: Password,
        sign_in: ConsoleSignIn,
        client: &Client,
    ) -> Result<ConsoleEntrance> {
        ConsoleEntrance::of(self.passwords.sign_in(email, password, sign_in.from(client.clone())).await?)
    }

    /// Opens a console session for an assertion by a passkey, which counts as both factors. The ceremony is begun by
    /// [`Passkeys::begin_sign_in`]. An account without an active grant gets the response of a wrong passkey.
    pub async fn sign_in_with_passkey(
        &self,
        ceremony_id: &str,
        assertion: Assertion,
        sign_in: ConsoleSignIn,
        client: &Client,
    ) -> Result<ConsoleEntrance> {
        ConsoleEntrance::of(
            self.passkeys.sign_in(ceremony_id, assertion, &sign_in.from(client.clone())).await?,
        )
    }

    /// Returns what a page shows of a challenge of the console, of a sign-in, step-up or activation. A challenge of an app
    /// or of the pages under `/auth` is unknown here. Changes nothing, and counts no attempt.
    pub async fn inspect(&self, challenge: &ChallengeId) -> Result<ShownChallenge> {
        let shown = self.challenges.inspect(challenge).await?;
        match shown.opened_for {
            OpenedFor::Console | OpenedFor::Activation => Ok(shown),
            OpenedFor::App(_) | OpenedFor::Pages => Err(Error::Refused(&INVALID_CHALLENGE)),
        }
    }

    /// Answers the challenge of a sign-in to the console, which opens the console session.
    pub async fn answer(
        &self,
        answer: Answer,
        sign_in: ConsoleSignIn,
        client: &Client,
    ) -> Result<ConsoleEntrance> {
        match self.challenges.answer(answer, None, &sign_in.from(client.clone())).await? {
            Answered::Entered(entrance) => ConsoleEntrance::of(entrance),
            _ => Err(Error::Refused(&INVALID_CHALLENGE)),
        }
    }

    /// Begins the step-up of a console session: the challenge asks for a second factor of the account, or for the password
    /// if it has none. It replaces an earlier one of the session.
    pub async fn begin_step_up(&self, session: &ConsoleSession, client: &Client) -> Result<Challenge> {
        self.challenges.reauthenticate(&session.page, &of_session(session, client)).await
    }

    /// Answers the challenge of a step-up. The session goes on under a new token.
    pub async fn step_up(
        &self,
        answer: Answer,
        session: &ConsoleSession,
        client: &Client,
    ) -> Result<ConsoleSignedIn> {
        match self.challenges.answer(answer, &session.page, &of_session(session, client)).await? {
            Answered::Renewed(renewed) => Ok((*renewed).into()),
            _ => Err(Error::Refused(&INVALID_CHALLENGE)),
        }
    }

    /// True if the operator proved a second factor recently, at the sign-in or at a step-up. The password counts for an
    /// account without second factor.
    #[must_use]
    pub fn has_recent_factor(&self, session: &ConsoleSession) -> bool {
        let proof = session.session();
        let suffices = proof.level == Level::Two || !self.sessions.has_factor(session.user());
        suffices && self.kernel.now().since(proof.authenticated_at) <= RECENT_FACTOR
    }

    /// Records that an operator asked for what the role does not permit, or for a change of a protected account. `about` is
    /// the user whom the act was to concern.
    pub async fn record_refusal(
        &self,
        session: &ConsoleSession,
        act: Act,
        about: Option<UserId>,
        client: &Client,
    ) -> Result<()> {
        let now = self.kernel.now();
        let actor = Actor::from(session.party());
        let mut event = self.kernel.event(AuditKind::OperatorRefused, actor, Some(client), now);
        event.user_id = about;
        event.details.insert("act".to_owned(), act.as_str().into());
        Ok(self.kernel.store.record_event(event).await?)
    }

    /// Ends a console session.
    pub async fn sign_out(&self, session: &ConsoleSession, client: &Client) -> Result<()> {
        let now = self.kernel.now();
        let event = self.kernel.event(AuditKind::SignedOut, Actor::User, Some(client), now);
        let ended = EndedSession::Own(session.user().id, session.session().id);
        self.kernel.store.end_sessions(ended, event, now).await?;
        Ok(())
    }
}

impl ConsoleEntrance {
    /// Returns the outcome of a sign-in that asked for a console session; fails for another one.
    pub fn of(entrance: Entrance) -> Result<Self> {
        Ok(match entrance {
            Entrance::SignedIn(opened) => Self::SignedIn(Box::new(opened.into_console()?)),
            Entrance::Challenged(challenge) => Self::Challenged(challenge),
        })
    }
}

/// Returns the client of a challenge in a session.
fn of_session(session: &ConsoleSession, client: &Client) -> SignInClient {
    SignInClient { client: client.clone(), opens: Opens::Console(ConsoleSignIn::of(session)) }
}
