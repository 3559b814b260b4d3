//! Tests of a clock that ran ahead and is set back, and of a clock jump. Rows with a time in the future block no one,
//! and no data is deleted while the time is not trusted.

use std::time::Duration;

use latchkey_testkit::{PASSWORD, TestApp, both_stores, days, hours, minutes};

use crate::email_calls::{exchange, other_than, resend, reset_code, send_reset};
use crate::limits::limited;

const ADA: &str = "ada@example.org";
const HOUR: Duration = hours(1);

async fn deliver(app: &TestApp) -> (usize, usize, usize) {
    let done = app.service().outbox.deliver_due().await.unwrap();
    (done.sent, done.retried, done.dead)
}

async fn fail(app: &TestApp, times: usize) {
    for _ in 0..times {
        app.anon().sign_in(ADA, "a wrong password").send().await.refused(401, "INVALID_CREDENTIALS");
    }
}

async fn kid(app: &TestApp) -> String {
    let keys = app.anon().get("/.well-known/jwks.json").send().await.expect(200);
    keys["keys"][0]["kid"].as_str().unwrap().to_owned()
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn mail_of_a_clock_that_ran_ahead_is_sent_at_once(app) {
        app.clock.leap(HOUR);
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);

        app.clock.step_back(HOUR);

        assert_eq!(deliver(&app).await, (1, 0, 0));
        assert_eq!(deliver(&app).await, (0, 0, 0), "once");
    }

    with(|b| b.verification_by_code())
    async fn mail_that_failed_under_a_clock_that_ran_ahead_is_tried_at_once(app) {
        app.clock.leap(HOUR);
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        app.mail().fail_next(1);
        assert_eq!(deliver(&app).await, (0, 1, 0));

        app.clock.step_back(HOUR);

        assert_eq!(deliver(&app).await, (1, 0, 0));
    }

    with(|b| b.limits())
    async fn recipient_of_a_mail_of_the_future_gets_the_next_one_at_once(app) {
        app.user("ada").await;
        app.clock.leap(HOUR);
        resend(&app.anon(), ADA).send().await.expect(202);

        app.clock.step_back(HOUR);

        resend(&app.anon(), ADA).send().await.expect(202);
        limited(&resend(&app.anon(), ADA).send().await, "mails, per recipient");
    }

    with(|b| b.limits())
    async fn limits_spent_under_a_clock_that_ran_ahead_are_forgotten(app) {
        app.user("ada").await;
        app.clock.leap(HOUR);
        for _ in 0..5 {
            send_reset(&app.anon(), ADA).send().await.expect(202);
            app.clock.advance(minutes(1));
        }
        limited(&send_reset(&app.anon(), ADA).send().await, "mails, per recipient");

        app.clock.step_back(HOUR);

        send_reset(&app.anon(), ADA).send().await.expect(202);
    }

    with(|b| b.limits())
    async fn guesses_under_a_clock_that_ran_ahead_block_no_one(app) {
        app.user("ada").await;
        app.clock.leap(HOUR);
        fail(&app, 10).await;
        limited(&app.anon().sign_in(ADA, PASSWORD).send().await, "per account and address");

        app.clock.step_back(HOUR);

        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
    }

    with(|b| b.limits().config(|config| config.limits.passwords.sign_in_account.burst = 3))
    async fn account_guessed_at_by_a_clock_that_ran_ahead_is_open(app) {
        app.user("ada").await;
        app.clock.leap(HOUR);
        fail(&app, 3).await;
        let elsewhere = || app.anon().sign_in(ADA, PASSWORD).from_ip("192.0.2.77");
        limited(&elsewhere().send().await, "per account over all addresses");

        app.clock.step_back(HOUR);

        elsewhere().send().await.expect(200);
    }

    async fn code_is_good_after_guesses_of_a_clock_that_ran_ahead(app) {
        app.user("ada").await;
        app.clock.leap(HOUR);
        for _ in 0..2 {
            let wrong = other_than(&reset_code(&app, ADA).await);
            for _ in 0..5 {
                exchange(&app.anon(), ADA, wrong).send().await.refused(400, "INVALID_CODE");
            }
        }

        app.clock.step_back(HOUR);

        let code = reset_code(&app, ADA).await;
        exchange(&app.anon(), ADA, &code).send().await.expect(200);
    }

    async fn clock_jump_of_a_year_for_a_minute_deletes_nothing(app) {
        let ada = app.user("ada").await;
        app.run_jobs().await;
        app.clock.leap(days(365));

        assert_eq!(app.service().upkeep.purge().await.unwrap(), 0);
        app.clock.advance(minutes(1));
        assert_eq!(app.service().upkeep.purge().await.unwrap(), 0);
        app.clock.step_back(days(365));
        app.run_jobs().await;

        app.anon().refresh(&ada.session).send().await.expect(200);
    }

    async fn purge_goes_on_when_the_clock_was_steady_for_an_hour(app) {
        app.user("ada").await;
        app.clock.leap(days(365));
        assert_eq!(app.service().upkeep.purge().await.unwrap(), 0);

        app.clock.advance(minutes(59));
        assert_eq!(app.service().upkeep.purge().await.unwrap(), 0);
        app.clock.advance(minutes(1));

        assert!(app.service().upkeep.purge().await.unwrap() > 0);
    }

    async fn passing_time_is_no_clock_jump(app) {
        app.user("ada").await;

        app.clock.advance(days(365));

        assert!(app.service().upkeep.purge().await.unwrap() > 0);
    }

    async fn clock_jump_rotates_no_key(app) {
        let before = kid(&app).await;
        app.clock.leap(days(91));
        assert!(!app.service().upkeep.rotate_signing_key_if_due().await.unwrap());
        assert_eq!(kid(&app).await, before);

        app.clock.advance(HOUR);

        assert!(app.service().upkeep.rotate_signing_key_if_due().await.unwrap());
        assert_ne!(kid(&app).await, before);
    }
}
