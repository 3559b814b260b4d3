//! Tests of a provider with invalid, slow or missing responses, or at a forbidden address.

use std::time::{Duration, Instant};

use latchkey_testkit::provider::{Endpoint, Manner};
use latchkey_testkit::{LyingProvider, TestApp, both_stores, json};

use crate::oauth_calls::{acme, auth_url, come_back, consent, error_of, session, start, user_count};

/// Asserts that sign-ins fail with an error in the app while this endpoint misbehaves in each of these ways.
async fn is_survived(app: &TestApp, endpoint: Endpoint, manners: impl IntoIterator<Item = Manner>) {
    let acme = acme(app).await;
    for manner in manners {
        acme.is_honest();
        acme.behaves(endpoint, manner.clone());

        let target = consent(app, &acme, "acme").await;

        assert!(target.as_str().contains("error="), "{manner:?}: {target}");
        error_of(&target);
    }
    assert_eq!(user_count(app).await, 0);
    acme.is_honest();
    session(app, &acme, "acme").await;
}

fn misbehaving_endpoint() -> Vec<Manner> {
    vec![
        Manner::Status(500),
        Manner::Status(429),
        Manner::Status(404),
        Manner::Status(401),
        Manner::Redirect("http://127.0.0.1:1/".to_owned()),
        Manner::Redirect("http://169.254.169.254/latest/meta-data/".to_owned()),
        Manner::Huge,
        Manner::Garbage,
        Manner::CutOff,
    ]
}

/// Maximum duration of a callback: ten seconds by the policy, and one more for a busy machine.
const WAIT_LIMIT: Duration = Duration::from_secs(11);

/// Asserts that a callback completes within the maximum duration.
async fn in_time<T>(work: impl Future<Output = T>) -> T {
    #[expect(clippy::disallowed_methods, reason = "real time is the question")]
    let begun = Instant::now();
    let done = work.await;
    assert!(begun.elapsed() < WAIT_LIMIT, "{:?}", begun.elapsed());
    done
}

async fn asked_by(app: &TestApp, provider: &LyingProvider) -> String {
    let answer = in_time(async { start(&app.anon(), "acme").send().await }).await;
    assert!(provider.asked(Endpoint::Token) == 0 && answer.status == 503, "{answer:?}");
    answer.error_code()
}

both_stores! {
    async fn invalid_token_responses_are_handled(app) {
        is_survived(&app, Endpoint::Token, misbehaving_endpoint()).await;
    }

    async fn invalid_keys_are_handled(app) {
        is_survived(&app, Endpoint::Jwks, [Manner::Garbage]).await;
    }

    async fn invalid_userinfo_is_handled(app) {
        let acme = acme(&app).await;
        for manner in misbehaving_endpoint() {
            acme.is_honest();
            // Userinfo is requested only if the `id_token` lacks these claims.
            let left_out = json!({"email": null, "email_verified": null, "name": null, "picture": null});
            acme.says(latchkey_testkit::provider::Document::IdToken, left_out);
            acme.behaves(Endpoint::UserInfo, manner.clone());

            error_of(&consent(&app, &acme, "acme").await);
        }
        assert_eq!(user_count(&app).await, 0);
    }

    async fn invalid_metadata_is_reported_at_the_start(app) {
        let acme = acme(&app).await;
        for manner in misbehaving_endpoint() {
            acme.is_honest();
            acme.behaves(Endpoint::Discovery, manner);

            let answer = start(&app.anon(), "acme").send().await;

            let refusal = answer.refused(503, "SERVICE_BUSY");
            assert!(!refusal.to_string().contains("127.0.0.1"), "{refusal}");
            assert!(answer.number("retry-after") > 0);
        }
    }

    async fn endless_token_response_is_cut(app) {
        let acme = acme(&app).await;
        acme.behaves(Endpoint::Token, Manner::Endless);

        error_of(&in_time(consent(&app, &acme, "acme")).await);
    }

    async fn slow_token_response_is_an_error_within_ten_seconds(app) {
        let acme = acme(&app).await;
        acme.behaves(Endpoint::Token, Manner::Slow);

        error_of(&in_time(consent(&app, &acme, "acme")).await);
    }

    async fn unresponsive_provider_is_an_error_within_ten_seconds(app) {
        let acme = acme(&app).await;
        acme.behaves(Endpoint::Token, Manner::Silent);

        error_of(&in_time(consent(&app, &acme, "acme")).await);
    }

    async fn provider_that_goes_down_is_an_error_within_ten_seconds(app) {
        let mut acme = acme(&app).await;
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);
        acme.goes_down().await;

        let target = in_time(come_back(&app.anon(), &callback)).await;

        error_of(&target);
    }

    async fn unavailable_provider_is_reported_at_the_start(app) {
        let mut acme = acme(&app).await;
        acme.goes_down().await;

        assert_eq!(asked_by(&app, &acme).await, "SERVICE_BUSY");
    }

    async fn one_bad_provider_does_not_hinder_another(app) {
        let (acme, other) = (acme(&app).await, crate::oauth_calls::provider(&app, "other").await);
        acme.behaves(Endpoint::Token, Manner::Silent);
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);
        let client = app.anon();
        let waiting = tokio::spawn(async move { come_back(&client, &callback).await });

        session(&app, &other, "other").await;

        assert!(!waiting.is_finished());
        waiting.abort();
    }

    with(|b| b.mode_production().redirects(&["https://app.example/**", "http://localhost:3000/**"]))
    async fn production_talks_to_no_loopback_address(app) {
        let acme = LyingProvider::start(&app.clock).await;
        let answer =
            app.admin().post("/api/auth/oauth/custom/configs", acme.custom("acme")).send().await;

        if answer.status == 200 {
            assert_eq!(start(&app.anon(), "acme").send().await.status, 503);
        } else {
            answer.refused(400, "VALIDATION_ERROR");
        }

        assert_eq!(acme.asked(Endpoint::Discovery), 0);
    }

    async fn development_requests_no_private_address(app) {
        for (number, host) in
            ["10.0.0.1", "192.168.0.1", "169.254.169.254", "[fd00:ec2::254]", "[::ffff:10.0.0.1]", "100.64.0.1"]
                .into_iter()
                .enumerate()
        {
            let key = format!("inside-{number}");
            let endpoint = format!("https://{host}/.well-known/openid-configuration");
            let body = json!({"key": key, "name": "Inside", "discoveryEndpoint": endpoint, "clientId": "c", "clientSecret": "s"});

            let answer = app.admin().post("/api/auth/oauth/custom/configs", body).send().await;

            let refusal = answer.refused(400, "VALIDATION_ERROR");
            assert!(refusal["message"].as_str().unwrap().contains("discoveryEndpoint"), "{refusal}");
            start(&app.anon(), &key).send().await.refused(400, "UNSUPPORTED_PROVIDER");
        }
    }

    async fn metadata_cannot_lead_to_a_private_address(app) {
        let acme = acme(&app).await;
        let inside = json!({"token_endpoint": "https://10.0.0.1/token", "jwks_uri": "https://169.254.169.254/keys"});
        acme.says(latchkey_testkit::provider::Document::Discovery, inside);

        error_of(&in_time(consent(&app, &acme, "acme")).await);
    }
}
