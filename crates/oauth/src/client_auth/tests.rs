use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::{DecodingKey, Validation, decode};

use super::*;
use crate::provider::tests::client;
use crate::provider::{ClientSettings, Provider};
use crate::providers::built_in;

const NOW: Timestamp = Timestamp::from_millis(1_772_366_400_000);

fn request(provider: &Provider, auth: ClientAuth) -> reqwest::Request {
    let builder = reqwest::Client::new().post("https://idp.example/token");
    signed(builder, provider, auth, &[("code", "a b&c")], NOW).unwrap().build().unwrap()
}

fn body(request: &reqwest::Request) -> &str {
    std::str::from_utf8(request.body().unwrap().as_bytes().unwrap()).unwrap()
}

fn odd_client() -> Provider {
    let secret = ClientSecret::Text(SecretText::new("p:a%s+s".to_owned()));
    let client = ClientSettings { client_id: "id:1".to_owned(), secret, ..client() };
    Provider::custom("acme", "https://idp.example", client).unwrap()
}

#[test]
fn basic_credentials_are_form_encoded_first() {
    let request = request(&odd_client(), ClientAuth::Basic);
    let header = &request.headers()["authorization"];
    let expected = format!("Basic {}", STANDARD.encode("id%3A1:p%3Aa%25s%2Bs"));
    assert_eq!(header.to_str().unwrap(), expected);
    assert!(header.is_sensitive());
    assert_eq!(body(&request), "code=a+b%26c");
}

#[test]
fn posted_credentials_are_in_the_body() {
    let request = request(&odd_client(), ClientAuth::Post);
    assert!(!request.headers().contains_key("authorization"));
    assert_eq!(body(&request), "code=a+b%26c&client_id=id%3A1&client_secret=p%3Aa%25s%2Bs");
}

#[test]
fn a_body_in_json_has_the_same_fields() {
    let request = request(&odd_client(), ClientAuth::BasicWithJson);
    assert_eq!(request.headers()["content-type"], "application/json");
    assert_eq!(body(&request), r#"{"code":"a b&c"}"#);
}

#[test]
fn apples_secret_is_signed_with_the_key_and_short_lived() {
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let secret = ClientSecret::AppleKey {
        team_id: "TEAM123456".to_owned(),
        key_id: "KEY1234567".to_owned(),
        private_key: SecretText::new(pair.serialize_pem()),
    };
    let client = ClientSettings { client_id: "org.example.web".to_owned(), secret, ..client() };
    let provider = Provider::built_in(built_in("apple").unwrap(), client).unwrap();

    let request = request(&provider, ClientAuth::AppleKey);

    let fields: std::collections::HashMap<_, _> =
        form_urlencoded::parse(body(&request).as_bytes()).into_owned().collect();
    assert_eq!(fields["client_id"], "org.example.web");
    let key = DecodingKey::from_ec_pem(pair.public_key_pem().as_bytes()).unwrap();
    let mut validation = Validation::new(Algorithm::ES256);
    validation.validate_exp = false;
    validation.set_audience(&["https://appleid.apple.com"]);
    let token = decode::<Value>(&fields["client_secret"], &key, &validation).unwrap();
    assert_eq!(token.header.kid.as_deref(), Some("KEY1234567"));
    assert_eq!(token.claims["iss"], "TEAM123456");
    assert_eq!(token.claims["sub"], "org.example.web");
    assert_eq!(token.claims["iat"], NOW.as_seconds());
    assert_eq!(token.claims["exp"], NOW.as_seconds() + 300);
}
