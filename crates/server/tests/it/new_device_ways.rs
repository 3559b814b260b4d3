//! Tests of the mail about a sign-in on a new device or in a new network: every way to sign in, and what makes no device
//! known.

use latchkey_testkit::{
    EmailSignIn, PASSWORD, Request, Session, TestApp, both_stores, challenge_id, days, hours, json, minutes,
};

use crate::deletion_calls::{at_once, delete, restore, restore_id};
use crate::email_calls::{send_otp, sign_in_by_code, sign_in_by_link, sign_in_code};
use crate::email_sign_in_links::{link_token, linking};
use crate::new_device::{ADA, ELSEWHERE, FIREFOX, count, notifying};
use crate::oauth_calls::{VERIFIER, acme, code, exchange, session};
use crate::races::race;
use crate::two_step_calls::set_policy;

/// Sends a request from another network than the user's, with a browser that the user did not use before.
async fn from_elsewhere(request: Request) -> latchkey_testkit::Answer {
    request.from_ip(ELSEWHERE).header("user-agent", FIREFOX).send().await
}

/// Asserts that there is one mail, and that the same device is not mailed again two days later.
async fn assert_told_once(app: &TestApp) {
    assert_eq!(count(app).await, 1);
    app.clock.advance(days(2));
    from_elsewhere(app.anon().sign_in(ADA, PASSWORD)).await.expect(200);
    assert_eq!(count(app).await, 1);
}

