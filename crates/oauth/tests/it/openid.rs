//! Sign-in through OpenID Connect: accepted and refused responses.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use latchkey_oauth::{Grant, IdTokenFault, ProviderError, Stage};
use serde_json::{Value, json};

use crate::fixtures::{NOW, SECOND, grant, later, start, verifier};
use crate::idp::{DISCOVERY, Idp, KEYS, Signer, TOKEN, USERINFO};

async fn fault(idp: &Idp) -> IdTokenFault {
    match idp.identify().await {
        Err(ProviderError::IdTokenRefused(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_sign_in_yields_a_verified_identity() {
    let idp = Idp::start().await;

    let url = idp.client.authorization_url(&idp.provider, &start(), NOW).await.unwrap();
    let identity = idp.identify().await.unwrap();

    assert!(url.as_str().starts_with(&idp.mock.at("https://idp.example/authorize?response_type=code&")));
    assert_eq!(identity.provider, "acme");
    assert_eq!(identity.issuer, idp.mock.at("https://idp.example"));
    assert_eq!(identity.subject, "subject-1");
    assert_eq!(identity.email.as_ref().unwrap().as_typed(), "ada@example.org");
    assert!(identity.email_verified);
    assert_eq!(identity.name.as_deref(), Some("Ada Lovelace"));
    assert_eq!(identity.avatar_url.as_deref(), Some("https://idp.example/ada.png"));
    let form = idp.mock.asked(TOKEN)[0].form();
    assert_eq!(form["code"], "the-code");
    assert_eq!(form["code_verifier"], verifier().expose());
    assert!(idp.mock.asked(USERINFO).is_empty());
}

#[tokio::test]
async fn every_good_algorithm_is_verified() {
    for algorithm in
        [Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::ES384, Algorithm::EdDSA]
    {
        let idp = Idp::with(algorithm).await;
        assert_eq!(idp.identify().await.unwrap().subject, "subject-1", "{algorithm:?}");
    }
}

#[tokio::test]
async fn document_and_keys_are_asked_for_once() {
    let idp = Idp::start().await;
    for _ in 0..3 {
        idp.identify().await.unwrap();
    }
    assert_eq!(idp.mock.asked(DISCOVERY).len(), 1);
    assert_eq!(idp.mock.asked(KEYS).len(), 1);
}

#[tokio::test]
async fn an_unsigned_token_is_refused() {
    let idp = Idp::start().await;
    for alg in ["none", "None", ""] {
        let header = URL_SAFE_NO_PAD.encode(json!({"alg": alg, "kid": "key-1"}).to_string());
        let payload = URL_SAFE_NO_PAD.encode(idp.claims().to_string());
        idp.answer_token(&format!("{header}.{payload}."));
        assert_eq!(fault(&idp).await, IdTokenFault::Algorithm);
    }
}

#[tokio::test]
async fn a_token_signed_with_the_public_key_as_a_secret_is_refused() {
    let idp = Idp::with(Algorithm::RS256).await;
    let secrets = [idp.signer.public().to_string(), idp.signer.public()["n"].as_str().unwrap().to_owned()];
    for secret in secrets {
        let header = Header { kid: Some("key-1".to_owned()), ..Header::new(Algorithm::HS256) };
        let key = EncodingKey::from_secret(secret.as_bytes());
        idp.answer_token(&encode(&header, &idp.claims(), &key).unwrap());
        assert_eq!(fault(&idp).await, IdTokenFault::Algorithm);
    }
}

#[tokio::test]
async fn an_algorithm_that_is_not_announced_is_refused() {
    let idp = Idp::start().await;
    let mut document = idp.document();
    document["id_token_signing_alg_values_supported"] = json!(["RS256"]);
    idp.mock.on(DISCOVERY, document);
    assert_eq!(fault(&idp).await, IdTokenFault::Algorithm);
}

#[tokio::test]
async fn a_token_signed_by_somebody_else_is_refused() {
    let idp = Idp::start().await;
    idp.answer_token(&Signer::new(Algorithm::ES256, "key-1").sign(&idp.claims()));
    assert_eq!(fault(&idp).await, IdTokenFault::Signature);
    idp.answer_token(&Signer::new(Algorithm::ES256, "key-2").sign(&idp.claims()));
    assert_eq!(fault(&idp).await, IdTokenFault::UnknownKey);
}

#[tokio::test]
async fn claims_that_were_changed_after_signing_are_refused() {
    let idp = Idp::start().await;
    let good = idp.signer.sign(&idp.claims());
    let parts: Vec<_> = good.split('.').collect();
    let payload = URL_SAFE_NO_PAD.encode(idp.claims_with("sub", json!("somebody")).to_string());
    idp.answer_token(&format!("{}.{payload}.{}", parts[0], parts[2]));
    assert_eq!(fault(&idp).await, IdTokenFault::Signature);
}

#[tokio::test]
async fn every_claim_that_lies_is_refused() {
    let idp = Idp::start().await;
    for (name, value, expected) in [
        ("iss", json!("https://evil.example"), IdTokenFault::Issuer),
        ("aud", json!("another-client"), IdTokenFault::Audience),
        ("aud", json!("the-app"), IdTokenFault::Audience),
        ("aud", json!(["the-client", "another-client"]), IdTokenFault::Audience),
        ("azp", json!("another-client"), IdTokenFault::AuthorizedParty),
        ("exp", json!(SECOND), IdTokenFault::Expired),
        ("exp", json!((SECOND + 300).to_string()), IdTokenFault::Date),
        ("iat", json!(SECOND + 61), IdTokenFault::IssuedInFuture),
        ("iat", json!(SECOND - 601), IdTokenFault::TooOld),
        ("nbf", json!(SECOND + 61), IdTokenFault::NotYetValid),
        ("nonce", json!("another-nonce"), IdTokenFault::Nonce),
        ("nonce", json!(null), IdTokenFault::Nonce),
        ("sub", json!(""), IdTokenFault::Subject),
    ] {
        idp.response(&idp.claims_with(name, value));
        assert_eq!(fault(&idp).await, expected, "{name}");
    }
}

#[tokio::test]
async fn an_answer_without_an_id_token_is_refused() {
    let idp = Idp::start().await;
    for id_token in [json!(null), json!(""), json!(7)] {
        idp.mock.on(TOKEN, json!({"access_token": "the-access-token", "id_token": id_token}));
        assert_eq!(fault(&idp).await, IdTokenFault::Missing);
    }
}

#[tokio::test]
async fn userinfo_completes_the_token() {
    let idp = Idp::start().await;
    let (mut claims, mut userinfo) = (idp.claims(), idp.claims());
    for name in ["email", "email_verified", "name", "picture"] {
        claims[name] = Value::Null;
    }
    userinfo["iss"] = Value::Null;
    idp.response(&claims);
    idp.mock.on(USERINFO, userinfo);

    let identity = idp.identify().await.unwrap();

    assert_eq!(identity.email.as_ref().unwrap().as_typed(), "ada@example.org");
    assert!(identity.email_verified);
    assert_eq!(identity.name.as_deref(), Some("Ada Lovelace"));
    assert_eq!(idp.mock.asked(USERINFO)[0].header("authorization"), Some("Bearer the-access-token"));
}

#[tokio::test]
async fn userinfo_about_somebody_else_fails_the_sign_in() {
    let idp = Idp::start().await;
    idp.response(&idp.claims_with("email", Value::Null));
    for subject in [json!("somebody-else"), json!(null), json!(1), json!("Subject-1")] {
        idp.mock.on(USERINFO, json!({"sub": subject, "email": "eve@example.org", "email_verified": true}));
        assert_eq!(fault(&idp).await, IdTokenFault::OtherSubject);
    }
}

#[tokio::test]
async fn an_address_is_verified_by_the_json_value_true_alone() {
    let idp = Idp::start().await;
    for flag in [json!("true"), json!(1), json!(false)] {
        idp.response(&idp.claims_with("email_verified", flag));
        assert!(!idp.identify().await.unwrap().email_verified);
    }
}

#[tokio::test]
async fn a_new_key_is_fetched_and_an_unknown_one_not_for_ever() {
    let idp = Idp::start().await;
    idp.identify().await.unwrap();
    let new = Signer::new(Algorithm::ES256, "key-2");
    idp.mock.on(KEYS, json!({ "keys": [new.public()] }));
    idp.answer_token(&new.sign(&idp.claims()));
    assert!(idp.identify().await.is_ok());

    idp.answer_token(&Signer::new(Algorithm::ES256, "key-3").sign(&idp.claims()));
    for _ in 0..20 {
        assert_eq!(fault(&idp).await, IdTokenFault::UnknownKey);
    }
    assert_eq!(idp.mock.asked(KEYS).len(), 21);
}

#[tokio::test]
async fn a_new_key_under_the_old_name_is_fetched() {
    let mut idp = Idp::start().await;
    idp.identify().await.unwrap();
    idp.signer = Signer::new(Algorithm::ES256, "key-1");
    idp.mock.on(KEYS, json!({ "keys": [idp.signer.public()] }));
    idp.response(&idp.claims());
    assert!(idp.identify().await.is_ok());
}

#[tokio::test]
async fn kept_keys_are_used_while_the_provider_cannot_be_asked_for_them() {
    let idp = Idp::start().await;
    idp.identify().await.unwrap();
    idp.mock.on_status(KEYS, 503, json!({}));
    idp.mock.on_status(DISCOVERY, 503, json!({}));
    let two_hours = 7200;
    let mut claims = idp.claims();
    claims["iat"] = json!(SECOND + 7200);
    claims["exp"] = json!(SECOND + 7500);
    idp.response(&claims);
    assert!(idp.client.identify(&idp.provider, &grant(), later(two_hours)).await.is_ok());
}

#[tokio::test]
async fn an_answer_of_another_issuer_is_a_mix_up() {
    let idp = Idp::start().await;
    let identify = async |issuer: Option<&str>| {
        let grant = Grant { issuer, ..grant() };
        idp.client.identify(&idp.provider, &grant, NOW).await.err()
    };
    assert_eq!(identify(None).await, None);
    assert_eq!(identify(Some(&idp.issuer())).await, None);
    let asked = idp.mock.asked(TOKEN).len();
    assert_eq!(identify(Some("https://evil.example")).await, Some(ProviderError::IssuerMixUp));
    assert_eq!(idp.mock.asked(TOKEN).len(), asked, "the code must not be sent anywhere");
}

#[tokio::test]
async fn a_provider_that_always_names_itself_must_do_so() {
    let idp = Idp::start().await;
    let mut document = idp.document();
    document["authorization_response_iss_parameter_supported"] = json!(true);
    idp.mock.on(DISCOVERY, document);
    assert_eq!(idp.identify().await.err(), Some(ProviderError::IssuerMixUp));
}

#[tokio::test]
async fn a_document_of_another_issuer_is_refused() {
    let idp = Idp::start().await;
    let mut document = idp.document();
    document["issuer"] = json!("https://evil.example");
    idp.mock.on(DISCOVERY, document);
    let refused = idp.client.authorization_url(&idp.provider, &start(), NOW).await.unwrap_err();
    assert!(matches!(refused, ProviderError::BadAnswer { stage: Stage::Discovery, .. }), "{refused}");
}

#[tokio::test]
async fn a_document_cannot_lead_into_a_network_that_is_never_talked_to() {
    for (name, stage) in [
        ("authorization_endpoint", Stage::Discovery),
        ("token_endpoint", Stage::Token),
        ("jwks_uri", Stage::Keys),
        ("userinfo_endpoint", Stage::Profile),
    ] {
        for url in
            ["http://evil.example/", "https://169.254.169.254/", "https://10.0.0.1/", "ftp://127.0.0.1/"]
        {
            let idp = Idp::start().await;
            let mut document = idp.document();
            document[name] = json!(url);
            idp.mock.on(DISCOVERY, document);
            idp.response(&idp.claims_with("email", Value::Null));
            let refused = match name {
                "authorization_endpoint" => {
                    idp.client.authorization_url(&idp.provider, &start(), NOW).await.err()
                }
                _ => idp.identify().await.err(),
            };
            let is_forbidden =
                matches!(refused, Some(ProviderError::Forbidden { stage: at, .. }) if at == stage);
            assert!(is_forbidden, "{name} {url} {refused:?}");
        }
    }
}

#[tokio::test]
async fn error_responses_are_reported_without_our_secrets() {
    let idp = Idp::start().await;
    let refusal = |description: &str| json!({"error": "invalid_grant", "error_description": description});
    let told = async |body: Value| {
        idp.mock.on_status(TOKEN, 400, body);
        idp.identify().await.err().unwrap()
    };
    let plain = told(refusal("The code has expired")).await;
    let ProviderError::Refused { error, description, .. } = &plain else { panic!("{plain:?}") };
    assert_eq!((error.as_str(), description.as_deref()), ("invalid_grant", Some("The code has expired")));
    for secret in ["the-code", "the-secret", verifier().expose()] {
        let told = told(refusal(&format!("{secret} is wrong"))).await;
        assert!(!format!("{told:?} {told}").contains(secret));
        let told = told_error(&idp, secret).await;
        assert!(!format!("{told:?} {told}").contains(secret));
    }
}

async fn told_error(idp: &Idp, secret: &str) -> ProviderError {
    idp.mock.on_status(TOKEN, 401, json!({ "error": secret }));
    idp.identify().await.err().unwrap()
}

#[tokio::test]
async fn a_refusal_in_free_text_is_told_without_it() {
    let idp = Idp::start().await;
    for text in ["token ya29.a0Af of ada@example.org expired", "ada@example.org", &"x".repeat(65), "a b", "ü"]
    {
        assert!(format!("{}", told_error(&idp, text).await).ends_with("refused with http_401"), "{text}");
    }
    idp.mock.on(TOKEN, json!({ "error": "ada@example.org" }));
    assert!(format!("{}", idp.identify().await.unwrap_err()).ends_with("refused with other"));
    for code in ["invalid_client", "oauth2.error:17", "INVALID-CODE"] {
        assert!(format!("{}", told_error(&idp, code).await).ends_with(code));
    }
}

#[tokio::test]
async fn a_refusal_of_userinfo_is_told_without_the_token() {
    let idp = Idp::start().await;
    idp.response(&idp.claims_with("email", Value::Null));
    idp.mock.on_status(USERINFO, 401, json!({"error": "the-access-token"}));
    let told = idp.identify().await.unwrap_err();
    assert!(!format!("{told:?} {told}").contains("the-access-token"));
}

#[tokio::test]
async fn changed_providers_are_fetched_again() {
    let idp = Idp::start().await;
    idp.identify().await.unwrap();
    idp.client.evict(&idp.provider);
    idp.identify().await.unwrap();
    assert_eq!((idp.mock.asked(DISCOVERY).len(), idp.mock.asked(KEYS).len()), (2, 2));
}

#[tokio::test]
async fn a_provider_in_trouble_is_down() {
    let idp = Idp::start().await;
    for status in [500, 502, 503, 429] {
        idp.mock.on_status(TOKEN, status, json!({}));
        let down = idp.identify().await.unwrap_err();
        assert!(matches!(down, ProviderError::Down { stage: Stage::Token, .. }), "{down}");
    }
}
