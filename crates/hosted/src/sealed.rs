//! Values that a browser carries for the service, encrypted and authenticated: flows, tickets, reset tokens.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::time::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::browser::Browser;
use crate::common::Common;
use crate::errors::PageError;

/// A value that is carried by a browser.
pub(crate) trait Carried: Serialize + DeserializeOwned {
    /// Associated data of the encryption: a value of one kind does not open as another.
    const KIND: &'static str;
}

/// A value with what it is bound to.
#[derive(Serialize, Deserialize)]
struct Bound<T> {
    /// Digest of the secret of the browser.
    browser: String,
    /// End, in milliseconds since 1970.
    ends: i64,
    value: T,
}

/// An opened value and its end.
pub(crate) struct Opened<T> {
    pub(crate) value: T,
    pub(crate) ends: Timestamp,
}

/// Seals a value for a browser, as base64url.
pub(crate) fn seal<T: Carried>(
    common: &Common,
    browser: &Browser,
    ends: Timestamp,
    value: T,
) -> Result<String, PageError> {
    let bound = Bound { browser: browser.digest(), ends: ends.as_millis(), value };
    let mut bound = serde_json::to_value(&bound).map_err(PageError::internal)?;
    leave_nulls_out(&mut bound);
    let plain = serde_json::to_vec(&bound).map_err(PageError::internal)?;
    let sealed = common.keys.sealing.seal(&*common.entropy, T::KIND.as_bytes(), &plain);
    Ok(URL_SAFE_NO_PAD.encode(sealed.map_err(PageError::internal)?))
}

/// Removes the keys of what is `None`, which reads the same without them: a flow stands in each link of a page, and all
/// together may have 24 KiB.
fn leave_nulls_out(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, field| !field.is_null());
        fields.values_mut().for_each(leave_nulls_out);
    }
}

/// Opens a value, expired or not; `None` if this service did not seal it for this browser.
pub(crate) fn open<T: Carried>(common: &Common, browser: &Browser, text: &str) -> Option<Opened<T>> {
    let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
    let plain = common.keys.sealing.open(T::KIND.as_bytes(), &sealed).ok()?;
    let bound: Bound<T> = serde_json::from_slice(&plain).ok()?;
    let is_own = bound.browser == browser.digest();
    is_own.then(|| Opened { value: bound.value, ends: Timestamp::from_millis(bound.ends) })
}
