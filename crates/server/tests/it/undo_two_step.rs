//! Tests of the undo link of a changed email address while two-step sign-in was turned on or off, or its factors were
//! replaced: who is asked for a second factor, and what is left.

use latchkey_testkit::{
    Answer, Authenticator, Client, Session, TestApp, TwoStepUser, both_stores, challenge_id, days, hours,
    json, seconds,
};

use crate::email_calls::{NEW_PASSWORD, exchange, reset, reset_token};
use crate::email_change_calls::{changed_from, undo};
use crate::two_step_calls::{account, signed_in};
use crate::undo_email::{LEFT, NEW, email_of, reset_and_sign_in, undo_with};

const TWO_STEP: &str = "/api/auth/factors/two-step";

/// Changes Ada's address in a session; the undo token of the mail.
async fn leave(app: &TestApp, client: &Client) -> String {
    changed_from(app, client, LEFT, NEW).await;
    app.mail().last(LEFT).token()
}

/// Ada, who turned two-step sign-in on two days ago and has signed in with it just now.
async fn ada_since_two_days(app: &TestApp) -> (TwoStepUser, Client) {
    let ada = app.two_step_user("ada").await;
    app.clock.advance(days(2));
    let session = signed_in(app, &ada).await;
    (ada, app.with_session(&session))
}

/// An intruder in the session of a user turns two-step sign-in on; the new session and the undo token of the mail.
async fn intrude(app: &TestApp, client: &Client) -> (Client, String) {
    let (phone, factor) = app.begin_totp(client).await;
    let session = Session::of(&client.confirm_totp(&factor, &phone.code()).send().await);
    app.clock.advance(seconds(30));
    (app.with_session(&session), app.mail_to(LEFT).await.token())
}

/// Replaces the only app by another one.
async fn replace_phone(app: &TestApp, ada: &TwoStepUser, client: &Client) -> Authenticator {
    let (phone, factor) = app.begin_totp(client).await;
    client.confirm_totp(&factor, &phone.code()).send().await.expect(200);
    client.delete(&format!("/api/auth/factors/totp/{}", ada.factor_id)).send().await.expect(200);
    app.clock.advance(seconds(30));
    phone
}

/// Tries a reset by the code that an undo mailed to the old address.
async fn try_reset(app: &TestApp) -> Answer {
    app.run_jobs().await;
    let mails = app.mail().all(LEFT);
    let mail = mails.iter().rev().find(|mail| mail.subject.contains("password")).expect("a reset mail");
    let body = exchange(&app.anon(), LEFT, &mail.code()).send().await.expect(200);
    reset(&app.anon(), body["token"].as_str().unwrap(), NEW_PASSWORD).send().await
}

/// Ada, whose only second factor an admin removed, and whose recovery codes are used up. The session is that of the
/// last one.
async fn without_factors(app: &TestApp) -> (TwoStepUser, Client) {
    let ada = app.two_step_user("ada").await;
    let (_, passkey) = ada.add_passkey(&app.phone()).await;
    ada.delete(&format!("/api/auth/factors/totp/{}", ada.factor_id)).send().await.expect(200);
    let path = format!("/api/auth/users/{}/passkeys/{passkey}", ada.id);
    app.admin().delete(&path).send().await.expect(200);
    app.clock.advance(days(2));
    let mut client = app.anon();
    for code in &ada.recovery_codes {
        let challenge = challenge_id(&app.anon().sign_in(LEFT, &ada.password).send().await);
        client = app
            .with_session(&Session::of(&app.anon().answer(&challenge, "recovery_code", code).send().await));
    }
    (ada, client)
}

/// Asserts that a second factor is needed that only the administrator can help with.
#[track_caller]
fn needs_the_administrator(answer: &Answer) {
    let refusal = answer.refused(403, "SECOND_FACTOR_REQUIRED");
    assert!(refusal["nextAction"].as_str().unwrap().contains("administrator"), "{refusal}");
    assert!(refusal.get("challenge").is_none(), "{refusal}");
}

