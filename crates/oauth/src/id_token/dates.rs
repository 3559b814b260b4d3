//! Validation of the times of an `id_token`: `exp`, `nbf` and `iat` (RFC 7519 section 4.1), all numeric.

use std::time::Duration;

use latchkey_domain::time::Timestamp;
use serde_json::Value;

use crate::error::IdTokenFault;

/// Tolerated clock skew, if the provider's clock is ahead.
const AHEAD: Duration = Duration::from_mins(1);
/// Maximum age of a token by `iat`.
const OLDEST: Duration = Duration::from_mins(10);
/// End of the year 9999, the latest accepted date.
const LAST_SECOND: f64 = 253_402_300_799.0;

/// Checks `exp`, `nbf` and `iat`; returns `exp`.
pub(super) fn check(claims: &Value, now: Timestamp) -> Result<Timestamp, IdTokenFault> {
    let expires_at = date(&claims["exp"])?.ok_or(IdTokenFault::Date)?;
    let issued_at = date(&claims["iat"])?.ok_or(IdTokenFault::Date)?;
    let not_before = date(&claims["nbf"])?;
    if now >= expires_at {
        return Err(IdTokenFault::Expired);
    }
    if not_before.is_some_and(|date| date > now.plus(AHEAD)) {
        return Err(IdTokenFault::NotYetValid);
    }
    if issued_at > now.plus(AHEAD) {
        return Err(IdTokenFault::IssuedInFuture);
    }
    if issued_at < now.minus(OLDEST) {
        return Err(IdTokenFault::TooOld);
    }
    Ok(expires_at)
}

/// Parses a `NumericDate`: seconds since 1970, possibly fractional; `None` if absent. Strings are refused.
fn date(value: &Value) -> Result<Option<Timestamp>, IdTokenFault> {
    let seconds = match value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_f64().ok_or(IdTokenFault::Date)?,
        _ => return Err(IdTokenFault::Date),
    };
    if !(0.0..=LAST_SECOND).contains(&seconds) {
        return Err(IdTokenFault::Date);
    }
    #[allow(clippy::cast_possible_truncation, reason = "its range was checked")]
    let millis = (seconds * 1000.0) as i64;
    Ok(Some(Timestamp::from_millis(millis)))
}
