//! Expiry of sign-ups that were never verified.

use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use super::admin_users::delete;
use crate::form::{Decided, Executor, Script};
use crate::tables::{sign_up_attempts, users};

/// Removes stale pending accounts and sign-up hashes; returns their number.
pub(crate) async fn purge_sign_ups<E: Executor>(engine: &E, until: Timestamp) -> StoreResult<u64> {
    let mut reads = Script::default();
    let pending = users::lock_stale_sign_ups(&mut reads, until);
    let attempts = sign_up_attempts::lock_stale(&mut reads, until);
    engine
        .transact(reads, move |results| {
            let pending = results.list(pending, |cells| cells.of("users").id::<UserId>("id"))?;
            let attempts =
                results.list(attempts, |cells| cells.of("sign_up_attempts").id::<UserId>("user_id"))?;
            let mut writes = Script::default();
            for id in &attempts {
                sign_up_attempts::delete(&mut writes, *id);
            }
            for id in &pending {
                delete(&mut writes, *id);
            }
            Ok(Decided::done(writes, (pending.len() + attempts.len()) as u64))
        })
        .await
}
