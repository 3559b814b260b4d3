//! Tests of the export of one's own account.

use latchkey_testkit::{Client, Request, Session, Value, both_stores, days, json, minutes};

use crate::audit::last;
use crate::described::assert_successes_are_described;
use crate::email_change_calls::moved;
use crate::two_step_calls::keys;

fn export(client: &Client) -> Request {
    client.get("/api/auth/account/export")
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn owner_gets_a_file_with_what_is_stored(app) {
        let mut ada = app.passkey_user("ada").await;
        ada.patch("/api/profiles/me", json!({"name": "Lovelace", "username": "countess"})).send().await.expect(200);
        ada.patch("/api/auth/profiles/current", json!({"likes": "engines"})).send().await.expect(200);
        let _ = crate::passkey_calls::session(&app.anon(), &mut ada.passkey).await;

        let answer = export(&ada).send().await;

        let body = answer.expect(200);
        assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"account.json\""));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let expected = ["account", "emails", "events", "exportedAt", "identities", "passkeys", "profile", "sessions"];
        assert_eq!(keys(&body), expected);
        assert_eq!(body["exportedAt"], "2026-03-02T10:00:00.000Z");
        assert_eq!(body["account"]["user"]["id"], ada.id.as_str());
        assert_eq!(body["profile"]["record"]["username"], "countess");
        assert_eq!(body["profile"]["flat"]["likes"], "engines");
        assert_eq!(body["passkeys"].as_array().unwrap().len(), 1);
        assert!(!keys(&body["passkeys"][0]).contains(&"credentialId"));
        assert_eq!(body["sessions"].as_array().unwrap().len(), 2);
        assert!(body["events"].as_array().unwrap().iter().any(|event| event["kind"] == "account_exported"));
        assert_eq!(body["emails"], json!([{"email": ada.email, "current": true, "reservedUntil": null}]));
        assert_eq!(last(&app, "account_exported").await["userId"], ada.id.as_str());
        assert_successes_are_described(&app, [("GET /api/auth/account/export", export(&ada))]).await;
    }

    with(|b| b.verification_by_code())
    async fn addresses_of_now_and_earlier_are_in_it(app) {
        let ada = app.user("ada").await;
        moved(&app, &ada, "countess@example.com").await;

        let body = export(&ada).send().await.expect(200);

        assert_eq!(body["emails"], json!([
            {"email": "countess@example.com", "current": true, "reservedUntil": null},
            {"email": ada.email, "current": false, "reservedUntil": "2026-03-09T10:00:00.000Z"},
        ]));
    }

    with(|b| b.verification_by_code())
    async fn nothing_of_another_account_and_no_secret_is_in_it(app) {
        let ada = app.two_step_user("ada").await;
        let eve = app.two_step_user("eve").await;
        for user in [&ada, &eve] {
            user.patch("/api/profiles/me", json!({"bio": format!("I am {}", user.id)})).send().await.expect(200);
        }
        app.anon().sign_in(&ada.email, "a wrong password").send().await.refused(401, "INVALID_CREDENTIALS");

        let answer = export(&ada).query("userId", &eve.id).json(&json!({"userId": eve.id})).send().await;

        let text = answer.text();
        answer.expect(200);
        assert!(text.contains(&ada.id));
        let secrets = [&eve.id, &eve.email, &ada.session.access_token, &ada.password, &ada.recovery_codes[0]];
        for secret in secrets {
            assert!(!text.contains(secret.as_str()), "{secret}");
        }
        assert!(!text.contains("argon2") && !text.to_lowercase().contains("hash"), "{text}");
    }

    with(|b| b.verification_by_code())
    async fn stale_token_and_no_token_get_nothing(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(11));
        let stale = app.with_session(&Session::of(&ada.refreshed().await));

        export(&stale).send().await.refused(403, "REAUTHENTICATION_REQUIRED");
        export(&app.anon()).send().await.refused(401, "AUTH_UNAUTHORIZED");
        export(&app.admin()).send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.verification_by_code().limits())
    async fn sixth_export_of_a_day_is_refused_and_counts_for_its_account_alone(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        for _ in 0..5 {
            export(&ada).send().await.expect(200);
        }

        let refused = export(&ada).send().await;

        refused.refused(429, "TOO_MANY_REQUESTS");
        assert!(refused.header("retry-after").is_some());
        export(&eve).send().await.expect(200);
        app.clock.advance(days(1));
        let again = app.with_session(&ada.sign_in_again().await);
        export(&again).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn account_without_a_profile_is_exported_too(app) {
        let ada = app.user("ada").await;
        app.admin().delete(&format!("/api/auth/users/{}/profile", ada.id)).send().await.expect(200);

        assert_eq!(export(&ada).send().await.expect(200)["profile"], Value::Null);
    }
}
