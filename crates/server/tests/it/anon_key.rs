//! Tests of the anonymous key, and of other bearer tokens in public calls.

use latchkey_testkit::builder::ANON_KEY;
use latchkey_testkit::{Client, PASSWORD, Request, both_stores, json, minutes};

both_stores! {
    async fn public_calls_ignore_the_bearer(app) {
        let ada = app.user("ada").await;
        app.anon().sign_out(&ada.session).send().await.expect(200);

        for bearer in [ada.session.access_token.as_str(), "rubbish", "a.b.c", "anon_unknown"] {
            let client = app.bearing(bearer);

            client.search("ada").send().await.expect(200);
            client.get(&format!("/api/profiles/{}", ada.id)).send().await.expect(200);
            client.get("/api/auth/public-config").send().await.expect(200);
            client.sign_in("ada@example.org", PASSWORD).send().await.expect(200);
            client.sign_up(&app.unique_email("bob"), PASSWORD).send().await.expect(200);
            let email = json!({"email": "x@example.org"});
            client.post("/api/auth/email/send-verification", email).send().await.expect(202);
        }
    }

    with(|b| b.anon_key())
    async fn anon_key_is_optional_unless_it_is_demanded(app) {
        app.anon().search("ada").send().await.expect(200);
        app.bearing(ANON_KEY).search("ada").send().await.expect(200);
        app.bearing("anon_another").search("ada").send().await.expect(200);
    }

    with(|b| b.require_anon_key())
    async fn demanded_anon_key_is_demanded_on_every_public_call(app) {
        for client in [app.anon(), app.bearing("anon_another")] {
            for request in public_calls(&client) {
                request.send().await.refused(401, "AUTH_UNAUTHORIZED");
            }
        }

        for request in public_calls(&app.bearing(ANON_KEY)) {
            let answer = request.send().await;

            assert_ne!(answer.error_code(), "AUTH_UNAUTHORIZED", "{answer:?}");
        }
    }

    with(|b| b.require_anon_key())
    async fn user_of_the_service_needs_no_anon_key_beside_the_token(app) {
        let signed_up = app.bearing(ANON_KEY).sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        let ada = app.bearing(signed_up["accessToken"].as_str().unwrap());

        ada.search("ada").send().await.expect(200);
        app.clock.advance(minutes(16));
        let stale = ada.sign_in("ada@example.org", PASSWORD).send().await;

        stale.expect(200);
    }

    with(|b| b.require_anon_key())
    async fn calls_with_a_credential_of_their_own_need_no_anon_key(app) {
        let answer = app.bearing(ANON_KEY).sign_up("ada@example.org", PASSWORD).send().await;
        let session = latchkey_testkit::Session::of(&answer);

        app.with_session(&session).get("/api/auth/sessions/current").send().await.expect(200);
        app.anon().refresh(&session).send().await.expect(200);
        app.anon().sign_out(&session).send().await.expect(200);
        app.anon().get("/.well-known/jwks.json").send().await.expect(200);
        app.admin().get("/api/auth/users").send().await.expect(200);
    }

    with(|b| b.anon_key())
    async fn anon_key_grants_nothing_beyond_public_calls(app) {
        let client = app.bearing(ANON_KEY);

        for path in ["/api/auth/sessions/current", "/api/auth/sessions", "/api/profiles/me"] {
            client.get(path).send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
        client.get("/api/auth/users").send().await.refused(401, "ADMIN_UNAUTHORIZED");
    }
}

fn public_calls(client: &Client) -> Vec<Request> {
    let email = || json!({"email": "ada@example.org"});
    let code = json!({"email": "ada@example.org", "code": "000000"});
    vec![
        client.sign_up("ada@example.org", PASSWORD),
        client.sign_in("ada@example.org", PASSWORD),
        client.post("/api/auth/email/send-verification", email()),
        client.verify("ada@example.org", "000000"),
        client.post("/api/auth/email/send-reset-password", email()),
        client.post("/api/auth/email/exchange-reset-password-token", code),
        client
            .post("/api/auth/email/reset-password", json!({"newPassword": PASSWORD, "otp": "0".repeat(64)})),
        client.get("/api/auth/public-config"),
        client.search("ada"),
        client.get("/api/profiles/00000000-0000-7000-8000-000000000000"),
        client.get("/api/auth/profiles/00000000-0000-7000-8000-000000000000"),
    ]
}
