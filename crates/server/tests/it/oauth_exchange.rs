//! Tests of the exchange code: it works once, for one minute, and with one PKCE verifier.

use latchkey_testkit::{Value, both_stores, json, seconds};

use crate::oauth_calls::{OTHER_VERIFIER, VERIFIER, acme, code, exchange, user_count};

const ACME: &str = "/api/auth/oauth/custom/acme/config";

both_stores! {
    async fn replayed_code_is_refused(app) {
        let acme = acme(&app).await;
        let code = code(&app, &acme, "acme").await;
        exchange(&app.anon(), &code, VERIFIER).send().await.expect(200);

        exchange(&app.anon(), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
    }

    async fn code_is_good_for_sixty_seconds(app) {
        let acme = acme(&app).await;
        let (late, in_time) = (code(&app, &acme, "acme").await, code(&app, &acme, "acme").await);

        app.clock.advance(seconds(59));
        exchange(&app.anon(), &in_time, VERIFIER).send().await.expect(200);

        app.clock.advance(seconds(1));
        exchange(&app.anon(), &late, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
    }

    async fn wrong_verifier_burns_the_code(app) {
        let acme = acme(&app).await;
        let code = code(&app, &acme, "acme").await;

        exchange(&app.anon(), &code, OTHER_VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");

        exchange(&app.anon(), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
        assert_eq!(user_count(&app).await, 0);
    }

    async fn verifier_of_one_flow_opens_no_code_of_another(app) {
        use crate::oauth_calls::{APP, auth_url_of, code_of, come_back};
        let acme = acme(&app).await;
        // PKCE challenge of OTHER_VERIFIER.
        let challenge = latchkey_testkit::provider::challenge_of(OTHER_VERIFIER);
        let start = app.anon().get("/api/auth/oauth/custom/acme").query("redirect_uri", APP);
        let auth_url = auth_url_of(&start.query("code_challenge", &challenge).send().await);
        let stolen = code_of(&come_back(&app.anon(), &acme.consent(&auth_url)).await);

        // Code injection: the thief's verifier is not the one bound to the code.
        exchange(&app.anon(), &stolen, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
        exchange(&app.anon(), &stolen, OTHER_VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
    }

    async fn malformed_code_or_verifier_is_refused(app) {
        let acme = acme(&app).await;
        let good = code(&app, &acme, "acme").await;
        for (code, verifier) in [("", VERIFIER), ("nothing", VERIFIER), (good.as_str(), ""), (&good, "short")] {
            let answer = exchange(&app.anon(), code, verifier).send().await;

            assert_eq!(answer.status, 400, "{answer:?}");
            assert!(["INVALID_OAUTH_CODE", "VALIDATION_ERROR"].contains(&answer.error_code().as_str()));
        }
        for body in [json!({}), json!({"code": good}), json!({"code_verifier": VERIFIER}), json!({"code": 1})] {
            let answer = app.anon().post("/api/auth/oauth/exchange", body).send().await;
            answer.refused(400, "VALIDATION_ERROR");
        }
    }

    async fn stale_bearer_does_not_prevent_a_sign_in(app) {
        let acme = acme(&app).await;
        let code = code(&app, &acme, "acme").await;

        exchange(&app.bearing("stale"), &code, VERIFIER).send().await.expect(200);
    }

    async fn sign_in_beside_another_session_links_nothing(app) {
        let acme = acme(&app).await;
        let bob = app.user("bob").await;
        let code = code(&app, &acme, "acme").await;

        let body = exchange(&bob, &code, VERIFIER).send().await.expect(200);

        assert_eq!(body["user"]["email"], "ada@example.org");
        assert_eq!(crate::oauth_calls::identities(&bob).await, Vec::<String>::new());
    }

    async fn exchange_is_audited(app) {
        let acme = acme(&app).await;
        let code = code(&app, &acme, "acme").await;
        exchange(&app.anon(), &code, VERIFIER).send().await.expect(200);

        let audit = app.admin().get("/api/auth/audit").send().await;
        let text = audit.text().to_owned();

        assert!(text.contains("acme"), "{text}");
        assert!(!text.contains(&code) && !text.contains("ada-at-the-provider@"), "{text}");
    }

    parallel async fn one_of_twenty_exchanges_wins(app) {
        let acme = acme(&app).await;
        let code = code(&app, &acme, "acme").await;

        let racers = (0..20).map(|_| {
            let (client, code) = (app.anon(), code.clone());
            tokio::spawn(async move { exchange(&client, &code, VERIFIER).send().await.status })
        });
        let racers: Vec<_> = racers.collect();
        let mut winners = 0;
        for racer in racers {
            winners += usize::from(racer.await.unwrap() == 200);
        }

        assert_eq!(winners, 1);
    }

    parallel async fn twenty_first_sign_ins_make_one_account(app) {
        let acme = acme(&app).await;
        let mut codes = Vec::new();
        for _ in 0..20 {
            codes.push(code(&app, &acme, "acme").await);
        }

        let racers = codes.into_iter().map(|code| {
            let client = app.anon();
            tokio::spawn(async move { exchange(&client, &code, VERIFIER).send().await.expect(200) })
        });
        let racers: Vec<_> = racers.collect();
        let mut ids = std::collections::BTreeSet::new();
        for racer in racers {
            ids.insert(racer.await.unwrap()["user"]["id"].as_str().unwrap().to_owned());
        }

        assert_eq!(ids.len(), 1);
        assert_eq!(user_count(&app).await, 1);
    }

    async fn code_of_a_provider_that_is_switched_off_opens_nothing(app) {
        let acme = acme(&app).await;
        let bob = app.user("bob").await;
        let to_sign_in = code(&app, &acme, "acme").await;
        let to_link = crate::oauth_calls::link_code(&bob, &acme, "acme").await;
        app.admin().put(ACME, json!({"enabled": false})).send().await.expect(200);

        exchange(&app.anon(), &to_sign_in, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
        exchange(&bob, &to_link, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");

        app.admin().put(ACME, json!({"enabled": true})).send().await.expect(200);
        exchange(&app.anon(), &to_sign_in, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");
        assert_eq!(crate::oauth_calls::identities(&bob).await, Vec::<String>::new());
        assert_eq!(user_count(&app).await, 1);
    }

    async fn code_of_a_provider_that_was_removed_opens_nothing(app) {
        let (acme, beside) = (acme(&app).await, app.beside().await);
        let code = code(&app, &acme, "acme").await;
        app.admin().delete(ACME).send().await.expect(200);
        beside.run_jobs().await;

        exchange(&beside.anon(), &code, VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");

        assert_eq!(user_count(&app).await, 0);
    }

    async fn consumed_code_is_audited(app) {
        let acme = acme(&app).await;
        let code = code(&app, &acme, "acme").await;

        exchange(&app.anon(), &code, OTHER_VERIFIER).send().await.refused(400, "INVALID_OAUTH_CODE");

        let audit = app.admin().get("/api/auth/audit").send().await.expect(200);
        let is_told = |event: &Value| event["event"] == "sign_in_failed" && event["details"]["provider"] == "acme";
        assert!(audit["data"].as_array().unwrap().iter().any(is_told), "{audit}");
    }
}
