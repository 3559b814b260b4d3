//! Tests of forged access tokens. Each gets 401 `AUTH_UNAUTHORIZED`, the code on which clients refresh.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use latchkey_testkit::{TestApp, Value, both_stores, json};

both_stores! {
    async fn token_with_another_payload_is_refused(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let mut claims = claims_of(&ada.session.access_token);
        claims["sub"] = json!(bob.id);

        let forged = with_part(&ada.session.access_token, 1, &encoded(&claims));

        assert_refused(&app, &forged).await;
    }

    async fn token_with_another_signature_is_refused(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let token = &ada.session.access_token;
        let foreign = bob.session.access_token.split('.').nth(2).unwrap();

        for signature in ["", "AAAA", foreign, &"A".repeat(86)] {
            assert_refused(&app, &with_part(token, 2, signature)).await;
        }
    }

    async fn token_without_a_signature_is_refused_whatever_its_header_says(app) {
        let ada = app.user("ada").await;
        let token = &ada.session.access_token;

        for alg in ["none", "None", "NONE", "nOnE", ""] {
            let header = encoded(&json!({"alg": alg, "kid": kid_of(token), "typ": "at+jwt"}));
            let payload = encoded(&claims_of(token));
            assert_refused(&app, &format!("{header}.{payload}.")).await;
            assert_refused(&app, &with_part(token, 0, &header)).await;
        }
    }

    async fn public_key_is_no_shared_secret(app) {
        let ada = app.user("ada").await;
        let token = &ada.session.access_token;
        let jwk = app.anon().get("/.well-known/jwks.json").send().await.json()["keys"][0].clone();
        let coordinate = |name: &str| URL_SAFE_NO_PAD.decode(jwk[name].as_str().unwrap()).unwrap();
        let point = [&[4], coordinate("x").as_slice(), &coordinate("y")].concat();

        for secret in [point, coordinate("x"), jwk.to_string().into_bytes(), Vec::new()] {
            let mut header = Header::new(Algorithm::HS256);
            (header.kid, header.typ) = (Some(kid_of(token)), Some("at+jwt".to_owned()));
            let forged = encode(&header, &claims_of(token), &EncodingKey::from_secret(&secret)).unwrap();
            assert_refused(&app, &forged).await;
        }
    }

    async fn token_signed_by_another_key_under_the_same_id_is_refused(app) {
        let ada = app.user("ada").await;
        let foreign = TestApp::builder().start().await;
        let twin = foreign.user("ada").await;
        let (own, theirs) = (&ada.session.access_token, &twin.session.access_token);
        assert_eq!((kid_of(own), claims_of(own)), (kid_of(theirs), claims_of(theirs)));

        assert_refused(&app, theirs).await;
    }

    async fn token_with_a_key_id_that_is_unknown_or_a_path_is_refused(app) {
        let ada = app.user("ada").await;
        let token = &ada.session.access_token;

        for kid in [json!("x"), json!("../../dev/null"), json!("' OR 1=1 --"), json!(null), json!(1)] {
            let header = encoded(&json!({"alg": "ES256", "kid": kid, "typ": "at+jwt"}));
            assert_refused(&app, &with_part(token, 0, &header)).await;
        }
    }

    async fn key_inside_or_behind_the_header_is_not_used(app) {
        let ada = app.user("ada").await;
        let token = &ada.session.access_token;
        let jwk = app.anon().get("/.well-known/jwks.json").send().await.json()["keys"][0].clone();

        for (name, value) in [
            ("jwk", jwk),
            ("jku", json!("https://evil.example/jwks")),
            ("x5u", json!("https://evil.example")),
        ] {
            let mut header = json!({"alg": "ES256", "kid": kid_of(token), "typ": "at+jwt"});
            header[name] = value;
            assert_refused(&app, &with_part(token, 0, &encoded(&header))).await;
        }
    }

    async fn rubbish_is_refused(app) {
        for bearer in ["x", ".", "..", "...", "a.b.c", "a.b.c.d", &"a".repeat(5000), "e30.e30.", "e30.e30.e30"] {
            assert_refused(&app, bearer).await;
        }
    }

    async fn token_for_another_audience_or_issuer_is_refused(mut app) {
        let ada = app.user("ada").await;

        app.restart_with(|b| b.config(|config| "my-app".clone_into(&mut config.audience))).await;
        assert_refused(&app, &ada.session.access_token).await;

        app.restart_with(|b| b.mode_production().config(|c| "http://localhost:8700".clone_into(&mut c.audience))).await;
        assert_refused(&app, &ada.session.access_token).await;
    }

    async fn refresh_token_and_csrf_token_are_no_bearers(app) {
        let (web, server) = (app.user("ada").await, app.user_on("bob", "server").await);

        assert_refused(&app, web.session.refresh_secret()).await;
        assert_refused(&app, web.session.csrf_token.as_deref().unwrap()).await;
        assert_refused(&app, server.session.refresh_secret()).await;
    }
}

async fn assert_refused(app: &TestApp, bearer: &str) {
    for path in ["/api/auth/sessions/current", "/api/profiles/me", "/api/auth/sessions"] {
        app.bearing(bearer).get(path).send().await.refused(401, "AUTH_UNAUTHORIZED");
    }
}

fn encoded(part: &Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

fn decoded(token: &str, number: usize) -> Value {
    let encoded = token.split('.').nth(number).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(encoded).unwrap()).unwrap()
}

fn claims_of(token: &str) -> Value {
    decoded(token, 1)
}

fn kid_of(token: &str) -> String {
    decoded(token, 0)["kid"].as_str().unwrap().to_owned()
}

fn with_part(token: &str, number: usize, part: &str) -> String {
    let mut parts: Vec<_> = token.split('.').collect();
    parts[number] = part;
    parts.join(".")
}
