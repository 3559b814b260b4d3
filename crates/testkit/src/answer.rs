//! HTTP response of a test, read completely, with assertions on it. A failed assertion prints the whole response.

use std::fmt;

use reqwest::header::HeaderMap;
use serde_json::Value;
use url::Url;

/// Value of `Content-Type` in every JSON response.
const JSON: &str = "application/json; charset=utf-8";

pub struct Answer {
    /// Request line of the request. Failed assertions print it.
    pub(crate) asked: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// True if the public URL of the service is https, so that HSTS and `Secure` cookies are expected.
    pub(crate) is_https: bool,
}

impl Answer {
    /// Body as text.
    #[must_use]
    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_else(|_| panic!("not UTF-8: {self:?}"))
    }

    /// Body as JSON.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// Error code: member `error` of the body; empty if there is none.
    #[must_use]
    pub fn error_code(&self) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        body["error"].as_str().unwrap_or_default().to_owned()
    }

    /// Header value; `None` if it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Value of a numeric header such as `X-Total-Count`.
    #[must_use]
    #[track_caller]
    pub fn number(&self, name: &str) -> u64 {
        let value = self.header(name).unwrap_or_else(|| panic!("no {name}: {self:?}"));
        value.parse().unwrap_or_else(|_| panic!("{name} is no number: {self:?}"))
    }

    /// All `Set-Cookie` values.
    #[must_use]
    pub fn set_cookies(&self) -> Vec<&str> {
        self.headers.get_all("set-cookie").iter().filter_map(|value| value.to_str().ok()).collect()
    }

    /// Asserts the status and the rules that hold for every response. Returns the JSON body; null if there is none.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "another status: {self:?}");
        self.assert_secure();
        if self.body.is_empty() {
            return Value::Null;
        }
        assert_eq!(self.header("content-type"), Some(JSON), "another content type: {self:?}");
        assert!(self.body.ends_with(b"\n"), "no line feed at the end: {self:?}");
        self.json()
    }

    /// Asserts an error response with this status and code, in the common form. Returns its body.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        assert_eq!((self.status, self.error_code().as_str()), (status, code), "another refusal: {self:?}");
        let body = self.expect(status);
        assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "no message: {self:?}");
        assert_eq!(body["statusCode"], status, "another statusCode: {self:?}");
        assert_eq!(body.get("nextAction"), body.get("nextActions"), "two next actions: {self:?}");
        let is_text = body.get("nextAction").is_none_or(Value::is_string);
        assert!(is_text, "nextAction is no text: {self:?}");
        let request_id = body["requestId"].as_str();
        assert!(request_id.is_some() && request_id == self.header("x-request-id"), "another id: {self:?}");
        assert!(body.get("field").is_none_or(Value::is_string), "field is no text: {self:?}");
        assert!(body.get("reasons").is_none_or(is_list_of_words), "reasons are no words: {self:?}");
        body
    }

    /// Body as text without the `requestId` of an error response, which is different each time.
    #[must_use]
    #[track_caller]
    pub fn text_without_id(&self) -> String {
        let id = self.header("x-request-id").unwrap_or("no id");
        self.text().replace(&format!("\"requestId\":\"{id}\""), "\"requestId\":…")
    }

    /// Asserts a validation error on this field with these reasons.
    #[track_caller]
    pub fn refused_for(&self, code: &str, field: &str, reasons: &[&str]) {
        let body = self.refused(self.status, code);
        let said: Vec<_> =
            body["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert_eq!(
            (body["field"].as_str(), &said[..]),
            (Some(field), reasons),
            "another field or reason: {self:?}"
        );
    }

    /// Asserts a 302 and returns its target.
    #[track_caller]
    pub fn redirected(&self) -> Url {
        assert_eq!(self.status, 302, "no redirect: {self:?}");
        self.assert_secure();
        let target = self.header("location").unwrap_or_else(|| panic!("no location: {self:?}"));
        Url::parse(target).unwrap_or_else(|_| panic!("no absolute target: {self:?}"))
    }

    /// Asserts an HTML page with this status and returns its text.
    #[track_caller]
    pub fn page(&self, status: u16) -> &str {
        assert_eq!(self.status, status, "another status: {self:?}");
        self.assert_secure();
        let is_html = self.header("content-type").is_some_and(|value| value.starts_with("text/html"));
        assert!(is_html, "no page: {self:?}");
        self.text()
    }

    /// Asserts a hosted page with this status and the headers of every hosted page, and returns its text.
    #[track_caller]
    pub fn hosted(&self, status: u16) -> &str {
        assert_eq!(self.status, status, "another status: {self:?}");
        for (name, value) in latchkey_pages::HEADERS {
            assert_eq!(self.header(name), Some(value), "{self:?}");
        }
        assert_eq!(self.header("content-type"), Some("text/html; charset=utf-8"), "no page: {self:?}");
        assert!(self.header("x-request-id").is_some(), "no request id: {self:?}");
        assert!(self.header("access-control-allow-origin").is_none(), "CORS: {self:?}");
        assert_eq!(self.header("strict-transport-security").is_some(), self.is_https, "HSTS: {self:?}");
        self.text()
    }

    /// Asserts the security headers of every response.
    #[track_caller]
    pub fn assert_secure(&self) {
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"), "{self:?}");
        assert_eq!(self.header("referrer-policy"), Some("no-referrer"), "{self:?}");
        assert!(self.header("content-security-policy").is_some(), "no content security policy: {self:?}");
        assert!(self.header("cache-control").is_some(), "no cache control: {self:?}");
        assert!(self.header("x-request-id").is_some(), "no request id: {self:?}");
        assert_eq!(self.header("server"), None, "a version banner: {self:?}");
        assert_eq!(self.header("strict-transport-security").is_some(), self.is_https, "HSTS: {self:?}");
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}", self.asked, self.status)?;
        for (name, value) in &self.headers {
            writeln!(f, "{name}: {}", String::from_utf8_lossy(value.as_bytes()))?;
        }
        writeln!(f, "\n{}", String::from_utf8_lossy(&self.body))
    }
}

/// True for a non-empty list of words such as `too_short`.
fn is_list_of_words(value: &Value) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|c| c.is_ascii_lowercase() || c == b'_');
    let words = value.as_array().filter(|words| !words.is_empty());
    words.is_some_and(|words| words.iter().all(|word| word.as_str().is_some_and(is_word)))
}

/// Query parameter of a redirect target; `None` if it is missing.
#[must_use]
pub fn parameter(target: &Url, name: &str) -> Option<String> {
    target.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
