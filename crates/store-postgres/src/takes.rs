//! Token buckets of the rate limits. One statement computes how many tokens they hold and takes from them on
//! the server, in the script's round trip. The crate `latchkey_domain` supplies the parameters and interprets
//! the result.

use latchkey_domain::limits::LimitKey;
use latchkey_store::StoreResult;
use latchkey_store_operations::form::{TakeRequest, Taken};
use latchkey_store_operations::is_live;

use crate::script::{Output, Script, Slot};
use crate::values::{Value, values};

/// Statement that takes a token from each of several buckets, if every bucket has one and the SQL expression
/// `$condition` is true; otherwise it takes none. It locks the buckets in key order and computes their levels
/// with the terms of [`latchkey_domain::limits::TakeTerms`]. It returns each key, the previous state of the
/// bucket, and whether the tokens were taken. The writes use the levels that the subquery `taken` computes
/// from the locked rows, so these cannot be outdated. If another transaction inserts a bucket concurrently,
/// the statement fails with a unique violation, and the operation starts again.
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
    is_live!("$1"),
    ")"
));

/// Adds the statement that takes from the buckets.
pub(crate) fn add(script: &mut Script, request: &TakeRequest) -> Slot {
    let mut values = take_values(request);
    match &request.only_for {
        None => script.add(TAKE, values),
        Some((session, email)) => {
            values.extend(values![*session, email]);
            script.add(TAKE_FOR_SESSION, values)
        }
    }
}

/// Decodes the outcome: [`Taken::Limited`] with the limit of the first empty bucket, if a bucket was empty.
pub(crate) fn outcome(output: &Output, request: &TakeRequest) -> StoreResult<Taken> {
    let buckets = output.list(|cells| {
        let key = LimitKey::from_bytes(cells.of("limit_buckets").array("key")?);
        Ok((key, cells.maybe_time("full_at")?, cells.flag("key")?))
    })?;
    for take in &request.takes {
        let full_at = buckets.iter().find(|(key, ..)| *key == take.key).and_then(|(_, full_at, _)| *full_at);
        if let Err(limited) = take.take(full_at, request.now) {
            return Ok(Taken::Limited(limited));
        }
    }
    let is_taken = buckets.iter().all(|(.., is_taken)| *is_taken);
    Ok(if is_taken { Taken::Yes } else { Taken::No })
}

fn take_values(request: &TakeRequest) -> Vec<Value> {
    let TakeRequest { takes, now, .. } = request;
    let terms = || takes.iter().map(|take| take.terms(*now));
    values![
        *now,
        Value::Blobs(takes.iter().map(|take| Some(take.key.as_bytes().to_vec())).collect()),
        Value::Ints(terms().map(|terms| Some(terms.latest.as_millis())).collect()),
        Value::Ints(terms().map(|terms| Some(terms.plausible.as_millis())).collect()),
        Value::Ints(terms().map(|terms| Some(terms.token_ms)).collect()),
        Value::Ints(terms().map(|terms| Some(terms.most.as_millis())).collect()),
    ]
}
