//! Tests of section `passkeys`: the domain, its origins, and the warnings about them.

use super::super::Settings;
use super::{assert_says, development, load, problem, production};

const ANDROID: &str = "android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck";

/// The warnings about passkeys.
fn warnings(settings: &Settings) -> Vec<String> {
    settings.warnings().into_iter().filter(|warning| warning.contains("passkeys")).collect()
}

#[test]
fn domain_of_passkeys_is_the_host_of_the_public_url() {
    assert_eq!(load(development(&[])).passkeys.rp_id.as_deref(), Some("localhost"));
    let settings = load(production(&["server.public_url=https://Accounts.Example.com:8443"]));
    assert_eq!(settings.passkeys.rp_id.as_deref(), Some("accounts.example.com"));
    assert!(settings.editable.passkeys_enabled && warnings(&settings).is_empty());
}

#[test]
fn domain_of_passkeys_may_be_a_parent_that_is_no_public_suffix() {
    let settings = load(production(&["passkeys.rp_id=Example.com"]));
    assert_eq!(settings.passkeys.rp_id.as_deref(), Some("example.com"));
    for (public_url, id, words) in [
        ("https://accounts.example.com", "example.org", "nor a parent domain"),
        ("https://accounts.example.com", "counts.example.com", "nor a parent domain"),
        ("https://accounts.example.com", "x.accounts.example.com", "nor a parent domain"),
        ("https://accounts.example.com", "com", "public suffix"),
        ("https://shop.example.co.uk", "co.uk", "public suffix"),
        ("https://shop.github.io", "github.io", "public suffix"),
        ("https://accounts.internal", "internal", "public suffix"),
        ("https://accounts.example.com", "https://example.com", "without scheme"),
        ("https://accounts.example.com", "example.com:443", "without scheme"),
        ("https://accounts.example.com", "10.0.0.1", "IP address"),
        ("https://10.0.0.1", "example.com", "IP address"),
    ] {
        let values = [format!("server.public_url={public_url}"), format!("passkeys.rp_id={id}")];
        let text = problem(production(&[&values[0], &values[1]]));
        assert_says(&text, &["passkeys.rp_id", words]);
    }
}

#[test]
fn there_are_no_passkeys_at_an_ip_address() {
    for host in ["https://10.0.0.1", "https://[2001:db8::1]:8443"] {
        let url = format!("server.public_url={host}");
        let settings = load(production(&[&url]));
        assert_eq!(settings.passkeys.rp_id, None);
        let said = warnings(&settings);
        assert_eq!(said.len(), 1, "{said:?}");
        assert_says(&said[0], &["passkeys are off", "IP address", "server.public_url"]);
        assert!(warnings(&load(production(&[&url, "passkeys.enabled=false"]))).is_empty());
    }
}

#[test]
fn origins_are_https_or_of_an_android_app() {
    let list = format!("passkeys.origins=https://App.example.com:443,http://localhost:3000,{ANDROID}");
    let settings = load(production(&["passkeys.rp_id=example.com", &list]));
    assert_eq!(settings.passkeys.origins, ["https://app.example.com", "http://localhost:3000", ANDROID]);
    for origin in [
        "http://app.example.com",
        "https://10.0.0.1",
        "http://127.0.0.1:3000",
        "https://*.example.com",
        "https://app.example.com/path",
        "capacitor://localhost",
        "android:apk-key-hash:short",
        &ANDROID[..ANDROID.len() - 1],
        "ios:bundle-id:com.example",
        "null",
    ] {
        let text = problem(production(&[&format!("passkeys.origins={origin}")]));
        assert_says(&text, &["passkeys.origins", "wanted an https origin"]);
    }
}

#[test]
fn origins_outside_of_the_domain_are_named() {
    let apps =
        "server.cors_origins=https://app.example.com,https://accounts.example.com:8443,http://localhost:3000";
    let redirects = "auth.allowed_redirect_urls=https://shop.example.net/done,https://*.example.org/";
    let said = warnings(&load(production(&[apps, redirects])));
    assert_eq!(said.len(), 1, "{said:?}");
    let concerned = "https://app.example.com, https://shop.example.net only in browsers";
    assert_says(&said[0], &["accounts.example.com", concerned, "parent domain"]);

    assert!(warnings(&load(production(&[apps, "passkeys.rp_id=example.com"]))).is_empty());
}

#[test]
fn more_names_than_browsers_read_are_warned_of() {
    let origins = |names: &[&str]| {
        let origins: Vec<_> = names.iter().map(|name| format!("https://{name}")).collect();
        warnings(&load(production(&[&format!("passkeys.origins={}", origins.join(","))])))
    };
    let five = ["app.one.com", "www.one.com", "one.co.uk", "two.com", "three.com", "four.com", "five.com"];
    assert_eq!(origins(&five).len(), 1);
    let said = origins(&[&five[..], &["six.github.io"]].concat());
    assert_says(&said[1], &["6 registrable names", "five, four, one, six, three, two", "stop after 5"]);
}
