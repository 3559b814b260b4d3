//! Tests of the sections of identity providers, whose names the operator chooses.

use super::super::Sources;
use super::{assert_says, development, load, problem};

const FILE: &str = r#"
    [oauth.providers.google]
    client_id = "google-client"
    client_secret = "google-secret"
    native_client_ids = ["ios", "android"]
    link_by_email = false
    [oauth.providers.acme]
    name = "Acme"
    discovery_endpoint = "https://id.acme.example/.well-known/openid-configuration"
    client_id = "acme-client"
    client_secret = "replaced-by-the-environment"
"#;

#[test]
fn providers_come_from_every_source_field_by_field() {
    let secret = ("LATCHKEY__OAUTH__PROVIDERS__ACME__CLIENT_SECRET_FILE", "/run/secrets/acme");
    let settings = load(
        Sources::none()
            .with_file("latchkey.toml", FILE)
            .with_read_file(|_| Ok("acme-secret\n".to_owned()))
            .with_environment([secret])
            .with_override("oauth.providers.google.scopes=openid,email"),
    );
    let [acme, google] = ["acme", "google"].map(|key| &settings.providers[key]);
    assert_eq!((settings.providers.len(), acme.name.as_deref()), (2, Some("Acme")));
    assert!(
        acme.discovery_endpoint.as_deref().is_some_and(|url| url.starts_with("https://id.acme.example/"))
    );
    assert_eq!(acme.client_secret.as_ref().map(crate::settings::Secret::reveal), Some("acme-secret"));
    assert_eq!(google.client_id, "google-client");
    assert_eq!(google.scopes, ["openid", "email"]);
    assert_eq!(google.native_client_ids, ["ios", "android"]);
    assert!(acme.scopes.is_empty());
    assert!(acme.link_by_email && !google.link_by_email);
}

#[test]
fn secrets_of_providers_are_not_shown() {
    let settings = load(Sources::none().with_file("latchkey.toml", FILE));
    let text = settings.to_toml();
    assert_says(
        &text,
        &["[oauth.providers.google]", "client_id = \"google-client\"", "client_secret = \"***\""],
    );
    assert!(!text.contains("google-secret") && !format!("{settings:?}").contains("google-secret"));
    assert_eq!(settings.warnings(), Vec::<String>::new());
}

#[test]
fn secret_of_a_provider_on_the_command_line_is_a_warning() {
    let warnings = load(development(&[
        "oauth.providers.google.client_id=c",
        "oauth.providers.google.client_secret=hunter2",
    ]))
    .warnings();
    assert_says(&warnings.join("\n"), &["oauth.providers.google.client_secret", "command line"]);
}

#[test]
fn key_that_no_provider_has_is_refused() {
    let text = problem(development(&["oauth.providers.google.client=x"]));
    assert_says(&text, &["oauth.providers.google.client", "no such setting"]);
    let text = problem(development(&["oauth.providers.google.link_by_email=perhaps"]));
    assert_says(&text, &["oauth.providers.google.link_by_email"]);
    let text = problem(development(&["oauth.providers.Google.client_id=x"]));
    assert_says(&text, &["oauth.providers.Google.client_id", "no such setting"]);
}

#[test]
fn provider_that_cannot_be_used_is_named_with_its_field() {
    let good = ["oauth.providers.acme.client_id=c", "oauth.providers.acme.client_secret=s"];
    for (wrong, place) in [
        (
            "oauth.providers.acme.discovery_endpoint=ftp://acme.example",
            "oauth.providers.acme.discovery_endpoint",
        ),
        ("oauth.providers.acme.name=Acme", "oauth.providers.acme.discovery_endpoint"),
        ("oauth.providers.google.client_id=c", "oauth.providers.google.client_secret"),
        ("oauth.providers.google.client_secret=s", "oauth.providers.google.client_id"),
    ] {
        let is_acme = wrong.contains("acme");
        let overrides: Vec<_> = good.iter().copied().filter(|_| is_acme).chain([wrong]).collect();
        assert_says(&problem(development(&overrides)), &[place]);
    }
}

#[test]
fn key_that_means_something_else_is_refused() {
    for key in ["email", "passkey", "password", "anonymous", "configs", "custom"] {
        let setting = format!("oauth.providers.{key}.client_id=c");
        assert_says(
            &problem(development(&[&setting])),
            &[&format!("oauth.providers.{key}"), "no such setting"],
        );
    }
}

#[test]
fn provider_has_less_time_than_a_request() {
    assert_says(&problem(development(&["oauth.timeout=15s"])), &["oauth.timeout", "server.request_timeout"]);
    assert_says(&problem(development(&["oauth.proxy=nowhere"])), &["oauth.proxy"]);
}
