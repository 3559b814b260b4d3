//! Tests of section `console`.

use super::{assert_says, development, load, problem, production};

/// Returns the warnings about the console.
fn warnings(arguments: &[&str]) -> Vec<String> {
    let warnings = load(production(arguments)).warnings();
    warnings.into_iter().filter(|warning| warning.contains("console")).collect()
}

#[test]
fn console_is_on_in_development_alone() {
    assert!(load(development(&[])).console.enabled);
    assert!(!load(production(&[])).console.enabled);
    assert!(load(production(&["console.enabled=true"])).console.enabled);
}

#[test]
fn url_of_the_console_is_that_of_the_service_or_of_its_own_listener() {
    let url = |settings: super::super::Settings| settings.console.public_url.to_string();
    assert_eq!(url(load(development(&[]))), "http://localhost:8700/");
    assert_eq!(url(load(development(&["console.bind=127.0.0.1:8701"]))), "http://localhost:8701/");
    let service = load(production(&["console.bind=10.0.0.1:8701"]));
    assert_eq!(service.console.public_url, service.server.public_url);
    let own = load(production(&["console.public_url=https://console.example.org"]));
    assert_eq!(url(own), "https://console.example.org/");
}

#[test]
fn url_of_the_console_follows_the_bound_ports() {
    let url = |arguments: &[&str], console: Option<u16>| {
        let console = console.map(|port| ([127, 0, 0, 1], port).into());
        let bound = load(development(arguments)).bound_to(([127, 0, 0, 1], 4321).into(), console);
        bound.console.public_url.to_string()
    };
    assert_eq!(url(&["server.bind=127.0.0.1:0"], None), "http://localhost:4321/");
    assert_eq!(url(&["console.bind=127.0.0.1:0"], Some(4322)), "http://localhost:4322/");
    let set = ["console.bind=127.0.0.1:0", "console.public_url=http://localhost:1"];
    assert_eq!(url(&set, Some(4322)), "http://localhost:1/");
}

#[test]
fn listener_of_the_console_is_another_one_and_in_development_of_this_machine() {
    let same = problem(development(&["console.bind=127.0.0.1:8700"]));
    assert_says(&same, &["console.bind", "server.bind", "another port"]);
    let open = problem(development(&["console.bind=0.0.0.0:8701"]));
    assert_says(&open, &["console.bind", "0.0.0.0:8701", "127.0.0.1"]);
    assert_says(&problem(development(&["console.bind=8701"])), &["console.bind", "127.0.0.1:8700"]);
    load(production(&["console.bind=0.0.0.0:8701"]));
}

#[test]
fn provider_of_the_console_is_built_in_or_of_the_file() {
    let said = problem(development(&["console.providers=[\"google\",\"acme\"]"]));
    assert_says(&said, &["console.providers", "\"acme\"", "oauth.providers.acme", "built-in"]);
    let custom = [
        "console.providers=[\"google\",\"acme\"]",
        "oauth.providers.acme.client_id=c",
        "oauth.providers.acme.client_secret=s",
        "oauth.providers.acme.name=Acme",
        "oauth.providers.acme.discovery_endpoint=https://acme.example/.well-known/openid-configuration",
    ];
    let keys = load(development(&custom)).console.provider_keys();
    assert_eq!(
        keys.iter().map(latchkey_domain::identity::ProviderKey::as_str).collect::<Vec<_>>(),
        ["google", "acme"]
    );
    assert!(load(development(&[])).console.provider_keys().is_empty());
}

#[test]
fn console_of_production_is_https() {
    let said = problem(production(&["console.public_url=http://console.example.org"]));
    assert_says(&said, &["console.public_url", "https"]);
    load(production(&["console.public_url=http://localhost:8701"]));
    let path = problem(development(&["console.public_url=http://localhost:8701/console"]));
    assert_says(&path, &["console.public_url", "scheme, host and port alone"]);
}

#[test]
fn networks_of_the_console_are_addresses_or_networks() {
    let settings = load(development(&["console.allowed_networks=10.0.0.0/8,::1"]));
    assert_eq!(settings.console.allowed_networks.len(), 2);
    let said = problem(development(&["console.allowed_networks=operators"]));
    assert_says(&said, &["console.allowed_networks", "10.0.0.0/8"]);
}

#[test]
fn console_that_everybody_reaches_is_warned_of_in_production() {
    assert_eq!(warnings(&[]), Vec::<String>::new());
    let open = warnings(&["console.enabled=true"]);
    assert_says(&open.join("\n"), &["console.bind", "console.allowed_networks"]);
    for guard in ["console.bind=127.0.0.1:8701", "console.allowed_networks=10.0.0.0/8"] {
        assert_eq!(warnings(&["console.enabled=true", guard]), Vec::<String>::new());
    }
    let development = load(development(&["console.enabled=true"])).warnings();
    assert!(!development.join("\n").contains("console"), "{development:?}");
}

#[test]
fn console_at_a_host_without_passkeys_is_warned_of() {
    let guarded = ["console.enabled=true", "console.allowed_networks=10.0.0.0/8"];
    let with = |more: &[&str]| warnings(&[&guarded, more].concat());
    let other = "console.public_url=https://console.example.com";
    assert_says(&with(&[other]).join("\n"), &["passkeys.rp_id", "https://console.example.com"]);
    assert_eq!(with(&[other, "passkeys.rp_id=example.com"]), Vec::<String>::new());
    assert_eq!(with(&[other, "passkeys.enabled=false"]), Vec::<String>::new());
}

#[test]
fn passkeys_are_accepted_at_the_console() {
    let origins = |arguments: &[&str]| load(production(arguments)).relying_party().cors_origins;
    let other = "console.public_url=https://console.example.com";
    let console = "https://console.example.com".to_owned();
    assert!(origins(&["console.enabled=true", other, "passkeys.rp_id=example.com"]).contains(&console));
    assert!(!origins(&["console.enabled=true", other]).contains(&console));
    assert!(!origins(&[other, "passkeys.rp_id=example.com"]).contains(&console));
}
