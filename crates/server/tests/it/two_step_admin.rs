//! Tests of second factors for admins, of the audit trail, and of the owner's mails.

use latchkey_testkit::{Session, both_stores, challenge_id, json, seconds};

use crate::audit::{events, last};
use crate::described::assert_successes_are_described;
use crate::two_step_calls::{fail, keys, signed_in, stepped_up};

const NOBODY: &str = crate::routes::NOBODY;

both_stores! {
    with(|b| b.verification_by_code())
    async fn admin_sees_factors_without_secrets(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.user("bob").await);
        let factors = |id: &str| app.admin().get(&format!("/api/auth/users/{id}/factors"));

        let shown = factors(&ada.id).send().await.expect(200);

        let expected = json!({
            "twoStep": true, "passkeys": [], "recoveryCodesLeft": 10,
            "totp": [{
                "id": ada.factor_id, "name": "Authenticator app", "createdAt": "2026-03-02T10:00:00.000Z",
                "lastUsedAt": shown["totp"][0]["lastUsedAt"],
            }],
        });
        assert_eq!(shown, expected);
        let plain = factors(&bob.id).send().await.expect(200);
        assert_eq!(plain, json!({"twoStep": false, "totp": [], "passkeys": [], "recoveryCodesLeft": 0}));
        factors(NOBODY).send().await.refused(404, "USER_NOT_FOUND");
        factors("none").send().await.refused(404, "USER_NOT_FOUND");
        ada.get(&format!("/api/auth/users/{}/factors", ada.id)).send().await.refused(403, "FORBIDDEN");
    }

    with(|b| b.verification_by_code())
    async fn admin_removes_factors_and_ends_all_sessions(app) {
        let ada = app.two_step_user("ada").await;
        let path = format!("/api/auth/users/{}/factors", ada.id);

        let body = app.admin().delete(&path).send().await.expect(200);

        assert_eq!(keys(&body), ["message"]);
        app.anon().refresh(&ada.session).send().await.refused(401, "AUTH_UNAUTHORIZED");
        let session = Session::of(&app.anon().sign_in(&ada.email, &ada.password).send().await);
        let shown = app.admin().get(&path).send().await.expect(200);
        assert_eq!(shown, json!({"twoStep": false, "totp": [], "passkeys": [], "recoveryCodesLeft": 0}));
        assert_eq!(session.user_id, ada.id);
        let event = last(&app, "factors_reset").await;
        assert_eq!((event["actor"].as_str(), event["userId"].as_str()), (Some("admin"), Some(ada.id.as_str())));
        let mail = app.mail_to(&ada.email).await;
        assert!(mail.subject.to_lowercase().contains("two-step") || mail.text.contains("two-step"), "{mail:#?}");
    }

    with(|b| b.verification_by_code())
    async fn removal_takes_one_parameter(app) {
        let ada = app.two_step_user("ada").await;
        let remove = |query: &str| app.admin().delete(&format!("/api/auth/users/{}/factors{query}", ada.id));

        for query in ["?passkeys=perhaps", "?passkeys=", "?passkey=true"] {
            remove(query).send().await.refused(400, "VALIDATION_ERROR");
        }
        remove("").json(&json!({"totp": true})).send().await.refused(400, "VALIDATION_ERROR");
        app.admin().delete(&format!("/api/auth/users/{NOBODY}/factors")).send().await.refused(404, "USER_NOT_FOUND");
        let path = format!("/api/auth/users/{}/factors", ada.id);
        app.anon().delete(&path).send().await.refused(401, "ADMIN_UNAUTHORIZED");

        remove("?passkeys=true").send().await.expect(200);
        remove("?passkeys=false").send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn user_keeps_its_providers_and_fields(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.user("bob").await);

        let [with, without] = [&ada.id, &bob.id].map(|id| app.admin().get(&format!("/api/auth/users/{id}")));
        let (with, without) = (with.send().await.expect(200), without.send().await.expect(200));

        assert_eq!(keys(&with), keys(&without));
        assert_eq!(with["providers"], without["providers"]);
    }

    // One event for each fact, newest first; nothing in them opens anything.
    with(|b| b.verification_by_code())
    async fn life_of_factors_is_audited(app) {
        let ada = app.two_step_user("ada").await;
        let challenge = ada.challenged().await;
        app.clock.advance(seconds(1));
        fail(&app.anon(), &ada, &challenge, 1).await;
        app.clock.advance(seconds(1));
        let code = &ada.recovery_codes[0];
        let _ = Session::of(&app.anon().answer(&challenge, "recovery_code", code).send().await);
        let fresh = app.bearing(&stepped_up(&app, &ada, &ada).await);
        let (tablet, id) = app.begin_totp(&fresh).await;
        app.clock.advance(seconds(1));
        fresh.confirm_totp(&id, &tablet.code()).send().await.expect(200);
        for request in [
            fresh.delete(&format!("/api/auth/factors/totp/{id}")),
            fresh.post("/api/auth/factors/recovery-codes", json!({})),
            fresh.post("/api/auth/factors/two-step", json!({"enabled": false})),
        ] {
            app.clock.advance(seconds(1));
            request.send().await.expect(200);
        }

        let events = events(&app).await;

        let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
        let expected = [
            "two_step_off", "recovery_codes_made", "totp_removed", "totp_added", "reauthenticated", "sign_in",
            "recovery_code_used", "second_factor_failed", "sign_in_challenged",
        ];
        let own: Vec<_> = names.iter().copied().filter(|name| expected.contains(name)).collect();
        for name in expected {
            assert!(own.contains(&name), "no {name} in {names:?}");
        }
        assert!(names.contains(&"two_step_on"), "{names:?}");
        let text = serde_text(&events);
        for secret in ada.recovery_codes.iter().chain([&challenge]) {
            assert!(!text.contains(secret.as_str()), "{secret} in {text}");
        }
        assert!(events.iter().all(|event| event["userId"] == ada.id || event["userId"].is_null()), "{text}");
    }

    with(|b| b.verification_by_code())
    async fn owner_is_told_of_every_change_of_factors(app) {
        let ada = app.two_step_user("ada").await;
        let on = app.mail_to(&ada.email).await;
        assert!(on.text.contains("/api/auth/undo?token="), "{on:#?}");
        let (tablet, id) = app.begin_totp(&ada).await;
        ada.confirm_totp(&id, &tablet.code()).send().await.expect(200);
        app.clock.advance(seconds(30));
        let challenge = ada.challenged().await;
        app.anon().answer(&challenge, "recovery_code", &ada.recovery_codes[0]).send().await.expect(200);
        app.run_jobs().await;
        let used = app.mail().last(&ada.email);
        assert!(used.text.contains('9'), "{used:#?}");
        let before = app.mail().count(&ada.email);

        for request in [
            ada.post("/api/auth/factors/recovery-codes", json!({})),
            ada.post("/api/auth/factors/two-step", json!({"enabled": false})),
        ] {
            request.send().await.expect(200);
        }

        app.run_jobs().await;
        assert_eq!(app.mail().count(&ada.email), before + 2);
        let codes = ada.recovery_codes.iter().map(String::as_str);
        for mail in app.mail().all(&ada.email) {
            assert!(!codes.clone().any(|code| mail.text.contains(code) || mail.html.contains(code)), "{mail:#?}");
        }
    }

    with(|b| b.verification_by_code())
    async fn responses_are_described(app) {
        let ada = app.two_step_user("ada").await;
        let _ = challenge_id(&ada.reauthenticate().send().await);
        let _ = signed_in(&app, &ada).await;
        let path = format!("/api/auth/users/{}/factors", ada.id);
        let requests = [
            ("GET /api/auth/users/{id}/factors", app.admin().get(&path)),
            ("GET /api/auth/audit", app.admin().get("/api/auth/audit?limit=100")),
            ("DELETE /api/auth/users/{id}/factors", app.admin().delete(&path)),
        ];

        assert_successes_are_described(&app, requests).await;
    }
}

fn serde_text(events: &[latchkey_testkit::Value]) -> String {
    latchkey_testkit::Value::from(events.to_vec()).to_string()
}
