//! Tests of the limits of second factors: per account and address, per account and day, in a row; and of step-up.

use latchkey_testkit::{
    Session, TestApp, TwoStepUser, both_stores, challenge_id, days, hours, minutes, seconds,
};

use crate::email_calls::{NEW_PASSWORD, reset, reset_token};
use crate::limits::limited;
use crate::two_step_calls::{challenged_from, wrong};

const HERE: &str = "203.0.113.9";
const PAIR: &str = "second factor, per account and address";
const ACCOUNT: &str = "second factor, per account over all addresses";

/// Answers wrongly from an address, five times for each challenge.
async fn fail_from(app: &TestApp, user: &TwoStepUser, ip: &str, times: usize) {
    let client = app.anon().at(ip);
    let mut challenge = String::new();
    for number in 0..times {
        if number % 5 == 0 {
            challenge = challenged_from(app, user, ip).await;
        }
        wrong(&client, user, &challenge, number).await.refused(401, "INVALID_SECOND_FACTOR");
    }
}

/// Answers rightly from an address.
async fn right(app: &TestApp, user: &TwoStepUser, ip: &str) -> latchkey_testkit::Answer {
    let challenge = challenged_from(app, user, ip).await;
    app.anon().at(ip).answer(&challenge, "totp", &user.authenticator.code()).send().await
}

/// Answers wrongly thirty times, from three addresses.
async fn fail_everywhere(app: &TestApp, user: &TwoStepUser, net: u8) {
    for number in 0..3 {
        fail_from(app, user, &format!("192.0.{net}.{number}"), 10).await;
    }
}

/// Right answer from the user's own address, from which the account was opened.
async fn right_at_home(user: &TwoStepUser) -> latchkey_testkit::Answer {
    let challenge = user.challenged().await;
    let answer = user.answer(&challenge, "totp", &user.authenticator.code());
    answer.without_header("authorization").send().await
}

