//! `id_token`s of native apps.

use jsonwebtoken::Algorithm;
use latchkey_domain::time::Timestamp;
use latchkey_oauth::{ClientSettings, IdToken, IdTokenFault, Provider, ProviderError, VerifiedIdToken};
use serde_json::{Value, json};

use crate::fixtures::{NOW, SECOND, credentials};
use crate::idp::{DISCOVERY, Idp, KEYS, Signer, TOKEN, USERINFO};

async fn verify(idp: &Idp, claims: &Value, nonce: Option<&str>) -> Result<VerifiedIdToken, ProviderError> {
    let token = idp.signer.sign(claims);
    idp.client.verify_id_token(&idp.provider, &IdToken { token: &token, nonce }, NOW).await
}

fn app_claims(idp: &Idp) -> Value {
    let mut claims = idp.claims_with("aud", json!("the-app"));
    claims["nonce"] = Value::Null;
    claims
}

fn refused(fault: IdTokenFault) -> ProviderError {
    ProviderError::IdTokenRefused(fault)
}

#[tokio::test]
async fn a_token_for_a_native_client_is_taken() {
    let idp = Idp::start().await;
    let verified = verify(&idp, &app_claims(&idp), None).await.unwrap();
    assert_eq!(verified.identity.subject, "subject-1");
    assert!(verified.identity.email_verified);
    assert_eq!(verified.expires_at, Timestamp::from_millis((SECOND + 300) * 1000));
    assert!(idp.mock.asked(TOKEN).is_empty() && idp.mock.asked(USERINFO).is_empty());
}

#[tokio::test]
async fn a_token_for_any_other_client_is_refused() {
    let idp = Idp::start().await;
    for audience in
        [json!("the-client"), json!("another-app"), json!(["the-app", "another-app"]), json!(null)]
    {
        let mut claims = app_claims(&idp);
        claims["aud"] = audience;
        assert_eq!(verify(&idp, &claims, None).await.err(), Some(refused(IdTokenFault::Audience)));
    }
    let mut claims = app_claims(&idp);
    claims["azp"] = json!("another-app");
    assert_eq!(verify(&idp, &claims, None).await.err(), Some(refused(IdTokenFault::AuthorizedParty)));
    claims["azp"] = json!("the-client");
    assert!(verify(&idp, &claims, None).await.is_ok());
}

#[tokio::test]
async fn without_native_clients_no_token_is_taken() {
    let mut idp = Idp::start().await;
    let client = ClientSettings { native_client_ids: Vec::new(), ..credentials() };
    idp.provider = Provider::custom("acme", &idp.issuer(), client).unwrap();
    for audience in ["the-app", "the-client", ""] {
        let mut claims = app_claims(&idp);
        claims["aud"] = json!(audience);
        assert_eq!(verify(&idp, &claims, None).await.err(), Some(refused(IdTokenFault::Audience)));
    }
}

#[tokio::test]
async fn a_nonce_in_the_token_must_be_known() {
    let idp = Idp::start().await;
    let mut claims = app_claims(&idp);
    claims["nonce"] = json!("raw");
    assert!(verify(&idp, &claims, Some("raw")).await.is_ok());
    assert_eq!(verify(&idp, &claims, None).await.err(), Some(refused(IdTokenFault::Nonce)));
    assert_eq!(verify(&idp, &claims, Some("other")).await.err(), Some(refused(IdTokenFault::Nonce)));
}

#[tokio::test]
async fn the_same_token_has_the_same_replay_key_and_another_has_another() {
    let idp = Idp::start().await;
    let claims = app_claims(&idp);
    // ECDSA signatures are randomised.
    let (one, again) =
        (verify(&idp, &claims, None).await.unwrap(), verify(&idp, &claims, None).await.unwrap());
    assert!(one.replay_key == again.replay_key);
    let mut other = claims;
    other["jti"] = json!("other");
    assert!(verify(&idp, &other, None).await.unwrap().replay_key != one.replay_key);
}

#[tokio::test]
async fn stale_and_early_tokens_are_refused() {
    let idp = Idp::start().await;
    for (name, value, fault) in [
        ("exp", json!(SECOND - 1), IdTokenFault::Expired),
        ("iat", json!(SECOND - 601), IdTokenFault::TooOld),
        ("iat", json!(SECOND + 61), IdTokenFault::IssuedInFuture),
        ("iss", json!("https://evil.example"), IdTokenFault::Issuer),
    ] {
        let mut claims = app_claims(&idp);
        claims[name] = value;
        assert_eq!(verify(&idp, &claims, None).await.err(), Some(refused(fault)), "{name}");
    }
}

