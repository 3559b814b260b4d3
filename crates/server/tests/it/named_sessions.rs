//! Tests of the details of one's own sessions, and of their names.

use latchkey_testkit::{Client, PASSWORD, Session, Value, both_stores, json, minutes};

use crate::described::assert_successes_are_described;
use crate::two_step_calls::keys;

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

async fn listed(client: &Client, query: &str) -> Vec<Value> {
    let body = client.get(&format!("/api/auth/sessions{query}")).send().await.expect(200);
    body["sessions"].as_array().unwrap().clone()
}

async fn id_of(client: &Client) -> String {
    let sessions = listed(client, "").await;
    sessions.iter().find(|session| session["current"] == true).unwrap()["id"].as_str().unwrap().to_owned()
}

both_stores! {
    async fn details_are_shown_where_they_are_asked_for(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(1));
        let firefox = app.anon().with_header("user-agent", FIREFOX);
        let session = Session::of(&firefox.sign_in(&ada.email, PASSWORD).send().await);
        let firefox = app.with_session(&session);

        let sessions = listed(&firefox, "?details=true").await;

        let newest = &sessions[0];
        let expected = json!({
            "id": newest["id"], "createdAt": "2026-03-02T10:01:00.000Z", "lastSeenAt": "2026-03-02T10:01:00.000Z",
            "userAgent": FIREFOX, "ip": "127.0.0.1", "current": true, "device": "Firefox on Linux", "name": null,
            "amr": ["pwd"], "level": 1, "authTime": "2026-03-02T10:01:00.000Z",
        });
        assert_eq!(*newest, expected);
        assert_eq!(sessions[1]["device"], "Unknown device");
        let [plain, detailed] = ["", "?details=true"].map(|query| firefox.get(&format!("/api/auth/sessions{query}")));
        let operation = "GET /api/auth/sessions";
        assert_successes_are_described(&app, [(operation, plain), (operation, detailed)]).await;
    }

    async fn list_without_details_is_as_before(app) {
        let ada = app.user("ada").await;
        let (plain, off) = (listed(&ada, "").await, listed(&ada, "?details=false").await);

        assert_eq!(keys(&plain[0]), ["createdAt", "current", "id", "ip", "lastSeenAt", "userAgent"]);
        assert_eq!(plain, off);
        let asked = ada.get("/api/auth/sessions?details=perhaps").send().await;
        asked.refused_for("VALIDATION_ERROR", "details", &["not_allowed"]);
    }

    with(|b| b.verification_by_code())
    async fn level_and_methods_are_those_of_the_sign_in(app) {
        let ada = app.two_step_user("ada").await;

        let sessions = listed(&ada, "?details=true").await;

        assert_eq!((&sessions[0]["level"], &sessions[0]["amr"]), (&json!(2), &json!(["otp", "mfa"])));
    }

    async fn session_is_named_and_keeps_its_name_at_a_refresh(app) {
        let ada = app.user_on("ada", "server").await;
        let path = format!("/api/auth/sessions/{}", id_of(&ada).await);

        let rename = || ada.patch(&path, json!({"name": " Laptop at home "}));

        let body = rename().send().await.expect(200);

        assert_eq!(keys(&body), ["session"]);
        assert_eq!(body["session"]["name"], "Laptop at home");
        assert_successes_are_described(&app, [("PATCH /api/auth/sessions/{id}", rename())]).await;
        assert_eq!(listed(&ada, "?details=true").await, [body["session"].clone()]);
        let refreshed = Session::of(&app.anon().refresh(&ada.session).send().await);
        let ada = app.with_session(&refreshed);
        assert_eq!(listed(&ada, "?details=true").await[0]["name"], "Laptop at home");
        let unnamed = ada.patch(&path, json!({"name": null})).send().await.expect(200);
        assert_eq!(unnamed["session"]["name"], Value::Null);
    }

    async fn name_has_1_to_64_characters(app) {
        let ada = app.user("ada").await;
        let path = format!("/api/auth/sessions/{}", id_of(&ada).await);
        let name = |name: Value| ada.patch(&path, json!({"name": name}));

        name(json!("é".repeat(64))).send().await.expect(200);
        name(json!("é".repeat(65))).send().await.refused_for("VALIDATION_ERROR", "name", &["too_long"]);
        for blank in ["", " ", "\u{3000}"] {
            name(json!(blank)).send().await.refused_for("VALIDATION_ERROR", "name", &["too_short"]);
        }
        name(json!("a\nb")).send().await.refused_for("VALIDATION_ERROR", "name", &["invalid_characters"]);
        name(json!(1)).send().await.refused_for("VALIDATION_ERROR", "name", &["wrong_type"]);
        ada.patch(&path, json!({})).send().await.refused_for("VALIDATION_ERROR", "name", &["required"]);
        assert_eq!(listed(&ada, "?details=true").await[0]["name"], "é".repeat(64));
    }

    async fn nobody_names_the_session_of_another(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        let path = format!("/api/auth/sessions/{}", id_of(&ada).await);
        let named = json!({"name": "Mine"});

        eve.patch(&path, named.clone()).send().await.refused(404, "NOT_FOUND");
        app.anon().patch(&path, named.clone()).send().await.refused(401, "AUTH_UNAUTHORIZED");
        for unknown in [crate::routes::NOBODY, "none"] {
            let path = format!("/api/auth/sessions/{unknown}");
            ada.patch(&path, named.clone()).send().await.refused(404, "NOT_FOUND");
        }

        assert_eq!(listed(&ada, "?details=true").await[0]["name"], Value::Null);
    }
}
