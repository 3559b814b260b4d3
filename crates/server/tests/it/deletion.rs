//! Tests of the deletion of an account by its owner: what it hides, its end, and who may do it. Restoring:
//! `deletion_restore`; races and attacks: `deletion_attacks`.

use latchkey_testkit::{PASSWORD, Session, both_stores, days, json, minutes, seconds};

use crate::audit::{events, last};
use crate::deletion_calls::{at_once, delete, deleted, face, restored, seen_by_admin};
use crate::described::assert_successes_are_described;
use crate::email_calls::{NEW_PASSWORD, reset, reset_token};
use crate::two_step_calls::{account, keys};

const ME: &str = "/api/profiles/me";

both_stores! {
    with(|b| b.verification_by_code())
    async fn owner_deletes_the_account_and_is_signed_out_everywhere(app) {
        let ada = app.user("ada").await;
        let other = ada.sign_in_again().await;

        let answer = delete(&ada).send().await;

        let body = answer.expect(200);
        assert_eq!(keys(&body), ["deletesAt"]);
        assert_eq!(body["deletesAt"], "2026-03-16T10:00:00.000Z");
        let cookie = answer.set_cookies()[0];
        assert!(cookie.contains("=;") && cookie.contains("Max-Age=0"), "{cookie}");
        for session in [&ada.session, &other] {
            app.with_session(session).get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
            app.anon().refresh(session).send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
    }

    with(|b| b.verification_by_code())
    async fn only_a_web_client_gets_its_cookie_cleared(app) {
        let ada = app.user_on("ada", "server").await;

        let answer = delete(&ada).client_type("server").send().await;

        answer.expect(200);
        assert!(answer.set_cookies().is_empty());
    }

    with(|b| b.verification_by_code())
    async fn nobody_sees_the_profile_until_it_is_restored(app) {
        let other = app.beside().await;
        let ada = app.user("ada").await;
        let bob = app.user("bob").await;
        ada.patch(ME, json!({"name": "Lovelace", "username": "countess"})).send().await.expect(200);
        let seen = async |expected: u16, hits: usize| {
            for app in [&app, &other] {
                for path in [face(&ada), format!("/api/auth/profiles/{}", ada.id)] {
                    assert_eq!(app.anon().get(&path).send().await.status, expected, "{path}");
                }
                assert_eq!(bob.get(&face(&ada)).send().await.status, expected);
                for q in ["lovelace", "countess", "lo"] {
                    let found = app.anon().search(q).send().await.expect(200);
                    assert_eq!(found.as_array().unwrap().len(), hits, "{q}");
                }
            }
        };
        seen(200, 1).await;

        delete(&ada).send().await.expect(200);

        seen(404, 0).await;
        restored(&app, &ada).await;
        seen(200, 1).await;
    }

    with(|b| b.verification_by_code())
    async fn address_and_username_stay_taken_in_the_grace(app) {
        let ada = app.user("ada").await;
        ada.patch(ME, json!({"username": "countess"})).send().await.expect(200);
        delete(&ada).send().await.expect(200);
        app.run_jobs().await;
        app.mail().clear();

        let bob = app.user("bob").await;
        bob.patch(ME, json!({"username": "countess"})).send().await.refused(409, "USERNAME_TAKEN");
        let body = json!({"email": ada.email, "password": PASSWORD});
        app.admin().post("/api/auth/users", body).send().await.refused(409, "EMAIL_EXISTS");
        let free = app.anon().sign_up("free@example.org", PASSWORD).send().await;
        let taken = app.anon().sign_up(&ada.email, PASSWORD).send().await;

        assert_eq!((taken.status, taken.text()), (free.status, free.text()));
        app.run_jobs().await;
        assert_eq!(app.mail().count(&ada.email), 0, "no mails but those of sign-in, reset and the deletion");
    }

    with(|b| b.verification_by_code())
    async fn account_is_gone_after_the_grace(app) {
        let ada = deleted(&app, "ada").await;
        app.clock.advance(days(14) - seconds(1));
        app.run_jobs().await;
        assert_eq!(seen_by_admin(&app, &ada.id).await["deletesAt"], "2026-03-16T10:00:00.000Z");
        app.mail().clear();
        app.clock.advance(seconds(1));

        app.run_jobs().await;
        app.run_jobs().await;

        app.admin().get(&format!("/api/auth/users/{}", ada.id)).send().await.refused(404, "USER_NOT_FOUND");
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        let mail = app.mail().last(&ada.email);
        assert!(mail.subject.contains("is deleted") && !mail.text.contains("/api/auth/undo"), "{}", mail.text);
        assert_eq!(app.mail().total(), 1);
        let new = app.user("ada").await;
        assert_ne!(new.id, ada.id);
        new.patch(ME, json!({"username": "countess"})).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn of_a_deleted_account_the_audit_log_keeps_the_user_id_alone(app) {
        let ada = deleted(&app, "ada").await;
        assert_eq!(last(&app, "deletion_scheduled").await["userId"], ada.id.as_str());
        app.clock.advance(days(14));

        app.run_jobs().await;

        let of_ada = |event: &latchkey_testkit::Value| event["userId"] == ada.id.as_str();
        let events: Vec<_> = events(&app).await.into_iter().filter(of_ada).collect();
        assert!(events.len() >= 3);
        assert_eq!((&events[0]["event"], &events[0]["actor"]), (&json!("user_deleted"), &json!("system")));
        for event in events {
            assert!(event["ip"].is_null() && event["userAgent"].is_null(), "{event}");
        }
        app.run_jobs().await;
        app.clock.advance(days(31)); // the last mail is retained for 30 days, without its content
        app.run_jobs().await;
        let kept = String::from_utf8_lossy(&app.kept()).to_lowercase();
        assert!(app.database().is_none() || !kept.contains(&ada.email));
    }

    with(at_once)
    async fn without_a_grace_the_account_is_gone_at_once(app) {
        let ada = app.user("ada").await;

        let body = delete(&ada).send().await.expect(200);

        assert_eq!(body["deletesAt"], "2026-03-02T10:00:00.000Z");
        app.admin().get(&format!("/api/auth/users/{}", ada.id)).send().await.refused(404, "USER_NOT_FOUND");
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        let mail = app.mail_to(&ada.email).await;
        assert!(mail.subject.contains("is deleted"), "{}", mail.subject);
        let event = last(&app, "user_deleted").await;
        assert_eq!((&event["userId"], &event["actor"], &event["ip"]), (&json!(ada.id), &json!("user"), &json!(null)));
        app.user("ada").await;
    }

    with(|b| b.verification_by_code())
    async fn mail_says_when_and_how_to_restore(app) {
        let ada = deleted(&app, "ada").await;

        let mail = app.mail().last(&ada.email);

        assert!(mail.subject.contains("is being deleted"), "{}", mail.subject);
        for part in ["On 2026-03-16 10:00 UTC it is deleted for good", "sign in as always", "Time: 2026-03-02 10:00 UTC"] {
            assert!(mail.text.replace('\n', " ").contains(part), "{part}: {}", mail.text);
        }
        assert!(!mail.token().is_empty());
    }

    async fn unverified_address_gets_no_mail_and_the_account_is_deleted_all_the_same(app) {
        let ada = deleted(&app, "ada").await;
        assert_eq!(app.mail().total(), 0);
        restored(&app, &ada).await;

        let client = app.with_session(&ada.sign_in_again().await);
        delete(&client).send().await.expect(200);
        app.clock.advance(days(14));
        app.run_jobs().await;

        assert_eq!(app.mail().total(), 0);
        app.admin().get(&format!("/api/auth/users/{}", ada.id)).send().await.refused(404, "USER_NOT_FOUND");
    }

    with(|b| b.verification_by_code())
    async fn reset_in_the_grace_restores_nothing_by_itself(app) {
        let ada = deleted(&app, "ada").await;
        let token = reset_token(&app, &ada.email).await;

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        assert_eq!(seen_by_admin(&app, &ada.id).await["deletesAt"], "2026-03-16T10:00:00.000Z");
        app.anon().get(&face(&ada)).send().await.refused(404, "USER_NOT_FOUND");
        let answer = app.anon().sign_in(&ada.email, NEW_PASSWORD).send().await;
        let challenge = crate::deletion_calls::restore_id(&answer);
        crate::deletion_calls::restore(&app.anon(), &challenge).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn admin_sees_restores_and_deletes(app) {
        let ada = deleted(&app, "ada").await;
        let path = format!("/api/auth/users/{}", ada.id);
        let listed = app.admin().get("/api/auth/users").send().await.expect(200);
        assert_eq!(listed["data"][0]["deletesAt"], "2026-03-16T10:00:00.000Z");
        app.admin().patch(&path, json!({"restore": null})).send().await.refused(400, "VALIDATION_ERROR");
        app.admin().patch(&path, json!({"restore": false})).send().await.expect(200);
        assert!(seen_by_admin(&app, &ada.id).await["deletesAt"].is_string());

        let body = app.admin().patch(&path, json!({"restore": true})).send().await.expect(200);

        assert!(!keys(&body).contains(&"deletesAt"));
        let _ = ada.sign_in_again().await;
        app.anon().get(&face(&ada)).send().await.expect(200);
        let event = last(&app, "deletion_cancelled").await;
        assert_eq!((&event["actor"], &event["userId"]), (&json!("admin"), &json!(ada.id)));
        let mail = app.mail_to(&ada.email).await;
        assert!(mail.text.contains("by an administrator") && !mail.text.contains("127.0.0.1"), "{}", mail.text);
        let client = app.with_session(&ada.sign_in_again().await);
        delete(&client).send().await.expect(200);
        app.mail().clear();
        app.admin().delete("/api/auth/users").json(&json!({"userIds": [ada.id]})).send().await.expect(200);
        app.admin().get(&path).send().await.refused(404, "USER_NOT_FOUND");
    }

    with(|b| b.verification_by_code())
    async fn restore_of_an_account_that_is_not_in_deletion_changes_nothing(app) {
        let ada = app.user("ada").await;
        app.run_jobs().await;
        app.mail().clear();
        let path = format!("/api/auth/users/{}", ada.id);
        let before = seen_by_admin(&app, &ada.id).await;

        app.clock.advance(minutes(1));
        let body = app.admin().patch(&path, json!({"restore": true})).send().await.expect(200);

        assert_eq!(body, before);
        account(&ada).await;
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);
        assert!(events(&app).await.iter().all(|event| event["event"] != "deletion_cancelled"));
    }

    with(|b| b.verification_by_code())
    async fn deletion_and_restoral_are_described_and_shown_to_the_owner(app) {
        let ada = app.user("ada").await;
        assert_successes_are_described(&app, [("DELETE /api/auth/account", delete(&ada))]).await;
        app.clock.advance(seconds(1));
        let challenge = crate::deletion_calls::asked(&app, &ada).await;
        app.clock.advance(seconds(1));
        let answer = crate::deletion_calls::restore(&app.anon(), &challenge).send().await;
        let document = app.anon().get("/openapi.json").send().await.expect(200);
        crate::described::assert_described(&document, "POST /api/auth/challenges/answer", &answer);

        let client = app.with_session(&Session::of(&answer));
        let body = client.get("/api/auth/events").send().await.expect(200);

        let kinds: Vec<_> = body["events"].as_array().unwrap().iter().map(|event| event["kind"].clone()).collect();
        let expected = json!(["deletion_cancelled", "sign_in", "sign_in_challenged", "deletion_scheduled", "email_verified", "sign_up"]);
        assert!(kinds[..2].iter().all(|kind| expected.as_array().unwrap()[..2].contains(kind)), "{kinds:?}");
        assert_eq!(kinds[2..], expected.as_array().unwrap()[2..]);
    }
}
