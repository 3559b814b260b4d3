//! Model test of the redirect allow-list: generated lists and URLs, compared with a simple matcher that works on the
//! text of the entries. Particular hostile URLs are in `redirect_cases.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use latchkey_domain::redirect::{DevelopmentLoopback, RedirectPolicy};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use url::{Position, Url};

fn policy(entries: &[String], development: DevelopmentLoopback) -> RedirectPolicy {
    RedirectPolicy::parse(entries, development).unwrap()
}

const SCHEMES: &[&str] = &["https", "http"];
#[rustfmt::skip]
const ENTRY_HOSTS: &[&str] = &[
    "good.example", "app.good.example", "*.good.example", "a.*.good.example", "localhost", "*.localhost", "127.0.0.1", "[::1]",
    "xn--bcher-kva.example",
];
const ENTRY_PORTS: &[&str] = &["", ":80", ":443", ":8443"];
const ENTRY_PATHS: &[&str] = &["", "/", "/cb", "/a/b", "/app/*", "/app/*/done", "/app/**", "/*/**", "/**"];
const ENTRY_QUERIES: &[&str] = &["", "", "?", "?a=1"];
const CUSTOM: &[&str] = &["myapp://callback", "myapp:callback", "com.example.app:/oauth"];

#[rustfmt::skip]
const HARD_SCHEMES: &[&str] = &[
    "https", "http", "HTTPS", "hTTp", "ws", "ftp", "javascript", "data", "file", "blob", "about", "vbscript", "myapp", "https ", "",
    "view-source:https", "com.example.app",
];
const SEPARATORS: &[&str] =
    &["://", "://", "://", "://", ":", ":/", ":///", "//", ":\\\\", ":/\\", ":\t//", "::", ":////", ""];
const USERS: &[&str] = &[
    "",
    "",
    "",
    "",
    "good.example@",
    "good.example:443@",
    "@",
    ":@",
    "good.example%40",
    "a\\@",
    "good.example/@",
];
#[rustfmt::skip]
const HARD_HOSTS: &[&str] = &[
    "good.example", "GOOD.example", "evil.example", "good.example.evil.example", "evilgood.example", "good.example.", ".good.example",
    "app.good.example", "x.good.example", "x.y.good.example", "a.b.good.example", "x.good.example.evil.example", "*.good.example", "**.good.example", "%2a.good.example",
    "gооd.example", "ｇood.example", "good。example", "good\u{AD}.example", "good.example%00", "good.example%2eevil.example", "bücher.example",
    "localhost", "x.localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "127.0.0.1.",
    "１２７.0.0.1", "[::1]", "[0::1]", "[::ffff:127.0.0.1]", "[::1", "::1", "", "callback", "evil.example#", "evil.example?", "evil.example;",
];
const HARD_PORTS: &[&str] = &[
    "",
    "",
    ":",
    ":443",
    ":80",
    ":8443",
    ":00443",
    ":65536",
    ":-1",
    ":443@evil.example",
    ":8443evil",
    ".evil.example",
    ": 443",
];
#[rustfmt::skip]
const HARD_PATHS: &[&str] = &[
    "", "/", "/cb", "/CB", "/cb/", "//cb", "/%63b", "/cb/..", "/x/../cb", "/x/%2e%2E/cb", "/..//evil.example", "/a%2fb", "/a/b", "/a\\b",
    "/app/x", "/app/", "/app", "/app/x/done", "/app/x/y/done", "/app/../cb", "/app/%2e%2e/cb", "/app/%252e%252e/done", "/app/a%2f..%2f../done",
    "/app/x%00/done", "/app/x%0d%0aSet-Cookie:a/done", "/app//done", "/app/./done", "/;/cb", "/*", "/**", "/app/*", "callback", "/oauth",
    "//evil.example/app/x",
];
const HARD_TAILS: &[&str] = &[
    "",
    "",
    "?",
    "?a=1",
    "?a=1&a=1",
    "?a=2",
    "#",
    "#x",
    "?a=1#@evil.example",
    "#?a=1",
    "?\\",
    "? ",
    "#\u{7f}",
];
#[rustfmt::skip]
const NASTY: &[char] = &[
    '@', '\\', '/', ':', '.', '#', '?', '*', '%', '\t', '\n', '\r', '\0', ' ', '\u{A0}', '\u{AD}', '\u{200B}', '\u{202E}', '\u{FEFF}', '。',
    '\u{FF0F}', '\u{FF20}', '\u{2044}', '[', ']', '^', '|', '<', 'A', '0', 'е', '\u{10FFFF}',
];

