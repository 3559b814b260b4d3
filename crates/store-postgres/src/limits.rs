//! Token buckets. The arithmetic is the domain's.

use async_trait::async_trait;
use latchkey_domain::limits::{LimitKey, Limited, Take};
use latchkey_domain::time::Timestamp;
use latchkey_store::{Limits, StoreResult};

use crate::errors::Fallible;
use crate::rows::Cells;
use crate::script::{Answers, Script, Slot};
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::{Value, values};

/// In the order of the keys, so that nobody waits for somebody who waits for him.
const LOCK_BUCKETS: &str = "
    SELECT key, full_at FROM limit_buckets WHERE key = ANY($1) ORDER BY key FOR NO KEY UPDATE";
const CREATE_BUCKETS: &str = "
    INSERT INTO limit_buckets (key, full_at) SELECT n.key, n.full_at FROM unnest($1, $2) AS n (key, full_at)";
const SAVE_BUCKETS: &str = "
    UPDATE limit_buckets AS b SET full_at = n.full_at FROM unnest($1, $2) AS n (key, full_at) WHERE b.key = n.key";

#[async_trait]
impl Limits for PostgresStore {
    async fn take(&self, takes: &[Take], now: Timestamp) -> StoreResult<Result<(), Limited>> {
        if takes.is_empty() {
            return Ok(Ok(()));
        }
        let mut reads = Script::default();
        let buckets = Buckets::lock(&mut reads, takes);
        self.transact(&reads, |answers| {
            let mut writes = Script::default();
            Ok(match buckets.take_all(answers, &mut writes, takes, now)? {
                Ok(()) => Step::done(writes, Ok(())),
                Err(limited) => Step::Answer(Err(limited)),
            })
        })
        .await
    }
}

/// Buckets that are locked to be taken from.
#[derive(Clone, Copy)]
pub(crate) struct Buckets(Option<Slot>);

/// A bucket as it stands and as it will.
struct Bucket {
    key: LimitKey,
    full_at: Timestamp,
    is_new: bool,
}

impl Buckets {
    /// Locks those that are there.
    pub(crate) fn lock(script: &mut Script, takes: &[Take]) -> Self {
        if takes.is_empty() {
            return Self(None);
        }
        let keys = Value::Blobs(takes.iter().map(|take| Some(take.key.as_bytes().to_vec())).collect());
        Self(Some(script.add(LOCK_BUCKETS, vec![keys])))
    }

    /// Takes a token from each bucket, or from none where one is empty: then the first such one is named.
    pub(crate) fn take_all(
        self,
        answers: &Answers,
        writes: &mut Script,
        takes: &[Take],
        now: Timestamp,
    ) -> Fallible<Result<(), Limited>> {
        let Some(slot) = self.0 else { return Ok(Ok(())) };
        let mut buckets: Vec<Bucket> = answers.list(slot, |row| {
            let mut cells = Cells::new(row, "limit_buckets");
            let key = LimitKey::from_bytes(cells.array("key")?);
            Ok(Bucket { key, full_at: cells.time("full_at")?, is_new: false })
        })?;
        // They come in the order of their keys, and stay in it.
        for take in takes {
            match buckets.binary_search_by_key(&take.key, |bucket| bucket.key) {
                Ok(at) => match take.take(Some(buckets[at].full_at), now) {
                    Ok(full_at) => buckets[at].full_at = full_at,
                    Err(limited) => return Ok(Err(limited)),
                },
                Err(at) => match take.take(None, now) {
                    Ok(full_at) => buckets.insert(at, Bucket { key: take.key, full_at, is_new: true }),
                    Err(limited) => return Ok(Err(limited)),
                },
            }
        }
        save(writes, CREATE_BUCKETS, buckets.iter().filter(|bucket| bucket.is_new));
        save(writes, SAVE_BUCKETS, buckets.iter().filter(|bucket| !bucket.is_new));
        Ok(Ok(()))
    }
}

fn save<'a>(writes: &mut Script, sql: &'static str, buckets: impl Iterator<Item = &'a Bucket>) {
    let (keys, moments): (Vec<_>, Vec<_>) = buckets
        .map(|bucket| (Some(bucket.key.as_bytes().to_vec()), Some(bucket.full_at.as_millis())))
        .unzip();
    if !keys.is_empty() {
        writes.add(sql, values![Value::Blobs(keys), Value::Ints(moments)]);
    }
}
