//! Tests of allow-list entries, messages and appended parameters. Tests of hostile URLs are in `tests/redirect.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;

fn policy(entries: &[&str]) -> RedirectPolicy {
    let entries: Vec<String> = entries.iter().map(|&entry| entry.to_owned()).collect();
    RedirectPolicy::parse(&entries, DevelopmentLoopback::Refused).unwrap()
}

fn entry_fault(text: &str) -> EntryFault {
    RedirectEntry::parse(text).expect_err(text).fault
}

fn url(text: &str) -> RedirectUrl {
    policy(&["https://good.example/**", "myapp://callback", "myapp:callback"]).check(text).unwrap()
}

#[test]
fn entries_refused_as_urls_are_refused() {
    for (text, fault) in [
        ("", UrlFault::Empty),
        (" https://good.example", UrlFault::SurroundingWhiteSpace),
        ("https://good.example/\u{A0}", UrlFault::SurroundingWhiteSpace),
        ("https://good.example/\n", UrlFault::ControlCharacter),
        ("https:\\\\good.example", UrlFault::Backslash),
        ("good.example", UrlFault::NotAbsolute),
        ("//good.example", UrlFault::NotAbsolute),
        ("/callback", UrlFault::NotAbsolute),
        ("https:good.example", UrlFault::NotAbsolute),
        ("https:/good.example", UrlFault::NotAbsolute),
        ("https:///good.example", UrlFault::NotAbsolute),
        ("https://", UrlFault::Invalid),
        ("https://good.example:*", UrlFault::Invalid),
        ("https://user@good.example", UrlFault::UserInfo),
        ("https://user:secret@good.example", UrlFault::UserInfo),
        ("https://@good.example", UrlFault::UserInfo),
        ("myapp://user@callback", UrlFault::UserInfo),
        ("javascript:alert(1)", UrlFault::ForbiddenScheme),
        ("JavaScript://good.example/%0Aalert(1)", UrlFault::ForbiddenScheme),
        ("data:text/html,x", UrlFault::ForbiddenScheme),
        ("file:///etc/hosts", UrlFault::ForbiddenScheme),
        ("vbscript:x", UrlFault::ForbiddenScheme),
        ("blob:https://good.example/1", UrlFault::ForbiddenScheme),
        ("about:blank", UrlFault::ForbiddenScheme),
    ] {
        assert_eq!(entry_fault(text), EntryFault::Url(fault), "{text:?}");
        assert_eq!(policy(&["https://good.example/**"]).check(text), Err(fault.into()), "{text:?}");
    }
}

#[test]
fn entries_with_a_fragment_are_refused() {
    assert_eq!(entry_fault("https://good.example/#"), EntryFault::Fragment);
    assert_eq!(entry_fault("https://good.example/#top"), EntryFault::Fragment);
    assert_eq!(entry_fault("myapp://callback#x"), EntryFault::Fragment);
}

#[test]
fn hosts_that_are_too_wide_are_refused() {
    for host in [
        "*",
        "**",
        "*.*",
        "*.**",
        "*.com",
        "*.*.com",
        "a.*.com",
        "good.example.*",
        "a.b.*.c",
        "*.com.",
        "*..com",
    ] {
        assert_eq!(entry_fault(&format!("https://{host}/cb")), EntryFault::WideHost, "{host}");
    }
}

#[test]
fn partial_wildcards_are_refused() {
    for host in ["*a.good.example", "a*.good.example", "**.good.example", "*-x.good.example"] {
        assert_eq!(entry_fault(&format!("https://{host}/cb")), EntryFault::PartialHostWildcard, "{host}");
    }
    for path in ["/a*", "/*a", "/**/cb", "/***", "/a/**/b", "/a**", "/*.html", "/**/", "/**/**"] {
        assert_eq!(
            entry_fault(&format!("https://good.example{path}")),
            EntryFault::PartialPathWildcard,
            "{path}"
        );
    }
}

#[test]
fn wildcards_in_custom_schemes_are_refused() {
    for text in ["myapp://*", "myapp://callback/*", "myapp:*", "myapp:/**"] {
        assert_eq!(entry_fault(text), EntryFault::CustomWildcard, "{text}");
    }
}

#[test]
fn invalid_entry_says_which_and_why() {
    let entries = ["https://good.example".to_owned(), "https://*.com/".to_owned()];
    let error = RedirectPolicy::parse(&entries, DevelopmentLoopback::Refused).unwrap_err();
    assert_eq!(error.entry, "https://*.com/");
    assert!(
        error
            .to_string()
            .starts_with("the redirect list entry \"https://*.com/\" has a host that is too wide")
    );
}

#[test]
fn entry_keeps_its_text() {
    assert_eq!(
        RedirectEntry::parse("HTTPS://Good.Example:443").unwrap().as_str(),
        "HTTPS://Good.Example:443"
    );
}

#[test]
fn refusal_names_the_first_part_in_which_the_nearest_entry_differs() {
    let policy = policy(&["https://good.example/cb?a=1", "https://other.example:8443/x"]);
    for (text, part) in [
        ("myapp://callback", UrlPart::Scheme),
        ("http://good.example/cb", UrlPart::Scheme),
        ("https://evil.example/cb", UrlPart::Host),
        ("https://other.example/x", UrlPart::Port),
        ("https://good.example/", UrlPart::Path),
        ("https://good.example/cb?a=2", UrlPart::Query),
    ] {
        assert_eq!(policy.check(text), Err(RedirectRefusal::Unlisted(part)), "{text}");
    }
}

