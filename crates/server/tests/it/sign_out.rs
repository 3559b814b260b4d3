//! Tests of signOut (POST /api/auth/logout): any token of the session ends it on the server.

use latchkey_testkit::{Session, TestApp, both_stores, days, json, minutes};

both_stores! {
    async fn sign_out_acts_on_the_very_next_request_on_every_instance(app) {
        let ada = app.user("ada").await;
        let other = app.beside().await;
        other.with_session(&ada.session).get("/api/auth/sessions/current").send().await.expect(200);

        app.anon().sign_out(&ada.session).send().await.expect(200);

        let answer = other.with_session(&ada.session).get("/api/auth/sessions/current").send().await;
        answer.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn web_session_ends_by_its_cookie_which_is_cleared(app) {
        let ada = app.user("ada").await;

        let answer = app.anon().sign_out(&ada.session).send().await;

        let body = answer.expect(200);
        assert_eq!((body.as_object().unwrap().len(), &body["success"]), (2, &json!(true)));
        assert!(body["message"].is_string());
        let cleared = "latchkey_refresh_8700=; Path=/api/auth; Max-Age=0; HttpOnly; SameSite=Lax";
        assert_eq!(answer.set_cookies(), [cleared]);
        assert_over(&app, &ada.session).await;
    }

    async fn other_sessions_end_by_the_token_in_the_body_in_both_spellings(app) {
        for (name, spelling) in [("ada", "refreshToken"), ("bob", "refresh_token")] {
            let session = app.user_on(name, "server").await.session;
            let body = json!({spelling: session.refresh_token});

            let answer = app.anon().post("/api/auth/logout", body).client_type("server").send().await;

            assert_eq!(answer.expect(200)["success"], true, "{spelling}");
            assert!(answer.set_cookies().is_empty());
            assert_over(&app, &session).await;
        }
    }

    async fn session_ends_by_its_bearer_alone(app) {
        for client_type in ["web", "mobile"] {
            let user = app.user_on(client_type, client_type).await;

            let request = user.post("/api/auth/logout", json!({})).client_type(client_type);
            request.send().await.expect(200);

            assert_over(&app, &user.session).await;
        }
    }

    async fn sign_out_needs_no_body(app) {
        let ada = app.user("ada").await;

        app.anon().request("POST", "/api/auth/logout").session(&ada.session).send().await.expect(200);

        assert_over(&app, &ada.session).await;
    }

    async fn sign_out_twice_with_nothing_or_with_rubbish_is_no_error(app) {
        let ada = app.user("ada").await;
        app.anon().sign_out(&ada.session).send().await.expect(200);

        let again = app.anon().sign_out(&ada.session).send().await;
        let nothing = app.anon().post("/api/auth/logout", json!({})).send().await;
        let stale = ada.post("/api/auth/logout", json!({})).send().await;
        let rubbish = app.anon().post("/api/auth/logout", json!({})).cookie("latchkey_refresh_8700=x").send().await;
        let body = json!({"refreshToken": "x"});
        let token = app.anon().post("/api/auth/logout", body).client_type("server").send().await;

        for answer in [again, nothing, stale, rubbish, token] {
            assert_eq!(answer.expect(200)["success"], true);
        }
    }

    async fn expired_access_token_is_no_error(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(16));

        let answer = app.anon().sign_out(&ada.session).bearer(&ada.session.access_token).send().await;

        answer.expect(200);
        assert_over(&app, &ada.session).await;
    }

    async fn cookie_without_its_csrf_token_ends_nothing_and_stays(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let foreign = bob.session.csrf_token.as_deref().unwrap();

        let missing = app.anon().sign_out(&ada.session).without_header("x-csrf-token").send().await;
        let wrong = app.anon().sign_out(&ada.session).header("x-csrf-token", foreign).send().await;

        for answer in [missing, wrong] {
            answer.refused(403, "INVALID_CSRF_TOKEN");
            assert!(answer.set_cookies().is_empty());
        }
        ada.get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn web_client_does_not_sign_out_by_the_body_nor_others_by_the_cookie(app) {
        let (web, server) = (app.user("ada").await, app.user_on("bob", "server").await);
        let body = json!({"refreshToken": server.session.refresh_token});

        app.anon().post("/api/auth/logout", body).send().await.expect(200);
        app.anon().sign_out(&web.session).client_type("server").send().await.expect(200);

        server.get("/api/auth/sessions/current").send().await.expect(200);
        web.get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn token_that_was_just_replaced_signs_out_too(app) {
        let ada = app.user_on("ada", "server").await;
        let next = Session::of(&ada.refreshed().await);

        app.anon().sign_out(&ada.session).send().await.expect(200);

        assert_over(&app, &next).await;
    }

    async fn token_whose_successor_was_never_used_signs_out_however_old(app) {
        for client_type in ["web", "server"] {
            let user = app.user_on(client_type, client_type).await;
            let next = Session::of(&user.refreshed().await);
            app.clock.advance(days(1));

            app.anon().sign_out(&user.session).send().await.expect(200);

            assert_over(&app, &next).await;
        }
    }

    async fn sign_out_ends_one_session_of_a_user(app) {
        let ada = app.user("ada").await;
        let other = ada.sign_in_again().await;

        app.anon().sign_out(&ada.session).send().await.expect(200);

        app.with_session(&other).get("/api/auth/sessions/current").send().await.expect(200);
        app.anon().refresh(&other).send().await.expect(200);
    }
}

/// Asserts that access token and refresh token of the session are refused.
async fn assert_over(app: &TestApp, session: &Session) {
    app.with_session(session)
        .get("/api/auth/sessions/current")
        .send()
        .await
        .refused(401, "AUTH_UNAUTHORIZED");
    app.anon().refresh(session).send().await.refused(401, "AUTH_UNAUTHORIZED");
}
