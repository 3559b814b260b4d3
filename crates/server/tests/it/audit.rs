//! Tests of audit events of users: actor, action, time and address. Those of admins are in `audit_admin`, pages and
//! secrets in `audit_trail`.

use latchkey_testkit::{
    Answer, Client, PASSWORD, Session, TestApp, User, Value, both_stores, days, json, minutes, seconds,
};

const AGENT: &str = "Probe/1.0 (tests)";
const IP: &str = "203.0.113.7";

/// All events, newest first.
pub(crate) async fn events(app: &TestApp) -> Vec<Value> {
    let page = app.admin().get("/api/auth/audit").query("limit", "100").send().await.expect(200);
    page["data"].as_array().unwrap().clone()
}

/// Newest event of this name.
pub(crate) async fn last(app: &TestApp, event: &str) -> Value {
    let events = events(app).await;
    let found = events.iter().find(|found| found["event"] == event).cloned();
    found.unwrap_or_else(|| panic!("no {event} in {events:#?}"))
}

/// Asserts actor, address and current time.
#[track_caller]
pub(crate) fn says(event: &Value, actor: &str, user_id: &str, session_id: Option<&str>) {
    let expected = json!({
        "id": event["id"], "event": event["event"], "details": event["details"], "at": "2026-03-02T10:05:00.000Z",
        "actor": actor, "userId": user_id, "sessionId": session_id, "ip": IP, "userAgent": AGENT,
    });
    assert_eq!(*event, expected);
}

/// Client with the address [`IP`] and the user agent [`AGENT`].
pub(crate) fn probe(client: Client) -> Client {
    client.at(IP).with_header("user-agent", AGENT)
}

/// User who signed up five minutes ago.
pub(crate) async fn early_user(app: &TestApp, name: &str) -> User {
    let user = app.user(name).await;
    app.clock.advance(minutes(5));
    user
}

async fn session_id(app: &TestApp, session: &Session) -> String {
    let list = app.with_session(session).get("/api/auth/sessions").send().await.expect(200);
    let current = list["sessions"].as_array().unwrap().iter().find(|session| session["current"] == true);
    current.unwrap()["id"].as_str().unwrap().to_owned()
}

async fn email_call(app: &TestApp, what: &str, body: Value) -> Answer {
    probe(app.anon()).post(&format!("/api/auth/email/{what}"), body).send().await
}

/// Requests a password reset, and returns the mailed code.
async fn reset_code(app: &TestApp, email: &str) -> String {
    email_call(app, "send-reset-password", json!({"email": email})).await.expect(202);
    app.mail_to(email).await.code()
}

async fn audited_limits(app: &TestApp) -> Vec<Value> {
    app.run_jobs().await;
    let mut events = events(app).await;
    events.retain(|event| event["event"] == "request_limited");
    events
}

