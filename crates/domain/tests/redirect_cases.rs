//! Named cases of hostile redirect URLs, including URLs that browsers parse leniently.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use latchkey_domain::redirect::{DevelopmentLoopback, RedirectPolicy, RedirectUrl};

fn policy(entries: &[impl ToString], development: DevelopmentLoopback) -> RedirectPolicy {
    let entries: Vec<String> = entries.iter().map(ToString::to_string).collect();
    RedirectPolicy::parse(&entries, development).unwrap()
}

fn listed(entries: &[&str]) -> RedirectPolicy {
    policy(entries, DevelopmentLoopback::Refused)
}

fn development() -> RedirectPolicy {
    policy(&[""; 0], DevelopmentLoopback::Allowed)
}

/// A case: name, entry, target, and the serialised URL if the entry allows the target.
type Case = (&'static str, &'static str, &'static str, Option<&'static str>);

const GOOD: &str = "https://good.example/cb";
const SUB: &str = "https://*.good.example/cb";
const ONE: &str = "https://good.example/app/*/done";
const REST: &str = "https://good.example/app/**";
const APP: &str = "myapp://callback";

#[rustfmt::skip]
const ALLOWED: &[Case] = &[
    ("equal", GOOD, "https://good.example/cb", Some("https://good.example/cb")),
    ("upper-case scheme and host", GOOD, "HTTPS://GOOD.Example/cb", Some("https://good.example/cb")),
    ("default port", GOOD, "https://good.example:443/cb", Some("https://good.example/cb")),
    ("default port with zeros", GOOD, "https://good.example:00443/cb", Some("https://good.example/cb")),
    ("empty port", GOOD, "https://good.example:/cb", Some("https://good.example/cb")),
    ("default port in the entry", "https://good.example:443/cb", "https://good.example/cb", Some("https://good.example/cb")),
    ("any query", GOOD, "https://good.example/cb?x=1", Some("https://good.example/cb?x=1")),
    ("fragment survives", GOOD, "https://good.example/cb#/a?b", Some("https://good.example/cb#/a?b")),
    ("at-sign in path, query and fragment", "https://good.example/@me", "https://good.example/@me?@#@", Some("https://good.example/@me?@#@")),
    ("no path is the root", "https://good.example", "https://good.example", Some("https://good.example/")),
    ("dots that end at the listed path", GOOD, "https://good.example/x/../cb", Some("https://good.example/cb")),
    ("encoded dots that end at the listed path", GOOD, "https://good.example/x/%2e%2E/cb", Some("https://good.example/cb")),
    ("IDN is compared in ASCII", "https://bücher.example/cb", "https://xn--bcher-kva.example/cb", Some("https://xn--bcher-kva.example/cb")),
    ("full-width letters are the same host", GOOD, "https://ｇｏｏｄ.example/cb", Some("https://good.example/cb")),
    ("listed octal address", "http://127.0.0.1/cb", "http://0177.0.0.1/cb", Some("http://127.0.0.1/cb")),
    ("listed IPv6 in another spelling", "http://[::1]:3000/", "http://[0:0::1]:3000", Some("http://[::1]:3000/")),
    ("the demanded query", "https://good.example/cb?a=1", "https://good.example/cb?a=1#x", Some("https://good.example/cb?a=1#x")),
    ("one label", SUB, "https://a-1.good.example/cb", Some("https://a-1.good.example/cb")),
    ("punycode label", SUB, "https://bücher.good.example/cb", Some("https://xn--bcher-kva.good.example/cb")),
    ("label under localhost", "http://*.localhost:3000/", "http://app.localhost:3000/", Some("http://app.localhost:3000/")),
    ("inner label", "https://a.*.good.example/", "https://a.b.good.example/", Some("https://a.b.good.example/")),
    ("one segment", ONE, "https://good.example/app/a%20b/done", Some("https://good.example/app/a%20b/done")),
    ("rest of the path", REST, "https://good.example/app/a/b/", Some("https://good.example/app/a/b/")),
    ("empty rest", REST, "https://good.example/app/", Some("https://good.example/app/")),
    ("whole path", "https://good.example/**", "https://good.example", Some("https://good.example/")),
    ("encoded percent in the rest", REST, "https://good.example/app/100%25", Some("https://good.example/app/100%25")),
    ("bare percent in the rest", REST, "https://good.example/app/100%", Some("https://good.example/app/100%")),
    ("custom scheme", APP, "myapp://callback?code=1#x", Some("myapp://callback?code=1#x")),
    ("custom scheme in capitals", APP, "MyApp://callback", Some("myapp://callback")),
    ("reverse-domain scheme", "com.example.app:/oauth", "com.example.app:/oauth", Some("com.example.app:/oauth")),
    ("opaque path", "myapp:callback", "myapp:callback", Some("myapp:callback")),
];

