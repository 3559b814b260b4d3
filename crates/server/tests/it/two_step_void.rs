//! Tests of events that end open challenges: whatever a challenge saw is looked at again when it is answered.

use latchkey_testkit::{TestApp, TwoStepUser, Value, both_stores, challenge_id, json, minutes};

use crate::email_calls::{NEW_PASSWORD, reset, reset_token};
use crate::two_step_calls::{account, stepped_up};

/// A challenge of a sign-in and one of a step-up.
async fn challenges(user: &TwoStepUser) -> [String; 2] {
    [user.challenged().await, challenge_id(&user.reauthenticate().send().await)]
}

/// Asserts that right answers are refused.
async fn assert_void(app: &TestApp, user: &TwoStepUser, [sign_in, _]: &[String; 2]) {
    for (kind, code) in [("totp", &user.authenticator.code()), ("recovery_code", &user.recovery_codes[9])] {
        let answer = app.anon().answer(sign_in, kind, code).send().await;
        answer.refused(401, "INVALID_CHALLENGE");
    }
}

async fn change(app: &TestApp, user: &TwoStepUser, change: Value) {
    app.admin().patch(&format!("/api/auth/users/{}", user.id), change).send().await.expect(200);
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn password_change_voids_challenges(app) {
        let ada = app.two_step_user("ada").await;
        let open = challenges(&ada).await;

        let body = json!({"currentPassword": ada.password, "newPassword": NEW_PASSWORD});
        ada.post("/api/auth/password", body).send().await.expect(200);

        assert_void(&app, &ada, &open).await;
        let step_up = ada.answer(&open[1], "totp", &ada.authenticator.code()).send().await;
        step_up.refused(401, "INVALID_CHALLENGE");
    }

    with(|b| b.verification_by_code())
    async fn password_reset_voids_challenges(app) {
        let ada = app.two_step_user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        let required = reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(403, "SECOND_FACTOR_REQUIRED");
        let open = challenges(&ada).await;
        let id = required["challenge"]["id"].as_str().unwrap();
        let body = app.anon().answer(id, "recovery_code", &ada.recovery_codes[0]).send().await.expect(200);

        reset(&app.anon(), body["token"].as_str().unwrap(), NEW_PASSWORD).send().await.expect(200);

        assert_void(&app, &ada, &open).await;
    }

    with(|b| b.verification_by_code())
    async fn ban_voids_challenges(app) {
        let ada = app.two_step_user("ada").await;
        let open = challenges(&ada).await;

        change(&app, &ada, json!({"banned": true})).await;

        assert_void(&app, &ada, &open).await;
        change(&app, &ada, json!({"banned": false})).await;
        assert_void(&app, &ada, &open).await;
    }

    with(|b| b.verification_by_code())
    async fn another_address_voids_challenges_and_leaves_the_factors(app) {
        let ada = app.two_step_user("ada").await;
        let open = challenges(&ada).await;

        change(&app, &ada, json!({"email": "lovelace@example.org", "emailVerified": true})).await;

        assert_void(&app, &ada, &open).await;
        let sign_in = app.anon().sign_in("lovelace@example.org", &ada.password).send().await;
        let _ = challenge_id(&sign_in);
    }

    with(|b| b.verification_by_code())
    async fn deletion_voids_challenges(app) {
        let ada = app.two_step_user("ada").await;
        let open = challenges(&ada).await;

        app.admin().delete("/api/auth/users").json(&json!({"userIds": [ada.id]})).send().await.expect(200);

        assert_void(&app, &ada, &open).await;
    }

    with(|b| b.verification_by_code())
    async fn every_change_of_factors_voids_challenges(app) {
        let ada = app.two_step_user("ada").await;
        let (tablet, id) = app.begin_totp(&ada).await;
        let path = format!("/api/auth/factors/totp/{id}");
        let changes = [
            ada.confirm_totp(&id, &tablet.code()),
            ada.delete(&path),
            ada.post("/api/auth/factors/two-step", json!({"enabled": false})),
        ];

        for change in changes {
            let open = challenges(&ada).await;
            change.send().await.expect(200);
            assert_void(&app, &ada, &open).await;
        }
    }

    with(|b| b.verification_by_code())
    async fn new_recovery_codes_void_challenges(app) {
        let ada = app.two_step_user("ada").await;
        let open = challenges(&ada).await;

        ada.post("/api/auth/factors/recovery-codes", json!({})).send().await.expect(200);

        assert_void(&app, &ada, &open).await;
    }

    with(|b| b.verification_by_code())
    async fn removal_by_an_admin_voids_challenges(app) {
        let ada = app.two_step_user("ada").await;
        let open = challenges(&ada).await;

        app.admin().delete(&format!("/api/auth/users/{}/factors", ada.id)).send().await.expect(200);

        assert_void(&app, &ada, &open).await;
    }

    with(|b| b.verification_by_code())
    async fn refused_changes_void_nothing(app) {
        let ada = app.two_step_user("ada").await;
        let [sign_in, step_up] = challenges(&ada).await;
        let path = format!("/api/auth/factors/totp/{}", ada.factor_id);
        ada.delete(&path).send().await.refused(409, "LAST_SECOND_FACTOR");
        let body = json!({"currentPassword": "a wrong password", "newPassword": NEW_PASSWORD});
        ada.post("/api/auth/password", body).send().await.refused(401, "INVALID_CREDENTIALS");

        ada.answer(&step_up, "recovery_code", &ada.recovery_codes[0]).send().await.expect(200);

        app.anon().answer(&sign_in, "totp", &ada.authenticator.code()).send().await.expect(200);
    }

    // Turning two-step on ends what the account was asked before.
    with(|b| b.verification_by_code())
    async fn turning_two_step_on_voids_a_step_up_by_password(app) {
        let ada = app.user("ada").await;
        let challenge = challenge_id(&ada.reauthenticate().send().await);
        let (phone, id) = app.begin_totp(&ada).await;
        let session = latchkey_testkit::Session::of(&ada.confirm_totp(&id, &phone.code()).send().await);

        let client = app.with_session(&session);
        let answer = client.answer(&challenge, "password", &ada.password).send().await;

        assert_eq!(answer.status, 401, "{answer:?}");
    }

    with(|b| b.verification_by_code())
    async fn step_up_of_before_does_not_outlive_turning_off(app) {
        let ada = app.two_step_user("ada").await;
        app.clock.advance(minutes(11));
        let fresh = app.bearing(&stepped_up(&app, &ada, &ada).await);
        let [_, step_up] = challenges(&ada).await;
        fresh.post("/api/auth/factors/two-step", json!({"enabled": false})).send().await.expect(200);

        let answer = ada.answer(&step_up, "totp", &ada.authenticator.code()).send().await;

        answer.refused(401, "INVALID_CHALLENGE");
        assert_eq!(account(&ada).await["reauthenticateWith"], json!(["password"]));
    }
}
