//! Tests of the sign-in of native apps with an `id_token`.

use latchkey_testkit::provider::{Document, PROVIDER_CLIENT_ID, Signature};
use latchkey_testkit::{
    Client, LyingProvider, Request, Session, TestApp, Value, both_stores, challenge_id, json, minutes,
};

use crate::oauth_calls::{configure, person, session, user_count};

/// Client id of the native app, which differs from the client id of the service.
const NATIVE: &str = "native-app";

/// Provider that accepts [`NATIVE`] and issues tokens for it.
async fn native(app: &TestApp) -> LyingProvider {
    let provider = LyingProvider::start(&app.clock).await;
    let mut body = provider.custom("acme");
    body["nativeClientIds"] = json!([NATIVE]);
    configure(app, &body).await;
    is_honest(&provider);
    provider
}

fn is_honest(provider: &LyingProvider) {
    provider.is_honest();
    provider.says(Document::IdToken, json!({"aud": NATIVE}));
}

fn sign_in(client: &Client, token: &str) -> Request {
    let body = json!({"provider": "acme", "token": token});
    client.post("/api/auth/id-token", body).client_type("mobile")
}

fn sign_in_with_nonce(client: &Client, token: &str, nonce: &Value) -> Request {
    let body = json!({"provider": "acme", "token": token, "nonce": nonce});
    client.post("/api/auth/id-token", body).client_type("mobile")
}

/// Asserts that a token with each of these claims is refused.
async fn are_refused(app: &TestApp, patches: impl IntoIterator<Item = Value>) {
    let acme = native(app).await;
    for patch in patches {
        is_honest(&acme);
        acme.says(Document::IdToken, patch.clone());

        let answer = sign_in(&app.anon(), &acme.id_token(None)).send().await;

        assert_eq!(
            (answer.status, answer.error_code().as_str()),
            (401, "INVALID_ID_TOKEN"),
            "{patch}: {answer:?}"
        );
    }
    assert_eq!(user_count(app).await, 0);
}

