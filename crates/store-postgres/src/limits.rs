//! Token buckets. The arithmetic is the domain's: where a decision follows in any case, it is taken with that decision
//! ([`Buckets`]); where nothing else is decided, the server counts in the same round trip ([`Taking`]), by the numbers of
//! the rule, and the domain says what came of it.

use async_trait::async_trait;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::{LimitKey, Limited, Take};
use latchkey_domain::time::Timestamp;
use latchkey_store::{Limits, StoreResult};

use crate::errors::Fallible;
use crate::rows::Cells;
use crate::script::{Answers, Script, Slot};
use crate::sessions::living;
use crate::store::PostgresStore;
use crate::values::{Value, values};

/// Locks the buckets in the order of their keys, counts by [`latchkey_domain::limits::TakeTerms`], and writes where all
/// have a token and the condition holds. Answers each key, its state before, and whether was taken. `taken` is made of what
/// was locked, so the writes see no other state; a bucket that somebody else made meanwhile breaks the unique key.
macro_rules! take_where {
    ($condition:expr) => {
        concat!(
            "WITH locked AS (
                SELECT key, full_at FROM limit_buckets WHERE key = ANY($2) ORDER BY key FOR NO KEY UPDATE),
            taken AS (
                SELECT w.key, l.key IS NULL AS is_new, l.full_at AS before, w.most,
                    greatest(least(CASE WHEN l.full_at <= w.believed THEN l.full_at ELSE $1 END, w.latest), $1)
                        + w.token AS after
                FROM unnest($2, $3, $4, $5, $6) AS w (key, latest, believed, token, most) LEFT JOIN locked AS l ON l.key = w.key),
            verdict AS (SELECT bool_and(after <= most) AND ",
            $condition,
            " AS fits FROM taken),
            created AS (
                INSERT INTO limit_buckets (key, full_at)
                SELECT t.key, t.after FROM taken AS t CROSS JOIN verdict AS v WHERE v.fits AND t.is_new ORDER BY t.key),
            saved AS (
                UPDATE limit_buckets AS b SET full_at = t.after FROM taken AS t CROSS JOIN verdict AS v
                WHERE b.key = t.key AND v.fits AND NOT t.is_new)
            SELECT t.key, t.before, v.fits FROM taken AS t CROSS JOIN verdict AS v"
        )
    };
}
const TAKE: &str = take_where!("TRUE");
const TAKE_FOR_SESSION: &str = take_where!(concat!(
    "EXISTS (SELECT 1 FROM sessions AS s JOIN users AS u ON u.id = s.user_id
        WHERE s.id = $7 AND u.email_key = $8 AND u.banned_at IS NULL AND ",
    living!("$1"),
    ")"
));
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
        let mut script = Script::default();
        let taking = Taking::add(&mut script, takes, now);
        let answers = self.repeat(&script).await?;
        Ok(taking.outcome(&answers, takes, now)?.map(drop))
    }
}

/// Tokens that are taken in the statement that looks at their buckets.
#[derive(Clone, Copy)]
pub(crate) struct Taking(Option<Slot>);

/// Whether tokens that were there were taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    Yes,
    /// What they were to be taken for did not hold.
    No,
}

impl Taking {
    /// Takes a token from each bucket, or from none where one is empty.
    pub(crate) fn add(script: &mut Script, takes: &[Take], now: Timestamp) -> Self {
        let values = || take_values(takes, now);
        Self((!takes.is_empty()).then(|| script.add(TAKE, values())))
    }

    /// The same, and from none unless the session lives and its user has this address.
    pub(crate) fn add_for_session(
        script: &mut Script,
        takes: &[Take],
        session: SessionId,
        email: &EmailKey,
        now: Timestamp,
    ) -> Self {
        let values = || {
            let mut values = take_values(takes, now);
            values.extend(values![session, email]);
            values
        };
        Self((!takes.is_empty()).then(|| script.add(TAKE_FOR_SESSION, values())))
    }

    /// What came of it; the first bucket that is empty is named.
    pub(crate) fn outcome(
        self,
        answers: &Answers,
        takes: &[Take],
        now: Timestamp,
    ) -> Fallible<Result<Taken, Limited>> {
        let Some(slot) = self.0 else { return Ok(Ok(Taken::Yes)) };
        let buckets = answers.list(slot, |row| {
            let mut cells = Cells::new(row, "limit_buckets");
            let key = LimitKey::from_bytes(cells.array("key")?);
            Ok((key, cells.maybe_time("full_at")?, cells.flag("key")?))
        })?;
        for take in takes {
            let full_at =
                buckets.iter().find(|(key, ..)| *key == take.key).and_then(|(_, full_at, _)| *full_at);
            if let Err(limited) = take.take(full_at, now) {
                return Ok(Err(limited));
            }
        }
        let is_taken = buckets.iter().all(|(.., is_taken)| *is_taken);
        Ok(Ok(if is_taken { Taken::Yes } else { Taken::No }))
    }
}

fn take_values(takes: &[Take], now: Timestamp) -> Vec<Value> {
    let terms = || takes.iter().map(|take| take.terms(now));
    values![
        now,
        Value::Blobs(takes.iter().map(|take| Some(take.key.as_bytes().to_vec())).collect()),
        Value::Ints(terms().map(|terms| Some(terms.latest.as_millis())).collect()),
        Value::Ints(terms().map(|terms| Some(terms.believed.as_millis())).collect()),
        Value::Ints(terms().map(|terms| Some(terms.token_ms)).collect()),
        Value::Ints(terms().map(|terms| Some(terms.most.as_millis())).collect()),
    ]
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
