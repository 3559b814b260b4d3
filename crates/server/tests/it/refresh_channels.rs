//! Tests of refreshSession by cookie and by body: each client type uses one of them and ignores the other.

use latchkey_testkit::{Session, Value, both_stores, json};

both_stores! {
    async fn response_has_these_fields_and_the_token_in_one_place(app) {
        let (web, server) = (app.user("ada").await, app.user_on("bob", "server").await);

        let (web, server) = (web.refreshed().await, server.refreshed().await);

        let keys = |body: Value| body.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(web.expect(200)), ["accessToken", "csrfToken", "expiresAt", "user"]);
        assert_eq!(keys(server.expect(200)), ["accessToken", "expiresAt", "refreshToken", "user"]);
        assert_eq!((web.set_cookies().len(), server.set_cookies().len()), (1, 0));
    }

    async fn body_token_is_read_in_both_spellings_for_every_client_that_is_not_web(app) {
        for client_type in ["mobile", "desktop", "server"] {
            let user = app.user_on(client_type, client_type).await;
            let refresh = |body: Value| app.anon().post("/api/auth/refresh", body).client_type(client_type);

            let first = Session::of(&refresh(json!({"refreshToken": user.session.refresh_token})).send().await);
            let second = refresh(json!({"refresh_token": first.refresh_token})).send().await;

            second.expect(200);
        }
    }

    async fn cookie_needs_no_body(app) {
        let ada = app.user("ada").await;

        let answer = app.anon().request("POST", "/api/auth/refresh").session(&ada.session).send().await;

        answer.expect(200);
    }

    async fn web_client_does_not_read_the_body_nor_others_the_cookie(app) {
        let (web, server) = (app.user("ada").await, app.user_on("bob", "server").await);
        let body = json!({"refreshToken": server.session.refresh_token});

        let by_body = app.anon().post("/api/auth/refresh", body).send().await;
        let by_cookie = app.anon().refresh(&web.session).client_type("server").send().await;

        by_body.refused(401, "AUTH_UNAUTHORIZED");
        by_cookie.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn token_of_one_channel_beside_a_wrong_one_of_the_other_is_what_counts(app) {
        let (web, server) = (app.user("ada").await, app.user_on("bob", "server").await);
        let body = json!({"refreshToken": "rubbish"});

        let by_cookie = app.anon().post("/api/auth/refresh", body).session(&web.session).send().await;
        let by_body = app.anon().refresh(&server.session).cookie("latchkey_refresh_8700=rubbish").send().await;

        by_cookie.expect(200);
        by_body.expect(200);
    }

    async fn missing_malformed_and_unknown_tokens_are_one_refusal(app) {
        let unknown = app.user_on("ada", "server").await.session.refresh_token.unwrap();
        let unknown: String = unknown.chars().map(|c| if c == 'a' { 'b' } else { c }).collect();
        let server = |body: Value| app.anon().post("/api/auth/refresh", body).client_type("server");

        let answers = [
            app.anon().post("/api/auth/refresh", json!({})).send().await,
            app.anon().post("/api/auth/refresh", json!({})).cookie("latchkey_refresh_8700=").send().await,
            app.anon().post("/api/auth/refresh", json!({})).cookie("latchkey_refresh_8700=rubbish").send().await,
            server(json!({})).send().await,
            server(json!({"refreshToken": ""})).send().await,
            server(json!({"refreshToken": "rubbish"})).send().await,
            server(json!({"refreshToken": unknown})).send().await,
        ];

        for answer in &answers {
            answer.refused(401, "AUTH_UNAUTHORIZED");
            assert_eq!(answer.text_without_id(), answers[0].text_without_id());
        }
    }

    async fn token_that_is_no_text_is_a_validation_error(app) {
        for token in [json!(1), json!(["a"]), json!({"a": 1}), json!(true)] {
            let answer =
                app.anon().post("/api/auth/refresh", json!({"refreshToken": token})).client_type("server").send().await;

            answer.refused(400, "VALIDATION_ERROR");
        }
    }

    async fn stale_or_foreign_bearer_is_no_error_at_a_refresh(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        app.anon().sign_out(&bob.session).send().await.expect(200);

        let answer = app.anon().refresh(&ada.session).bearer(&bob.session.access_token).send().await;

        assert_eq!(answer.expect(200)["user"]["id"], ada.id);
    }

    async fn cookie_given_twice_with_different_values_is_ignored(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let both = format!("{}; {}", bob.session.cookie.unwrap(), ada.session.cookie.as_deref().unwrap());

        let answer = app.anon().refresh(&ada.session).cookie(&both).send().await;

        answer.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().refresh(&ada.session).send().await.expect(200);
    }

    with(|b| b.mode_production())
    async fn production_reads_only_the_secure_cookie(app) {
        let ada = app.user("ada").await;
        let plain = ada.session.cookie.as_deref().unwrap().replace("__Secure-", "");

        let answer = app.anon().refresh(&ada.session).cookie(&plain).send().await;

        answer.refused(401, "AUTH_UNAUTHORIZED");
        ada.refreshed().await.expect(200);
    }
}
