//! The credential of a signed-in user: an access token, or a page session. Use cases of the signed-in user take either.

use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::session::Level;
use latchkey_domain::time::Timestamp;

use super::pages::PageSession;
use crate::tokens::VerifiedToken;

/// The credential that a request presents.
#[derive(Clone, Copy)]
pub enum Credential<'a> {
    /// The bearer token, not verified yet; `None` without one.
    Bearer(Option<&'a str>),
    /// The page session, which was found live when the request began.
    Page(&'a PageSession),
}

impl<'a> From<Option<&'a str>> for Credential<'a> {
    fn from(bearer: Option<&'a str>) -> Self {
        Self::Bearer(bearer)
    }
}

impl<'a> From<&'a PageSession> for Credential<'a> {
    fn from(page: &'a PageSession) -> Self {
        Self::Page(page)
    }
}

/// The user, session and sign-in that a valid credential names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Authentication {
    pub(crate) user_id: UserId,
    pub(crate) session_id: SessionId,
    pub(crate) level: Level,
    /// Time of the sign-in or step-up. That of an access token has whole seconds.
    pub(crate) authenticated_at: Timestamp,
    /// Expiry of the access token or page session.
    pub(crate) expires_at: Timestamp,
}

impl From<VerifiedToken> for Authentication {
    fn from(token: VerifiedToken) -> Self {
        Self {
            user_id: token.user_id,
            session_id: token.session_id,
            level: token.level,
            authenticated_at: token.authenticated_at(),
            expires_at: token.expires_at(),
        }
    }
}

impl From<&PageSession> for Authentication {
    fn from(page: &PageSession) -> Self {
        let session = page.session();
        Self {
            user_id: session.user_id,
            session_id: session.id,
            level: session.level,
            authenticated_at: session.authenticated_at,
            expires_at: session.expires_at(),
        }
    }
}
