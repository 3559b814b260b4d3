//! Tests of the bounds and formats of single values.

use super::{assert_says, development, load, problem, production};

#[test]
fn bind_is_an_address_and_a_port() {
    for text in ["localhost:8700", "8700", ":8700", "127.0.0.1"] {
        let said = problem(development(&[&format!("server.bind={text}")]));
        assert_says(&said, &["server.bind (--set)", text, "127.0.0.1:8700"]);
    }
    assert_says(&problem(development(&["server.bind="])), &["server.bind", "empty"]);
}

#[test]
fn the_public_url_has_no_path() {
    for text in ["https://a.example/path", "a.example", "https://a.example?x=1", "ftp://a.example"] {
        let said = problem(production(&[&format!("server.public_url={text}")]));
        assert_says(&said, &["server.public_url", text, "scheme, host and port alone"]);
    }
}

#[test]
fn origins_are_kept_as_browsers_write_them() {
    let settings =
        load(development(&["server.cors_origins=https://APP.example:443/, http://localhost:3000"]));
    assert_eq!(settings.server.cors_origins, ["https://app.example", "http://localhost:3000"]);
    for text in ["tauri://localhost", "chrome-extension://abcdefghijklmnopabcdefghijklmnop"] {
        let settings = load(development(&[&format!("server.cors_origins={text}")]));
        assert_eq!(settings.server.cors_origins, [text]);
    }
    for text in ["*", "null", "https://a.example/path", "myapp://localhost", "chrome-extension://*"] {
        let said = problem(development(&[&format!("server.cors_origins={text}")]));
        assert_says(&said, &["server.cors_origins", text]);
    }
}

#[test]
fn cors_headers_are_names_of_headers() {
    let settings = load(development(&["server.cors_headers=X-Tenant, x-version"]));
    assert_eq!(settings.server.cors_headers, ["x-tenant", "x-version"]);
    for text in ["*", "x tenant", "x:y", "a\r\nb", &"x".repeat(65)] {
        let said = problem(development(&[&format!("server.cors_headers={text}")]));
        assert_says(&said, &["server.cors_headers", "x-tenant"]);
    }
}

#[test]
fn cookie_name_is_a_token_without_a_prefix() {
    for text in ["latchkey_refresh", "shop", "a.b-c!#$%&'*+^`|~", &"n".repeat(64)] {
        let settings = load(development(&[&format!("server.cookie_name={text}")]));
        assert_eq!(settings.server.cookie_name, text);
    }
    let long = "n".repeat(65);
    for text in [
        "",
        "a b",
        "a=b",
        "a;b",
        "a,b",
        "a\"b",
        "schl\u{fc}ssel",
        "__Host-a",
        "__Secure-a",
        "__host-a",
        &long,
    ] {
        let said = problem(development(&[&format!("server.cookie_name={text}")]));
        assert_says(&said, &["server.cookie_name", "wanted 1 to 64", "latchkey_refresh"]);
    }
}

#[test]
fn proxies_are_addresses_or_networks() {
    let settings = load(development(&["server.trusted_proxies=10.0.0.0/8, ::1, 192.0.2.1"]));
    let networks: Vec<_> = settings.server.trusted_proxies.iter().map(ToString::to_string).collect();
    assert_eq!(networks, ["10.0.0.0/8", "::1/128", "192.0.2.1/32"]);
    let said = problem(development(&["server.trusted_proxies=10.0.0.0/33"]));
    assert_says(&said, &["server.trusted_proxies", "10.0.0.0/33", "10.0.0.0/8"]);
}

#[test]
fn names_and_prefixes_are_plain() {
    for text in ["", " x", "a\tb", "<b>"] {
        let said = problem(development(&[&format!("server.service_name={text}"), "mail.from=a@b.example"]));
        assert_says(&said, &["server.service_name"]);
    }
    for text in ["", "Service", "1x", "a-b", "_x"] {
        let said = problem(development(&[&format!("auth.redirect_param_prefix={text}")]));
        assert_says(&said, &["auth.redirect_param_prefix"]);
    }
}

#[test]
fn an_anon_key_fits_into_a_header() {
    for text in ["anon key", "anön", "anon_\t1"] {
        let said = problem(development(&[&format!("auth.anon_key={text}")]));
        assert_says(&said, &["auth.anon_key", "visible ASCII"]);
    }
    load(development(&["auth.anon_key=anon_a-b_9", "auth.require_anon_key=true"]));
}

#[test]
fn an_admin_key_can_be_sent_in_a_header() {
    let said = problem(development(&[&format!("admin.api_key={}", "ä b".repeat(20))]));
    assert_says(&said, &["admin.api_key", "visible ASCII"]);
}

#[test]
fn passwords_in_urls_are_not_repeated() {
    for text in
        ["storage.url=mysql://ada:hunter2@db.example/x", "mail.smtp.host=smtp://ada:hunter2@mail.example"]
    {
        let said = problem(development(&[text]));
        assert_says(&said, &["a URL with user information", "wanted"]);
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[test]
fn a_mapped_network_of_proxies_is_one_of_ipv4() {
    let settings =
        load(development(&["server.trusted_proxies=::ffff:10.0.0.0/104,::ffff:192.0.2.1,fd00::/8"]));
    let shown: Vec<_> = settings.server.trusted_proxies.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["10.0.0.0/8", "192.0.2.1/32", "fd00::/8"]);
}
