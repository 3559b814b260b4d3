//! Page sessions: what a sign-in on the service's own pages asks for and gets. The use cases of page sessions are in
//! the module `page_sessions`.

use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::{Client, OpenedFor};
use latchkey_domain::locale::Locale;
use latchkey_domain::page_session::{
    BrowserSecret, NewPageSession, PageToken, ReplacedPageSession, SHORT_LIFETIME, is_lasting, is_use_stored,
};
use latchkey_domain::seen_device::SeenDevice;
use latchkey_domain::session::{Session, SessionKind};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{LiveSession, PageSessionUse};
use serde_json::Value;

use super::authenticate::Caller;
use super::credential::Authentication;
use super::{Opens, Sessions, SignInClient};
use crate::error::Result;

/// A live page session, as it was found by its cookies when the request began.
#[derive(Clone)]
pub struct PageSession {
    pub(crate) live: LiveSession,
    pub(crate) locale: Option<Locale>,
    pub(crate) browser: TokenHash,
}

/// Whether the user asked to stay signed in after the browser is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepSignedIn {
    /// The session lives as long as the settings permit, and its cookie outlives the browser.
    Yes,
    /// The session ends after 12 hours, and its cookie with the browser.
    No,
}

/// A sign-in on the pages: what its page session has beside an app session.
#[derive(Debug, Clone)]
pub struct PageSignIn {
    browser: TokenHash,
    keep: KeepSignedIn,
    replaces: Option<Caller>,
}

/// A page session that was just opened, or that goes on under a new token.
pub struct PageSignedIn {
    pub user: User,
    pub session: Session,
    /// The new token for the cookie. The token before it is no longer valid.
    pub token: PageToken,
}

impl PageSession {
    #[must_use]
    pub const fn user(&self) -> &User {
        &self.live.user
    }

    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.live.session
    }

    /// Returns the language of the account; `None` if it has none.
    #[must_use]
    pub const fn locale(&self) -> Option<&Locale> {
        self.locale.as_ref()
    }

    /// Returns the caller for use cases that need a live session but no recent sign-in.
    #[must_use]
    pub fn caller(&self) -> Caller {
        Caller::of(&Authentication::from(self))
    }

    /// Returns the client of this session for use cases that open the session which replaces it, such as turning two-step
    /// sign-in on.
    #[must_use]
    pub fn sign_in_client(&self, client: Client) -> SignInClient {
        let keep = if is_lasting(self.session()) { KeepSignedIn::Yes } else { KeepSignedIn::No };
        let replaces = Some(self.caller());
        SignInClient { client, opens: Opens::Pages(PageSignIn { browser: self.browser, keep, replaces }) }
    }
}

impl PageSignIn {
    /// Creates the sign-in in a browser. `current` is the page session that the browser has; it ends when the new one is
    /// opened, whoever signs in.
    #[must_use]
    pub fn new(browser: &BrowserSecret, keep: KeepSignedIn, current: Option<&PageSession>) -> Self {
        Self { browser: browser.hash(), keep, replaces: current.map(PageSession::caller) }
    }
}

/// Returns the lifetime of the cookie of a page session; `None` if the cookie ends with the browser.
#[must_use]
pub fn cookie_lifetime(session: &Session, now: Timestamp) -> Option<Duration> {
    is_lasting(session).then(|| session.absolute_expires_at.since(now))
}

impl Opens {
    /// Returns the form that a challenge stores.
    pub(crate) const fn word(&self) -> OpenedFor {
        match self {
            Self::App(client_type) => OpenedFor::App(*client_type),
            Self::Pages(_) => OpenedFor::Pages,
            Self::Console(sign_in) => sign_in.side(),
        }
    }
}

impl Sessions {
    /// Returns the idle lifetime of page sessions.
    pub(crate) const fn page_idle(&self) -> Duration {
        self.lifetimes.page_idle
    }

    /// Stores the use of a page session or console session and extends it, unless a use shortly before on the same device is stored.
    pub(crate) async fn store_use(
        &self,
        live: LiveSession,
        idle: Duration,
        client: &Client,
        now: Timestamp,
    ) -> Result<LiveSession> {
        let seen = SeenDevice::to_store(&live.session, client, now);
        if seen.is_none() && !is_use_stored(&live.session, idle, now) {
            return Ok(live);
        }
        let LiveSession { mut session, user } = live;
        session.last_seen_at = now;
        session.idle_expires_at = now.plus(idle);
        session.client = client.clone();
        let used = PageSessionUse {
            id: session.id,
            user_id: user.id,
            at: now,
            idle_expires_at: session.idle_expires_at,
            client: client.clone(),
            seen,
        };
        self.kernel.store.store_page_session_use(used).await?;
        Ok(LiveSession { session, user })
    }

    /// Creates the token that replaces that of a page session; `None` for an app session.
    pub(crate) fn new_page_token(&self, session: &Session) -> Option<PageToken> {
        (session.kind == SessionKind::Pages).then(|| PageToken::new(self.kernel.entropy.bytes()))
    }

    /// Returns what a page session has beside an app session, with its idle and absolute lifetime.
    pub(super) fn draft_page_session(
        &self,
        sign_in: &PageSignIn,
        client: &Client,
        now: Timestamp,
    ) -> (NewPageSession, Duration, Duration) {
        let PageSignIn { browser, keep, replaces } = sign_in;
        let (idle, absolute) = (self.lifetimes.page_idle, self.lifetimes.page_absolute);
        let absolute = match keep {
            KeepSignedIn::Yes => absolute,
            KeepSignedIn::No => absolute.min(SHORT_LIFETIME),
        };
        (self.draft_session_of_browser((*browser, *replaces), client, now), idle, absolute)
    }

    /// Returns what a session of a browser has beside an app session. It ends the session that it replaces.
    pub(super) fn draft_session_of_browser(
        &self,
        (browser, replaces): (TokenHash, Option<Caller>),
        client: &Client,
        now: Timestamp,
    ) -> NewPageSession {
        let replaces = replaces.map(|Caller { user_id, session_id: id, .. }| {
            let mut event = self.kernel.event(AuditKind::SignedOut, Actor::User, Some(client), now);
            let reason = "another account signed in in this browser";
            event.details.insert("reason".to_owned(), Value::from(reason));
            Box::new(ReplacedPageSession { id, user_id, event })
        });
        NewPageSession { browser, replaces }
    }
}
