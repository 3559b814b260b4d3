//! Page sessions: sessions of the service's own pages. A page session is opened by any sign-in whose
//! [`Opens`](crate::sessions::Opens) asks for one. Use cases of the signed-in user take it as
//! [`Credential`](crate::sessions::Credential), in place of an access token.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::page_session::{BrowserSecret, PageToken};
use latchkey_domain::session::Level;
use latchkey_store::{EndedSession, FoundPageSession};

use crate::error::Result;
use crate::kernel::Kernel;
use crate::sessions::{PageSession, Sessions};

mod hand_over;

pub use hand_over::TargetApp;

/// The use cases of page sessions.
pub struct PageSessions {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) sessions: Arc<Sessions>,
    /// Lifetime of a code for an app.
    pub(crate) code_lifetime: Duration,
}

/// The sessions that a sign-out on the pages ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSignOut {
    /// The page session alone.
    ThisSession,
    /// The page session, and all app sessions that were opened from it.
    WithApps,
}

impl PageSessions {
    /// Returns the lifetime of a code for an app.
    #[must_use]
    pub const fn code_lifetime(&self) -> Duration {
        self.code_lifetime
    }

    /// Finds the live page session of a browser; `None` if the browser is not the one that the session was opened in. The
    /// database is read each time, so that sign-out, ban and deletion take effect at the next request. If the operator
    /// requires two-step sign-in, a session of level 1 (one factor) ends, as an app session does at its refresh.
    pub async fn find(
        &self,
        token: &PageToken,
        browser: &BrowserSecret,
        client: &Client,
    ) -> Result<Option<PageSession>> {
        let now = self.kernel.now();
        let found = self.kernel.store.find_page_session(token.hash(), browser.hash(), now).await?;
        let Some(FoundPageSession { live, locale }) = found else { return Ok(None) };
        if live.session.level == Level::One
            && let Some(event) = self.sessions.level_two_required(client, now)
        {
            let ended = EndedSession::Own(live.user.id, live.session.id);
            self.kernel.store.end_sessions(ended, event, now).await?;
            return Ok(None);
        }
        let live = self.sessions.store_use(live, self.sessions.page_idle(), client, now).await?;
        Ok(Some(PageSession { live, locale, browser: browser.hash() }))
    }

    /// Ends a page session.
    pub async fn sign_out(&self, page: &PageSession, what: PageSignOut, client: &Client) -> Result<()> {
        let now = self.kernel.now();
        let event = self.kernel.event(AuditKind::SignedOut, Actor::User, Some(client), now);
        let (user_id, id) = (page.user().id, page.session().id);
        let ended = match what {
            PageSignOut::ThisSession => EndedSession::Own(user_id, id),
            PageSignOut::WithApps => EndedSession::WithOpenedFrom(user_id, id),
        };
        self.kernel.store.end_sessions(ended, event, now).await?;
        Ok(())
    }
}
