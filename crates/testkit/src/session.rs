//! Tokens of a session, read from a response.

use serde_json::Value;

use crate::answer::Answer;

/// Tokens in a response that opened or refreshed a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Id of the user.
    pub user_id: String,
    /// Access token.
    pub access_token: String,
    /// CSRF token of a web session.
    pub csrf_token: Option<String>,
    /// Refresh cookie of a web session, `name=value`.
    pub cookie: Option<String>,
    /// Refresh token of a session of a client other than the web client.
    pub refresh_token: Option<String>,
}

impl Session {
    /// Reads the tokens from a response, whose status must be 200.
    #[must_use]
    #[track_caller]
    pub fn of(answer: &Answer) -> Self {
        let body = answer.expect(200);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let must = |value: &Value| text(value).unwrap_or_else(|| panic!("no session: {answer:?}"));
        let cookie = answer.set_cookies().first().and_then(|cookie| cookie.split(';').next());
        Self {
            user_id: must(&body["user"]["id"]),
            access_token: must(&body["accessToken"]),
            csrf_token: text(&body["csrfToken"]),
            cookie: cookie.map(str::to_owned),
            refresh_token: text(&body["refreshToken"]),
        }
    }

    /// Refresh token, from the cookie or the body.
    #[must_use]
    #[track_caller]
    pub fn refresh_secret(&self) -> &str {
        let in_cookie = || self.cookie.as_deref()?.split_once('=').map(|(_, value)| value);
        self.refresh_token.as_deref().or_else(in_cookie).expect("a refresh token")
    }
}