#[rustfmt::skip]
const REFUSED: &[Case] = &[
    ("user-info", GOOD, "https://good.example@evil.example/cb", None),
    ("user-info with password", GOOD, "https://good.example:443@evil.example/cb", None),
    ("user-info before the listed host", GOOD, "https://evil@good.example/cb", None),
    ("empty user-info", GOOD, "https://@good.example/cb", None),
    ("empty user and password", GOOD, "https://:@good.example/cb", None),
    ("encoded at-sign", GOOD, "https://good.example%40evil.example/cb", None),
    ("full-width at-sign", GOOD, "https://good.example＠evil.example/cb", None),
    ("listed host as a prefix", GOOD, "https://good.example.evil.example/cb", None),
    ("listed host as a suffix", GOOD, "https://evilgood.example/cb", None),
    ("subdomain", GOOD, "https://www.good.example/cb", None),
    ("backslash before at-sign", GOOD, "https://good.example\\@evil.example/cb", None),
    ("backslashes for slashes", GOOD, "https:\\\\good.example\\cb", None),
    ("backslash in the query", GOOD, "https://good.example/cb?\\", None),
    ("Cyrillic look-alike", GOOD, "https://gооd.example/cb", None),
    ("look-alike slash", GOOD, "https://evil.example\u{2215}good.example/cb", None),
    ("ideographic full stop before a suffix", GOOD, "https://good.example。evil.example/cb", None),
    ("trailing dot", GOOD, "https://good.example./cb", None),
    ("leading dot", GOOD, "https://.good.example/cb", None),
    ("other scheme", GOOD, "http://good.example/cb", None),
    ("other port", GOOD, "https://good.example:8443/cb", None),
    ("default port of the other scheme", GOOD, "https://good.example:80/cb", None),
    ("port out of range", GOOD, "https://good.example:65979/cb", None),
    ("port then host", GOOD, "https://good.example:443.evil.example/cb", None),
    ("scheme-relative", GOOD, "//good.example/cb", None),
    ("path-relative", GOOD, "/cb", None),
    ("no slashes", GOOD, "https:good.example/cb", None),
    ("one slash", GOOD, "https:/good.example/cb", None),
    ("three slashes", GOOD, "https:///good.example/cb", None),
    ("empty text", GOOD, "", None),
    ("scheme alone", GOOD, "https:", None),
    ("tab in the host", GOOD, "https://good\t.example/cb", None),
    ("newline in the scheme", GOOD, "ht\ntps://good.example/cb", None),
    ("leading space", GOOD, " https://good.example/cb", None),
    ("trailing no-break space", GOOD, "https://good.example/cb\u{A0}", None),
    ("leading NUL", GOOD, "\0https://good.example/cb", None),
    ("encoded NUL in the host", GOOD, "https://good.example%00.evil.example/cb", None),
    ("C1 control in the path", GOOD, "https://good.example/cb\u{85}", None),
    ("path above", GOOD, "https://good.example/cb/..", None),
    ("encoded path above", GOOD, "https://good.example/cb/%2e%2e", None),
    ("half-encoded path above", GOOD, "https://good.example/cb/.%2e/x", None),
    ("longer path", GOOD, "https://good.example/cb/x", None),
    ("trailing slash", GOOD, "https://good.example/cb/", None),
    ("double slash", GOOD, "https://good.example//cb", None),
    ("other case in the path", GOOD, "https://good.example/CB", None),
    ("encoded letter in the path", GOOD, "https://good.example/%63b", None),
    ("path parameter", GOOD, "https://good.example/cb;x", None),
    ("encoded slash in the path", "https://good.example/a/b", "https://good.example/a%2fb", None),
    ("javascript", GOOD, "javascript:location='https://good.example/cb'", None),
    ("javascript with a host", GOOD, "javascript://good.example/cb", None),
    ("data", GOOD, "data:text/html,https://good.example/cb", None),
    ("file on the listed host", GOOD, "file://good.example/cb", None),
    ("blob of the listed origin", GOOD, "blob:https://good.example/cb", None),
    ("view-source", GOOD, "view-source:https://good.example/cb", None),
    ("websocket", GOOD, "wss://good.example/cb", None),
    ("another query", "https://good.example/cb?a=1", "https://good.example/cb?a=1&b=2", None),
    ("no query where one is demanded", "https://good.example/cb?a=1", "https://good.example/cb", None),
    ("query in the fragment", "https://good.example/cb?a=1", "https://good.example/cb#?a=1", None),
    ("query where the empty one is demanded", "https://good.example/cb?", "https://good.example/cb?a", None),
    ("no label", SUB, "https://good.example/cb", None),
    ("empty label", SUB, "https://.good.example/cb", None),
    ("two labels", SUB, "https://a.b.good.example/cb", None),
    ("foreign suffix after the pattern", SUB, "https://a.good.example.evil.example/cb", None),
    ("label without dot", SUB, "https://agood.example/cb", None),
    ("star as a label", SUB, "https://*.good.example/cb", None),
    ("odd character as a label", SUB, "https://'.good.example/cb", None),
    ("encoded slash as a label", SUB, "https://evil.example%2f.good.example/cb", None),
    ("fragment before the suffix", SUB, "https://evil.example#.good.example/cb", None),
    ("query before the suffix", SUB, "https://evil.example?.good.example/cb", None),
    ("bracket before the suffix", SUB, "https://[::1].good.example/cb", None),
    ("suffix in the path", SUB, "https://evil.example/.good.example/cb", None),
    ("trailing dot under a wildcard", SUB, "https://a.good.example./cb", None),
    ("no segment", ONE, "https://good.example/app/done", None),
    ("empty segment", ONE, "https://good.example/app//done", None),
    ("two segments", ONE, "https://good.example/app/a/b/done", None),
    ("encoded slash in a segment", ONE, "https://good.example/app/a%2Fb/done", None),
    ("doubly encoded slash in a segment", ONE, "https://good.example/app/a%252fb/done", None),
    ("encoded backslash in a segment", ONE, "https://good.example/app/a%5cb/done", None),
    ("encoded NUL in a segment", ONE, "https://good.example/app/a%00/done", None),
    ("encoded newline in a segment", ONE, "https://good.example/app/a%0a/done", None),
    ("dots as a segment", ONE, "https://good.example/app/../done", None),
    ("doubly encoded dots as a segment", ONE, "https://good.example/app/%252e%252e/done", None),
    ("percent nested too deep", ONE, "https://good.example/app/%2525252541/done", None),
    ("dots out of the rest", REST, "https://good.example/app/../admin", None),
    ("encoded dots out of the rest", REST, "https://good.example/app/%2e%2e/admin", None),
    ("encoded dots and slash in the rest", REST, "https://good.example/app/..%2fadmin", None),
    ("doubly encoded dots in the rest", REST, "https://good.example/app/a/%252e./admin", None),
    ("rest without its slash", REST, "https://good.example/app", None),
    ("rest glued to the segment", REST, "https://good.example/apples", None),
    ("custom path", APP, "myapp://callback/", None),
    ("custom host in capitals", APP, "myapp://Callback", None),
    ("custom without slashes", APP, "myapp:callback", None),
    ("custom with one slash", APP, "myapp:/callback", None),
    ("custom with three slashes", APP, "myapp:///callback", None),
    ("custom with port", APP, "myapp://callback:1", None),
    ("custom with user-info", APP, "myapp://evil@callback", None),
    ("custom prefix", APP, "myapp://callback.evil.example", None),
    ("longer custom scheme", APP, "myapps://callback", None),
    ("octal address", "http://127.0.0.1/", "http://0177.0.0.2/", None),
];

