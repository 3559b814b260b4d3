//! Refresh tokens: finding the session of one, and doing what the verdict on it says. The verdict is the domain's.

use std::time::Duration;

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::refresh::{RefreshState, RefreshVerdict, Retired};
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{LiveSession, RefreshOutcome, RefreshSession, StoreResult};
use tokio_postgres::Row;

use crate::accounts::{self, account_columns, account_tables};
use crate::errors::Fallible;
use crate::rows::Cells;
use crate::script::{Script, Slot};
use crate::sessions::{count_ended, end_own_and_record, read_session, session_columns};
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::values;

/// The session alone: whoever bans or deletes its user waits for it before the session ends.
const LOCK_BY_FAMILY: &str = "SELECT 1 FROM sessions WHERE family_hash = $1 FOR NO KEY UPDATE";
const FIND_BY_FAMILY: &str = concat!(
    "SELECT ",
    account_columns!(),
    ", ",
    session_columns!(),
    ", s.current_hash, s.retired, s.ended_at, s.sealed_successor FROM sessions AS s CROSS JOIN ",
    account_tables!(),
    " WHERE s.family_hash = $1 AND u.id = s.user_id"
);
const ROTATE: &str = "
    UPDATE sessions SET current_hash = $2, retired = $3, sealed_successor = $4, sealed_until = $5,
        idle_expires_at = $6, last_seen_at = $7, address = $8, user_agent = $9
    WHERE id = $1";

/// A session as its refresh tokens see it.
struct Found {
    user: User,
    session: Session,
    state: RefreshState,
    sealed: Option<Vec<u8>>,
}

impl Found {
    fn judge(&self, presented: &TokenHash, grace: Duration, now: Timestamp) -> RefreshVerdict {
        if self.user.is_banned() {
            return RefreshVerdict::Refuse;
        }
        self.state.judge(presented, now, grace)
    }

    /// Whether the token could refresh the session, or just did.
    fn is_good(&self, presented: &TokenHash, grace: Duration, now: Timestamp) -> bool {
        matches!(self.judge(presented, grace, now), RefreshVerdict::Rotate | RefreshVerdict::SameSuccessor)
    }
}

/// Whether the token could refresh its session, or just did.
pub(crate) async fn is_good(
    store: &PostgresStore,
    family: TokenHash,
    presented: TokenHash,
    grace: Duration,
    now: Timestamp,
) -> StoreResult<bool> {
    let found = store.ask(FIND_BY_FAMILY, values![&family]).await?.find(read_found)?;
    Ok(found.is_some_and(|found| found.is_good(&presented, grace, now)))
}

/// Ends the session of such a token; answers how many that were.
pub(crate) async fn end_by_token(
    store: &PostgresStore,
    family: TokenHash,
    presented: TokenHash,
    grace: Duration,
    event: &AuditEvent,
    now: Timestamp,
) -> StoreResult<u64> {
    let mut reads = Script::default();
    let slot = lock_and_find(&mut reads, &family);
    store
        .transact(&reads, |answers| {
            let found = answers.find(slot, read_found)?;
            let Some(found) = found.filter(|found| found.is_good(&presented, grace, now)) else {
                return Ok(Step::Answer(0));
            };
            let mut writes = Script::default();
            let (user_id, id) = (found.user.id, found.session.id);
            let ended = end_own_and_record(&mut writes, user_id, id, event.clone(), now)?;
            Ok(Step::write(writes, move |answers| count_ended(answers, ended)))
        })
        .await
}

/// Judges a token and does what the verdict says.
pub(crate) async fn refresh(store: &PostgresStore, refresh: &RefreshSession) -> StoreResult<RefreshOutcome> {
    let mut reads = Script::default();
    let slot = lock_and_find(&mut reads, &refresh.family);
    store
        .transact(&reads, |answers| {
            let Some(found) = answers.find(slot, read_found)? else {
                return Ok(Step::Answer(RefreshOutcome::Refused));
            };
            match found.judge(&refresh.presented, refresh.grace, refresh.now) {
                RefreshVerdict::Rotate => Ok(rotate(found, refresh)),
                RefreshVerdict::SameSuccessor => Ok(Step::Answer(same_successor(found))),
                RefreshVerdict::Refuse => Ok(Step::Answer(RefreshOutcome::Refused)),
                RefreshVerdict::Revoke => {
                    let mut writes = Script::default();
                    let (user_id, id) = (found.user.id, found.session.id);
                    let event = refresh.reuse_event.clone();
                    end_own_and_record(&mut writes, user_id, id, event, refresh.now)?;
                    Ok(Step::done(writes, RefreshOutcome::Revoked))
                }
            }
        })
        .await
}

fn rotate(found: Found, refresh: &RefreshSession) -> Step<RefreshOutcome> {
    let (now, idle_expires_at) = (refresh.now, refresh.idle_expires_at);
    let client = refresh.client.clone();
    let retired = found.state.retire_current(now, refresh.grace);
    let values = values![
        found.session.id,
        &refresh.successor,
        Retired::encode_all(&retired),
        refresh.sealed_successor.clone(),
        now.plus(refresh.grace),
        idle_expires_at,
        now,
        client.address.to_string(),
        client.user_agent.clone(),
    ];
    let session = Session { last_seen_at: now, idle_expires_at, client, ..found.session };
    let live = Box::new(LiveSession { session, user: found.user });
    Step::done(Script::of(ROTATE, values), RefreshOutcome::Rotated(live))
}

/// Without the sealed successor the grace is over by the clock of whoever wiped it.
fn same_successor(found: Found) -> RefreshOutcome {
    match found.sealed {
        Some(sealed) => {
            let live = Box::new(LiveSession { session: found.session, user: found.user });
            RefreshOutcome::SameSuccessor { sealed, live }
        }
        None => RefreshOutcome::Refused,
    }
}

fn lock_and_find(reads: &mut Script, family: &TokenHash) -> Slot {
    reads.add(LOCK_BY_FAMILY, values![family]);
    reads.add(FIND_BY_FAMILY, values![family])
}

fn read_found(row: &Row) -> Fallible<Found> {
    let mut cells = Cells::new(row, "users");
    let user = accounts::read_account(&mut cells)?.user;
    let session = read_session(cells.of("sessions"))?;
    let current = cells.hash("current_hash")?;
    let retired = Retired::decode_all(&cells.bytes("retired")?).ok_or_else(|| cells.corrupt("retired"))?;
    let ended_at = cells.maybe_time("ended_at")?;
    let sealed = cells.maybe_bytes("sealed_successor")?;
    let state = RefreshState {
        current,
        retired,
        idle_expires_at: session.idle_expires_at,
        absolute_expires_at: session.absolute_expires_at,
        ended_at,
    };
    Ok(Found { user, session, state, sealed })
}
