//! Tests of refreshSession (POST /api/auth/refresh): rotation, grace period, reuse, lifetimes. Cookies and bodies are
//! in `refresh_channels.rs` and `csrf.rs`, random sequences in `refresh_model.rs`.

use std::time::Duration;

use latchkey_testkit::{Session, both_stores, days, hours, json, minutes, seconds};

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

    async fn replaced_token_after_the_grace_ends_the_session_once_its_successor_was_used(app) {
        let ada = app.user_on("ada", "server").await;
        let second = Session::of(&ada.refreshed().await);
        let third = Session::of(&app.anon().refresh(&second).send().await);
        app.clock.advance(seconds(31));

        ada.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");

        app.anon().refresh(&third).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.with_session(&third).get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn response_lost_for_an_hour_or_for_weeks_is_made_good(app) {
        for (name, client_type, missed) in [("ada", "server", hours(1)), ("bob", "web", days(29))] {
            let user = app.user_on(name, client_type).await;
            let lost = Session::of(&user.refreshed().await);
            app.clock.advance(missed);

            let next = Session::of(&user.refreshed().await);

            assert_ne!(next.refresh_secret(), lost.refresh_secret());
            app.with_session(&next).get("/api/auth/sessions/current").send().await.expect(200);
            app.anon().refresh(&next).send().await.expect(200);
        }
    }

    async fn response_may_be_lost_repeatedly(app) {
        let ada = app.user_on("ada", "server").await;
        for _ in 0..5 {
            ada.refreshed().await.expect(200);
            app.clock.advance(hours(1));
        }

        let next = Session::of(&ada.refreshed().await);

        app.anon().refresh(&next).send().await.expect(200);
    }

    async fn successor_that_gave_way_unused_ends_the_session(app) {
        let ada = app.user_on("ada", "server").await;
        let unused = Session::of(&ada.refreshed().await);
        app.clock.advance(hours(1));
        let next = Session::of(&ada.refreshed().await);

        app.anon().refresh(&unused).send().await.refused(401, "AUTH_UNAUTHORIZED");

        app.anon().refresh(&next).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.with_session(&next).get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn new_successor_has_a_grace_of_its_own(app) {
        let ada = app.user_on("ada", "server").await;
        ada.refreshed().await.expect(200);
        app.clock.advance(hours(1));
        let next = Session::of(&ada.refreshed().await);
        app.clock.advance(seconds(30));

        let again = Session::of(&ada.refreshed().await);

        assert_eq!(again.refresh_token, next.refresh_token);
        app.anon().refresh(&next).send().await.expect(200);
        ada.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");
        app.with_session(&next).get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn late_duplicate_of_many_rotations_ago_is_refused_and_ends_nothing(app) {
        let ada = app.user_on("ada", "server").await;
        let mut newest = ada.session.clone();
        for _ in 0..70 {
            newest = Session::of(&app.anon().refresh(&newest).send().await);
        }

        ada.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");

        app.anon().refresh(&newest).send().await.expect(200);
    }

    async fn session_ends_thirty_days_after_its_last_refresh(app) {
        let ada = app.user("ada").await;
        app.clock.advance(days(29));
        let next = Session::of(&ada.refreshed().await);
        app.clock.advance(days(30));

        let answer = app.anon().refresh(&next).send().await;

        answer.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn window_of_the_grace_is_thirty_seconds_and_no_more(app) {
        let (inside, outside) = (app.user_on("ada", "server").await, app.user_on("bob", "server").await);
        let first = Session::of(&inside.refreshed().await);
        let missed = Session::of(&outside.refreshed().await);

        app.clock.advance(seconds(30));
        let again = Session::of(&inside.refreshed().await);
        app.clock.advance(millis(1));
        let late = Session::of(&outside.refreshed().await);

        assert_eq!(again.refresh_token, first.refresh_token);
        assert_ne!(late.refresh_token, missed.refresh_token);
    }

    async fn web_client_gets_the_same_cookie_again_within_the_grace(app) {
        let ada = app.user("ada").await;
        let first = Session::of(&ada.refreshed().await);

        let again = Session::of(&ada.refreshed().await);

        assert_eq!((again.cookie, again.csrf_token), (first.cookie, first.csrf_token));
    }

    async fn replaced_token_is_refused_once_its_successor_was_used_and_the_session_lives(app) {
        let ada = app.user_on("ada", "server").await;
        let second = Session::of(&ada.refreshed().await);
        let third = Session::of(&app.anon().refresh(&second).send().await);

        let replay = ada.refreshed().await;

        replay.refused(401, "AUTH_UNAUTHORIZED");
        app.with_session(&third).get("/api/auth/sessions/current").send().await.expect(200);
        app.anon().refresh(&third).send().await.expect(200);
    }

    async fn replay_after_the_grace_ends_that_session_on_every_instance_and_no_other(app) {
        let ada = app.user_on("ada", "server").await;
        let other_session = ada.sign_in_again().await;
        let (other, second) = (app.beside().await, Session::of(&ada.refreshed().await));
        let next = Session::of(&other.anon().refresh(&second).send().await);
        app.clock.advance(seconds(31));

        ada.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");

        let dead = other.with_session(&next).get("/api/auth/sessions/current").send().await;
        dead.refused(401, "AUTH_UNAUTHORIZED");
        other.anon().refresh(&next).send().await.refused(401, "AUTH_UNAUTHORIZED");
        other.with_session(&other_session).get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn ended_session_has_no_grace(app) {
        let ada = app.user_on("ada", "server").await;
        let next = Session::of(&ada.refreshed().await);
        app.anon().sign_out(&next).send().await.expect(200);

        let replaced = ada.refreshed().await;
        let current = app.anon().refresh(&next).send().await;

        replaced.refused(401, "AUTH_UNAUTHORIZED");
        current.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn each_refresh_gives_thirty_days_more(app) {
        let mut session = app.user("ada").await.session;

        for _ in 0..2 {
            app.clock.advance(days(30) - seconds(1));
            session = Session::of(&app.anon().refresh(&session).send().await);
        }

        app.with_session(&session).get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn session_ends_ninety_days_after_its_beginning_however_often_it_is_refreshed(app) {
        let mut session = app.user("ada").await.session;
        for _ in 0..3 {
            app.clock.advance(days(29));
            session = Session::of(&app.anon().refresh(&session).send().await);
        }
        app.clock.advance(days(3) - seconds(1));
        session = Session::of(&app.anon().refresh(&session).send().await);

        app.clock.advance(seconds(1));

        app.anon().refresh(&session).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.with_session(&session).get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn cookie_lives_no_longer_than_its_session(app) {
        let mut session = app.user("ada").await.session;
        for _ in 0..2 {
            app.clock.advance(days(29));
            session = Session::of(&app.anon().refresh(&session).send().await);
        }
        app.clock.advance(days(29));

        let answer = app.anon().refresh(&session).send().await;

        let three_days = format!("; Max-Age={};", 3 * 24 * 60 * 60);
        assert!(answer.set_cookies()[0].contains(&three_days), "{answer:?}");
    }

    async fn banned_user_cannot_refresh(app) {
        let ada = app.user("ada").await;
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), json!({"banned": true})).send().await.expect(200);

        let answer = ada.refreshed().await;

        answer.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn refresh_shows_the_user_as_it_is_now(app) {
        let ada = app.user("ada").await;
        ada.patch("/api/profiles/me", json!({"name": "Countess"})).send().await.expect(200);

        let answer = ada.refreshed().await;

        assert_eq!(answer.expect(200)["user"]["profile"]["name"], "Countess");
    }

    async fn session_outlives_a_restart(mut app) {
        let ada = app.user("ada").await;
        let next = Session::of(&ada.refreshed().await);

        app.restart().await;

        let again = Session::of(&ada.refreshed().await);
        assert_eq!(again.cookie, next.cookie);
        app.anon().refresh(&next).send().await.expect(200);
    }
}

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}
