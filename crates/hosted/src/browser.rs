//! The browser secret: 256 random bits in a cookie. Flows, form tokens and page sessions belong to the browser that has
//! it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use latchkey_domain::tokens::TokenHash;

use crate::hosted::Hosted;

/// The secret of a browser.
pub(crate) struct Browser {
    secret: [u8; 32],
    /// True if the browser had none: the response sets the cookie.
    pub(crate) is_new: bool,
}

impl Browser {
    /// Reads the secret from the cookie, or makes one.
    pub(crate) fn of(hosted: &Hosted, headers: &HeaderMap) -> Self {
        let cookie = hosted.cookies.browser.read(headers);
        let known = cookie.and_then(|cookie| URL_SAFE_NO_PAD.decode(cookie.expose()).ok());
        match known.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok()) {
            Some(secret) => Self { secret, is_new: false },
            None => Self { secret: hosted.entropy.bytes(), is_new: true },
        }
    }

    pub(crate) const fn secret(&self) -> &[u8; 32] {
        &self.secret
    }

    /// Returns the value of the cookie.
    pub(crate) fn cookie(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.secret)
    }

    /// Returns the SHA-256 of the secret in base64url.
    pub(crate) fn digest(&self) -> String {
        URL_SAFE_NO_PAD.encode(TokenHash::of(&self.secret).as_bytes())
    }
}
