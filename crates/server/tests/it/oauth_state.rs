//! Tests of the callback: the states that it accepts, its response, and its redirect.

use latchkey_testkit::{both_stores, json, minutes, seconds};
use url::Url;

use crate::oauth_calls::{
    CHALLENGE, VERIFIER, acme, auth_url, auth_url_of, code_of, come_back, error_of, exchange, provider,
    user_count,
};

/// Callback URL of another provider key with the same query.
fn moved(callback: &Url, key: &str) -> Url {
    let mut moved = callback.clone();
    moved.set_path(&format!("/api/auth/oauth/custom/{key}/callback"));
    moved
}

both_stores! {
    async fn replayed_state_is_refused(app) {
        let acme = acme(&app).await;
        let auth_url = auth_url(&app.anon(), "acme").await;
        code_of(&come_back(&app.anon(), &acme.consent(&auth_url)).await);

        let target = come_back(&app.anon(), &acme.consent(&auth_url)).await;

        error_of(&target);
    }

    async fn replayed_callback_leaves_the_code_of_the_first_good(app) {
        let acme = acme(&app).await;
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);
        let first = come_back(&app.anon(), &callback).await;

        error_of(&come_back(&app.anon(), &callback).await);

        exchange(&app.anon(), &code_of(&first), VERIFIER).send().await.expect(200);
    }

    async fn state_is_good_for_ten_minutes(app) {
        let acme = acme(&app).await;
        let (late, in_time) = (auth_url(&app.anon(), "acme").await, auth_url(&app.anon(), "acme").await);

        app.clock.advance(minutes(10) - seconds(1));
        let target = come_back(&app.anon(), &acme.consent(&in_time)).await;
        code_of(&target);

        app.clock.advance(seconds(1));
        let target = come_back(&app.anon(), &acme.consent(&late)).await;
        error_of(&target);
    }

    async fn unknown_state_shows_a_page(app) {
        let _acme = acme(&app).await;
        for query in
            ["", "code=c", "state=", "code=c&state=nobody-knows", "error=access_denied&state=x", "code=c&state=%00"]
        {
            for path in ["/api/auth/oauth/custom/acme/callback", "/api/auth/oauth/google/callback"] {
                let answer = app.anon().get(&format!("{path}?{query}")).send().await;

                if answer.header("content-type").is_some_and(|value| value.starts_with("text/html")) {
                    let page = answer.page(400);
                    assert!(!page.contains("nobody-knows") && !page.contains("access_denied"), "{page}");
                } else {
                    answer.refused(400, "VALIDATION_ERROR");
                }
            }
        }
    }

    async fn mix_up_of_two_providers_is_refused(app) {
        let (acme, _evil) = (acme(&app).await, provider(&app, "evil").await);
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);

        let target = come_back(&app.anon(), &moved(&callback, "evil")).await;

        error_of(&target);
        assert_eq!(acme.asked(latchkey_testkit::provider::Endpoint::Token), 0);
        assert_eq!(user_count(&app).await, 0);
    }

    async fn mix_up_uses_the_state_up(app) {
        let (acme, _evil) = (acme(&app).await, provider(&app, "evil").await);
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);
        come_back(&app.anon(), &moved(&callback, "evil")).await;

        let target = come_back(&app.anon(), &callback).await;

        error_of(&target);
    }

    async fn response_that_names_another_issuer_is_refused(app) {
        let acme = acme(&app).await;
        let mut callback = acme.consent(&auth_url(&app.anon(), "acme").await);
        let query = callback.query().unwrap().to_owned();
        let issuer = query.split('&').find(|pair| pair.starts_with("iss=")).unwrap();
        callback.set_query(Some(&query.replace(issuer, "iss=https%3A%2F%2Fevil.example")));

        let target = come_back(&app.anon(), &callback).await;

        error_of(&target);
        assert_eq!(acme.asked(latchkey_testkit::provider::Endpoint::Token), 0);
    }

    async fn callback_of_a_built_in_provider_does_not_take_the_state_of_a_custom_one(app) {
        let acme = acme(&app).await;
        let google = json!({"provider": "google", "clientId": "client", "clientSecret": "secret"});
        app.admin().post("/api/auth/oauth/configs", google).send().await.expect(200);
        let mut callback = acme.consent(&auth_url(&app.anon(), "acme").await);

        for path in ["/api/auth/oauth/google/callback", "/api/auth/oauth/acme/callback"] {
            callback.set_path(path);
            let answer = app.anon().get(callback.as_str()).send().await;
            if answer.status == 302 { error_of(&answer.redirected()); } else { answer.page(400); }
        }

        assert_eq!(user_count(&app).await, 0);
    }

    async fn denied_consent_returns_an_error(app) {
        let acme = acme(&app).await;
        let auth_url = auth_url(&app.anon(), "acme").await;

        let target = come_back(&app.anon(), &acme.deny(&auth_url)).await;

        error_of(&target);
        assert!(!target.as_str().contains("said"), "the provider's own words: {target}");
        error_of(&come_back(&app.anon(), &acme.consent(&auth_url)).await);
    }

    async fn callback_without_a_code_is_an_error(app) {
        let acme = acme(&app).await;
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);
        let state = latchkey_testkit::answer::parameter(&callback, "state").unwrap();

        let path = format!("/api/auth/oauth/custom/acme/callback?state={state}");
        let target = app.anon().get(&path).send().await.redirected();

        error_of(&target);
    }

    async fn code_that_the_provider_did_not_give_is_an_error(app) {
        let acme = acme(&app).await;
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);
        let state = latchkey_testkit::answer::parameter(&callback, "state").unwrap();

        let path = format!("/api/auth/oauth/custom/acme/callback?code=made-up&state={state}");
        let target = app.anon().get(&path).send().await.redirected();

        error_of(&target);
        assert!(!target.as_str().contains("script"), "the provider's own words: {target}");
    }

    with(|b| b.redirects(&["https://app.example/**"]))
    async fn redirect_is_checked_again_on_the_way_back(app) {
        let acme = acme(&app).await;
        let start = app.anon().get("/api/auth/oauth/custom/acme").query("code_challenge", CHALLENGE);
        let auth_url = auth_url_of(&start.query("redirect_uri", "https://app.example/in").send().await);
        let list = json!({"allowedRedirectUrls": ["https://other.example/**"]});
        app.admin().put("/api/auth/config", list).send().await.expect(200);

        let answer = app.anon().get(acme.consent(&auth_url).as_str()).send().await;

        answer.page(400);
        assert_eq!(user_count(&app).await, 0);
    }

    async fn provider_that_was_removed_meanwhile_is_an_error(app) {
        let acme = acme(&app).await;
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);
        app.admin().delete("/api/auth/oauth/custom/acme/config").send().await.expect(200);

        let target = come_back(&app.anon(), &callback).await;

        error_of(&target);
    }

    async fn parameter_given_twice_is_no_way_back(app) {
        let acme = acme(&app).await;
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);

        let answer = app.anon().get(&format!("{callback}&code=another")).send().await;

        assert!(answer.status == 400 || error_of(&answer.redirected()).contains(' '));
        assert_eq!(acme.asked(latchkey_testkit::provider::Endpoint::Token), 0);
    }

    with(|b| b.redirects(&["http://localhost:3000/welcome"]))
    async fn errors_keep_query_and_fragment_of_the_target(app) {
        let acme = acme(&app).await;

        let target = come_back(&app.anon(), &acme.deny(&auth_url(&app.anon(), "acme").await)).await;

        assert!(target.as_str().starts_with("http://localhost:3000/welcome?from=acme&"), "{target}");
        assert_eq!(target.fragment(), Some("top"));
    }

    parallel async fn one_of_twenty_callbacks_wins(app) {
        let acme = acme(&app).await;
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);

        let racers = (0..20).map(|_| {
            let (client, callback) = (app.anon(), callback.clone());
            tokio::spawn(async move { come_back(&client, &callback).await })
        });
        let racers: Vec<_> = racers.collect();
        let mut winners = 0;
        for racer in racers {
            winners += usize::from(racer.await.unwrap().as_str().contains("service_code="));
        }

        assert_eq!(winners, 1);
        assert_eq!(acme.asked(latchkey_testkit::provider::Endpoint::Token), 1);
    }

    with(|b| b.limits())
    async fn unknown_states_of_one_address_are_limited(app) {
        let acme = acme(&app).await;
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);
        let guess = |number: u64| {
            let path = format!("/api/auth/oauth/custom/acme/callback?code=c&state={number:0>64x}");
            app.anon().get(&path).from_ip("203.0.113.9").send()
        };
        for number in 0..300 {
            let answer = guess(number).await;
            assert!(answer.status == 400 && !answer.text().contains("Too many"), "{answer:?}");
        }

        let answer = guess(300).await;

        assert!(answer.status == 400 && answer.text().contains("Too many"), "{answer:?}");
        let good = app.anon().get(callback.as_str()).from_ip("198.51.100.1").send().await.redirected();
        code_of(&good);
        app.clock.advance(seconds(3));
        assert!(!guess(301).await.text().contains("Too many"), "it is a bucket");
    }
}
