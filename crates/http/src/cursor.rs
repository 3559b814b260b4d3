//! Pagination cursors: creation time and id of the last item of a page. Clients treat them as opaque.

use std::fmt::Display;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::reason::Reason;
use latchkey_domain::time::Timestamp;

use crate::error::{ApiError, Result};

/// Encodes a cursor.
#[must_use]
pub fn encode(created_at: Timestamp, id: impl Display) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{id}", created_at.as_millis()))
}

/// Decodes the value of the parameter `cursor`.
pub fn decode<T: FromStr>(cursor: &str) -> Result<(Timestamp, T)> {
    let read = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (millis, id) = text.split_once('.')?;
        Some((Timestamp::from_millis(millis.parse().ok()?), id.parse().ok()?))
    };
    let problem = "must be a `nextCursor` of an earlier page";
    read().ok_or_else(|| ApiError::validation("cursor", problem).reason(Reason::InvalidFormat))
}