both_stores! {
    with(|b| b.verification_by_code().limits())
    async fn ten_failures_an_hour_of_one_account_from_one_address(app) {
        let ada = app.two_step_user("ada").await;
        fail_from(&app, &ada, HERE, 10).await;

        let wait = limited(&right(&app, &ada, HERE).await, PAIR);

        assert_eq!(wait, 3600);
        let challenge = challenged_from(&app, &ada, HERE).await;
        limited(&wrong(&app.anon().at(HERE), &ada, &challenge, 0).await, PAIR);
        let _ = Session::of(&right(&app, &ada, "203.0.113.10").await);
        app.clock.advance(seconds(wait));
        let _ = Session::of(&right(&app, &ada, HERE).await);
    }

    with(|b| b.verification_by_code().limits())
    async fn refused_answer_costs_no_attempt(app) {
        let ada = app.two_step_user("ada").await;
        fail_from(&app, &ada, HERE, 5).await;
        let waiting = challenged_from(&app, &ada, HERE).await;
        fail_from(&app, &ada, HERE, 5).await;
        let here = app.anon().at(HERE);
        for number in 0..6 {
            limited(&wrong(&here, &ada, &waiting, number).await, PAIR);
        }

        let elsewhere = app.anon().at("203.0.113.10");
        let answer = elsewhere.answer(&waiting, "totp", &ada.authenticator.code()).send().await;

        let _ = Session::of(&answer);
    }

    with(|b| b.verification_by_code().limits())
    async fn totp_and_recovery_codes_share_a_limit_at_every_purpose(app) {
        let ada = app.two_step_user("ada").await;
        for kind in ["totp", "recovery_code"] {
            let code = if kind == "totp" { ada.authenticator.wrong_code(0) } else { "0000-0000-0000-0000".to_owned() };
            let challenge = ada.challenged().await;
            for _ in 0..4 {
                ada.answer(&challenge, kind, &code).send().await.refused(401, "INVALID_SECOND_FACTOR");
            }
        }
        let token = reset_token(&app, &ada.email).await;
        let reset = reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(403, "SECOND_FACTOR_REQUIRED");
        let reset = reset["challenge"]["id"].as_str().unwrap();
        let step_up = challenge_id(&ada.reauthenticate().send().await);
        for challenge in [reset, &step_up] {
            wrong(&ada, &ada, challenge, 0).await.refused(401, "INVALID_SECOND_FACTOR");
        }

        for challenge in [reset, &step_up, &ada.challenged().await] {
            let answer = ada.answer(challenge, "totp", &ada.authenticator.code()).send().await;
            limited(&answer, PAIR);
        }
    }

    with(|b| b.verification_by_code().limits())
    async fn success_does_not_give_the_hours_failures_back(app) {
        let ada = app.two_step_user("ada").await;
        fail_from(&app, &ada, HERE, 9).await;
        let _ = Session::of(&right(&app, &ada, HERE).await);
        app.clock.advance(minutes(5));
        fail_from(&app, &ada, HERE, 1).await;

        let wait = limited(&right(&app, &ada, HERE).await, PAIR);

        assert_eq!(wait, 3300);
    }

    // So neither a stranger nor who has the password can lock the owner out.
    with(|b| b.verification_by_code().limits())
    async fn above_thirty_failures_a_day_known_addresses_alone_are_heard(app) {
        let ada = app.two_step_user("ada").await;
        fail_everywhere(&app, &ada, 2).await;

        limited(&right(&app, &ada, HERE).await, ACCOUNT);

        let _ = Session::of(&right_at_home(&ada).await);
        app.clock.advance(hours(24));
        let _ = Session::of(&right(&app, &ada, HERE).await);
    }

    with(|b| b.verification_by_code().limits())
    async fn challenged_sign_in_makes_no_address_known(app) {
        let ada = app.two_step_user("ada").await;
        for _ in 0..3 {
            let _ = challenged_from(&app, &ada, HERE).await;
        }
        fail_everywhere(&app, &ada, 2).await;

        limited(&right(&app, &ada, HERE).await, ACCOUNT);
    }

    with(|b| b.verification_by_code().limits())
    async fn completed_sign_in_makes_its_address_known(app) {
        let ada = app.two_step_user("ada").await;
        let _ = Session::of(&right(&app, &ada, HERE).await);
        app.clock.advance(seconds(30));
        fail_everywhere(&app, &ada, 2).await;

        let _ = Session::of(&right(&app, &ada, HERE).await);
    }

    with(|b| b.verification_by_code().limits())
    async fn address_is_known_for_thirty_days(app) {
        let ada = app.two_step_user("ada").await;
        let _ = Session::of(&right(&app, &ada, HERE).await);
        app.clock.advance(days(30) + seconds(1));
        fail_everywhere(&app, &ada, 2).await;

        limited(&right(&app, &ada, HERE).await, ACCOUNT);
    }

    with(|b| b.verification_by_code().limits())
    async fn after_a_hundred_in_a_row_known_addresses_alone_are_heard(app) {
        let ada = app.two_step_user("ada").await;
        for day in 0..3 {
            fail_everywhere(&app, &ada, day).await;
            app.clock.advance(hours(24) + seconds(1));
        }
        fail_from(&app, &ada, "192.0.9.1", 10).await;
        app.clock.advance(hours(24) + seconds(1));

        limited(&right(&app, &ada, HERE).await, ACCOUNT);

        let _ = Session::of(&right_at_home(&ada).await);
        app.clock.advance(seconds(30));
        let _ = Session::of(&right(&app, &ada, HERE).await);
    }

    with(|b| b.verification_by_code().limits())
    async fn fifth_failure_of_a_day_is_told_to_the_owner_once(app) {
        let ada = app.two_step_user("ada").await;
        app.run_jobs().await;
        app.mail().clear();
        fail_from(&app, &ada, HERE, 4).await;
        app.run_jobs().await;
        assert_eq!(app.mail().count(&ada.email), 0);

        fail_from(&app, &ada, "203.0.113.10", 1).await;

        let mail = app.mail_to(&ada.email).await;
        assert!(mail.text.contains("password"), "{mail:#?}");
        fail_from(&app, &ada, "203.0.113.11", 10).await;
        app.run_jobs().await;
        assert_eq!(app.mail().count(&ada.email), 1);
        app.clock.advance(hours(24) + seconds(1));
        fail_from(&app, &ada, "203.0.113.12", 5).await;
        app.run_jobs().await;
        assert_eq!(app.mail().count(&ada.email), 2);
    }

    with(|b| b.verification_by_code().limits())
    async fn step_ups_of_a_session_are_twenty_in_a_quarter_of_an_hour(app) {
        let ada = app.user("ada").await;
        let other = app.with_session(&ada.sign_in_again().await);
        for _ in 0..20 {
            ada.reauthenticate().send().await.expect(200);
        }

        ada.reauthenticate().send().await.refused(429, "TOO_MANY_REQUESTS");

        other.reauthenticate().send().await.expect(200);
        app.clock.advance(minutes(10));
        ada.reauthenticate().send().await.expect(200);
    }

    // A wrong password at a step-up counts like one at a sign-in.
    with(|b| b.verification_by_code().limits())
    async fn passwords_at_a_step_up_count_as_guesses_of_a_sign_in(app) {
        let ada = app.user("ada").await;
        for _ in 0..2 {
            let challenge = challenge_id(&ada.reauthenticate().send().await);
            for _ in 0..5 {
                let answer = ada.answer(&challenge, "password", "a wrong password").send().await;
                answer.refused(401, "INVALID_CREDENTIALS");
            }
        }

        let sign_in = ada.sign_in(&ada.email, &ada.password).without_header("authorization").send().await;

        limited(&sign_in, "password sign-in, per account and address");
        let challenge = challenge_id(&ada.reauthenticate().send().await);
        ada.answer(&challenge, "password", &ada.password).send().await.refused(429, "TOO_MANY_REQUESTS");
    }

    // Only a completed sign-in forgives the wrong passwords before it.
    with(|b| b.verification_by_code().limits())
    async fn failed_passwords_are_forgiven_by_the_answer_and_not_by_the_challenge(app) {
        let ada = app.two_step_user("ada").await;
        let guess = async |times: usize| {
            for _ in 0..times {
                let guess = app.anon().sign_in(&ada.email, "a wrong password").from_ip(HERE);
                guess.send().await.refused(401, "INVALID_CREDENTIALS");
            }
        };
        guess(8).await;
        let challenge = challenged_from(&app, &ada, HERE).await;
        guess(1).await;

        let answer = app.anon().at(HERE).answer(&challenge, "totp", &ada.authenticator.code()).send().await;

        let _ = Session::of(&answer);
        guess(9).await;
        let waiting = challenged_from(&app, &ada, HERE).await;
        guess(1).await;
        let sign_in = app.anon().sign_in(&ada.email, &ada.password).from_ip(HERE).send().await;
        limited(&sign_in, "password sign-in, per account and address");
        app.clock.advance(seconds(30));
        let answer = app.anon().at(HERE).answer(&waiting, "totp", &ada.authenticator.code()).send().await;
        let _ = Session::of(&answer);
    }

    with(|b| b.verification_by_code().limits())
    async fn confirming_an_app_has_its_own_count(app) {
        let ada = app.user("ada").await;
        for _ in 0..3 {
            let (phone, id) = app.begin_totp(&ada).await;
            for number in 0..5 {
                let answer = ada.confirm_totp(&id, &phone.wrong_code(number)).send().await;
                answer.refused(401, "INVALID_SECOND_FACTOR");
            }
        }

        let (phone, id) = app.begin_totp(&ada).await;

        ada.confirm_totp(&id, &phone.code()).send().await.expect(200);
    }
}
