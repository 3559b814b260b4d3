use proptest::prelude::*;

use super::*;
use crate::pkce::PkceVerifier;
use crate::provider::tests::{custom, provider};

fn sent(provider: &Provider, hints: &[(&str, &str)]) -> Vec<(String, String)> {
    let hints: Vec<_> = hints.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let request = AuthorizationRequest {
        redirect_uri: "https://id.example/callback",
        state: "the-state",
        nonce: "the-nonce",
        pkce: &PkceVerifier::new([1; 32]),
        hints: &hints,
    };
    let endpoint = "https://idp.example/authorize?audience=api".parse().unwrap();
    url(provider, endpoint, &request).query_pairs().into_owned().collect()
}

fn values<'a>(pairs: &'a [(String, String)], name: &str) -> Vec<&'a str> {
    pairs.iter().filter(|(own, _)| own == name).map(|(_, value)| value.as_str()).collect()
}

#[test]
fn everything_that_binds_the_answer_is_sent() {
    let pairs = sent(&custom("https://idp.example"), &[]);
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "client"),
        ("redirect_uri", "https://id.example/callback"),
        ("scope", "openid email profile"),
        ("state", "the-state"),
        ("nonce", "the-nonce"),
        ("code_challenge", PkceVerifier::new([1; 32]).challenge().as_str()),
        ("code_challenge_method", "S256"),
        ("audience", "api"),
    ] {
        assert_eq!(values(&pairs, name), [value], "{name}");
    }
}

#[test]
fn hints_pass_and_reserved_fields_do_not() {
    let hints: Vec<_> = RESERVED.iter().map(|name| (*name, "evil")).collect();
    let pairs = sent(
        &custom("https://idp.example"),
        &[&hints[..], &[("login_hint", "ada"), ("prompt", "login")]].concat(),
    );
    assert!(pairs.iter().all(|(_, value)| value != "evil"));
    assert_eq!(values(&pairs, "login_hint"), ["ada"]);
    assert_eq!(values(&pairs, "prompt"), ["login"]);
}

#[test]
fn a_reserved_field_in_disguise_does_not_pass() {
    for name in [
        "Client_ID",
        "redirect.uri",
        "redirect uri",
        " state",
        "scope[]",
        "scope[0]",
        "response-mode",
        "claims.id_token",
        "",
    ] {
        let pairs = sent(&custom("https://idp.example"), &[(name, "evil")]);
        let passes = pairs.iter().any(|(_, value)| value == "evil");
        assert_eq!(passes, name == "claims.id_token", "{name}");
    }
}

#[test]
fn hints_cannot_override_parameters_of_the_entry() {
    let pairs = sent(&provider("tiktok"), &[("client_key", "evil"), ("disable_auto_auth", "1")]);
    assert_eq!(values(&pairs, "client_key"), ["client"]);
    assert_eq!(values(&pairs, "disable_auto_auth"), ["1"]);
    assert_eq!(values(&sent(&provider("notion"), &[("owner", "evil")]), "owner"), ["user"]);
}

#[test]
fn a_provider_without_openid_gets_no_nonce_and_one_without_pkce_no_challenge() {
    let pairs = sent(&provider("facebook"), &[]);
    for name in ["nonce", "code_challenge", "code_challenge_method"] {
        assert!(values(&pairs, name).is_empty(), "{name}");
    }
    assert!(values(&sent(&provider("zoom"), &[]), "scope").is_empty());
}

proptest! {
    #[test]
    fn hints_cannot_override_parameters_of_the_service(name in ".{0,20}|[a-zA-Z_. ]{0,22}", value in ".{0,20}") {
        let plain = sent(&custom("https://idp.example"), &[]);
        let hinted = sent(&custom("https://idp.example"), &[(&name, &value)]);
        prop_assert_eq!(&hinted[..plain.len()], &plain[..]);
        prop_assert!(hinted[plain.len()..].iter().all(|(name, _)| !RESERVED.contains(&name.as_str())));
    }
}
