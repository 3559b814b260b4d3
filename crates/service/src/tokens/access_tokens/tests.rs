#![allow(clippy::unwrap_used)]

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::ids::KeyId;
use latchkey_domain::session::AuthMethods;
use latchkey_store::StoredSigningKey;

use super::*;
use crate::entropy::SystemEntropy;
use crate::secrets::{SealingKey, ServerSecret};
use crate::tokens::SigningAlgorithm;
use crate::tokens::fixtures::{NOW, user_and_session};
use crate::tokens::sealing_key;
use crate::tokens::signing_keys::generate;

fn names() -> TokenNames {
    TokenNames { issuer: "https://id.example".to_owned(), audience: "https://id.example".to_owned() }
}

fn keys() -> SealingKey {
    sealing_key(&ServerSecret::new(vec![1; 32]).unwrap()).unwrap()
}

fn stored(algorithm: SigningAlgorithm, number: u8, verify_until: Option<Timestamp>) -> StoredSigningKey {
    let id = KeyId::new(NOW, [number; 10]);
    let pkcs8 = generate(algorithm).unwrap();
    let sealed = keys().seal(&SystemEntropy, id.to_string().as_bytes(), &pkcs8).unwrap();
    StoredSigningKey { id, algorithm: algorithm.as_str().to_owned(), sealed, created_at: NOW, verify_until }
}

fn later(seconds: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() + seconds * 1000)
}

fn claims() -> Claims {
    let (user, session) = user_and_session();
    names().claims(&user, &session, NOW, later(900), [3; 16])
}

fn key_set(algorithm: SigningAlgorithm) -> KeySet {
    KeySet::open(&[stored(algorithm, 1, None)], &keys()).unwrap()
}

#[test]
fn a_token_of_either_algorithm_is_good_until_it_expires() {
    for algorithm in [SigningAlgorithm::Es256, SigningAlgorithm::EdDsa] {
        let set = key_set(algorithm);
        let token = set.signing().unwrap().sign(&claims()).unwrap();
        assert_eq!(names().verify(&token, &set, NOW).unwrap().sub, claims().sub);
        assert!(names().verify(&token, &set, later(899)).is_some());
        assert!(names().verify(&token, &set, later(900)).is_none());
    }
}

#[test]
fn the_level_is_stated_at_level_two_alone() {
    let (user, mut session) = user_and_session();
    let claims_of = |session: &Session| {
        let claims = names().claims(&user, session, NOW, later(900), [3; 16]);
        (serde_json::to_value(&claims).unwrap(), VerifiedToken::of(&claims, None))
    };
    let (one, of_one) = claims_of(&session);
    session.level = Level::Two;
    session.methods = AuthMethods::from_stored("pwd otp mfa").unwrap();
    session.authenticated_at = later(60);
    let (two, of_two) = claims_of(&session);

    assert!(one.get("aal").is_none());
    assert_eq!((of_one.level, of_one.authenticated_at()), (Level::One, NOW));
    assert_eq!((&two["aal"], &two["amr"]), (&2.into(), &serde_json::json!(["pwd", "otp", "mfa"])));
    assert_eq!((of_two.level, of_two.authenticated_at()), (Level::Two, later(60)));
}

#[test]
fn a_token_of_another_issuer_audience_or_key_is_not_good() {
    let set = key_set(SigningAlgorithm::Es256);
    let sign = |change: fn(&mut Claims)| {
        let mut claims = claims();
        change(&mut claims);
        set.signing().unwrap().sign(&claims).unwrap()
    };
    let good = sign(|_| {});
    for bad in [
        sign(|claims| claims.iss = "https://evil.example".to_owned()),
        sign(|claims| claims.aud = "https://evil.example".to_owned()),
        sign(|claims| claims.nbf = Some(claims.iat + 60)),
    ] {
        assert!(names().verify(&bad, &set, NOW).is_none());
    }
    assert!(names().verify(&good, &key_set(SigningAlgorithm::Es256), NOW).is_none());
}

#[test]
fn header_tricks_are_refused() {
    let set = key_set(SigningAlgorithm::Es256);
    let good = set.signing().unwrap().sign(&claims()).unwrap();
    let parts: Vec<_> = good.split('.').collect();
    let kid = set.signing().unwrap().id().to_string();
    let with_header = |header: serde_json::Value, signature: &str| {
        format!("{}.{}.{signature}", URL_SAFE_NO_PAD.encode(header.to_string()), parts[1])
    };
    for bad in [
        with_header(serde_json::json!({"alg": "none", "kid": kid, "typ": "at+jwt"}), ""),
        with_header(serde_json::json!({"alg": "HS256", "kid": kid, "typ": "at+jwt"}), parts[2]),
        with_header(serde_json::json!({"alg": "ES256", "typ": "at+jwt"}), parts[2]),
        with_header(serde_json::json!({"alg": "ES256", "kid": kid, "typ": "JWT"}), parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}", parts[0], parts[1]),
        "a.b.c".to_owned(),
        String::new(),
        "x".repeat(100_000),
    ] {
        assert!(names().verify(&bad, &set, NOW).is_none(), "{bad}");
    }
}

#[test]
fn an_issued_token_is_cached_as_it_would_be_verified() {
    for algorithm in [SigningAlgorithm::Es256, SigningAlgorithm::EdDsa] {
        let set = key_set(algorithm);
        let token = set.issue(&claims()).unwrap();
        let cached = set.verified().get_or_verify(&token, NOW, || None);
        let (claims, key) = names().verify_with_key(&token, &set, NOW).unwrap();
        assert_eq!(cached, Some(VerifiedToken::of(&claims, key.verify_until())));
    }
}

#[test]
fn a_rotated_key_is_accepted_until_its_last_token_expired() {
    let (old, new) = (stored(SigningAlgorithm::Es256, 1, None), stored(SigningAlgorithm::Es256, 2, None));
    let before = KeySet::open(std::slice::from_ref(&old), &keys()).unwrap();
    let token = before.signing().unwrap().sign(&claims()).unwrap();
    let retired = StoredSigningKey { verify_until: Some(later(600)), ..old };
    let after = KeySet::open(&[new, retired], &keys()).unwrap();
    assert!(names().verify(&token, &after, later(599)).is_some());
    assert!(names().verify(&token, &after, later(600)).is_none());
    assert_eq!(after.jwks(NOW)["keys"].as_array().unwrap().len(), 2);
    assert_eq!(after.jwks(later(600))["keys"].as_array().unwrap().len(), 1);
}

#[test]
fn the_jwk_set_shows_public_halves_only() {
    for algorithm in [SigningAlgorithm::Es256, SigningAlgorithm::EdDsa] {
        let jwks = key_set(algorithm).jwks(NOW);
        let key = jwks["keys"][0].as_object().unwrap();
        assert!(key.contains_key("x") && key.contains_key("kid") && !key.contains_key("d"));
        assert_eq!(key["alg"], algorithm.as_str());
    }
}