#[tokio::test]
async fn a_valid_token_without_subject_is_the_apps_fault() {
    let idp = Idp::start().await;
    let mock = &idp.mock;
    let slack = latchkey_oauth::providers::built_in("slack").unwrap();
    let provider = Provider::built_in(slack, credentials()).unwrap().under(mock.address.clone());
    let mut document = idp.document();
    document["issuer"] = json!(mock.at("https://slack.com"));
    mock.on("https://slack.com/.well-known/openid-configuration", document);
    let mut claims = app_claims(&idp);
    claims["iss"] = json!(mock.at("https://slack.com"));
    let token = idp.signer.sign(&claims);
    let verified = idp.client.verify_id_token(&provider, &IdToken { token: &token, nonce: None }, NOW).await;
    assert_eq!(verified.err(), Some(refused(IdTokenFault::Subject)));
}

#[tokio::test]
async fn junk_tokens_do_not_delay_a_new_key() {
    let mut idp = Idp::start().await;
    verify(&idp, &app_claims(&idp), None).await.unwrap();
    let stranger = Signer::new(Algorithm::ES256, "nobody");
    for (name, value, fault) in [
        ("iss", json!("https://evil.example"), IdTokenFault::Issuer),
        ("aud", json!("another-app"), IdTokenFault::Audience),
        ("exp", json!(SECOND - 1), IdTokenFault::Expired),
    ] {
        let mut junk = app_claims(&idp);
        junk[name] = value;
        let token = stranger.sign(&junk);
        for _ in 0..10 {
            let token = IdToken { token: &token, nonce: None };
            let response = idp.client.verify_id_token(&idp.provider, &token, NOW).await;
            assert_eq!(response.err(), Some(refused(fault)));
        }
    }
    assert_eq!(idp.mock.asked(KEYS).len(), 1);
    idp.signer = Signer::new(Algorithm::ES256, "key-2");
    idp.mock.on(KEYS, json!({ "keys": [idp.signer.public()] }));
    assert!(verify(&idp, &app_claims(&idp), None).await.is_ok());
}

/// Each of these tokens is invalid whatever the provider's keys are.
#[tokio::test]
async fn a_token_that_cannot_be_good_is_refused_without_asking_the_provider() {
    let idp = Idp::start().await;
    for (name, value, fault) in [
        ("iss", json!("https://evil.example"), IdTokenFault::Issuer),
        ("aud", json!("another-app"), IdTokenFault::Audience),
        ("exp", json!(SECOND - 1), IdTokenFault::Expired),
        ("nonce", json!("raw"), IdTokenFault::Nonce),
        ("sub", json!(null), IdTokenFault::Subject),
    ] {
        let mut claims = app_claims(&idp);
        claims[name] = value;
        assert_eq!(verify(&idp, &claims, None).await.err(), Some(refused(fault)), "{name}");
    }
    // `{"alg":"none"}` and `{"alg":"HS256"}`.
    for (token, fault) in [
        ("eyJhbGciOiJub25lIn0.e30.", IdTokenFault::Algorithm),
        ("eyJhbGciOiJIUzI1NiJ9.e30.AAAA", IdTokenFault::Algorithm),
        ("no token", IdTokenFault::Form),
    ] {
        let token = IdToken { token, nonce: None };
        let verified = idp.client.verify_id_token(&idp.provider, &token, NOW).await;
        assert_eq!(verified.err(), Some(refused(fault)));
    }
    assert!(idp.mock.asked(DISCOVERY).is_empty() && idp.mock.asked(KEYS).is_empty());
}

#[tokio::test]
async fn a_provider_without_id_tokens_takes_none() {
    let idp = Idp::start().await;
    let github = latchkey_oauth::providers::built_in("github").unwrap();
    let provider = Provider::built_in(github, credentials()).unwrap();
    let token = idp.signer.sign(&app_claims(&idp));
    let verified = idp.client.verify_id_token(&provider, &IdToken { token: &token, nonce: None }, NOW).await;
    assert!(matches!(verified, Err(ProviderError::Misconfigured(_))));
}