fn joined(parts: [&'static [&'static str]; 5]) -> impl Strategy<Value = String> {
    parts.map(select).prop_map(|parts| parts.concat())
}

fn entry() -> impl Strategy<Value = String> {
    let web = (select(SCHEMES), joined([&["://"], ENTRY_HOSTS, ENTRY_PORTS, ENTRY_PATHS, ENTRY_QUERIES]));
    prop_oneof![
        8 => web.prop_map(|(scheme, rest)| format!("{scheme}{rest}")),
        1 => select(CUSTOM).prop_map(str::to_owned),
    ]
}

/// Generates a URL that the first entry allows (a loopback URL for an empty list), with some parts changed.
fn near_url(entries: &[String], parts: [Option<&str>; 7]) -> String {
    let base = filled(entries.first().map_or("http://localhost:8443/cb", String::as_str));
    let (scheme, rest) = base.split_once(':').unwrap();
    let separator = if rest.starts_with("//") { "://" } else { ":" };
    let rest = rest.trim_start_matches('/');
    let (front, tail) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    let (authority, path) = front.split_at(front.find('/').unwrap_or(front.len()));
    let port_at = authority.rfind(':').filter(|_| !authority.ends_with(']'));
    let (host, port) = authority.split_at(port_at.unwrap_or(authority.len()));

    let kept = [scheme, separator, "", host, port, path, tail];
    kept.iter().zip(parts).map(|(kept, hard)| hard.unwrap_or(kept)).collect()
}

fn hard_parts() -> impl Strategy<Value = [Option<&'static str>; 7]> {
    [HARD_SCHEMES, SEPARATORS, USERS, HARD_HOSTS, HARD_PORTS, HARD_PATHS, HARD_TAILS]
        .map(|texts| prop::option::weighted(0.25, select(texts)))
}

fn hard_url() -> impl Strategy<Value = String> {
    let start = joined([HARD_SCHEMES, SEPARATORS, USERS, HARD_HOSTS, HARD_PORTS]);
    (start, select(HARD_PATHS), select(HARD_TAILS))
        .prop_map(|(start, path, tail)| format!("{start}{path}{tail}"))
}

/// Returns a URL that the entry allows, with its wildcards replaced.
fn filled(entry: &str) -> String {
    entry.replace("/**", "/r/s").replace('*', "x")
}

/// Inserts, removes or replaces characters.
fn mutated(text: &str, edits: &[(Index, u8, char)]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for &(index, kind, character) in edits {
        let at = index.index(characters.len() + 1);
        match kind {
            0 if at < characters.len() => drop(characters.remove(at)),
            1 if at < characters.len() => characters[at] = character,
            _ => characters.insert(at, character),
        }
    }
    characters.into_iter().collect()
}

fn edits() -> impl Strategy<Value = Vec<(Index, u8, char)>> {
    prop::collection::vec((any::<Index>(), 0..3_u8, select(NASTY)), 0..4)
}

/// Reference matcher: compares the text of an entry with the parsed URL. Its wildcards match more than the policy's, so
/// the policy may accept only URLs that it accepts.
fn reference_accepts(entry: &str, url: &Url) -> bool {
    let (front, query) = entry.split_once('?').map_or((entry, None), |(front, query)| (front, Some(query)));
    if query.is_some() && query != url.query() {
        return false;
    }
    if !front.starts_with("http") {
        return url.as_str().split(['?', '#']).next() == Some(front);
    }

    let (scheme, rest) = front.split_once("://").unwrap();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let default = if scheme == "https" { 443 } else { 80 };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().unwrap()),
        _ => (authority, default),
    };
    let path = if path.is_empty() { "/" } else { path };

    url.scheme() == scheme
        && url.port().unwrap_or(default) == port
        && pieces_match(&split(host, '.'), &split(url.host_str().unwrap(), '.'))
        && pieces_match(&split(path, '/'), &split(url.path(), '/'))
}

fn split(text: &str, separator: char) -> Vec<&str> {
    text.split(separator).collect()
}

fn pieces_match(pattern: &[&str], text: &[&str]) -> bool {
    match (pattern, text) {
        ([], []) | (["**"], [_, ..]) => true,
        ([piece, pattern @ ..], [first, text @ ..]) => {
            (piece == first || (*piece == "*" && !first.is_empty())) && pieces_match(pattern, text)
        }
        _ => false,
    }
}

