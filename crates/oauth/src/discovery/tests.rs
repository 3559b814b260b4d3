use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::provider::tests::{custom, microsoft};

fn document() -> Value {
    json!({
        "issuer": "https://idp.example",
        "authorization_endpoint": "https://idp.example/authorize",
        "token_endpoint": "https://tokens.example/token",
        "jwks_uri": "https://idp.example/keys",
        "id_token_signing_alg_values_supported": ["none", "HS256", "RS256", "ES256", "XY1"],
    })
}

fn read_with(name: &str, value: Value) -> Result<Metadata, ProviderError> {
    let mut document = document();
    document[name] = value;
    read(document, &custom("https://idp.example"))
}

#[test]
fn only_announced_algorithms_that_are_good_enough_are_taken() {
    let metadata = read(document(), &custom("https://idp.example")).unwrap();
    assert_eq!(metadata.algorithms, [Algorithm::RS256, Algorithm::ES256]);
    let silent = read_with("id_token_signing_alg_values_supported", json!(null)).unwrap();
    assert_eq!(silent.algorithms, [Algorithm::RS256]);
    for bad in [json!([]), json!(["none"]), json!(["HS256", "none"])] {
        assert!(read_with("id_token_signing_alg_values_supported", bad).is_err());
    }
}

#[test]
fn a_document_that_names_another_issuer_is_refused() {
    for issuer in
        ["https://evil.example", "https://idp.example/other", "http://idp.example", "https://idp.example//"]
    {
        assert!(read_with("issuer", json!(issuer)).is_err(), "{issuer}");
    }
    assert!(read_with("issuer", json!("https://idp.example/")).is_ok());
}

#[test]
fn a_document_without_a_needed_field_is_refused() {
    for name in ["issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"] {
        assert!(read_with(name, json!(null)).is_err(), "{name}");
        assert!(read_with(name, json!(7)).is_err(), "{name}");
        assert!(read_with(name, json!("no url")).is_err(), "{name}");
    }
}

#[test]
fn the_client_proves_itself_as_the_provider_can_check() {
    let auth =
        |methods: Value| read_with("token_endpoint_auth_methods_supported", methods).unwrap().client_auth;
    assert_eq!(auth(json!(null)), Some(ClientAuth::Basic));
    assert_eq!(auth(json!(["client_secret_post", "client_secret_basic"])), Some(ClientAuth::Basic));
    assert_eq!(auth(json!(["client_secret_post", "private_key_jwt"])), Some(ClientAuth::Post));
    assert_eq!(auth(json!(["private_key_jwt"])), None);
}

#[test]
fn microsofts_document_has_a_pattern_where_there_are_several_tenants() {
    let pattern = "https://login.microsoftonline.com/{tenantid}/v2.0";
    let own = "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0";
    let names = |tenant: Option<&str>, issuer: &str| {
        let mut document = document();
        document["issuer"] = json!(issuer);
        read(document, &microsoft(tenant)).is_ok()
    };
    assert!(names(None, pattern));
    assert!(names(Some("organizations"), pattern));
    assert!(names(Some("72f988bf-86f1-41af-91ab-2d7cd011db47"), own));
    assert!(!names(None, own));
    assert!(!names(Some("72f988bf-86f1-41af-91ab-2d7cd011db47"), pattern));
    assert!(!read_with("issuer", json!(pattern)).is_ok_and(|_| true));
}

proptest! {
    #[test]
    fn no_document_breaks_the_reader(issuer in ".{0,40}", endpoint in ".{0,40}") {
        let mut document = document();
        document["issuer"] = json!(issuer);
        document["jwks_uri"] = json!(endpoint);
        let _ = read(document, &custom("https://idp.example"));
    }
}
