//! Console sessions: what a sign-in to the operator console asks for and gets, and whom it lets in. The use cases are in
//! the module `console`.

use std::time::Duration;

use latchkey_domain::client::{Client, OpenedFor};
use latchkey_domain::ids::UserId;
use latchkey_domain::locale::Locale;
use latchkey_domain::operator::{Act, ActingOperator, Operator, Party, Role, may_be_operator};
use latchkey_domain::page_session::{BrowserSecret, ConsoleToken};
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::{LinkToken, TokenHash};
use latchkey_domain::user::User;
use latchkey_store::FoundConsoleSession;

use super::authenticate::Caller;
use super::pages::{PageSession, PageSignedIn};
use super::{Opens, Sessions, SignInClient};
use crate::error::Result;

/// A live console session, as it was found by its cookies when the request began, with the role of its operator.
#[derive(Clone)]
pub struct ConsoleSession {
    /// A console session is kept and proved like a page session. It is in none of the use cases of those.
    pub(crate) page: PageSession,
    role: Role,
}

/// A sign-in to the console.
#[derive(Debug, Clone)]
pub struct ConsoleSignIn {
    pub(super) browser: TokenHash,
    pub(super) replaces: Option<Caller>,
    /// Activation link, for an account whose grant sleeps; `None` for an active one.
    pub(super) activation: Option<TokenHash>,
}

/// A console session that was just opened, or that goes on under a new token after a step-up.
pub struct ConsoleSignedIn {
    pub user: User,
    pub session: Session,
    /// The new token for the cookie. The token before it is no longer valid.
    pub token: ConsoleToken,
}

impl ConsoleSession {
    pub(crate) fn new(found: FoundConsoleSession, browser: TokenHash) -> Self {
        let FoundConsoleSession { live, locale, role } = found;
        Self { page: PageSession { live, locale, browser }, role }
    }

    #[must_use]
    pub const fn user(&self) -> &User {
        self.page.user()
    }

    #[must_use]
    pub const fn session(&self) -> &Session {
        self.page.session()
    }

    /// Returns the language of the account; `None` if it has none.
    #[must_use]
    pub const fn locale(&self) -> Option<&Locale> {
        self.page.locale()
    }

    /// Returns the role that the grant has during this request.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// True if the operator may do the act.
    #[must_use]
    pub fn may(&self, act: Act) -> bool {
        self.role.may(act)
    }

    /// Returns the operator as the party that acts, for use cases about others.
    #[must_use]
    pub const fn party(&self) -> Party {
        Party::Operator(ActingOperator { user_id: self.user().id, role: self.role })
    }

    /// Returns the name of the operator's profile, or else the address.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.user().profile.as_ref().map(|profile| profile.name.as_str());
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| self.user().email.as_typed())
    }
}

impl ConsoleSignIn {
    /// Creates the sign-in in a browser. `current` is the console session that the browser has; it ends when the new one is
    /// opened, whoever signs in.
    #[must_use]
    pub fn new(browser: &BrowserSecret, current: Option<&ConsoleSession>) -> Self {
        let replaces = current.map(|current| current.page.caller());
        Self { browser: browser.hash(), replaces, activation: None }
    }

    /// Creates the sign-in that a session came from.
    pub(crate) fn of(session: &ConsoleSession) -> Self {
        Self { browser: session.page.browser, replaces: None, activation: None }
    }

    /// Turns it into a sign-in that lets in an account whose grant sleeps and has this activation link.
    pub(crate) fn activating(self, link: &LinkToken) -> Self {
        Self { activation: Some(link.hash()), ..self }
    }

    pub(super) const fn side(&self) -> OpenedFor {
        if self.activation.is_some() { OpenedFor::Activation } else { OpenedFor::Console }
    }

    /// Returns the client of a sign-in that opens this session.
    #[must_use]
    pub fn from(self, client: Client) -> SignInClient {
        SignInClient { client, opens: Opens::Console(self) }
    }
}

impl From<PageSignedIn> for ConsoleSignedIn {
    fn from(PageSignedIn { user, session, token }: PageSignedIn) -> Self {
        Self { user, session, token: token.into() }
    }
}

impl Sessions {
    /// Returns the idle lifetime of console sessions.
    pub(crate) const fn console_idle(&self) -> Duration {
        self.lifetimes.console_idle
    }

    /// True if the account has the second factor that the settings demand of operators.
    pub(crate) fn has_operator_factor(&self, user: &User) -> bool {
        !self.kernel.operators.require_second_factor || self.has_factor(user)
    }

    /// True if the account has a second factor.
    pub(crate) fn has_factor(&self, user: &User) -> bool {
        user.has_two_step() || user.has_usable_passkey(self.rp_id.as_ref())
    }

    /// True if the account may open the session that a sign-in asks for. For the console it needs an active grant, or one
    /// that sleeps and has the activation link of the sign-in. The cost is the same for every account and for none.
    pub(crate) async fn may_open(
        &self,
        user_id: Option<UserId>,
        opens: &Opens,
        now: Timestamp,
    ) -> Result<bool> {
        let Opens::Console(sign_in) = opens else { return Ok(true) };
        let user_id = user_id.unwrap_or_else(|| UserId::new(Timestamp::from_millis(0), [0; 10]));
        let operator = self.kernel.store.find_operator(user_id).await?;
        let Some(link) = sign_in.activation else {
            let enters = |operator: &Operator| {
                operator.standing().can_enter && self.has_operator_factor(&operator.user)
            };
            return Ok(operator.as_ref().is_some_and(enters));
        };
        let is_valid = self.kernel.store.is_activation_valid(user_id, link, now).await?;
        Ok(is_valid && operator.is_some_and(|operator| may_be_operator(&operator.user).is_ok()))
    }
}
