//! Tests of what an admin sees of a user to help with a sign-in: mails with their fate, sessions.

use latchkey_testkit::{PASSWORD, TestApp, both_stores, days, json, minutes};

const UNKNOWN: &str = "01a1fe6b-42e2-7c34-802d-fc79a6fb6b61";

fn path(user_id: &str, what: &str) -> String {
    format!("/api/auth/users/{user_id}/{what}")
}

async fn send_reset(app: &TestApp, email: &str) {
    app.anon().post("/api/auth/email/send-reset-password", json!({"email": email})).send().await.expect(202);
}

both_stores! {
    async fn mails_to_a_user_are_listed_with_their_fate_alone(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        send_reset(&app, &ada.email).await;
        app.run_jobs().await;
        app.clock.advance(minutes(5));
        send_reset(&app, &ada.email).await;
        send_reset(&app, &eve.email).await;

        let found = app.admin().get(&path(&ada.id, "mails")).send().await.expect(200);

        let mail = |at: usize, state: &str, created: &str, ended: Option<&str>, attempts: u32| json!({
            "id": found["data"][at]["id"], "kind": "reset", "email": ada.email, "state": state, "attempts": attempts,
            "createdAt": created, "endedAt": ended, "error": null,
        });
        let (early, late) = ("2026-03-02T10:00:00.000Z", "2026-03-02T10:05:00.000Z");
        let expected = [mail(0, "queued", late, None, 0), mail(1, "sent", early, Some(early), 1)];
        assert_eq!(found["data"], json!(expected));
    }

    async fn sent_mail_is_shown_for_30_days(app) {
        let ada = app.user("ada").await;
        send_reset(&app, &ada.email).await;
        app.run_jobs().await;

        for (day, mails) in [(29, 1), (2, 0)] {
            app.clock.advance(days(day));
            app.run_jobs().await;
            let found = app.admin().get(&path(&ada.id, "mails")).send().await.expect(200);
            assert_eq!(found["data"].as_array().unwrap().len(), mails, "{found}");
        }
    }

    async fn live_sessions_of_a_user_are_listed(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(5));
        app.anon().at("203.0.113.7").sign_in(&ada.email, PASSWORD).send().await.expect(200);

        let found = app.admin().get(&path(&ada.id, "sessions")).send().await.expect(200);

        let sessions = found["data"].as_array().unwrap();
        assert_eq!(sessions.len(), 2, "{found}");
        assert!(sessions.iter().any(|session| session["ip"] == "203.0.113.7"), "{found}");
        app.admin().delete(&path(&ada.id, "sessions")).send().await.expect(200);
        let ended = app.admin().get(&path(&ada.id, "sessions")).send().await.expect(200);
        assert_eq!(ended, json!({"data": []}));
    }

    async fn mails_and_sessions_of_an_unknown_user_are_refused(app) {
        for what in ["mails", "sessions"] {
            app.admin().get(&path(UNKNOWN, what)).send().await.refused(404, "USER_NOT_FOUND");
        }
    }
}
