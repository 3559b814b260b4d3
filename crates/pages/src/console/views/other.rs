//! Views of sessions, irreversible acts, and errors.

use latchkey_domain::session::SessionId;
use serde::Serialize;

use super::parts::{ClientShown, Listing, PersonLink};
use crate::frame::Form;
use crate::message::{Wait, When};
use crate::view::views;

/// Live sessions.
#[derive(Debug, Clone, Serialize)]
pub struct Sessions {
    /// The typed filters of user, network address and device; empty for none.
    pub user: String,
    pub address: String,
    pub device: String,
    /// URL of the list without filters; `None` if there are none.
    pub clear: Option<String>,
    pub list: Listing<SessionRow>,
    /// Form that ends one session, by its id.
    pub end: Option<Form>,
}

/// A live session.
#[derive(Debug, Clone, Serialize)]
pub struct SessionRow {
    pub id: SessionId,
    pub person: PersonLink,
    pub client: ClientShown,
    /// `app`, `pages` or `console`.
    pub kind: &'static str,
    pub opened: When,
    pub last_seen: When,
    /// False for a session that the role may not end, such as one of an operator.
    pub can_end: bool,
}

/// Question before an irreversible act, which asks to type a name.
#[derive(Debug, Clone, Serialize)]
pub struct Irreversible {
    pub act: IrreversibleAct,
    pub form: Form,
    /// What to type: an email address or a name.
    pub phrase: String,
    pub cancel: String,
}

/// An irreversible act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IrreversibleAct {
    DeleteUser,
    RevokeOwner,
    DemoteOwner,
    RotateKey,
    UndoImport,
}

/// An error page of the console.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorPage {
    pub cause: ErrorCause,
    pub request_id: String,
}

/// Cause of an error page. The texts of most are those of the pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum ErrorCause {
    NotFound,
    BadRequest,
    StaleForm,
    /// The role does not allow the act or the page.
    NotAllowed,
    /// The header `Host` does not name the console.
    WrongHost,
    Throttled {
        wait: Wait,
    },
    Busy {
        wait: Wait,
    },
    Internal,
}

/// The page that goes on to the same address, for a link that was followed from another site: the cookie of the session
/// comes only with the second request.
#[derive(Debug, Clone, Serialize)]
pub struct Again {
    /// Path and query of this page.
    pub here: String,
}

views! {
    Sessions "console/sessions.html"
    Irreversible "console/irreversible.html"
    ErrorPage "console/error.html"
    Again "console/again.html"
}
