//! An operator's use cases about the sessions of all users.

use latchkey_domain::ids::{SessionId, UserId};
use latchkey_store::{ListLiveSessions, SessionFilter, SessionPage, SessionPosition};

use super::Admin;
use crate::error::Result;

impl Admin {
    /// Returns the user of a live session; `None` if it is not live.
    pub async fn owner_of_session(&self, id: SessionId) -> Result<Option<UserId>> {
        Ok(self.kernel.store.find_session_owner(id, self.kernel.now()).await?)
    }

    /// Lists a page of the live sessions that pass a filter, newest first.
    pub async fn list_live_sessions(
        &self,
        filter: SessionFilter,
        position: SessionPosition,
        limit: u32,
    ) -> Result<SessionPage> {
        let list = ListLiveSessions { filter, position, limit, now: self.kernel.now() };
        Ok(self.kernel.store.list_live_sessions(list).await?)
    }
}
