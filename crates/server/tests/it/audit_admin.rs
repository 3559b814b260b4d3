//! Tests of audit events of admins, including refused calls.

use latchkey_domain::operator::Party;
use latchkey_testkit::{ADMIN_KEY, Client, PASSWORD, TestApp, Value, both_stores, json, minutes};

use super::audit::{early_user, events, last, probe, says};
use crate::oauth_calls::acme;

const USERS: &str = "/api/auth/users";

/// Admin client with the address of the audit tests.
fn admin(app: &TestApp) -> Client {
    probe(app.admin())
}

async fn change(app: &TestApp, user_id: &str, body: Value) {
    admin(app).patch(&format!("{USERS}/{user_id}"), body).send().await.expect(200);
}

both_stores! {
    async fn creation_of_a_user_is_audited(app) {
        app.clock.advance(minutes(5));
        let body = json!({"email": "ada@example.org", "password": PASSWORD});

        let user = admin(&app).post(USERS, body).send().await.expect(200)["user"].clone();

        let event = last(&app, "user_created").await;
        says(&event, "admin", user["id"].as_str().unwrap(), None);
        assert_eq!(event["details"], json!({"fields": ["email", "password"]}));
    }

    async fn change_of_an_address_or_a_provider_names_the_fields(app) {
        let ada = early_user(&app, "ada").await;
        change(&app, &ada.id, json!({"email": "lovelace@example.org"})).await;
        assert_eq!(last(&app, "email_changed").await["details"], json!({"fields": ["email"]}));

        let _acme = acme(&app).await;
        let fields = last(&app, "settings_changed").await["details"]["fields"].clone();
        assert!(fields.as_array().unwrap().contains(&json!("clientSecret")), "{fields}");
        app.clock.advance(minutes(1));
        let path = "/api/auth/oauth/custom/acme/config";
        admin(&app).put(path, json!({"enabled": false})).send().await.expect(200);
        let details = last(&app, "settings_changed").await["details"].clone();
        assert_eq!(details, json!({"provider": "acme", "change": "updated", "fields": ["enabled"]}));
    }

    async fn every_change_of_a_user_is_audited(app) {
        let ada = early_user(&app, "ada").await;

        for (body, event) in [
            (json!({"email": "lovelace@example.org"}), "email_changed"),
            (json!({"metadata": {"plan": "pro"}}), "user_updated"),
            (json!({"banned": true}), "user_banned"),
            (json!({"banned": false}), "user_unbanned"),
        ] {
            change(&app, &ada.id, body).await;

            says(&last(&app, event).await, "admin", &ada.id, None);
            assert_eq!(events(&app).await[0]["event"], event);
        }
    }

    async fn ban_of_a_banned_user_and_unban_of_a_free_one_change_nothing_and_are_no_event(app) {
        let ada = early_user(&app, "ada").await;
        let path = format!("{USERS}/{}", ada.id);

        for banned in [false, true, false] {
            change(&app, &ada.id, json!({"banned": banned})).await;
            let before = (events(&app).await, admin(&app).get(&path).send().await.expect(200));
            app.clock.advance(minutes(1));

            let answer = admin(&app).patch(&path, json!({"banned": banned})).send().await.expect(200);

            assert_eq!((events(&app).await, answer), before, "{banned}");
        }
    }

    async fn verification_by_an_admin_is_audited(app) {
        let ada = early_user(&app, "ada").await;

        change(&app, &ada.id, json!({"emailVerified": true})).await;

        says(&events(&app).await[0], "admin", &ada.id, None);
    }

    async fn refused_change_is_not_audited_as_made(app) {
        let (ada, eve) = (early_user(&app, "ada").await, app.user("eve").await);
        let before = events(&app).await;

        let path = format!("{USERS}/{}", ada.id);
        admin(&app).patch(&path, json!({"email": eve.email})).send().await.refused(409, "EMAIL_EXISTS");
        admin(&app).patch(&path, json!({"banned": 1})).send().await.refused(400, "VALIDATION_ERROR");
        admin(&app).delete(USERS).json(&json!({"userIds": []})).send().await.expect(200);

        assert_eq!(events(&app).await, before);
    }

    async fn deletion_is_audited_for_each_deleted_user(app) {
        let (ada, eve) = (app.user("ada").await, early_user(&app, "eve").await);
        let ids = json!({"userIds": [ada.id, "00000000-0000-7000-8000-000000000000", eve.id]});

        admin(&app).delete(USERS).json(&ids).send().await.expect(200);

        let deleted: Vec<_> =
            events(&app).await.into_iter().filter(|event| event["event"] == "user_deleted").collect();
        assert_eq!(deleted.len(), 2);
        says(&deleted[0], "admin", &eve.id, None);
        says(&deleted[1], "admin", &ada.id, None);
    }

    async fn end_of_sessions_and_of_a_profile_is_audited(app) {
        let ada = early_user(&app, "ada").await;

        admin(&app).delete(&format!("{USERS}/{}/sessions", ada.id)).send().await.expect(200);
        admin(&app).delete(&format!("{USERS}/{}/profile", ada.id)).send().await.expect(200);

        says(&last(&app, "sessions_ended").await, "admin", &ada.id, None);
        says(&last(&app, "profile_deleted").await, "admin", &ada.id, None);
    }

    async fn change_of_settings_is_audited_with_the_changed_keys(app) {
        app.clock.advance(minutes(5));
        let settings = json!({"disableSignup": true, "allowedRedirectUrls": ["https://secret.example.org/"]});

        admin(&app).put("/api/auth/config", settings).send().await.expect(200);

        let event = last(&app, "settings_changed").await;
        assert_eq!((&event["actor"], &event["userId"]), (&json!("admin"), &json!(null)));
        assert_eq!((&event["at"], &event["ip"]), (&json!("2026-03-02T10:05:00.000Z"), &json!("203.0.113.7")));
        let details = event["details"].to_string();
        assert!(
            details.contains("disable_sign_up") && details.contains("allowed_redirect_urls"),
            "{details}"
        );
        assert!(!details.contains("secret"), "{details}");
    }

    async fn refused_admin_key_is_audited_without_the_key(app) {
        let wrong = format!("{ADMIN_KEY}-but-wrong");

        probe(app.bearing(&wrong)).get(USERS).send().await.refused(401, "ADMIN_UNAUTHORIZED");
        let request = probe(app.anon()).get("/api/auth/config").header("x-api-key", &wrong);
        request.send().await.refused(401, "ADMIN_UNAUTHORIZED");

        let events = events(&app).await;
        assert_eq!(events.len(), 2);
        for event in events {
            assert_eq!((&event["event"], &event["userId"]), (&json!("admin_refused"), &json!(null)));
            assert_eq!(
                (&event["ip"], &event["userAgent"]),
                (&json!("203.0.113.7"), &json!("Probe/1.0 (tests)"))
            );
            assert!(!event.to_string().contains("wrong"), "{event}");
        }
    }

    async fn rotation_of_the_signing_key_is_audited(app) {
        app.service().sessions.rotate_signing_key(Party::System, None).await.unwrap();

        let event = last(&app, "key_rotated").await;
        assert_eq!((&event["actor"], &event["ip"]), (&json!("system"), &json!(null)));
    }
}
