//! Token buckets. The arithmetic is the domain's.

use async_trait::async_trait;
use latchkey_domain::limits::{LimitKey, Limited, Take};
use latchkey_domain::time::Timestamp;
use latchkey_store::{Limits, StoreResult};
use rusqlite::{Connection, params};

use crate::errors::Fallible;
use crate::rows::Cells;
use crate::statements::{execute, find};
use crate::store::SqliteStore;

const FIND_BUCKET: &str = "SELECT full_at FROM limit_buckets WHERE key = ?1";
const SAVE_BUCKET: &str = "
    INSERT INTO limit_buckets (key, full_at) VALUES (?1, ?2)
    ON CONFLICT (key) DO UPDATE SET full_at = excluded.full_at";

#[async_trait]
impl Limits for SqliteStore {
    async fn take(&self, takes: &[Take], now: Timestamp) -> StoreResult<Result<(), Limited>> {
        if takes.is_empty() {
            return Ok(Ok(()));
        }
        let takes = takes.to_vec();
        self.write(move |conn| take_all(conn, &takes, now)).await
    }
}

/// Takes a token from each bucket, or from none where one is empty: then the first such one is named.
pub(crate) fn take_all(conn: &Connection, takes: &[Take], now: Timestamp) -> Fallible<Result<(), Limited>> {
    let mut filled: Vec<(LimitKey, Timestamp)> = Vec::with_capacity(takes.len());
    for take in takes {
        let seen = filled.iter().rev().find(|(key, _)| *key == take.key);
        let full_at = match seen {
            Some((_, full_at)) => Some(*full_at),
            None => find_bucket(conn, &take.key)?,
        };
        match take.take(full_at, now) {
            Ok(full_at) => filled.push((take.key, full_at)),
            Err(limited) => return Ok(Err(limited)),
        }
    }
    for (key, full_at) in filled {
        execute(conn, SAVE_BUCKET, params![key.as_bytes(), full_at.as_millis()])?;
    }
    Ok(Ok(()))
}

fn find_bucket(conn: &Connection, key: &LimitKey) -> Fallible<Option<Timestamp>> {
    find(conn, FIND_BUCKET, params![key.as_bytes()], |row| Cells::new(row, "limit_buckets").time("full_at"))
}
