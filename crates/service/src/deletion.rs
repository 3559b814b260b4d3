//! Deletion of an account by its owner. During the grace period the owner restores the account by signing in
//! ([`crate::challenges`]) or by the undo link ([`crate::undo`]). Afterwards [`crate::upkeep`] deletes it for good.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_settings::{Kind, settings};
use latchkey_store::{DeleteAccount, NewToken, Restoral};

use crate::error::{Error, Result};
use crate::kernel::{ActFact, Kernel};
use crate::refusal::AUTH_UNAUTHORIZED;
use crate::sessions::FreshCaller;

settings! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The time between the deletion of an account by its owner and its deletion for good. Until then the account
        /// is hidden, and its owner can restore it. "0s": at once.
        "auth.deletion_grace" => grace: Duration [Kind::DurationOrZero] = "14d";
    }
}

/// The use case by which owners delete their accounts.
pub struct Deletion {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) lifetimes: Lifetimes,
}

impl Deletion {
    /// Returns the time for which a deleted account can be restored; zero if it is deleted at once.
    #[must_use]
    pub const fn grace(&self) -> Duration {
        self.lifetimes.grace
    }

    /// Schedules the deletion of the caller's account, or deletes it at once if there is no grace period. Returns the
    /// time from which it is deleted for good.
    pub async fn delete(&self, caller: &FreshCaller, client: &Client) -> Result<Timestamp> {
        let now = self.kernel.now();
        let deletes_at = now.plus(self.lifetimes.grace);
        let token = LinkToken::new(self.kernel.entropy.bytes());
        let has_grace = !self.lifetimes.grace.is_zero();
        let kind = if has_grace { AuditKind::DeletionScheduled } else { AuditKind::UserDeleted };
        let mail = if has_grace {
            let fact = ActFact::Undo(&token, deletes_at);
            self.kernel.required_notification(Some(client), Some(fact), now)?
        } else {
            let own = self.kernel.store.find_own_account(caller.caller().session_id, now).await?;
            self.kernel.notification_of_deletion(Some(client), own.and_then(|own| own.locale), now)?
        };
        let delete = DeleteAccount {
            user_id: caller.caller().user_id,
            session_id: caller.caller().session_id,
            deletes_at,
            event: self.kernel.event(kind, Actor::User, Some(client), now),
            mail,
            undo: has_grace.then(|| NewToken { hash: token.hash(), expires_at: deletes_at }),
            now,
        };
        if !self.kernel.store.delete_account(delete).await?? {
            return Err(Error::Refused(&AUTH_UNAUTHORIZED));
        }
        self.kernel.mails.wake();
        Ok(deletes_at)
    }
}

impl Kernel {
    /// Builds the audit event and mail that the store writes when `client` or an admin restores an account
    /// whose deletion its owner has scheduled.
    pub(crate) fn restoral(
        &self,
        actor: impl Into<Actor>,
        client: Option<&Client>,
        now: Timestamp,
    ) -> Result<Restoral> {
        let actor = actor.into();
        let event = self.event(AuditKind::DeletionCancelled, actor, client, now);
        let told = client.filter(|_| actor == Actor::User);
        Ok(Restoral { event, mail: self.required_notification(told, None, now)? })
    }
}
