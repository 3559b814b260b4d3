//! Tests of the endpoint for the CSRF token, with which a second app of the same site can use the refresh cookie.

use latchkey_testkit::{Answer, Request, Session, TestApp, both_stores, hours, json, seconds};

use crate::limits::limited;

both_stores! {
    async fn second_app_of_a_site_shares_the_session(app) {
        let ada = app.user("ada").await;
        let cookie = ada.session.cookie.clone().unwrap();

        let answer = asked(&app, &cookie).header("origin", "http://localhost:3001").send().await;

        let body = answer.expect(200);
        assert_eq!(body, json!({"csrfToken": ada.session.csrf_token.clone().unwrap()}));
        let second = app.anon().post("/api/auth/refresh", json!({})).cookie(&cookie);
        second.header("x-csrf-token", body["csrfToken"].as_str().unwrap()).send().await.expect(200);
    }

    async fn asking_for_the_csrf_token_changes_nothing(app) {
        let ada = app.user("ada").await;
        let cookie = ada.session.cookie.clone().unwrap();
        let before = ada.get("/api/auth/sessions").send().await.expect(200);
        app.clock.advance(seconds(10));

        for _ in 0..3 {
            let answer = asked(&app, &cookie).send().await;

            answer.expect(200);
            assert!(answer.set_cookies().is_empty(), "{answer:?}");
            assert_eq!(answer.header("cache-control"), Some("no-store"));
        }
        assert_eq!(ada.get("/api/auth/sessions").send().await.expect(200), before);
        ada.refreshed().await.expect(200);
    }

    async fn just_replaced_cookie_is_answered_within_the_grace(app) {
        let ada = app.user("ada").await;
        let old = ada.session.cookie.clone().unwrap();
        let new = Session::of(&ada.refreshed().await);

        app.clock.advance(seconds(30));
        let within = asked(&app, &old).send().await.expect(200);
        let current = asked(&app, new.cookie.as_deref().unwrap()).send().await.expect(200);

        assert_eq!(within["csrfToken"], ada.session.csrf_token.clone().unwrap());
        assert_eq!(within, current);
    }

    async fn replaced_cookie_is_answered_while_its_successor_was_never_used(app) {
        let ada = app.user("ada").await;
        let (old, csrf) = (ada.session.cookie.clone().unwrap(), ada.session.csrf_token.clone().unwrap());
        let new = Session::of(&ada.refreshed().await);
        app.clock.advance(hours(1));

        assert_eq!(asked(&app, &old).send().await.expect(200)["csrfToken"], csrf);

        app.anon().refresh(&new).send().await.expect(200);
        asked(&app, &old).send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn cookie_that_is_too_old_is_refused_and_ends_nothing(app) {
        let ada = app.user("ada").await;
        let old = ada.session.cookie.clone().unwrap();
        let new = Session::of(&ada.refreshed().await);
        let newest = Session::of(&app.anon().refresh(&new).send().await);

        asked(&app, &old).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.clock.advance(seconds(31));
        asked(&app, &old).send().await.refused(401, "AUTH_UNAUTHORIZED");

        app.anon().refresh(&newest).send().await.expect(200);
    }

    async fn call_without_a_good_cookie_is_unauthorized(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let (cookie, other) = (ada.session.cookie.clone().unwrap(), bob.session.cookie.clone().unwrap());
        let name = cookie.split_once('=').unwrap().0;

        no_token(&app.anon().get("/api/auth/csrf").send().await);
        for bad in [format!("{name}="), format!("{name}=rubbish"), format!("x{cookie}"), format!("{cookie}; {other}")] {
            no_token(&asked(&app, &bad).send().await);
        }
        app.anon().sign_out(&ada.session).send().await.expect(200);
        no_token(&asked(&app, &cookie).send().await);
        app.admin().patch(&format!("/api/auth/users/{}", bob.id), json!({"banned": true})).send().await.expect(200);
        no_token(&asked(&app, &other).send().await);
    }

    async fn bearer_or_body_token_is_no_cookie(app) {
        let ada = app.user("ada").await;
        let server = app.user_on("bob", "server").await;

        no_token(&ada.get("/api/auth/csrf").send().await);
        let in_body = json!({"refreshToken": server.session.refresh_secret()});
        no_token(&app.anon().get("/api/auth/csrf").json(&in_body).send().await);
    }

    async fn clients_of_other_types_never_read_the_cookie(app) {
        let ada = app.user("ada").await;
        let cookie = ada.session.cookie.clone().unwrap();

        for client_type in ["mobile", "desktop", "server"] {
            no_token(&asked(&app, &cookie).client_type(client_type).send().await);
        }
        asked(&app, &cookie).client_type("tv").send().await.expect(200);
    }

    with(|b| b.mode_production().cors_origins(&["https://app.example"]))
    async fn csrf_token_is_for_known_origins_alone(app) {
        let ada = app.user("ada").await;
        let cookie = ada.session.cookie.clone().unwrap();

        for origin in ["https://evil.example", "null", "http://app.example", "https://app.example.evil.example", ""] {
            let answer = asked(&app, &cookie).header("origin", origin).send().await;

            answer.refused(403, "FORBIDDEN");
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
        asked(&app, &cookie).header("sec-fetch-site", "cross-site").send().await.refused(403, "FORBIDDEN");
        app.anon().get("/api/auth/csrf").header("origin", "https://evil.example").send().await.refused(403, "FORBIDDEN");

        let known = asked(&app, &cookie).header("origin", "https://app.example");
        let known = known.header("sec-fetch-site", "cross-site").send().await;
        known.expect(200);
        assert_eq!(known.header("access-control-allow-origin"), Some("https://app.example"));
        assert_eq!(known.header("access-control-allow-credentials"), Some("true"));
        for site in ["same-origin", "same-site", "none"] {
            asked(&app, &cookie).header("sec-fetch-site", site).send().await.expect(200);
        }
    }

    with(|b| b.limits())
    async fn csrf_tokens_of_one_address_are_six_hundred_a_minute(app) {
        let ada = app.user("ada").await;
        let cookie = ada.session.cookie.clone().unwrap();
        let ask = || asked(&app, &cookie).from_ip("203.0.113.9");
        for at in 0..600 {
            // Calls without a cookie count too, because the limit is per request.
            let answer = if at % 2 == 0 { ask() } else { ask().without_header("cookie") }.send().await;
            assert!([200, 401].contains(&answer.status), "{answer:?}");
        }

        limited(&ask().send().await, "CSRF token of the cookie, per address");

        asked(&app, &cookie).from_ip("203.0.113.10").send().await.expect(200);
        app.anon().refresh(&ada.session).from_ip("203.0.113.9").send().await.expect(200);
        app.clock.advance(seconds(1));
        ask().send().await.expect(200);
    }

    with(|b| b.http(|http| http.cookie_name = "shop".to_owned()))
    async fn cookie_has_the_name_of_the_settings_and_another_is_not_read(app) {
        let ada = app.user("ada").await;
        let cookie = ada.session.cookie.clone().unwrap();

        let (name, value) = cookie.split_once('=').unwrap();

        assert_eq!(name, "shop_8700");
        for other in ["latchkey_refresh", "latchkey_refresh_8700", "shop", "shop_8701", "__Secure-shop"] {
            no_token(&asked(&app, &format!("{other}={value}")).send().await);
        }
        let cleared = app.anon().sign_out(&ada.session).send().await;
        assert!(cleared.set_cookies()[0].starts_with("shop_8700=; Path=/api/auth;"), "{cleared:?}");
    }

    with(|b| b.mode_production().http(|http| http.cookie_name = "shop".to_owned()))
    async fn cookie_name_in_production_gets_the_prefix_and_no_port(app) {
        let ada = app.user("ada").await;

        assert!(ada.session.cookie.clone().unwrap().starts_with("__Secure-shop="));
        ada.refreshed().await.expect(200);
    }
}

fn asked(app: &TestApp, cookie: &str) -> Request {
    app.anon().get("/api/auth/csrf").cookie(cookie)
}

#[track_caller]
fn no_token(answer: &Answer) {
    answer.refused(401, "AUTH_UNAUTHORIZED");
    assert!(answer.set_cookies().is_empty(), "{answer:?}");
}