both_stores! {
    // The intruder's own factor is no factor of the owner.
    with(|b| b.verification_by_code())
    async fn two_step_of_the_day_before_is_not_asked_for(app) {
        let ada = app.user("ada").await;
        let (intruder, _) = intrude(&app, &ada).await;
        let token = leave(&app, &intruder).await;

        undo(&app.anon(), &token, LEFT).send().await.expect(200);

        let session = reset_and_sign_in(&app).await;
        let account = account(&app.with_session(&session)).await;
        assert_eq!((&account["user"]["email"], &account["twoStep"]), (&json!(LEFT), &json!(false)));
        assert_eq!((&account["totp"], &account["recoveryCodesLeft"]), (&json!([]), &json!(0)));
    }

    with(|b| b.verification_by_code())
    async fn link_of_the_change_outlives_that_of_two_step(app) {
        let ada = app.user("ada").await;
        let (intruder, first) = intrude(&app, &ada).await;
        let second = leave(&app, &intruder).await;
        app.clock.advance(hours(72));
        undo(&app.anon(), &first, LEFT).send().await.refused(400, "INVALID_CODE");

        undo(&app.anon(), &second, LEFT).send().await.expect(200);

        assert_eq!(email_of(&app, &ada.id).await, LEFT);
        let session = reset_and_sign_in(&app).await;
        assert_eq!(account(&app.with_session(&session)).await["twoStep"], false);
    }

    with(|b| b.verification_by_code())
    async fn two_step_turned_off_and_on_since_the_change_is_not_asked_for(app) {
        let (ada, intruder) = ada_since_two_days(&app).await;
        let token = leave(&app, &intruder).await;
        intruder.post(TWO_STEP, json!({"enabled": false})).send().await.expect(200);
        let (phone, factor) = app.begin_totp(&intruder).await;
        intruder.confirm_totp(&factor, &phone.code()).send().await.expect(200);

        undo(&app.anon(), &token, LEFT).send().await.expect(200);

        let session = reset_and_sign_in(&app).await;
        assert_eq!(session.user_id, ada.id);
        assert_eq!(account(&app.with_session(&session)).await["twoStep"], false);
    }

    with(|b| b.verification_by_code())
    async fn two_step_turned_off_since_the_change_is_not_asked_for(app) {
        let (ada, intruder) = ada_since_two_days(&app).await;
        let token = leave(&app, &intruder).await;
        intruder.post(TWO_STEP, json!({"enabled": false})).send().await.expect(200);

        undo(&app.anon(), &token, LEFT).send().await.expect(200);

        assert_eq!(email_of(&app, &ada.id).await, LEFT);
    }

    // Two-step sign-in is from before, its factors are of the day of the change.
    with(|b| b.verification_by_code())
    async fn undo_that_leaves_no_factor_turns_two_step_off(app) {
        let (ada, client) = ada_since_two_days(&app).await;
        let phone = replace_phone(&app, &ada, &client).await;
        client.post("/api/auth/factors/recovery-codes", json!({})).send().await.expect(200);
        let token = leave(&app, &client).await;
        undo(&app.anon(), &token, LEFT).send().await.refused(403, "SECOND_FACTOR_REQUIRED");

        undo_with(&app.anon(), &token, &phone.code()).await.expect(200);

        let session = reset_and_sign_in(&app).await;
        assert_eq!(session.user_id, ada.id);
        assert_eq!(account(&app.with_session(&session)).await["twoStep"], false);
    }

    with(|b| b.verification_by_code())
    async fn undo_that_leaves_a_recovery_code_keeps_two_step(app) {
        let (ada, client) = ada_since_two_days(&app).await;
        let phone = replace_phone(&app, &ada, &client).await;
        let token = leave(&app, &client).await;

        undo_with(&app.anon(), &token, &phone.code()).await.expect(200);

        let refusal = try_reset(&app).await.refused(403, "SECOND_FACTOR_REQUIRED");
        assert_eq!(refusal["challenge"]["kinds"], json!(["recovery_code"]));
    }

    with(|b| b.verification_by_code())
    async fn undo_that_leaves_a_passkey_keeps_two_step(app) {
        let ada = app.two_step_user("ada").await;
        ada.add_passkey(&app.phone()).await;
        app.clock.advance(days(2));
        let client = app.with_session(&signed_in(&app, &ada).await);
        let phone = replace_phone(&app, &ada, &client).await;
        client.post("/api/auth/factors/recovery-codes", json!({})).send().await.expect(200);
        let token = leave(&app, &client).await;

        undo_with(&app.anon(), &token, &phone.code()).await.expect(200);

        let refusal = try_reset(&app).await.refused(403, "SECOND_FACTOR_REQUIRED");
        assert_eq!(refusal["challenge"]["kinds"], json!(["passkey"]));
    }

    with(|b| b.verification_by_code())
    async fn reset_of_an_account_without_factors_needs_the_administrator(app) {
        without_factors(&app).await;
        let token = reset_token(&app, LEFT).await;

        needs_the_administrator(&reset(&app.anon(), &token, NEW_PASSWORD).send().await);

        needs_the_administrator(&reset(&app.anon(), &token, NEW_PASSWORD).send().await);
    }

    with(|b| b.verification_by_code())
    async fn undo_of_an_account_without_factors_needs_the_administrator(app) {
        let (ada, client) = without_factors(&app).await;
        let token = leave(&app, &client).await;

        needs_the_administrator(&undo(&app.anon(), &token, LEFT).send().await);
        needs_the_administrator(&undo_with(&app.anon(), &token, &ada.recovery_codes[0]).await);
        needs_the_administrator(&undo_with(&app.anon(), &token, "000000").await);
        let body = format!("token={token}&email=ada%40example.org");
        let form = app.anon().request("POST", "/api/auth/undo").raw("application/x-www-form-urlencoded", body);
        let answer = form.send().await;
        let page = answer.page(400);
        assert!(page.contains("administrator") && !page.contains("name=\"code\""), "{page}");

        assert_eq!(email_of(&app, &ada.id).await, NEW);
        app.admin().delete(&format!("/api/auth/users/{}/factors", ada.id)).send().await.expect(200);
        undo(&app.anon(), &token, LEFT).send().await.expect(200);
    }
}
