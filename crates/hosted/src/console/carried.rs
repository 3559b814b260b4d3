//! Values that a browser carries to the next page of the console in a cookie, sealed for this browser. So neither tokens
//! nor challenges stand in an address.

use std::time::Duration;

use http::HeaderMap;
use latchkey_http::cookies::Cookie;

use super::guest::Guest;
use crate::errors::PageError;
use crate::sealed::Carried;

/// A value with a cookie of its own. Each of a kind replaces the one before it in the browser.
pub(super) trait InCookie: Carried {
    /// Name of the cookie.
    const COOKIE: &'static str;
}

/// Keeps a value for the next page.
pub(super) fn keep<T: InCookie>(guest: &mut Guest, lifetime: Duration, value: T) -> Result<(), PageError> {
    let sealed = guest.seal(guest.now.plus(lifetime), value)?;
    let cookie = cookie::<T>(guest).set(&sealed, lifetime);
    guest.set_cookie(cookie)
}

/// Returns the value that this browser carries; `None` as well if it has expired or was sealed for another browser.
pub(super) fn find<T: InCookie>(guest: &Guest, headers: &HeaderMap) -> Option<T> {
    guest.open(cookie::<T>(guest).read(headers)?.expose())
}

/// Removes the value from this browser.
pub(super) fn forget<T: InCookie>(guest: &mut Guest) -> Result<(), PageError> {
    let cookie = cookie::<T>(guest).clear();
    guest.set_cookie(cookie)
}

fn cookie<T: InCookie>(guest: &Guest) -> Cookie {
    Cookie::of_console(&guest.console.settings, T::COOKIE)
}
