//! refreshSession: POST /api/auth/refresh. Rotation, the grace, reuse, lifetimes.

use latchkey_testkit::{Session, both_stores, days, json, minutes, seconds};

both_stores! {
    async fn refresh_replaces_both_tokens_and_says_when_the_access_token_ends(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(5));

        let answer = ada.refreshed().await;

        assert_eq!(answer.expect(200)["expiresAt"], "2026-03-02T10:20:00.000Z");
        let next = Session::of(&answer);
        assert_ne!(next.cookie, ada.session.cookie);
        assert_ne!(next.access_token, ada.session.access_token);
        assert_eq!(next.csrf_token, ada.session.csrf_token);
    }

    async fn replaced_token_gives_the_same_successor_within_the_grace(app) {
        let ada = app.user_on("ada", "server").await;
        let first = Session::of(&ada.refreshed().await);
        app.clock.advance(seconds(29));

        let again = Session::of(&ada.refreshed().await);

        assert_eq!(again.refresh_token, first.refresh_token);
    }

    async fn replaced_token_after_the_grace_ends_the_session(app) {
        let ada = app.user_on("ada", "server").await;
        let next = Session::of(&ada.refreshed().await);
        app.clock.advance(seconds(31));

        ada.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");

        app.anon().refresh(&next).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.with_session(&next).get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn session_ends_thirty_days_after_its_last_refresh(app) {
        let ada = app.user("ada").await;
        app.clock.advance(days(29));
        let next = Session::of(&ada.refreshed().await);
        app.clock.advance(days(30));

        let answer = app.anon().refresh(&next).send().await;

        answer.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn cookie_without_the_csrf_token_is_refused_and_stays_good(app) {
        let ada = app.user("ada").await;

        let answer = app.anon().refresh(&ada.session).without_header("x-csrf-token").send().await;

        answer.refused(403, "INVALID_CSRF_TOKEN");
        assert!(answer.set_cookies().is_empty());
        ada.refreshed().await.expect(200);
    }

    async fn web_client_does_not_read_the_body_nor_others_the_cookie(app) {
        let (web, server) = (app.user("ada").await, app.user_on("bob", "server").await);
        let body = json!({"refreshToken": server.session.refresh_token});

        let by_body = app.anon().post("/api/auth/refresh", body).send().await;
        let by_cookie = app.anon().refresh(&web.session).client_type("server").send().await;

        by_body.refused(401, "AUTH_UNAUTHORIZED");
        by_cookie.refused(401, "AUTH_UNAUTHORIZED");
    }
}
