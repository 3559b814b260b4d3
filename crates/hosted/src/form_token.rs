//! Form tokens: they show that a form comes from our own page in this browser.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::browser::Browser;
use crate::common::Common;

/// Name of the hidden field.
pub(crate) const FIELD: &str = "form_token";

/// Computes the token of a form. `scope` is the flow, the session, or both.
pub(crate) fn token(common: &Common, browser: &Browser, path: &str, scope: &str) -> String {
    URL_SAFE_NO_PAD.encode(hmac::sign(&common.keys.forms, &message(browser, path, scope)))
}

/// Adds the session in the scope to a token, so that the form still says whose it is when its session has ended.
pub(crate) fn with_scope(token: String, session: &str) -> String {
    token + "." + session
}

/// Returns the session that [`with_scope`] added to a token.
pub(crate) fn scope(token: &str) -> Option<&str> {
    token.split_once('.').map(|(_, session)| session)
}

/// True if the token of a form is right. The comparison takes constant time.
pub(crate) fn is_right(common: &Common, browser: &Browser, path: &str, scope: &str, token: &str) -> bool {
    let token = token.split_once('.').map_or(token, |(tag, _)| tag);
    let Ok(tag) = URL_SAFE_NO_PAD.decode(token) else { return false };
    hmac::verify(&common.keys.forms, &message(browser, path, scope), &tag).is_ok()
}

/// Joins the parts: the secret has a fixed length, and neither path nor scope has a line feed.
fn message(browser: &Browser, path: &str, scope: &str) -> Vec<u8> {
    [browser.secret.expose().as_bytes(), path.as_bytes(), b"\n", scope.as_bytes()].concat()
}
