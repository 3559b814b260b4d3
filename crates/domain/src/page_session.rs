//! Page sessions: sessions of the service's own pages. Their token is an opaque cookie, bound to the browser in which
//! the user signed in. No access token is issued for them.

use std::time::Duration;

use crate::audit::AuditEvent;
use crate::session::{Session, SessionId, SessionKind};
use crate::time::Timestamp;
use crate::tokens::{TokenHash, secret_of_256_bits};
use crate::user::UserId;

/// Lifetime of a page session whose user did not ask to stay signed in.
pub const SHORT_LIFETIME: Duration = Duration::from_hours(12);

/// Maximum time between a request of a page session and the stored time of its last use.
pub const USE_PRECISION: Duration = Duration::from_mins(5);

/// The same for a console session, whose idle lifetime is short.
pub const CONSOLE_USE_PRECISION: Duration = Duration::from_mins(1);

secret_of_256_bits!(
    /// Token of a page session. It is replaced at every sign-in and step-up and at a change of the password.
    PageToken
);

secret_of_256_bits!(
    /// Token of a console session. It is made at every sign-in and step-up.
    ConsoleToken
);

impl From<PageToken> for ConsoleToken {
    fn from(token: PageToken) -> Self {
        Self(token.0)
    }
}

secret_of_256_bits!(
    /// Secret of a browser, in a cookie of its own. A page session works only in the browser that it was opened in.
    BrowserSecret
);

/// A page session to be opened: what it has beside other sessions.
#[derive(Debug, Clone)]
pub struct NewPageSession {
    /// Hash of the secret of the browser in which the user signs in.
    pub browser: TokenHash,
    /// Page session that the browser had before. It ends when this one is opened.
    pub replaces: Option<Box<ReplacedPageSession>>,
}

/// A page session that ends because a user signs in again in its browser.
#[derive(Debug, Clone)]
pub struct ReplacedPageSession {
    /// Id of the session.
    pub id: SessionId,
    /// Id of the session's user. If the same user signs in, the new session takes over the app sessions that were opened
    /// from the replaced one.
    pub user_id: UserId,
    /// Audit event of the end of the session, recorded if another user signs in. The store fills in user id and session
    /// id.
    pub event: AuditEvent,
}

/// True if a request of the page session or console session at `now` must be stored as its last use. Requests shortly after each other are
/// not, because every store is a write.
#[must_use]
pub fn is_use_stored(session: &Session, idle: Duration, now: Timestamp) -> bool {
    let precision = match session.kind {
        SessionKind::Console => CONSOLE_USE_PRECISION,
        SessionKind::App | SessionKind::Pages => USE_PRECISION,
    };
    now.since(session.last_seen_at) >= precision.min(idle / 4)
}

/// True if the user of the page session asked to stay signed in.
#[must_use]
pub fn is_lasting(session: &Session) -> bool {
    session.absolute_expires_at.since(session.created_at) > SHORT_LIFETIME
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_secret_reads_back() {
        let token = PageToken::new([7; 32]);
        assert_eq!(token.expose().len(), 43);
        assert_eq!(PageToken::parse(&token.expose()).unwrap().hash(), token.hash());
    }

    #[test]
    fn foreign_text_is_no_secret() {
        for text in ["", "a", &"A".repeat(42), &"A".repeat(44), &"=".repeat(43), "ä"] {
            assert!(BrowserSecret::parse(text).is_none(), "{text:?}");
        }
    }
}