both_stores! {
    with(|b| b.limits())
    async fn refusal_by_a_limit_is_audited_once_an_hour_for_each_limit(app) {
        let ada = early_user(&app, "ada").await;
        let sign_in = || probe(app.anon()).sign_in(&ada.email, "a wrong password");
        for _ in 0..10 {
            sign_in().send().await.refused(401, "INVALID_CREDENTIALS");
        }
        for _ in 0..3 {
            sign_in().send().await.refused(429, "TOO_MANY_REQUESTS");
        }
        assert!(events(&app).await.iter().all(|event| event["event"] != "request_limited"), "after the answer");

        let told = audited_limits(&app).await;

        assert_eq!(told.len(), 1);
        says(&told[0], "user", &ada.id, None);
        assert_eq!(told[0]["details"], json!({"limit": "password sign-in, per account and address"}));
        sign_in().send().await.refused(429, "TOO_MANY_REQUESTS");
        assert_eq!(audited_limits(&app).await.len(), 1);
        for _ in 0..2 {
            email_call(&app, "send-reset-password", json!({"email": ada.email})).await;
        }
        assert_eq!(audited_limits(&app).await.len(), 2, "another limit");
    }

    with(|b| b.limits())
    async fn refusal_is_audited_again_in_the_next_hour(app) {
        let ada = early_user(&app, "ada").await;
        for hour in 1..3 {
            for _ in 0..2 {
                email_call(&app, "send-reset-password", json!({"email": ada.email})).await;
            }
            assert_eq!(audited_limits(&app).await.len(), hour);
            app.clock.advance(minutes(60));
        }
    }

    with(|b| b.limits())
    async fn refusal_without_an_account_is_not_audited(app) {
        for _ in 0..2 {
            email_call(&app, "send-reset-password", json!({"email": "nobody@example.org"})).await;
        }

        assert!(audited_limits(&app).await.is_empty());
    }

    async fn event_goes_after_its_retention(app) {
        let ada = early_user(&app, "ada").await;
        app.anon().sign_in("nobody@example.org", PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        app.anon().sign_in(&ada.email, "a wrong password").send().await.refused(401, "INVALID_CREDENTIALS");

        let mut counted = Vec::new();
        for days_on in [29, 1, 369, 1] {
            app.clock.advance(days(days_on));
            app.run_jobs().await;
            counted.push(events(&app).await.len());
        }

        assert_eq!(counted, [3, 2, 2, 0]);
    }

    async fn sign_up_is_audited_with_its_session(app) {
        app.clock.advance(minutes(5));

        let answer = probe(app.anon()).sign_up("ada@example.org", PASSWORD).send().await;

        let session = Session::of(&answer);
        let id = session_id(&app, &session).await;
        says(&last(&app, "sign_up").await, "user", &session.user_id, Some(&id));
    }

    async fn sign_in_is_audited_with_its_session(app) {
        let ada = early_user(&app, "ada").await;

        let answer = probe(app.anon()).sign_in(&ada.email, PASSWORD).send().await;

        let id = session_id(&app, &Session::of(&answer)).await;
        says(&last(&app, "sign_in").await, "user", &ada.id, Some(&id));
    }

    async fn failed_sign_in_is_audited_with_the_intended_user(app) {
        let ada = early_user(&app, "ada").await;

        probe(app.anon())
            .sign_in(&ada.email, "a wrong password 1")
            .send()
            .await
            .refused(401, "INVALID_CREDENTIALS");

        says(&last(&app, "sign_in_failed").await, "user", &ada.id, None);
    }

    async fn failed_sign_in_with_an_unknown_address_is_audited_without_a_user(app) {
        probe(app.anon())
            .sign_in("nobody@example.org", PASSWORD)
            .send()
            .await
            .refused(401, "INVALID_CREDENTIALS");

        let event = last(&app, "sign_in_failed").await;
        assert_eq!(
            (&event["userId"], &event["sessionId"], &event["ip"]),
            (&json!(null), &json!(null), &json!(IP))
        );
        assert!(!event.to_string().contains("nobody"), "{event}");
    }

    async fn sign_in_of_a_banned_user_is_audited_as_failed(app) {
        let ada = early_user(&app, "ada").await;
        app.admin()
            .patch(&format!("/api/auth/users/{}", ada.id), json!({"banned": true}))
            .send()
            .await
            .expect(200);

        probe(app.anon()).sign_in(&ada.email, PASSWORD).send().await.refused(403, "USER_BANNED");

        says(&last(&app, "sign_in_failed").await, "user", &ada.id, None);
    }

    async fn sign_out_is_audited_with_its_session(app) {
        let ada = early_user(&app, "ada").await;
        let id = session_id(&app, &ada.session).await;

        probe(app.anon()).sign_out(&ada.session).send().await.expect(200);

        says(&last(&app, "sign_out").await, "user", &ada.id, Some(&id));
    }

    async fn end_of_a_single_session_is_audited(app) {
        let ada = early_user(&app, "ada").await;
        let other = session_id(&app, &ada.sign_in_again().await).await;

        let path = format!("/api/auth/sessions/{other}");
        probe(app.with_session(&ada.session)).delete(&path).send().await.expect(200);

        let event = last(&app, "sign_out").await;
        assert_eq!(
            (&event["userId"], &event["ip"], &event["userAgent"]),
            (&json!(ada.id), &json!(IP), &json!(AGENT))
        );
    }

    async fn reuse_of_a_refresh_token_is_audited_with_its_session(app) {
        let ada = app.user_on("ada", "server").await;
        let id = session_id(&app, &ada.session).await;
        let next = Session::of(&ada.refreshed().await);
        app.anon().refresh(&next).send().await.expect(200);
        app.clock.advance(minutes(5));

        probe(app.anon()).refresh(&ada.session).send().await.refused(401, "AUTH_UNAUTHORIZED");

        says(&last(&app, "refresh_reuse").await, "user", &ada.id, Some(&id));
    }

    async fn retry_after_a_lost_response_is_not_audited_as_reuse(app) {
        let ada = app.user_on("ada", "server").await;
        ada.refreshed().await.expect(200);
        app.clock.advance(minutes(5));

        ada.refreshed().await.expect(200);

        assert!(events(&app).await.iter().all(|event| event["event"] != "refresh_reuse"));
    }

    with(|b| b.verification_by_code())
    async fn verification_by_code_is_audited_with_its_session(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        app.clock.advance(minutes(5));
        let code = app.mail_to("ada@example.org").await.code();

        let answer = probe(app.anon()).verify("ada@example.org", &code).send().await;

        let session = Session::of(&answer);
        let id = session_id(&app, &session).await;
        says(&last(&app, "email_verified").await, "user", &session.user_id, Some(&id));
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example.org/done"]))
    async fn verification_by_link_is_audited_without_a_session(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD, "redirectTo": "https://app.example.org/done"});
        app.anon().post("/api/auth/users", body).send().await.expect(200);
        app.clock.advance(minutes(5));

        probe(app.anon()).get(&app.mail_to("ada@example.org").await.link()).send().await.redirected();

        let event = last(&app, "email_verified").await;
        let user_id = last(&app, "sign_up").await["userId"].as_str().unwrap().to_owned();
        says(&event, "user", &user_id, None);
    }

    with(|b| b.verification_by_code())
    async fn sign_up_at_a_taken_address_is_audited_for_its_owner(app) {
        let ada = early_user(&app, "ada").await;

        probe(app.anon()).sign_up(&ada.email, "another lantern 43").send().await.expect(200);

        says(&last(&app, "sign_up_repeated").await, "user", &ada.id, None);
    }

    async fn reset_by_code_is_audited_in_both_steps(app) {
        let ada = early_user(&app, "ada").await;
        let code = reset_code(&app, &ada.email).await;

        let body = json!({"email": ada.email, "code": code});
        let token =
            email_call(&app, "exchange-reset-password-token", body).await.expect(200)["token"].clone();
        says(&last(&app, "reset_code_exchanged").await, "user", &ada.id, None);
        let body = json!({"newPassword": "another lantern 43", "otp": token});
        email_call(&app, "reset-password", body).await.expect(200);

        says(&last(&app, "password_reset").await, "user", &ada.id, None);
    }

    async fn password_change_is_audited_with_its_session(app) {
        let ada = early_user(&app, "ada").await;
        let id = session_id(&app, &ada.session).await;

        let body = json!({"currentPassword": PASSWORD, "newPassword": "another lantern 43"});
        let caller = probe(app.with_session(&ada.session));
        caller.post("/api/auth/password", body).send().await.expect(200);

        says(&last(&app, "password_changed").await, "user", &ada.id, Some(&id));
    }

    async fn wrong_password_at_a_change_is_audited_as_failed(app) {
        let ada = early_user(&app, "ada").await;
        let body = json!({"currentPassword": "a wrong password 1", "newPassword": "another lantern 43"});

        let answer = probe(app.with_session(&ada.session)).post("/api/auth/password", body).send().await;

        answer.refused(401, "INVALID_CREDENTIALS");
        let event = last(&app, "sign_in_failed").await;
        assert_eq!((&event["userId"], &event["ip"]), (&json!(ada.id), &json!(IP)));
    }

    async fn reading_and_editing_a_profile_is_not_audited(app) {
        let ada = early_user(&app, "ada").await;
        let before = events(&app).await;

        ada.get("/api/profiles/me").send().await.expect(200);
        ada.patch("/api/profiles/me", json!({"bio": "Hello"})).send().await.expect(200);
        app.anon().search("ada").send().await.expect(200);

        assert_eq!(events(&app).await, before);
    }

    async fn events_outlive_their_user(app) {
        let ada = early_user(&app, "ada").await;

        app.admin().delete("/api/auth/users").json(&json!({"userIds": [ada.id]})).send().await.expect(200);
        app.clock.advance(seconds(1));
        app.run_jobs().await;

        assert_eq!(last(&app, "sign_up").await["userId"], ada.id);
    }
}
