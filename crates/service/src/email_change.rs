//! Changes of an account's email address by its owner: lifetimes, and cancelling a change. The other use cases are in
//! the modules below. The undo link in the mail to the old address is handled by [`crate::undo`].

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::email_change::{EmailChangeId, Side};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_settings::{Kind, settings};

use crate::error::Result;
use crate::kernel::Kernel;
use crate::mailbox::Mailbox;
use crate::sessions::Sessions;
use crate::sessions::authenticate::Caller;
use crate::tokens::access_tokens::AccessToken;

mod begin;
mod confirm;

settings! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The lifetime of a change of an email address by its owner, and of its codes.
        "auth.email_change_ttl" => change: Duration = "30m";
        /// The lifetime of the undo link in the mail to the old address. Meanwhile, the old address is reserved for the
        /// account. "0s": no link, and no reservation.
        "auth.undo_email_ttl" => undo: Duration [Kind::DurationOrZero] = "7d";
    }
}

/// The use cases of changes of an email address.
pub struct EmailChanges {
    kernel: Arc<Kernel>,
    sessions: Arc<Sessions>,
    mailbox: Arc<Mailbox>,
    lifetimes: Lifetimes,
}

/// A change of address that was begun.
pub struct BegunEmailChange {
    pub id: EmailChangeId,
    /// The addresses whose mailed codes must be entered: new, current or both.
    pub needs: Vec<Side>,
    /// Expiry of the change and its codes.
    pub expires_at: Timestamp,
}

/// The codes that a client entered, unvalidated; `None` where it entered none.
pub struct EnteredCodes {
    pub new: Option<String>,
    pub current: Option<String>,
}

/// Outcome of entering codes if none of them was wrong.
pub enum EmailChangeStep {
    /// The address was changed. The session continues; an app session gets a new access token.
    Changed { user: Box<User>, access: Option<AccessToken> },
    /// Codes of these addresses are still missing.
    Needs(Vec<Side>),
}

impl EmailChanges {
    pub(crate) const fn new(
        kernel: Arc<Kernel>,
        sessions: Arc<Sessions>,
        mailbox: Arc<Mailbox>,
        lifetimes: Lifetimes,
    ) -> Self {
        Self { kernel, sessions, mailbox, lifetimes }
    }

    /// Cancels the caller's change of address, if there is one.
    pub async fn cancel(&self, caller: Caller, client: &Client) -> Result<()> {
        let now = self.kernel.now();
        let event = self.kernel.event(AuditKind::EmailChangeCancelled, Actor::User, Some(client), now);
        self.kernel.store.cancel_email_change(caller.user_id, caller.session_id, event, now).await?;
        Ok(())
    }
}
