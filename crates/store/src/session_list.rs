//! Contract for the list of all live sessions, for operators.

use async_trait::async_trait;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// Filter of the list. `None` matches all.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// User of the session.
    pub user_id: Option<UserId>,
    /// Network address of the last refresh.
    pub address: Option<String>,
    /// Part of the user agent, in any case.
    pub device: Option<String>,
}

/// Place of a session in the list: its time of opening and its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionKey {
    /// Time at which the session was opened.
    pub created_at: Timestamp,
    /// Tie-break.
    pub id: SessionId,
}

/// Start of a page in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionPosition {
    /// The page begins with the newest session.
    First,
    /// The page begins after this session.
    After(SessionKey),
    /// The page ends before this session.
    Before(SessionKey),
}

/// Filter and page of the list of live sessions.
#[derive(Debug, Clone)]
pub struct ListLiveSessions {
    /// Sessions to list.
    pub filter: SessionFilter,
    /// Start of the page.
    pub position: SessionPosition,
    /// Maximum number of sessions on the page.
    pub limit: u32,
    /// Time of the request, at which the sessions are live.
    pub now: Timestamp,
}

/// A live session, with its user's email address.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedSession {
    /// The session.
    pub session: Session,
    /// Email address of its user.
    pub email: Email,
}

/// A page of the list. Page and total are read from one database snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionPage {
    /// Sessions of the page, newest first, then by id descending.
    pub sessions: Vec<ListedSession>,
    /// Number of live sessions that pass the filter, over all pages.
    pub total: u64,
    /// True if the list goes on: after this page, or before it for [`SessionPosition::Before`].
    pub has_more: bool,
}

/// The list of all live sessions.
#[async_trait]
pub trait SessionList {
    /// Lists one page of the live sessions that pass a filter.
    async fn list_live_sessions(&self, list: ListLiveSessions) -> StoreResult<SessionPage>;
}
