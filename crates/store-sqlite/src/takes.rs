//! Token buckets of the rate limits. The crate `latchkey_domain` computes how many tokens they hold.

use latchkey_domain::limits::{LimitKey, Take};
use latchkey_domain::time::Timestamp;
use latchkey_store_operations::form::{TakeRequest, Taken, Value};
use latchkey_store_operations::tables::sessions::FIND_LIVE_OF_ADDRESS;
use rusqlite::{Connection, params, params_from_iter};

use crate::errors::Fallible;
use crate::rows::Parameter;
use crate::statements::{execute, find};

const FIND_BUCKET: &str = "SELECT full_at FROM limit_buckets WHERE key = ?1";
const SAVE_BUCKET: &str = "
    INSERT INTO limit_buckets (key, full_at) VALUES (?1, ?2)
    ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at";

/// Takes a token from each bucket. If a bucket is empty, takes no token at all and returns [`Taken::Limited`] with the
/// limit of the first empty bucket.
pub(crate) fn take(conn: &Connection, request: &TakeRequest) -> Fallible<Taken> {
    let TakeRequest { takes, only_for, now } = request;
    if let Some((session, email)) = only_for {
        let values = [Value::from(*session), Value::from(*now), Value::from(email)];
        let params = params_from_iter(values.iter().map(Parameter));
        if find(conn, FIND_LIVE_OF_ADDRESS.sqlite(), params, |_| Ok(()))?.is_none() {
            return Ok(Taken::No);
        }
    }
    take_all(conn, takes, *now)
}

fn take_all(conn: &Connection, takes: &[Take], now: Timestamp) -> Fallible<Taken> {
    let mut filled: Vec<(LimitKey, Timestamp)> = Vec::with_capacity(takes.len());
    for take in takes {
        let seen = filled.iter().rev().find(|(key, _)| *key == take.key);
        let full_at = match seen {
            Some((_, full_at)) => Some(*full_at),
            None => find_bucket(conn, &take.key)?,
        };
        match take.take(full_at, now) {
            Ok(full_at) => filled.push((take.key, full_at)),
            Err(limited) => return Ok(Taken::Limited(limited)),
        }
    }
    for (key, full_at) in filled {
        execute(conn, SAVE_BUCKET, params![key.as_bytes(), full_at.as_millis()])?;
    }
    Ok(Taken::Yes)
}

fn find_bucket(conn: &Connection, key: &LimitKey) -> Fallible<Option<Timestamp>> {
    find(conn, FIND_BUCKET, params![key.as_bytes()], |cells| cells.of("limit_buckets").time("full_at"))
}
