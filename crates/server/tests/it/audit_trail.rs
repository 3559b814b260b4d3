//! Tests of the list of audit events: order, pages, parameters, and the absence of secrets.

use latchkey_testkit::{ADMIN_KEY, PASSWORD, TestApp, Value, both_stores, json, minutes, seconds};

use super::audit::events;

const AUDIT: &str = "/api/auth/audit";

/// Causes audit events: failed sign-ins with unknown addresses.
async fn happen(app: &TestApp, count: usize) {
    for _ in 0..count {
        app.anon().sign_in("nobody@example.org", PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }
}

async fn page(app: &TestApp, limit: &str, before: Option<&str>) -> Value {
    let request = app.admin().get(AUDIT).query("limit", limit);
    let request = before.into_iter().fold(request, |request, before| request.query("before", before));
    request.send().await.expect(200)
}

/// Reads all events in pages of this size.
async fn walk(app: &TestApp, limit: usize) -> Vec<Value> {
    let mut walked = Vec::new();
    let mut before: Option<String> = None;
    loop {
        let page = page(app, &limit.to_string(), before.as_deref()).await;
        walked.extend(page["data"].as_array().unwrap().clone());
        match page["pagination"]["nextBefore"].as_str() {
            Some(next) => before = Some(next.to_owned()),
            None => return walked,
        }
    }
}

/// Makes audited calls with all secrets of a user, and returns the secrets.
async fn do_everything(app: &TestApp) -> Vec<String> {
    let ada = app.user_on("ada", "server").await;
    let mut secrets = vec![ada.session.access_token.clone(), ada.session.refresh_secret().to_owned()];
    let mail = |what: &str, body: Value| app.anon().post(&format!("/api/auth/email/{what}"), body).send();
    app.anon().sign_in(&ada.email, "a wrong password 1").send().await.refused(401, "INVALID_CREDENTIALS");
    app.anon().sign_up(&ada.email, PASSWORD).send().await.expect(409);
    ada.refreshed().await.expect(200);
    mail("send-reset-password", json!({"email": ada.email})).await.expect(202);
    let code = app.mail_to(&ada.email).await.code();
    let body = json!({"email": ada.email, "code": code});
    let token = mail("exchange-reset-password-token", body).await.expect(200)["token"].clone();
    secrets.extend([code, token.as_str().unwrap().to_owned()]);
    mail("reset-password", json!({"newPassword": "another lantern 43", "otp": token})).await.expect(200);
    app.clock.advance(minutes(1));
    ada.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");
    let path = format!("/api/auth/users/{}", ada.id);
    app.admin()
        .patch(&path, json!({"email": "lovelace@example.org", "metadata": {"plan": "hush"}}))
        .send()
        .await
        .expect(200);
    app.bearing("a-wrong-admin-key").get(AUDIT).send().await.refused(401, "ADMIN_UNAUTHORIZED");
    app.admin()
        .put("/api/auth/config", json!({"allowedRedirectUrls": ["https://hush.example/"]}))
        .send()
        .await
        .expect(200);
    app.admin().delete("/api/auth/users").json(&json!({"userIds": [ada.id]})).send().await.expect(200);
    secrets
}

both_stores! {
    async fn page_has_its_events_and_its_numbers(app) {
        happen(&app, 1).await;

        let page = app.admin().get(AUDIT).send().await.expect(200);

        assert_eq!(page["data"].as_array().unwrap().len(), 1);
        assert_eq!(page["pagination"], json!({"limit": 20}));
        let keys: Vec<_> = page["data"][0].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["actor", "at", "details", "event", "id", "ip", "sessionId", "userAgent", "userId"]);
    }

    async fn newest_event_is_first(app) {
        for _ in 0..3 {
            happen(&app, 2).await;
            app.clock.advance(seconds(1));
        }

        let events = events(&app).await;

        let times: Vec<_> = events.iter().map(|event| event["at"].as_str().unwrap()).collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
        let ids: Vec<_> = events.iter().map(|event| event["id"].as_str().unwrap()).collect();
        assert!(ids.is_sorted_by(|a, b| a > b), "{ids:?}");
    }

    async fn pages_of_any_size_walk_every_event_once(app) {
        happen(&app, 13).await;
        let all = events(&app).await;

        for limit in [1, 3, 12, 13, 14] {
            assert_eq!(walk(&app, limit).await, all, "{limit}");
        }
        assert_eq!(all.len(), 13);
    }

    async fn events_that_come_meanwhile_do_not_move_the_pages(app) {
        happen(&app, 6).await;
        let all = events(&app).await;
        let first = page(&app, "3", None).await;

        happen(&app, 4).await;
        let next = page(&app, "3", first["pagination"]["nextBefore"].as_str()).await;

        let walked =
            [first["data"].as_array().unwrap().clone(), next["data"].as_array().unwrap().clone()].concat();
        assert_eq!(walked, all);
    }

    async fn limit_and_before_are_validated(app) {
        for query in
            ["limit=0", "limit=101", "limit=-1", "limit=x", "limit=", "limit=1&limit=1", "before=", "before=x", "before=1"]
        {
            app.admin().get(&format!("{AUDIT}?{query}")).send().await.refused(400, "VALIDATION_ERROR");
        }
        happen(&app, 101).await;

        let most = page(&app, "100", None).await;

        assert_eq!(most["pagination"]["limit"], 100);
        assert_eq!(most["data"].as_array().unwrap().len(), 100);
    }

    async fn trail_outlives_a_restart(mut app) {
        happen(&app, 3).await;
        let before = events(&app).await;

        app.restart().await;

        assert_eq!(events(&app).await, before);
    }

    async fn trail_holds_no_secret_and_no_address(app) {
        let mut secrets = do_everything(&app).await;
        // Lower-case words only, which cannot be hexadecimal digits of an id.
        let words =
            ["@", "example", "lantern", "password 1", "admin-key", "hush", ADMIN_KEY, "argon2", "Ada"];
        secrets.extend(words.map(str::to_owned));

        let events = events(&app).await;

        assert!(events.len() >= 9, "{events:#?}");
        let trail = Value::from(events).to_string();
        for secret in secrets {
            assert!(!trail.contains(&secret), "{secret} in {trail}");
        }
    }

    async fn control_characters_of_a_user_agent_are_not_kept(app) {
        let agent = "Mozilla\t5.0 \u{9b}31m";

        let request = app.anon().sign_in("nobody@example.org", PASSWORD).header("user-agent", agent);
        request.send().await.refused(401, "INVALID_CREDENTIALS");

        let kept = events(&app).await[0]["userAgent"].as_str().unwrap_or_default().to_owned();
        assert!(!kept.contains(char::is_control), "{kept:?}");
    }
}
