//! Recording of HTTP exchanges. With `LATCHKEY_RECORD=FILE` every exchange of a test is appended to the file as one
//! JSON line, with ids, tokens and other changing parts replaced. `cargo xtask record` compares two such files.

use std::fs::OpenOptions;
use std::io::Write;

use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};

use crate::answer::Answer;

/// Maximum length in bytes of a text that is recorded in full.
const LONGEST: usize = 20_000;

/// Copy of a request as it is sent.
pub(crate) struct Sent {
    target: String,
    headers: Value,
    body: String,
}

impl Sent {
    /// Copies the request if this run is recorded.
    #[expect(clippy::disallowed_methods, reason = "a switch of the test run, no setting of the service")]
    pub(crate) fn new(
        method: &reqwest::Method,
        url: &reqwest::Url,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<Self> {
        std::env::var_os("LATCHKEY_RECORD")?;
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let target = stable(format!("{method} {}{query}", url.path()).as_bytes());
        Some(Self { target, headers: stable_headers(headers), body: stable(body) })
    }

    /// Appends the exchange to the file. The last part of the test's name is the storage engine.
    #[expect(clippy::disallowed_methods, reason = "a switch of the test run, no setting of the service")]
    pub(crate) fn record(self, answer: &Answer) {
        let thread = std::thread::current();
        let engine = thread.name().and_then(|name| name.rsplit("::").next());
        let line = json!({
            "request": self.target,
            "engine": engine.filter(|name| ["sqlite", "postgres"].contains(name)),
            "requestHeaders": self.headers,
            "requestBody": self.body,
            "status": answer.status,
            "headers": stable_headers(&answer.headers),
            "body": stable(&answer.body),
        });
        let file = std::env::var_os("LATCHKEY_RECORD").unwrap();
        let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
        // A single write, so that lines of different threads do not mix.
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

fn stable_headers(headers: &HeaderMap) -> Value {
    let mut all: Vec<_> = headers.iter().filter(|(name, _)| *name != "date").collect();
    all.sort_by_key(|(name, _)| name.as_str());
    let mut stable_ones = Map::new();
    for (name, value) in all {
        let values = stable_ones.entry(name.as_str()).or_insert_with(|| json!([]));
        values.as_array_mut().unwrap().push(stable(value.as_bytes()).into());
    }
    stable_ones.into()
}

/// Returns the text with ids, tokens, codes and ports replaced by placeholders.
#[must_use]
pub fn stable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut stable = String::with_capacity(text.len());
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut rest = text.as_ref();
    while let Some(first) = rest.chars().next() {
        let end =
            if is_part(first) { rest.find(|c| !is_part(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let part = replacement(&rest[..end], &stable);
        stable.push_str(part);
        rest = &rest[end..];
    }
    if stable.len() > LONGEST {
        let end = stable.floor_char_boundary(LONGEST);
        stable.truncate(end);
        stable.push('…');
    }
    stable
}

fn replacement<'a>(part: &'a str, before: &str) -> &'a str {
    let has = |is: fn(&u8) -> bool| part.as_bytes().iter().any(is);
    let is_number = part.bytes().all(|c| c.is_ascii_digit());
    let is_uuid = part.len() == 36
        && part.bytes().enumerate().all(|(at, c)| (c == b'-') == [8, 13, 18, 23].contains(&at));
    match part.len() {
        36 if is_uuid => "<id>",
        6 if is_number => "<code>",
        _ if is_number && (before.ends_with("127.0.0.1:") || before.ends_with("localhost:")) => "<port>",
        _ if part.starts_with("3A") && (before.ends_with("127.0.0.1%") || before.ends_with("localhost%")) => {
            "3A<port>"
        }
        16.. if has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) => "<token>",
        _ => part,
    }
}
