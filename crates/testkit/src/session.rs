//! The tokens that an answer brought.

use serde_json::Value;

use crate::answer::Answer;

/// What a client keeps of an answer that opened or refreshed a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The user's id.
    pub user_id: String,
    /// The access token.
    pub access_token: String,
    /// The CSRF token of a web session.
    pub csrf_token: Option<String>,
    /// The refresh cookie of a web session, `name=value`.
    pub cookie: Option<String>,
    /// The refresh token of the other sessions.
    pub refresh_token: Option<String>,
}

impl Session {
    /// Reads a 200 with tokens.
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

    /// The refresh token, wherever it is kept.
    #[must_use]
    #[track_caller]
    pub fn refresh_secret(&self) -> &str {
        let in_cookie = || self.cookie.as_deref()?.split_once('=').map(|(_, value)| value);
        self.refresh_token.as_deref().or_else(in_cookie).expect("a refresh token")
    }
}