#[test]
fn refusals_repeat_nothing_of_the_url() {
    let policy = policy(&["https://good.example/cb"]);
    for text in [
        "https://s3cret@good.example/s3cret?s3cret#s3cret",
        "https://s3cret.example/s3cret?s3cret#s3cret",
        "https://good.example/s3cret?s3cret#s3cret",
        "https://good.example:s3cret/",
        "s3cret",
        "s3cret:s3cret",
    ] {
        let refusal = policy.check(text).unwrap_err();
        assert!(!format!("{refusal} {refusal:?}").contains("s3cret"), "{text}: {refusal}");
    }
}

#[test]
fn debug_leaves_out_query_and_fragment() {
    assert_eq!(
        format!("{:?}", url("https://good.example/cb?token=1#2")),
        "RedirectUrl(https://good.example/cb)"
    );
    assert_eq!(format!("{:?}", url("https://good.example/cb#2?1")), "RedirectUrl(https://good.example/cb)");
}

#[test]
fn parameters_are_appended_and_query_and_fragment_survive() {
    let parameters = [("service_status", "error"), ("service_error", "a b&c=d#é+%")];
    let added = "service_status=error&service_error=a+b%26c%3Dd%23%C3%A9%2B%25";
    for (target, expected) in [
        ("https://good.example", format!("https://good.example/?{added}")),
        ("https://good.example/cb", format!("https://good.example/cb?{added}")),
        ("https://good.example/cb?", format!("https://good.example/cb?{added}")),
        ("https://good.example/cb?a=%20+&b", format!("https://good.example/cb?a=%20+&b&{added}")),
        ("https://good.example/cb?a=1&", format!("https://good.example/cb?a=1&&{added}")),
        ("https://good.example/cb#/route?x=1", format!("https://good.example/cb?{added}#/route?x=1")),
        ("https://good.example/cb?a=1#", format!("https://good.example/cb?a=1&{added}#")),
        ("https://good.example/cb?a=1#b#c?d", format!("https://good.example/cb?a=1&{added}#b#c?d")),
        (
            "https://good.example/cb?service_status=x",
            format!("https://good.example/cb?service_status=x&{added}"),
        ),
        ("myapp://callback", format!("myapp://callback?{added}")),
        ("myapp:callback?a#b", format!("myapp:callback?a&{added}#b")),
    ] {
        assert_eq!(url(target).with_query(&parameters, &[]), expected);
    }
}

#[test]
fn no_parameters_change_nothing() {
    assert_eq!(url("https://good.example/cb?#").with_query(&[], &[]), "https://good.example/cb?#");
}

#[test]
fn origins_are_those_of_http_entries_without_wildcard() {
    let policy = policy(&[
        "https://good.example/cb",
        "https://good.example:443/other?a=1",
        "http://GOOD.example:8080",
        "http://[::1]:3000/",
        "https://bücher.example",
        "https://*.good.example",
        "https://wide.example/**",
        "https://one.example/*/cb",
        "wss://socket.example",
        "myapp://callback",
    ]);
    assert_eq!(
        policy.origins().collect::<Vec<_>>(),
        [
            "http://[::1]:3000",
            "http://good.example:8080",
            "https://good.example",
            "https://xn--bcher-kva.example"
        ]
    );
}

#[test]
fn loopback_is_open_only_in_development_with_an_empty_list() {
    let entry = || vec![RedirectEntry::parse("https://good.example").unwrap()];
    assert!(RedirectPolicy::new(vec![], DevelopmentLoopback::Allowed).allows_development_loopback());
    assert!(!RedirectPolicy::new(vec![], DevelopmentLoopback::Refused).allows_development_loopback());
    assert!(!RedirectPolicy::new(entry(), DevelopmentLoopback::Allowed).allows_development_loopback());
}

#[test]
fn overlong_urls_are_refused_as_sent_and_as_serialised() {
    let policy = policy(&["https://good.example/**"]);
    let longest = format!("https://good.example/{}", "a".repeat(2048 - 21));
    assert!(policy.check(&longest).is_ok());
    assert_eq!(policy.check(&format!("{longest}a")), Err(UrlFault::TooLong.into()));
    // Each `é` is serialised as six characters.
    assert_eq!(
        policy.check(&format!("https://good.example/{}", "é".repeat(400))),
        Err(UrlFault::TooLong.into())
    );
}

#[test]
fn own_targets_have_room_for_a_flow_and_listed_ones_have_not() {
    let own = RedirectEntry::parse("https://id.example/auth/provider/return").unwrap();
    let policy = policy(&["https://good.example/**"]).with_own(vec![own]);
    let long = |front: &str, chars: usize| format!("{front}?flow={}", "a".repeat(chars));
    for chars in [2_048, 7_000] {
        assert!(policy.check(&long("https://id.example/auth/provider/return", chars)).is_ok());
        for front in ["https://good.example/", "https://id.example/auth/provider", "https://evil.example/"] {
            assert_eq!(policy.check(&long(front, chars)), Err(UrlFault::TooLong.into()), "{front}");
        }
    }
    let longest = long("https://id.example/auth/provider/return", 8_000);
    assert_eq!(policy.check(&longest), Err(UrlFault::TooLong.into()));
}

#[test]
fn parameters_of_our_own_names_do_not_survive_in_a_target() {
    let target = url("https://good.example/cb?a=1&service_status=ready&&b=%20&service%5Fstatus=x&token=t#f");
    let sent = target.with_query(&[("service_status", "error")], &["service_status", "token"]);
    assert_eq!(sent, "https://good.example/cb?a=1&&b=%20&service_status=error#f");
    let bare = url("https://good.example/cb?token=t");
    assert_eq!(bare.with_query(&[("x", "1")], &["token"]), "https://good.example/cb?x=1");
}