#[test]
fn named_hard_urls() {
    for &(name, entry, target, expected) in ALLOWED.iter().chain(REFUSED) {
        let passed = listed(&[entry]).check(target).ok();
        assert_eq!(passed.as_ref().map(RedirectUrl::as_str), expected, "{name}: {target:?} on {entry}");
    }
}

#[test]
fn empty_list_allows_nothing() {
    let policy = listed(&[]);
    for target in [GOOD, "http://localhost:3000/", "http://127.0.0.1", "myapp://callback"] {
        assert!(policy.check(target).is_err(), "{target}");
    }
}

#[test]
fn development_allows_hosts_that_read_loopback() {
    for target in [
        "http://localhost",
        "http://localhost:3000/cb?x#y",
        "https://localhost/",
        "http://LOCALHOST:3000/",
        "http://127.0.0.1:5173/a",
        "https://127.0.0.1",
        "http://localhost:/",
    ] {
        assert!(development().check(target).is_ok(), "{target}");
    }
}

#[test]
fn development_refuses_other_spellings_of_loopback() {
    for target in [
        "http://2130706433/",
        "http://127.1/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.0.0.1./",
        "http://127.0.0.2/",
        "http://localhost./",
        "http://%6cocalhost/",
        "http://ｌocalhost/",
        "http://l\u{AD}ocalhost/",
        "http://127。0.0.1/",
        "http://[::1]/",
        "http://0.0.0.0/",
        "http://localhost.evil.example/",
        "http://localhost@evil.example/",
        "http://evil.example#@localhost/",
        "http://evil.example?localhost",
        "http://x.localhost/",
        "http:localhost",
        "ws://localhost/",
        "ftp://localhost/",
        "myapp://localhost",
        "javascript://localhost/%0aalert(1)",
        "file://localhost/etc/hosts",
    ] {
        assert!(development().check(target).is_err(), "{target}");
    }
}

#[test]
fn development_with_a_list_allows_only_the_list() {
    let policy = policy(&[GOOD], DevelopmentLoopback::Allowed);
    assert!(policy.check(GOOD).is_ok());
    assert!(policy.check("http://localhost:3000/").is_err());
}
