//! Tests of passkeys for admins, of their audit events, and of the owner's mails.

use latchkey_testkit::{Session, TestApp, Value, both_stores, json, seconds};

use crate::audit::{events, last};
use crate::described::assert_successes_are_described;
use crate::passkey_calls::{passkey_count, providers, remove, session, sign_in};
use crate::two_step_calls::keys;

const NOBODY: &str = crate::routes::NOBODY;

/// Subjects of the mails to this address since the last call.
async fn new_mails(app: &TestApp, email: &str) -> Vec<String> {
    app.run_jobs().await;
    let subjects = app.mail().all(email).into_iter().map(|mail| mail.subject.to_lowercase()).collect();
    app.mail().clear();
    subjects
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn admin_sees_passkeys_without_keys_and_credential_ids(app) {
        let ada = app.passkey_user("ada").await;

        let shown = app.admin().get(&format!("/api/auth/users/{}/factors", ada.id)).send().await.expect(200);

        assert_eq!(keys(&shown), ["passkeys", "recoveryCodesLeft", "totp", "twoStep"]);
        let passkey = &shown["passkeys"][0];
        assert_eq!(shown["passkeys"].as_array().unwrap().len(), 1);
        assert_eq!((&passkey["id"], &passkey["name"]), (&json!(ada.passkey_id), &json!("Unknown device")));
        assert_eq!((&passkey["synced"], &passkey["usable"]), (&json!(true), &json!(true)));
        let text = shown.to_string();
        assert!(!text.contains(&ada.passkey.id()) && !text.contains("credentialId"), "{text}");
    }

    with(|b| b.verification_by_code())
    async fn admin_removes_one_passkey_and_ends_its_sessions(app) {
        let ada = app.passkey_user("ada").await;
        let opened = session(&app.anon(), &mut ada.passkey.clone()).await;
        let (mut other, _) = ada.add_passkey(&app.phone()).await;
        let _ = new_mails(&app, &ada.email).await;
        let path = format!("/api/auth/users/{}/passkeys/{}", ada.id, ada.passkey_id);

        let body = app.admin().delete(&path).send().await.expect(200);

        assert_eq!(keys(&body), ["message"]);
        app.anon().refresh(&opened).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().refresh(&ada.session).send().await.expect(200);
        sign_in(&app.anon(), &mut ada.passkey.clone()).await.refused(401, "UNKNOWN_PASSKEY");
        let _ = session(&app.anon(), &mut other).await;
        let event = last(&app, "passkey_removed").await;
        assert_eq!((&event["actor"], &event["userId"]), (&json!("admin"), &json!(ada.id)));
        let subjects = new_mails(&app, &ada.email).await;
        assert!(subjects.iter().any(|subject| subject.contains("passkey")), "{subjects:?}");
        app.admin().delete(&path).send().await.refused(404, "NOT_FOUND");
    }

    with(|b| b.verification_by_code())
    async fn passkey_of_another_user_is_not_found(app) {
        let (ada, bob) = (app.passkey_user("ada").await, app.passkey_user("bob").await);
        for (user, id) in [(ada.id.as_str(), bob.passkey_id.as_str()), (&ada.id, NOBODY), (&ada.id, "x")] {
            let path = format!("/api/auth/users/{user}/passkeys/{id}");
            app.admin().delete(&path).send().await.refused(404, "NOT_FOUND");
        }
        let path = format!("/api/auth/users/{}/passkeys/{}", ada.id, ada.passkey_id);

        app.anon().delete(&path).send().await.refused(401, "ADMIN_UNAUTHORIZED");
        ada.delete(&path).send().await.refused(403, "FORBIDDEN");
        app.admin().delete(&format!("/api/auth/users/{NOBODY}/passkeys/{}", ada.passkey_id)).send().await;

        assert_eq!((passkey_count(&ada).await, passkey_count(&bob).await), (1, 1));
    }

    // An admin may take the last way in: the owner has the mailbox, and the admin can do worse.
    with(|b| b.verification_by_code())
    async fn admin_removes_the_last_second_factor(app) {
        let ada = app.passkey_user("ada").await;
        let on = ada.post("/api/auth/factors/two-step", json!({"enabled": true})).send().await;
        let _ = Session::of(&on);

        let path = format!("/api/auth/users/{}/passkeys/{}", ada.id, ada.passkey_id);
        app.admin().delete(&path).send().await.expect(200);

        let shown = app.admin().get(&format!("/api/auth/users/{}/factors", ada.id)).send().await.expect(200);
        assert_eq!(shown["passkeys"], json!([]));
    }

    with(|b| b.verification_by_code())
    async fn removal_of_factors_takes_passkeys_only_if_told_to(app) {
        let ada = app.two_step_user("ada").await;
        let (mut passkey, _) = ada.add_passkey(&app.phone()).await;
        let path = format!("/api/auth/users/{}/factors", ada.id);

        app.admin().delete(&path).send().await.expect(200);
        let opened = session(&app.anon(), &mut passkey).await;
        assert!(providers(&app.with_session(&opened)).await.as_array().unwrap().contains(&json!("passkey")));
        app.admin().delete(&format!("{path}?passkeys=true")).send().await.expect(200);

        app.anon().refresh(&opened).send().await.refused(401, "AUTH_UNAUTHORIZED");
        sign_in(&app.anon(), &mut passkey).await.refused(401, "UNKNOWN_PASSKEY");
        let shown = app.admin().get(&path).send().await.expect(200);
        let expected = json!({"twoStep": false, "totp": [], "passkeys": [], "recoveryCodesLeft": 0});
        assert_eq!(shown, expected);
    }

    with(|b| b.verification_by_code())
    async fn life_of_a_passkey_is_audited_without_secrets(app) {
        let ada = app.passkey_user_on("ada", &app.security_key()).await;
        let path = format!("/api/auth/passkeys/{}", ada.passkey_id);
        let begun = app.anon().begin_passkey_sign_in().await;
        app.clock.advance(seconds(1));
        let mut bad = ada.passkey.clone().sign(&begun.options);
        bad.counter = 0;
        let refused = app.anon().end_passkey_sign_in(&begun.id, &bad.to_json()).send().await;
        refused.refused(401, "INVALID_PASSKEY");
        app.clock.advance(seconds(1));
        ada.patch(&path, json!({"name": "Blue key"})).send().await.expect(200);
        app.clock.advance(seconds(1));
        let _ = session(&app.anon(), &mut ada.passkey.clone()).await;
        app.clock.advance(seconds(1));
        remove(&ada, &ada.passkey_id).send().await.expect(200);

        let events = events(&app).await;

        let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
        let life = ["passkey_removed", "sign_in", "passkey_renamed", "passkey_refused", "passkey_added"];
        let own: Vec<_> = names.iter().copied().filter(|name| life.contains(name)).take(5).collect();
        assert_eq!(own, life);
        let text = Value::from(events).to_string();
        let handle = latchkey_testkit::passkeys::encoded(&ada.passkey.user_handle);
        let challenge = begun.options["challenge"].as_str().unwrap();
        for secret in [&ada.passkey.id(), &handle, &begun.id, challenge] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }

    with(|b| b.verification_by_code())
    async fn owner_is_told_of_each_passkey_that_comes_or_goes(app) {
        let ada = app.user("ada").await;
        let _ = new_mails(&app, &ada.email).await;

        let (_, id) = ada.add_passkey(&app.phone()).await;
        let added = new_mails(&app, &ada.email).await;
        let path = format!("/api/auth/passkeys/{id}");
        ada.patch(&path, json!({"name": "Blue key"})).send().await.expect(200);
        let renamed = new_mails(&app, &ada.email).await;
        remove(&ada, &id).send().await.expect(200);
        let removed = new_mails(&app, &ada.email).await;

        assert_eq!((added.len(), renamed.len(), removed.len()), (1, 0, 1));
        assert!(added[0].contains("passkey") && removed[0].contains("passkey"), "{added:?} {removed:?}");
        assert_ne!(added, removed);
    }

    with(|b| b.verification_by_code())
    async fn mails_have_no_secrets(app) {
        let ada = app.passkey_user("ada").await;
        remove(&ada, &ada.passkey_id).send().await.expect(200);
        app.run_jobs().await;

        for mail in app.mail().all(&ada.email) {
            let text = format!("{}{}{}", mail.subject, mail.text, mail.html);
            let handle = latchkey_testkit::passkeys::encoded(&ada.passkey.user_handle);
            assert!(!text.contains(&ada.passkey.id()) && !text.contains(&handle), "{text}");
        }
    }

    with(|b| b.verification_by_code())
    async fn passkey_of_a_deleted_user_is_unknown(app) {
        let ada = app.passkey_user("ada").await;

        let body = json!({"userIds": [ada.id]});
        app.admin().delete("/api/auth/users").json(&body).send().await.expect(200);

        sign_in(&app.anon(), &mut ada.passkey.clone()).await.refused(401, "UNKNOWN_PASSKEY");
    }

    with(|b| b.verification_by_code())
    async fn responses_are_described(app) {
        let ada = app.passkey_user("ada").await;
        let (_, other) = ada.add_passkey(&app.phone()).await;
        let factors = format!("/api/auth/users/{}/factors", ada.id);
        let one = format!("/api/auth/users/{}/passkeys/{other}", ada.id);
        let requests = [
            ("GET /api/auth/users/{id}/factors", app.admin().get(&factors)),
            ("DELETE /api/auth/users/{id}/passkeys/{passkeyId}", app.admin().delete(&one)),
            ("DELETE /api/auth/users/{id}/factors", app.admin().delete(&format!("{factors}?passkeys=true"))),
            ("GET /api/auth/audit", app.admin().get("/api/auth/audit")),
        ];

        assert_successes_are_described(&app, requests).await;
    }
}
