//! Tests of getCurrentUser and getCurrentSession, of the list of the user's own sessions, and of ending them. Sign-out
//! is in `sign_out.rs`.

use latchkey_testkit::{Session, Value, both_stores, days, json, minutes, seconds};

both_stores! {
    async fn current_session_shows_the_user_and_when_the_token_ends(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(1));

        let current = ada.get("/api/auth/sessions/current").send().await.expect(200);

        let user = json!({
            "id": ada.id,
            "email": "ada@example.org",
            "emailVerified": false,
            "providers": ["email"],
            "createdAt": "2026-03-02T10:00:00.000Z",
            "updatedAt": "2026-03-02T10:00:00.000Z",
            "profile": {"name": "Ada", "avatar_url": null},
            "metadata": {},
        });
        assert_eq!(current, json!({"user": user, "expiresAt": "2026-03-02T10:15:00.000Z"}));
    }

    async fn current_session_demands_a_bearer(app) {
        for bearer in ["", "Bearer", "Bearer x", "Bearer anon_1", "Basic YTpi", "Bearer a.b.c"] {
            let answer = app.anon().get("/api/auth/sessions/current").header("authorization", bearer).send().await;

            answer.refused(401, "AUTH_UNAUTHORIZED");
        }
        app.anon().get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn access_token_is_good_for_fifteen_minutes(app) {
        let ada = app.user("ada").await;

        app.clock.advance(minutes(15) - seconds(1));
        ada.get("/api/auth/sessions/current").send().await.expect(200);

        app.clock.advance(seconds(1));
        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn session_beyond_a_hundred_ends_the_one_refreshed_longest_ago(app) {
        let ada = app.user("ada").await;
        app.clock.advance(seconds(1));
        let second = ada.sign_in_again().await;
        app.clock.advance(seconds(1));
        for _ in 0..98 {
            ada.sign_in_again().await;
        }
        app.clock.advance(seconds(1));
        ada.refreshed().await.expect(200);

        let newest = ada.sign_in_again().await;

        let ended = app.with_session(&second).get("/api/auth/sessions/current").send().await;
        ended.refused(401, "AUTH_UNAUTHORIZED");
        let listed = app.with_session(&newest).get("/api/auth/sessions").send().await.expect(200);
        let sessions = listed["sessions"].as_array().unwrap();
        assert_eq!(sessions.len(), 100);
        let first = sessions.iter().filter(|one| one["createdAt"] == "2026-03-02T10:00:00.000Z").count();
        assert_eq!(first, 1, "it was refreshed");
    }

    async fn list_shows_each_living_session_once(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(1));
        let sign_in = app.anon().sign_in(&ada.email, &ada.password).from_ip("203.0.113.9");
        let phone = Session::of(&sign_in.header("user-agent", "Phone/1").client_type("mobile").send().await);

        let listed = ada.get("/api/auth/sessions").send().await.expect(200);
        let by_phone = app.with_session(&phone).get("/api/auth/sessions").send().await.expect(200);

        let sessions = listed["sessions"].as_array().unwrap();
        assert_eq!(listed.as_object().unwrap().len(), 1);
        assert_eq!(sessions.len(), 2);
        let expected = json!({
            "id": sessions[0]["id"],
            "createdAt": "2026-03-02T10:01:00.000Z",
            "lastSeenAt": "2026-03-02T10:01:00.000Z",
            "userAgent": "Phone/1",
            "ip": "203.0.113.9",
            "current": false,
        });
        assert_eq!(sessions[0], expected);
        assert_eq!((&sessions[1]["current"], &sessions[1]["userAgent"]), (&json!(true), &Value::Null));
        assert_eq!(by_phone["sessions"][0]["current"], true);
    }

    async fn refresh_moves_when_a_session_was_last_seen(app) {
        let ada = app.user("ada").await;
        app.clock.advance(days(1));

        let next = Session::of(&ada.refreshed().await);

        let listed = app.with_session(&next).get("/api/auth/sessions").send().await.expect(200);
        let session = &listed["sessions"][0];
        assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(session["createdAt"], "2026-03-02T10:00:00.000Z");
        assert_eq!(session["lastSeenAt"], "2026-03-03T10:00:00.000Z");
    }

    async fn refresh_from_elsewhere_moves_address_and_user_agent(app) {
        let ada = app.user("ada").await;
        let seen = |listed: Value| (listed["sessions"][0]["ip"].clone(), listed["sessions"][0]["userAgent"].clone());

        let on_train = app.anon().refresh(&ada.session).from_ip("203.0.113.9").header("user-agent", "Phone/2");
        let moved = Session::of(&on_train.send().await);
        let first = seen(app.with_session(&moved).get("/api/auth/sessions").send().await.expect(200));
        let again = app.anon().refresh(&moved).from_ip("203.0.113.9").header("user-agent", "Phone/2");
        let stayed = Session::of(&again.send().await);
        let second = seen(app.with_session(&stayed).get("/api/auth/sessions").send().await.expect(200));

        assert_eq!(first, (json!("203.0.113.9"), json!("Phone/2")));
        assert_eq!(second, first);
    }

    async fn list_shows_neither_ended_sessions_nor_those_of_others(app) {
        let (ada, _bob) = (app.user("ada").await, app.user("bob").await);
        let ended = ada.sign_in_again().await;
        app.anon().sign_out(&ended).send().await.expect(200);

        let listed = ada.get("/api/auth/sessions").send().await.expect(200);

        assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    }

    async fn expired_session_is_not_listed(app) {
        let ada = app.user("ada").await;
        app.clock.advance(days(30));

        let later = ada.sign_in_again().await;

        let listed = app.with_session(&later).get("/api/auth/sessions").send().await.expect(200);
        assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    }

    async fn one_session_is_ended_by_its_id(app) {
        let ada = app.user("ada").await;
        let other = ada.sign_in_again().await;
        let listed = app.with_session(&other).get("/api/auth/sessions").send().await.expect(200);
        let id = current_of(&listed);

        ada.delete(&format!("/api/auth/sessions/{id}")).send().await.expect(200);

        app.with_session(&other).get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().refresh(&other).send().await.refused(401, "AUTH_UNAUTHORIZED");
        ada.get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn session_of_another_user_is_not_found_and_stays_active(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let id = current_of(&bob.get("/api/auth/sessions").send().await.expect(200));

        let answer = ada.delete(&format!("/api/auth/sessions/{id}")).send().await;

        answer.refused(404, "NOT_FOUND");
        bob.get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn session_that_is_unknown_ended_or_no_uuid_is_not_found(app) {
        let ada = app.user("ada").await;
        let other = ada.sign_in_again().await;
        let ended = current_of(&app.with_session(&other).get("/api/auth/sessions").send().await.expect(200));
        app.anon().sign_out(&other).send().await.expect(200);

        for id in [ended.as_str(), "00000000-0000-7000-8000-000000000000", "x", "%00"] {
            let answer = ada.delete(&format!("/api/auth/sessions/{id}")).send().await;

            answer.refused(404, "NOT_FOUND");
        }
    }

    async fn own_session_is_ended_by_its_id_too(app) {
        let ada = app.user("ada").await;
        let id = current_of(&ada.get("/api/auth/sessions").send().await.expect(200));

        ada.delete(&format!("/api/auth/sessions/{id}")).send().await.expect(200);

        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
        ada.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn all_other_sessions_are_ended_at_once(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let others = [ada.sign_in_again().await, ada.sign_in_again().await];

        ada.delete("/api/auth/sessions?others=true").send().await.expect(200);

        for other in &others {
            let answer = app.with_session(other).get("/api/auth/sessions/current").send().await;
            answer.refused(401, "AUTH_UNAUTHORIZED");
            app.anon().refresh(other).send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
        ada.get("/api/auth/sessions/current").send().await.expect(200);
        bob.get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn ending_sessions_must_say_which(app) {
        let ada = app.user("ada").await;
        let other = ada.sign_in_again().await;

        for query in ["", "?others=", "?others=false", "?others=1", "?others=true&others=true"] {
            let answer = ada.delete(&format!("/api/auth/sessions{query}")).send().await;

            answer.refused(400, "VALIDATION_ERROR");
        }
        app.with_session(&other).get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn own_sessions_demand_a_bearer(app) {
        let ada = app.user("ada").await;
        let id = current_of(&ada.get("/api/auth/sessions").send().await.expect(200));

        for (method, path) in [
            ("GET", "/api/auth/sessions".to_owned()),
            ("DELETE", "/api/auth/sessions?others=true".to_owned()),
            ("DELETE", format!("/api/auth/sessions/{id}")),
        ] {
            let answer = app.anon().request(method, &path).session(&ada.session).send().await;

            answer.refused(401, "AUTH_UNAUTHORIZED");
        }
    }

    async fn bearer_is_read_from_one_header_and_from_nowhere_else(app) {
        let ada = app.user("ada").await;
        let (token, current) = (ada.session.access_token.clone(), "/api/auth/sessions/current");

        let answers = [
            app.anon().get(current).query("access_token", &token).send().await,
            app.anon().get(current).cookie(&format!("access_token={token}")).send().await,
            app.anon().get(current).header("x-api-key", &token).send().await,
            ada.get(current).and_header("authorization", &format!("Bearer {token}")).send().await,
        ];

        for answer in answers {
            answer.refused(401, "AUTH_UNAUTHORIZED");
        }
        app.anon().get(current).header("authorization", &format!("bearer {token}")).send().await.expect(200);
    }
}

/// Id of the session marked as current in a list.
fn current_of(listed: &Value) -> String {
    let sessions = listed["sessions"].as_array().unwrap();
    let current = sessions.iter().find(|session| session["current"] == true).unwrap();
    current["id"].as_str().unwrap().to_owned()
}