both_stores! {
    async fn id_token_opens_a_session(app) {
        let acme = native(&app).await;

        let answer = sign_in(&app.anon(), &acme.id_token(None)).send().await;

        let body = answer.expect(200);
        assert_eq!(body["user"]["email"], "ada@example.org");
        assert_eq!(body["user"]["emailVerified"], true);
        assert_eq!(body["user"]["profile"]["name"], "Ada of the provider");
        let session = Session::of(&answer);
        assert!(session.refresh_token.is_some() && session.cookie.is_none());
        app.with_session(&session).get("/api/profiles/me").send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn account_with_two_step_is_challenged_and_the_answer_keeps_the_channel(app) {
        let ada = app.two_step_user("ada").await;
        let acme = native(&app).await;

        let challenge = challenge_id(&sign_in(&app.anon(), &acme.id_token(None)).send().await);

        let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await;
        let session = Session::of(&answer);
        assert_eq!(session.user_id, ada.id);
        assert!(session.refresh_token.is_some() && session.cookie.is_none());
    }

    async fn browser_gets_its_cookie(app) {
        let acme = native(&app).await;
        let body = json!({"provider": "acme", "token": acme.id_token(None)});

        let answer = app.anon().post("/api/auth/id-token", body).send().await;

        assert!(Session::of(&answer).cookie.is_some());
    }

    async fn captured_token_is_accepted_once(app) {
        let acme = native(&app).await;
        let token = acme.id_token(None);
        sign_in(&app.anon(), &token).send().await.expect(200);

        sign_in(&app.anon(), &token).send().await.refused(401, "INVALID_ID_TOKEN");

        app.clock.advance(minutes(4));
        app.run_jobs().await;
        sign_in(&app.anon(), &token).send().await.refused(401, "INVALID_ID_TOKEN");
    }

    async fn replayed_token_is_audited(app) {
        let acme = native(&app).await;
        let token = acme.id_token(None);
        sign_in(&app.anon(), &token).send().await.expect(200);

        sign_in(&app.anon(), &token).send().await.refused(401, "INVALID_ID_TOKEN");

        let audit = app.admin().get("/api/auth/audit").send().await.expect(200);
        let is_told = |event: &Value| event["event"] == "sign_in_failed" && event["details"]["provider"] == "acme";
        assert!(audit["data"].as_array().unwrap().iter().any(is_told), "{audit}");
    }

    async fn captured_token_is_known_in_other_writing(app) {
        let acme = native(&app).await;
        let token = acme.id_token(None);
        sign_in(&app.anon(), &token).send().await.expect(200);

        for other in [format!("{token}="), format!(" {token}"), format!("{token} "), token.replace('.', "..")] {
            sign_in(&app.anon(), &other).send().await.refused(401, "INVALID_ID_TOKEN");
        }
    }

    async fn token_is_accepted_once_over_all_instances(app) {
        let acme = native(&app).await;
        let (token, beside) = (acme.id_token(None), app.beside().await);
        sign_in(&app.anon(), &token).send().await.expect(200);

        sign_in(&beside.anon(), &token).send().await.refused(401, "INVALID_ID_TOKEN");
    }

    parallel async fn one_of_twenty_with_the_same_token_wins(app) {
        let acme = native(&app).await;
        let token = acme.id_token(None);

        let racers = (0..20).map(|_| {
            let (client, token) = (app.anon(), token.clone());
            tokio::spawn(async move { sign_in(&client, &token).send().await.status })
        });
        let racers: Vec<_> = racers.collect();
        let mut winners = 0;
        for racer in racers {
            winners += usize::from(racer.await.unwrap() == 200);
        }

        assert_eq!(winners, 1);
    }

    async fn nonce_of_a_token_demands_the_same_nonce(app) {
        let acme = native(&app).await;
        let token = |nonce: &str| acme.id_token(Some(nonce));

        sign_in(&app.anon(), &token("n-1")).send().await.refused(401, "INVALID_ID_TOKEN");
        for other in [json!("n-2"), json!(""), json!("N-1")] {
            let answer = sign_in_with_nonce(&app.anon(), &token("n-1"), &other).send().await;
            answer.refused(401, "INVALID_ID_TOKEN");
        }
        sign_in_with_nonce(&app.anon(), &token("n-1"), &json!("n-1")).send().await.expect(200);
    }

    async fn nonce_without_one_in_the_token_is_refused(app) {
        let acme = native(&app).await;

        let answer = sign_in_with_nonce(&app.anon(), &acme.id_token(None), &json!("n-1")).send().await;

        answer.refused(401, "INVALID_ID_TOKEN");
    }

    async fn audience_is_a_native_client_alone(app) {
        are_refused(&app, [
            json!({"aud": "another-app"}),
            json!({"aud": PROVIDER_CLIENT_ID}),
            json!({"aud": null}),
            json!({"aud": [NATIVE, "another-app"]}),
            json!({"azp": "another-app"}),
        ])
        .await;
    }

    async fn issuer_and_dates_are_checked(app) {
        let now = app.service().now().as_millis() / 1000;
        are_refused(&app, [
            json!({"iss": "https://evil.example"}),
            json!({"exp": now - 1}),
            json!({"iat": now + 61}),
            json!({"iat": now - 601}),
            json!({"iat": now.to_string()}),
            json!({"nbf": now + 3600}),
            json!({"sub": null}),
        ])
        .await;
    }

    async fn signature_is_checked(app) {
        let acme = native(&app).await;
        for signature in [
            Signature::Missing,
            Signature::AnotherKey,
            Signature::Broken,
            Signature::PublicKeyAsSecret,
            Signature::ClientSecret,
        ] {
            acme.signs(signature);

            sign_in(&app.anon(), &acme.id_token(None)).send().await.refused(401, "INVALID_ID_TOKEN");
        }
        assert_eq!(user_count(&app).await, 0);
    }

    async fn malformed_token_is_refused(app) {
        let _acme = native(&app).await;
        for token in ["", "a.b.c", "e30.e30.", &"a".repeat(20_000)] {
            sign_in(&app.anon(), token).send().await.refused(401, "INVALID_ID_TOKEN");
        }
        for body in [json!({}), json!({"provider": "acme"}), json!({"token": "x"}), json!({"provider": 1, "token": "x"})] {
            app.anon().post("/api/auth/id-token", body).send().await.refused(400, "VALIDATION_ERROR");
        }
    }

    async fn provider_must_be_known_and_have_native_clients(app) {
        let provider = LyingProvider::start(&app.clock).await;
        configure(&app, &provider.custom("acme")).await;
        let of = |key: &str| {
            let body = json!({"provider": key, "token": provider.id_token(None)});
            app.anon().post("/api/auth/id-token", body)
        };

        of("acme").send().await.refused(401, "INVALID_ID_TOKEN");
        of("nobody").send().await.refused(400, "UNSUPPORTED_PROVIDER");
        of("google").send().await.refused(400, "PROVIDER_NOT_CONFIGURED");
    }

    async fn same_linking_rules_hold(app) {
        let acme = native(&app).await;
        let first = session(&app, acme_for_web(&acme), "acme").await;
        is_honest(&acme);
        let again = Session::of(&sign_in(&app.anon(), &acme.id_token(None)).send().await);
        assert_eq!(again.user_id, first.user_id);

        let mut claims = person("mallory", "ada@example.org");
        claims["email_verified"] = json!("true");
        acme.person(claims);
        let refusal = sign_in(&app.anon(), &acme.id_token(None)).send().await.refused(409, "EMAIL_EXISTS");
        assert!(refusal["message"].as_str().unwrap().contains("sign in to link this provider"), "{refusal}");
    }

    async fn name_of_the_app_is_used_if_the_token_has_none(app) {
        let acme = native(&app).await;
        acme.says(Document::IdToken, json!({"name": null}));
        let body = json!({"provider": "acme", "token": acme.id_token(None), "name": "Ada of the app"});

        let body = app.anon().post("/api/auth/id-token", body).send().await.expect(200);

        assert_eq!(body["user"]["profile"]["name"], "Ada of the app");
    }

    with(|b| b.sign_up_disabled())
    async fn no_account_is_made_while_sign_up_is_disabled(app) {
        let acme = native(&app).await;

        sign_in(&app.anon(), &acme.id_token(None)).send().await.refused(403, "SIGNUP_DISABLED");
    }

    async fn banned_account_stays_closed(app) {
        let acme = native(&app).await;
        let ada = Session::of(&sign_in(&app.anon(), &acme.id_token(None)).send().await);
        let path = format!("/api/auth/users/{}", ada.user_id);
        app.admin().patch(&path, json!({"banned": true})).send().await.expect(200);
        app.clock.advance(minutes(1));

        sign_in(&app.anon(), &acme.id_token(None)).send().await.refused(403, "USER_BANNED");
    }
}

/// Changes the provider so that it issues tokens for the client id of the service.
fn acme_for_web(provider: &LyingProvider) -> &LyingProvider {
    provider.is_honest();
    provider
}
