//! The list of all live sessions: implementation of [`SessionList`].

use async_trait::async_trait;
use latchkey_store::{ListLiveSessions, SessionList, SessionPage, SessionPosition, StoreResult};

use super::Engine;
use crate::form::{Executor, Script};
use crate::tables::sessions::list;

#[async_trait]
impl<E: Executor> SessionList for Engine<E> {
    async fn list_live_sessions(&self, list: ListLiveSessions) -> StoreResult<SessionPage> {
        let mut reads = Script::default();
        let [total, page] = list::list(&mut reads, &list);
        let (limit, is_backwards) =
            (list.limit as usize, matches!(list.position, SessionPosition::Before(_)));
        self.read_long(reads, move |results| {
            let total = results.find(total, |cells| cells.of("sessions").count("total"))?;
            let mut sessions = results.list(page, list::read_listed)?;
            let has_more = sessions.len() > limit;
            sessions.truncate(limit);
            if is_backwards {
                sessions.reverse();
            }
            Ok(SessionPage { sessions, total: u64::from(total.unwrap_or_default()), has_more })
        })
        .await
    }
}
