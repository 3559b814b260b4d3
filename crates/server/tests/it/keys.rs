//! Tests of access tokens for third parties: header, claims, public keys, and key rotation.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use latchkey_domain::operator::Party;
use latchkey_service::tokens::SigningAlgorithm;
use latchkey_testkit::{Session, TestApp, Value, both_stores, days, json, minutes, seconds};

/// 2026-03-02T10:00:00Z in seconds.
const START: i64 = 1_772_445_600;

both_stores! {
    async fn header_names_algorithm_key_and_type_and_nothing_else(app) {
        let ada = app.user("ada").await;

        let header = part(&ada.session.access_token, 0);

        let jwks = app.anon().get("/.well-known/jwks.json").send().await.json();
        assert_eq!(header, json!({"alg": "ES256", "kid": jwks["keys"][0]["kid"], "typ": "at+jwt"}));
    }

    async fn claims_are_those_of_the_contract(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(5));

        let claims = part(&Session::of(&ada.refreshed().await).access_token, 1);

        let listed = ada.get("/api/auth/sessions").send().await.expect(200);
        let expected = json!({
            "iss": "http://localhost:8700",
            "aud": "http://localhost:8700",
            "sub": ada.id,
            "sid": listed["sessions"][0]["id"],
            "role": "authenticated",
            "email": "ada@example.org",
            "email_verified": false,
            "auth_time": START,
            "amr": ["pwd"],
            "iat": START + 300,
            "exp": START + 1200,
            "jti": claims["jti"],
        });
        assert_eq!(claims, expected);
    }

    with(|b| b.verification_by_code())
    async fn session_opened_by_a_code_has_its_method(app) {
        let ada = app.user("ada").await;

        let claims = part(&ada.session.access_token, 1);

        assert_eq!((&claims["amr"], &claims["email_verified"]), (&json!(["otp"]), &json!(true)));
    }

    async fn every_token_has_an_id_of_its_own(app) {
        let ada = app.user("ada").await;
        let again = ada.sign_in_again().await;

        let (one, other) = (part(&ada.session.access_token, 1), part(&again.access_token, 1));

        assert_ne!(one["jti"], other["jti"]);
        assert_ne!(one["sid"], other["sid"]);
    }

    with(|b| b.mode_production().config(|config| "my-app".clone_into(&mut config.audience)))
    async fn issuer_is_the_public_url_and_the_audience_can_be_set(app) {
        let ada = app.user("ada").await;

        let claims = part(&ada.session.access_token, 1);

        assert_eq!((&claims["iss"], &claims["aud"]), (&json!("https://accounts.example.org"), &json!("my-app")));
        ada.get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn published_key_verifies_the_token(app) {
        let ada = app.user("ada").await;

        let keys = jwks(&app).await;

        assert!(is_signed_by(&ada.session.access_token, &keys, Algorithm::ES256));
    }

    with(|b| b.config(|config| config.algorithm = SigningAlgorithm::EdDsa))
    async fn tokens_can_be_signed_with_ed25519(app) {
        let ada = app.user("ada").await;

        let keys = jwks(&app).await;

        assert_eq!(part(&ada.session.access_token, 0)["alg"], "EdDSA");
        assert!(is_signed_by(&ada.session.access_token, &keys, Algorithm::EdDSA));
        ada.get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn published_keys_are_public_halves_that_may_be_cached(app) {
        let answer = app.anon().get("/.well-known/jwks.json").send().await;

        let jwks = answer.expect(200);
        let key = &jwks["keys"][0];
        let names: Vec<_> = key.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, ["alg", "crv", "kid", "kty", "use", "x", "y"]);
        assert_eq!((&key["kty"], &key["crv"], &key["alg"]), (&json!("EC"), &json!("P-256"), &json!("ES256")));
        assert_eq!((jwks["keys"].as_array().unwrap().len(), &key["use"]), (1, &json!("sig")));
        assert!(!answer.header("cache-control").unwrap().contains("no-store"), "{answer:?}");
    }

    async fn rotation_signs_with_a_new_key_and_keeps_the_tokens_of_the_old_one(app) {
        let ada = app.user("ada").await;

        assert!(app.service().sessions.rotate_signing_key(Party::System, None).await.unwrap());

        let later = ada.sign_in_again().await;
        assert_ne!(part(&later.access_token, 0)["kid"], part(&ada.session.access_token, 0)["kid"]);
        let keys = jwks(&app).await;
        assert_eq!(keys.keys.len(), 2);
        for token in [&ada.session.access_token, &later.access_token] {
            assert!(is_signed_by(token, &keys, Algorithm::ES256));
            app.bearing(token).get("/api/auth/sessions/current").send().await.expect(200);
        }
    }

    async fn old_key_is_published_until_its_last_token_has_expired(app) {
        let ada = app.user("ada").await;
        app.service().sessions.rotate_signing_key(Party::System, None).await.unwrap();

        app.clock.advance(minutes(15) - seconds(1));
        ada.get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(jwks(&app).await.keys.len(), 2);

        app.clock.advance(minutes(2));
        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
        assert_eq!(jwks(&app).await.keys.len(), 1);
    }

    async fn token_of_a_new_key_is_good_at_once_on_every_instance(app) {
        let ada = app.user("ada").await;
        let other = app.beside().await;

        app.service().sessions.rotate_signing_key(Party::System, None).await.unwrap();

        let later = ada.sign_in_again().await;
        other.with_session(&later).get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(jwks(&other).await.keys.len(), 2);
    }

    async fn keys_outlive_a_restart(mut app) {
        let ada = app.user("ada").await;
        let before = app.anon().get("/.well-known/jwks.json").send().await.json();

        app.restart().await;

        let after = app.anon().get("/.well-known/jwks.json").send().await.json();
        assert_eq!(after, before);
        ada.get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn rotation_reaches_other_instances_with_their_jobs(app) {
        let ada = app.user("ada").await;
        let other = app.beside().await;
        app.service().sessions.rotate_signing_key(Party::System, None).await.unwrap();

        other.run_jobs().await;

        let later = Session::of(&other.anon().sign_in(&ada.email, &ada.password).send().await);
        let new = part(&ada.sign_in_again().await.access_token, 0)["kid"].clone();
        assert_eq!(part(&later.access_token, 0)["kid"], new);
    }

    async fn key_is_replaced_by_schedule_after_ninety_days(app) {
        let first = jwks(&app).await;

        app.clock.advance(days(90) - seconds(1));
        assert!(!app.service().upkeep.rotate_signing_key_if_due().await.unwrap());
        app.clock.advance(seconds(1));
        assert!(app.service().upkeep.rotate_signing_key_if_due().await.unwrap());

        let ada = app.user("ada").await;
        let kid = part(&ada.session.access_token, 0)["kid"].as_str().unwrap().to_owned();
        assert!(first.find(&kid).is_none());
        assert!(is_signed_by(&ada.session.access_token, &jwks(&app).await, Algorithm::ES256));
    }

    async fn change_of_algorithm_keeps_the_tokens_of_the_older_key(mut app) {
        let ada = app.user("ada").await;
        app.restart_with(|b| b.config(|config| config.algorithm = SigningAlgorithm::EdDsa)).await;

        app.service().sessions.rotate_signing_key(Party::System, None).await.unwrap();

        let later = ada.sign_in_again().await;
        assert_eq!(part(&later.access_token, 0)["alg"], "EdDSA");
        for token in [&ada.session.access_token, &later.access_token] {
            app.bearing(token).get("/api/auth/sessions/current").send().await.expect(200);
        }
    }
}

/// Decoded part of a JWT: 0 the header, 1 the claims.
fn part(token: &str, number: usize) -> Value {
    let encoded = token.split('.').nth(number).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(encoded).unwrap()).unwrap()
}

async fn jwks(app: &TestApp) -> JwkSet {
    serde_json::from_value(app.anon().get("/.well-known/jwks.json").send().await.expect(200)).unwrap()
}

/// Verifies a token as an application would: key by id, signature, issuer and audience, at the test's time.
fn is_signed_by(token: &str, keys: &JwkSet, algorithm: Algorithm) -> bool {
    let kid = decode_header(token).unwrap().kid.unwrap();
    let key: &Jwk = keys.find(&kid).unwrap();
    let mut validation = Validation::new(algorithm);
    validation.validate_exp = false;
    validation.set_issuer(&["http://localhost:8700"]);
    validation.set_audience(&["http://localhost:8700"]);
    decode::<Value>(token, &DecodingKey::from_jwk(key).unwrap(), &validation).is_ok()
}