both_stores! {
    with(notifying)
    async fn sign_in_by_password(app) {
        let _ada = app.user("ada").await;

        from_elsewhere(app.anon().sign_in(ADA, PASSWORD)).await.expect(200);

        assert_told_once(&app).await;
    }

    with(notifying)
    async fn sign_in_by_a_mailed_code(app) {
        let _ada = app.user("ada").await;
        let code = sign_in_code(&app, ADA).await;
        assert_eq!(count(&app).await, 0);

        from_elsewhere(sign_in_by_code(&app.anon(), ADA, &code)).await.expect(200);

        assert_told_once(&app).await;
    }

    with(|b| linking(notifying(b)))
    async fn sign_in_by_a_mailed_link(app) {
        let _ada = app.user("ada").await;
        let token = link_token(&app, ADA).await;

        from_elsewhere(sign_in_by_link(&app.anon(), &token, VERIFIER)).await.expect(200);

        assert_told_once(&app).await;
    }

    with(notifying)
    async fn sign_in_through_a_provider(app) {
        let acme = acme(&app).await;
        session(&app, &acme, "acme").await;
        assert_eq!(count(&app).await, 0, "the exchange made the account");
        let code = code(&app, &acme, "acme").await;

        from_elsewhere(exchange(&app.anon(), &code, VERIFIER)).await.expect(200);

        assert_eq!(count(&app).await, 1);
    }

    with(notifying)
    async fn sign_in_by_passkey(app) {
        let ada = app.passkey_user("ada").await;
        let request = app.anon().sign_in_by_passkey(&mut ada.passkey.clone()).await;

        from_elsewhere(request).await.expect(200);

        assert_told_once(&app).await;
    }

    with(notifying)
    async fn sign_in_in_two_steps_when_the_second_is_complete(app) {
        let ada = app.two_step_user("ada").await;
        let challenge = challenge_id(&from_elsewhere(app.anon().sign_in(ADA, PASSWORD)).await);
        assert_eq!(count(&app).await, 0, "no session is opened yet");

        let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code());
        from_elsewhere(answer).await.expect(200);

        assert_eq!(count(&app).await, 1);
    }

    with(notifying)
    async fn enrolment_that_completes_a_sign_in(app) {
        let _ada = app.user("ada").await;
        set_policy(&app, "required").await;
        let challenge = challenge_id(&from_elsewhere(app.anon().sign_in(ADA, PASSWORD)).await);
        let body = json!({"challengeId": challenge});
        let begun = app.anon().post("/api/auth/factors/totp", body).send().await.expect(200);
        let phone = latchkey_testkit::Authenticator::new(begun["secret"].as_str().unwrap(), &app.clock);
        assert_eq!(count(&app).await, 0);

        let body = json!({"challengeId": challenge, "factorId": begun["factorId"], "code": phone.code()});
        from_elsewhere(app.anon().post("/api/auth/factors/totp/confirm", body)).await.expect(200);

        assert_eq!(count(&app).await, 1);
    }

    with(notifying)
    async fn sign_in_that_restores_the_account(app) {
        let ada = app.user("ada").await;
        delete(&ada).send().await.expect(200);
        let challenge = restore_id(&from_elsewhere(app.anon().sign_in(ADA, PASSWORD)).await);

        from_elsewhere(restore(&app.anon(), &challenge)).await.expect(200);

        assert_eq!(count(&app).await, 1);
    }

    with(notifying)
    async fn session_that_turning_two_step_sign_in_on_opens_is_no_sign_in(app) {
        let ada = app.user("ada").await;
        let (authenticator, factor_id) = app.begin_totp(&ada).await;

        from_elsewhere(ada.confirm_totp(&factor_id, &authenticator.code())).await.expect(200);

        assert_eq!(count(&app).await, 0);
    }

    with(notifying)
    async fn neither_a_wrong_password_nor_an_open_challenge_makes_a_device_known(app) {
        let ada = app.two_step_user("ada").await;
        from_elsewhere(app.anon().sign_in(ADA, "a wrong password")).await.refused(401, "INVALID_CREDENTIALS");
        let _ = challenge_id(&from_elsewhere(app.anon().sign_in(ADA, PASSWORD)).await);
        app.clock.advance(hours(1));
        assert_eq!(count(&app).await, 0);

        let challenge = challenge_id(&from_elsewhere(app.anon().sign_in(ADA, PASSWORD)).await);
        let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code());
        from_elsewhere(answer).await.expect(200);

        assert_eq!(count(&app).await, 1);
    }

    // The attacker signs up with Ada's address. Ada's first proof removes the attacker's devices too.
    with(|b| b.notifying().email_sign_in(EmailSignIn::Code))
    async fn devices_of_whoever_used_the_account_before_its_owner_are_forgotten(app) {
        let attacker = from_elsewhere(app.anon().sign_up(ADA, PASSWORD)).await;
        let attacker = Session::of(&attacker);
        let code = sign_in_code(&app, ADA).await;

        let owner = Session::of(&sign_in_by_code(&app.anon(), ADA, &code).send().await);
        assert_eq!(owner.user_id, attacker.user_id);
        assert_eq!(count(&app).await, 0, "the owner's first session");
        app.clock.advance(minutes(2));
        send_otp(&app.anon(), ADA).send().await.expect(202);
        let code = app.mail_to(ADA).await.code();
        from_elsewhere(sign_in_by_code(&app.anon(), ADA, &code)).await.expect(200);

        assert_eq!(count(&app).await, 1);
    }

    with(|b| at_once(b).notifying())
    async fn deletion_removes_the_devices(app) {
        let ada = app.user("ada").await;
        from_elsewhere(app.anon().sign_in(ADA, PASSWORD)).await.expect(200);
        let has_devices = || String::from_utf8_lossy(&app.kept()).contains("Firefox on Linux, 203.0.0.0/16");
        assert!(app.database().is_none() || has_devices());
        assert_eq!(count(&app).await, 1);

        delete(&ada).send().await.expect(200);

        assert!(app.database().is_none() || !has_devices());
        let _new = app.user("ada").await;
        assert_eq!(count(&app).await, 1, "that before the deletion");
    }

    parallel with(notifying)
    async fn twenty_sign_ins_at_two_instances_are_one_mail(app) {
        let _ada = app.user("ada").await;
        let other = app.beside().await;

        let answers = race(|number| {
            let at = if number.is_multiple_of(2) { &app } else { &other };
            at.anon().at(&format!("203.{number}.113.9")).sign_in(ADA, PASSWORD)
        });

        for answer in answers.await {
            answer.expect(200);
        }
        assert_eq!(count(&app).await, 1);
    }
}
