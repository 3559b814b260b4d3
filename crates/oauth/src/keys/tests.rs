use proptest::prelude::*;
use serde_json::json;

use super::*;

fn rsa(more: Value) -> Value {
    with(json!({"kty": "RSA", "n": "AQAB", "e": "AQAB"}), more)
}

fn ec(curve: &str, more: Value) -> Value {
    with(json!({"kty": "EC", "crv": curve, "x": "AQAB", "y": "AQAB"}), more)
}

fn with(mut key: Value, more: Value) -> Value {
    let (Value::Object(key_fields), Value::Object(more)) = (&mut key, more) else { panic!("objects") };
    key_fields.extend(more);
    key
}

fn finds(keys: &[Value], id: Option<&str>, algorithm: Algorithm) -> bool {
    ProviderKeys::read(json!({ "keys": keys })).unwrap().find(id, algorithm).is_ok()
}

#[test]
fn a_key_is_found_by_its_name() {
    let keys = [rsa(json!({"kid": "a"})), rsa(json!({"kid": "b"}))];
    assert!(finds(&keys, Some("a"), Algorithm::RS256));
    assert!(finds(&keys, Some("b"), Algorithm::PS256));
    assert!(!finds(&keys, Some("c"), Algorithm::RS256));
    assert!(!finds(&keys, Some(""), Algorithm::RS256));
}

#[test]
fn a_token_without_key_id_needs_a_set_with_one_fitting_key() {
    assert!(finds(&[rsa(json!({"kid": "a"})), ec("P-256", json!({}))], None, Algorithm::RS256));
    assert!(!finds(&[rsa(json!({"kid": "a"})), rsa(json!({"kid": "b"}))], None, Algorithm::RS256));
}

#[test]
fn a_key_verifies_its_own_kind_of_signature_alone() {
    assert!(!finds(&[rsa(json!({"kid": "a"}))], Some("a"), Algorithm::ES256));
    assert!(!finds(&[ec("P-256", json!({"kid": "a"}))], Some("a"), Algorithm::RS256));
    assert!(!finds(&[ec("P-256", json!({"kid": "a"}))], Some("a"), Algorithm::ES384));
    assert!(finds(&[ec("P-384", json!({"kid": "a"}))], Some("a"), Algorithm::ES384));
    assert!(!finds(&[rsa(json!({"kid": "a"}))], Some("a"), Algorithm::HS256));
    let ed = json!({"kty": "OKP", "crv": "Ed25519", "x": "AQAB", "kid": "a"});
    assert!(finds(std::slice::from_ref(&ed), Some("a"), Algorithm::EdDSA));
    assert!(!finds(&[ed], Some("a"), Algorithm::ES256));
}

#[test]
fn a_key_that_names_an_algorithm_verifies_no_other() {
    let key = [rsa(json!({"kid": "a", "alg": "PS256"}))];
    assert!(finds(&key, Some("a"), Algorithm::PS256));
    assert!(!finds(&key, Some("a"), Algorithm::RS256));
    assert!(!finds(&[rsa(json!({"kid": "a", "alg": "RSA-OAEP"}))], Some("a"), Algorithm::RS256));
}

#[test]
fn a_key_for_something_else_is_left_out() {
    for more in [json!({"use": "enc"}), json!({"key_ops": ["encrypt"]}), json!({"kty": "oct", "k": "AQAB"})] {
        assert!(!finds(&[rsa(more)], None, Algorithm::RS256));
    }
    assert!(finds(&[rsa(json!({"use": "sig", "key_ops": ["verify"]}))], None, Algorithm::RS256));
}

#[test]
fn a_key_that_is_not_understood_does_not_spoil_the_others() {
    let keys =
        [json!(7), json!({"kty": "XYZ"}), json!({"kty": "EC", "crv": "P-256"}), rsa(json!({"kid": "a"}))];
    assert!(finds(&keys, Some("a"), Algorithm::RS256));
}

#[test]
fn a_malformed_key_set_is_a_bad_answer() {
    for body in [json!({}), json!([]), json!(null), json!({"keys": {}}), json!({"keys": null})] {
        assert!(ProviderKeys::read(body).is_err());
    }
}

proptest! {
    #[test]
    fn no_key_breaks_the_reader(kty in "RSA|EC|OKP|oct|.{0,4}", n in ".{0,20}", x in "[A-Za-z0-9_-]{0,50}") {
        let key = json!({"kty": kty, "n": n, "e": "AQAB", "x": x, "y": x, "crv": "P-256", "kid": n});
        let _ = ProviderKeys::read(json!({ "keys": [key] })).unwrap().find(None, Algorithm::ES256);
    }
}
