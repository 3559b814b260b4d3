//! The browser secret: 256 random bits in a cookie. Flows, form tokens and page sessions belong to the browser that has
//! it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use latchkey_domain::page_session::BrowserSecret;

use crate::common::Common;

/// A browser, by its secret.
pub(crate) struct Browser {
    pub(crate) secret: BrowserSecret,
    /// True if the browser had none: the response sets the cookie.
    pub(crate) is_new: bool,
}

impl Browser {
    /// Reads the secret from the cookie, or makes one.
    pub(crate) fn of(common: &Common, headers: &HeaderMap) -> Self {
        let cookie = common.browser.read(headers);
        match cookie.and_then(|cookie| BrowserSecret::parse(cookie.expose())) {
            Some(secret) => Self { secret, is_new: false },
            None => Self { secret: BrowserSecret::new(common.entropy.bytes()), is_new: true },
        }
    }

    /// Returns the SHA-256 of the secret in base64url.
    pub(crate) fn digest(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.secret.hash().as_bytes())
    }
}

/// True if a browser fetches a page ahead, before anybody asks for it. `Purpose` is the older name of the header.
pub(crate) fn is_prefetch(headers: &HeaderMap) -> bool {
    let purposes = ["sec-purpose", "purpose"].into_iter().filter_map(|name| headers.get(name));
    purposes.into_iter().any(|purpose| purpose.as_bytes().starts_with(b"prefetch"))
}