fn decoded(path: &str) -> String {
    let mut text = path.to_owned();
    for _ in 0..3 {
        for (code, plain) in [
            ("%25", "%"),
            ("%2e", "."),
            ("%2E", "."),
            ("%2f", "/"),
            ("%2F", "/"),
            ("%5c", "\\"),
            ("%5C", "\\"),
            ("%00", "\0"),
        ] {
            text = text.replace(code, plain);
        }
    }
    text
}

/// Asserts the invariants of every outcome.
fn assert_sound(entries: &[String], target: &str) -> Result<(), TestCaseError> {
    let policy = policy(entries, DevelopmentLoopback::Allowed);
    let Ok(passed) = policy.check(target) else {
        return Ok(());
    };
    let url = Url::parse(passed.as_str()).unwrap();

    prop_assert_eq!(url.as_str(), passed.as_str(), "serialised text is stable");
    prop_assert!(url.username().is_empty() && url.password().is_none());
    prop_assert!(!target.contains('\\') && !target.chars().any(char::is_control));
    prop_assert!(!["javascript", "data", "file", "vbscript", "blob", "about"].contains(&url.scheme()));
    if entries.is_empty() {
        prop_assert!(matches!(url.scheme(), "http" | "https"));
        prop_assert!(matches!(url.host_str(), Some("localhost" | "127.0.0.1")));
        prop_assert!(target.to_ascii_lowercase().contains(url.host_str().unwrap()));
    } else {
        prop_assert!(entries.iter().any(|entry| reference_accepts(entry, &url)), "{} is on no entry", url);
        let path = decoded(url.path());
        prop_assert!(
            !path.split('/').any(|segment| segment == "..") && !path.contains(['\\', '\0']),
            "{}",
            path
        );
        prop_assert_eq!(path.matches('/').count(), url.path().matches('/').count());
    }

    // A stored URL must pass the check again when its link is opened.
    prop_assert_eq!(policy.check(passed.as_str()), Ok(passed.clone()));
    // Appended parameters leave everything before them unchanged.
    let sent = Url::parse(&passed.with_query(&[("token", "t")], &[])).unwrap();
    prop_assert_eq!(&sent[..Position::AfterPath], &url[..Position::AfterPath]);
    prop_assert_eq!(sent.fragment(), url.fragment());
    prop_assert!(sent.query().unwrap().starts_with(url.query().unwrap_or_default()));
    prop_assert_eq!(sent.query_pairs().last(), Some(("token".into(), "t".into())));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_off_the_list_passes_among_hard_urls(
        entries in prop::collection::vec(entry(), 0..4),
        target in hard_url(),
    ) {
        assert_sound(&entries, &target)?;
    }

    #[test]
    fn nothing_off_the_list_passes_among_near_urls(
        entries in prop::collection::vec(entry(), 0..4),
        parts in hard_parts(),
    ) {
        assert_sound(&entries, &near_url(&entries, parts))?;
    }

    #[test]
    fn nothing_off_the_list_passes_among_mutated_hard_urls(
        entries in prop::collection::vec(entry(), 0..4),
        target in hard_url(),
        edits in edits(),
    ) {
        assert_sound(&entries, &mutated(&target, &edits))?;
    }

    #[test]
    fn nothing_off_the_list_passes_among_mutated_listed_urls(
        entries in prop::collection::vec(entry(), 1..4),
        edits in edits(),
    ) {
        let target = mutated(&filled(&entries[0]), &edits);
        assert_sound(&entries, &target)?;
    }

    #[test]
    fn no_text_panics(entries in prop::collection::vec(entry(), 0..2), target in any::<String>()) {
        assert_sound(&entries, &target)?;
    }

    #[test]
    fn no_entry_panics(text in hard_url(), edits in edits()) {
        let _ = RedirectPolicy::parse(&[mutated(&text, &edits)], DevelopmentLoopback::Refused);
    }

    #[test]
    fn listed_targets_pass(entries in prop::collection::vec(entry(), 1..4), fragment in select(&["", "#x"][..])) {
        for entry in &entries {
            let target = format!("{}{fragment}", filled(entry));
            prop_assert!(policy(&entries, DevelopmentLoopback::Refused).check(&target).is_ok(), "{}", target);
        }
    }
}
