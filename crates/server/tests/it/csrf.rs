//! Tests of the protection of the refresh cookie by CSRF token, `Origin` and `Sec-Fetch-Site`, for refresh and sign-out
//! alike.

use latchkey_testkit::{Request, TestApp, User, both_stores, json};

both_stores! {
    async fn cookie_without_the_csrf_token_is_refused_and_stays_good(app) {
        let ada = app.user("ada").await;

        let answer = app.anon().refresh(&ada.session).without_header("x-csrf-token").send().await;

        answer.refused(403, "INVALID_CSRF_TOKEN");
        assert!(answer.set_cookies().is_empty());
        ada.refreshed().await.expect(200);
    }

    async fn wrong_csrf_token_is_refused_and_the_cookie_stays_good(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let own = ada.session.csrf_token.clone().unwrap();
        let foreign = bob.session.csrf_token.clone().unwrap();

        for wrong in ["", "x", &own[..own.len() - 1], &format!("{own}0"), &foreign] {
            let answer = app.anon().refresh(&ada.session).header("x-csrf-token", wrong).send().await;

            answer.refused(403, "INVALID_CSRF_TOKEN");
            assert!(answer.set_cookies().is_empty());
        }
        ada.refreshed().await.expect(200);
    }

    async fn csrf_token_of_another_session_of_the_same_user_is_wrong(app) {
        let ada = app.user("ada").await;
        let other = ada.sign_in_again().await;

        let request = app.anon().refresh(&ada.session).header("x-csrf-token", other.csrf_token.as_deref().unwrap());

        request.send().await.refused(403, "INVALID_CSRF_TOKEN");
    }

    async fn invalid_cookie_does_not_reveal_its_csrf_token(app) {
        let ada = app.user("ada").await;
        app.anon().sign_out(&ada.session).send().await.expect(200);

        let answer = app.anon().refresh(&ada.session).without_header("x-csrf-token").send().await;

        answer.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn csrf_token_is_not_read_from_body_or_query(app) {
        let ada = app.user("ada").await;
        let token = ada.session.csrf_token.clone().unwrap();
        let body = json!({"csrfToken": token, "x-csrf-token": token});

        let request = app.anon().post("/api/auth/refresh", body).query("csrfToken", &token);

        let answer = request.cookie(ada.session.cookie.as_deref().unwrap()).send().await;
        answer.refused(403, "INVALID_CSRF_TOKEN");
    }

    with(|b| b.mode_production().cors_origins(&["https://app.example"]))
    async fn origin_that_is_not_known_is_forbidden_and_ends_nothing(app) {
        let ada = app.user("ada").await;
        for origin in [
            "https://evil.example",
            "null",
            "http://app.example",
            "https://app.example:8443",
            "https://app.example.evil.example",
            "http://localhost:3000",
            "",
        ] {
            for request in refresh_and_sign_out(&app, &ada) {
                let answer = request.header("origin", origin).send().await;

                answer.refused(403, "FORBIDDEN");
                assert!(answer.set_cookies().is_empty());
            }
        }
        ada.refreshed().await.expect(200);
    }

    with(|b| b.mode_production().cors_origins(&["https://app.example"]))
    async fn known_origins_pass_even_from_another_site(app) {
        let ada = app.user("ada").await;

        for origin in ["https://app.example", "https://accounts.example.org"] {
            let request = app.anon().refresh(&ada.session).header("origin", origin);
            let answer = request.header("sec-fetch-site", "cross-site").send().await;

            answer.expect(200);
        }
    }

    with(|b| b.mode_production())
    async fn call_from_another_site_without_an_origin_is_forbidden(app) {
        let ada = app.user("ada").await;

        for request in refresh_and_sign_out(&app, &ada) {
            let answer = request.header("sec-fetch-site", "cross-site").send().await;

            answer.refused(403, "FORBIDDEN");
        }
        ada.refreshed().await.expect(200);
    }

    with(|b| b.mode_production())
    async fn call_from_the_same_site_without_an_origin_passes(app) {
        let ada = app.user("ada").await;

        for site in ["same-origin", "same-site", "none"] {
            let answer = app.anon().refresh(&ada.session).header("sec-fetch-site", site).send().await;

            answer.expect(200);
        }
    }

    with(|b| b.mode_production().cors_origins(&["https://app.example"]))
    async fn two_origins_are_none_that_is_known(app) {
        let ada = app.user("ada").await;

        let request = app.anon().refresh(&ada.session).header("origin", "https://app.example");

        let answer = request.and_header("origin", "https://app.example").send().await;
        answer.refused(403, "FORBIDDEN");
    }

    async fn clients_without_a_cookie_need_no_origin(app) {
        let ada = app.user_on("ada", "server").await;

        let request = app.anon().refresh(&ada.session).header("origin", "https://evil.example");

        request.header("sec-fetch-site", "cross-site").send().await.expect(200);
    }
}

fn refresh_and_sign_out(app: &TestApp, user: &User) -> [Request; 2] {
    [app.anon().refresh(&user.session), app.anon().sign_out(&user.session)]
}
