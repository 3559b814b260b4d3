//! Tests of the first password of an account without one: POST /api/auth/password without `currentPassword`.

use latchkey_testkit::{
    Client, PASSWORD, Request, TestApp, both_stores, challenge_id, json, minutes, seconds,
};

use crate::described::assert_successes_are_described;
use crate::email_calls::{NEW_PASSWORD, id_of, reset_code};
use crate::oauth_calls::{acme, person, session};
use crate::races::{count, race};
use crate::two_step_calls::{account, session_count};

const EMAIL: &str = "ada@example.org";

/// Ada, who signed in through a provider and has no password.
async fn ada(app: &TestApp) -> Client {
    let acme = acme(app).await;
    acme.person(person("ada at home", EMAIL));
    app.with_session(&session(app, &acme, "acme").await)
}

fn set(client: &Client, password: &str) -> Request {
    client.post("/api/auth/password", json!({"newPassword": password}))
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn account_without_password_sets_one_and_signs_in_with_it(app) {
        let ada = ada(&app).await;
        assert_eq!(account(&ada).await["hasPassword"], false);

        assert_successes_are_described(&app, [("POST /api/auth/password", set(&ada, NEW_PASSWORD))]).await;

        assert_eq!(account(&ada).await["hasPassword"], true);
        let session = app.anon().sign_in(EMAIL, NEW_PASSWORD).send().await.expect(200);
        assert_eq!(session["user"]["providers"], json!(["email", "acme"]));
    }

    with(|b| b.verification_by_code())
    async fn first_password_ends_the_other_sessions_and_outstanding_codes(app) {
        let provider = acme(&app).await;
        provider.person(person("ada at home", EMAIL));
        let (first, other) = (session(&app, &provider, "acme").await, session(&app, &provider, "acme").await);
        let ada = app.with_session(&first);
        let code = reset_code(&app, EMAIL).await;

        set(&ada, NEW_PASSWORD).send().await.expect(200);

        assert_eq!(session_count(&ada).await, 1);
        app.anon().refresh(&other).send().await.refused(401, "AUTH_UNAUTHORIZED");
        let body = json!({"email": EMAIL, "code": code});
        let exchange = app.anon().post("/api/auth/email/exchange-reset-password-token", body).send().await;
        exchange.refused(400, "INVALID_CODE");
        app.anon().refresh(&first).send().await.expect(200);
    }

    // What a person without password can show is the mailbox.
    with(|b| b.verification_by_code())
    async fn first_password_needs_a_fresh_token_before_any_field_is_judged(app) {
        let ada = ada(&app).await;
        app.clock.advance(minutes(10) + seconds(1));
        for body in [json!({"newPassword": NEW_PASSWORD}), json!({"newPassword": "x"}), json!({"newPassword": 5}), json!({})] {
            ada.post("/api/auth/password", body).send().await.refused(403, "REAUTHENTICATION_REQUIRED");
        }
        app.anon().post("/api/auth/password", json!({"newPassword": 5})).send().await.refused(401, "AUTH_UNAUTHORIZED");

        let challenge = challenge_id(&ada.reauthenticate().send().await);
        let sent = ada.post("/api/auth/challenges/send-code", json!({"challengeId": challenge}));
        sent.send().await.expect(202);
        let code = app.mail_to(EMAIL).await.code();
        let body = ada.answer(&challenge, "email_code", &code).send().await.expect(200);

        set(&app.bearing(body["accessToken"].as_str().unwrap()), NEW_PASSWORD).send().await.expect(200);
    }

    async fn account_with_a_password_needs_the_current_one_as_before(app) {
        let ada = app.user("ada").await;

        let refusal = set(&ada, NEW_PASSWORD).send().await.refused(400, "VALIDATION_ERROR");

        assert_eq!((&refusal["field"], &refusal["reasons"]), (&json!("currentPassword"), &json!(["required"])));
        let other = ada.post("/api/auth/password", json!({"currentPassword": PASSWORD})).send().await;
        let other = other.refused(400, "VALIDATION_ERROR");
        let as_before = other["message"].as_str().unwrap().replace("newPassword", "currentPassword");
        assert_eq!(refusal["message"], as_before);
        let null = json!({"newPassword": NEW_PASSWORD, "currentPassword": null});
        let null = ada.post("/api/auth/password", null).send().await.refused(400, "VALIDATION_ERROR");
        assert_eq!(null["reasons"], json!(["wrong_type"]));
        app.anon().sign_in(&ada.email, &ada.password).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn weak_first_password_is_refused_and_changes_nothing(app) {
        let ada = ada(&app).await;

        let weak = set(&ada, "short").send().await.refused(400, "WEAK_PASSWORD");

        assert_eq!(weak["field"], "newPassword");
        assert_eq!(account(&ada).await["hasPassword"], false);
    }

    // A current password that does not exist is wrong.
    with(|b| b.verification_by_code())
    async fn current_password_of_an_account_without_one_is_wrong(app) {
        let ada = ada(&app).await;

        let body = json!({"currentPassword": NEW_PASSWORD, "newPassword": NEW_PASSWORD});
        ada.post("/api/auth/password", body).send().await.refused(401, "INVALID_CREDENTIALS");

        assert_eq!(account(&ada).await["hasPassword"], false);
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_first_passwords_one_is_set(app) {
        let ada = ada(&app).await;
        let password = |number: usize| format!("lantern number {number}");

        let answers = race(|number| set(&ada, &password(number))).await;

        assert_eq!((count(&answers, 200), count(&answers, 400)), (1, answers.len() - 1), "{answers:?}");
        let winner = answers.iter().position(|answer| answer.status == 200).unwrap();
        app.anon().sign_in(EMAIL, &password(winner)).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn first_password_is_audited_and_mailed_though_notifications_are_off(app) {
        let ada = ada(&app).await;
        app.mail().clear();
        app.clock.advance(seconds(1));

        set(&ada, NEW_PASSWORD).send().await.expect(200);

        let event = crate::audit::last(&app, "password_set").await;
        assert_eq!((&event["userId"], &event["details"]), (&json!(id_of(&app, EMAIL).await), &json!({})));
        let mail = app.mail_to(EMAIL).await;
        assert!(mail.subject.contains("password") && mail.text.contains("Time:"), "{mail:#?}");
        assert!(!mail.text.contains(NEW_PASSWORD) && app.mail().count(EMAIL) == 1);
    }

    // Its address may be another person's, whose first verification would remove the password.
    async fn account_that_a_provider_did_not_vouch_for_sets_no_password(app) {
        let acme = acme(&app).await;
        acme.person(json!({"sub": "eve", "email": EMAIL, "email_verified": false, "name": "Eve"}));
        let eve = app.with_session(&session(&app, &acme, "acme").await);

        set(&eve, NEW_PASSWORD).send().await.refused(403, "EMAIL_NOT_VERIFIED");

        assert_eq!(account(&eve).await["hasPassword"], false);
    }
}
