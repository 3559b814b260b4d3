//! Tests of the lanes of sign-in codes: strangers lock no one out, and see nothing of the owner's.

use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, hours, minutes};

use crate::email_calls::{other_than, send_otp, send_sign_in_link, sign_in_by_code, sign_in_by_link};
use crate::email_sign_in_links::linking;
use crate::enumeration::shown;
use crate::oauth_calls::VERIFIER;

const ADA: &str = "ada@example.org";
const HOME: &str = "203.0.113.9";
const STRANGER: &str = "192.0.2.1";

/// Ada, signed in from [`HOME`].
async fn ada_from_home(app: &TestApp) {
    app.user("ada").await;
    app.anon().sign_in(ADA, PASSWORD).from_ip(HOME).send().await.expect(200);
}

/// Requests a code and returns it.
async fn ask(app: &TestApp, ip: &str) -> String {
    app.clock.advance(minutes(1));
    send_otp(&app.anon(), ADA).from_ip(ip).send().await.expect(202);
    app.mail_to(ADA).await.code()
}

async fn typed(app: &TestApp, email: &str, ip: &str, code: &str) -> Answer {
    sign_in_by_code(&app.anon(), email, code).from_ip(ip).send().await
}

/// Enters ten wrong codes, each from another address, below the limit per address.
async fn guess(app: &TestApp, email: &str) {
    for host in 1..=10 {
        typed(app, email, &format!("192.0.2.{host}"), "000000").await.refused(400, "INVALID_CODE");
    }
}

async fn guess_for_a_day(app: &TestApp, email: &str) {
    for _ in 0..3 {
        guess(app, email).await;
        app.clock.advance(hours(1));
    }
}

both_stores! {
    with(|b| b.limits())
    async fn strangers_guesses_do_not_lock_the_owner_out(app) {
        ada_from_home(&app).await;
        let code = ask(&app, HOME).await;
        guess(&app, ADA).await;
        typed(&app, ADA, STRANGER, &code).await.refused(400, "INVALID_CODE");

        typed(&app, ADA, HOME, &code).await.expect(200);
    }

    with(|b| b.limits())
    async fn strangers_request_leaves_the_owners_code(app) {
        ada_from_home(&app).await;
        let owners = ask(&app, HOME).await;
        ask(&app, STRANGER).await;
        typed(&app, ADA, STRANGER, other_than(&owners)).await.refused(400, "INVALID_CODE");

        typed(&app, ADA, HOME, &owners).await.expect(200);
    }

    with(|b| b.limits())
    async fn newer_code_of_a_lane_replaces_the_older_of_that_lane_alone(app) {
        ada_from_home(&app).await;
        let (home, first) = (ask(&app, HOME).await, ask(&app, STRANGER).await);
        let second = ask(&app, STRANGER).await;

        typed(&app, ADA, STRANGER, &first).await.refused(400, "INVALID_CODE");
        typed(&app, ADA, STRANGER, &home).await.expect(200);
        typed(&app, ADA, STRANGER, &second).await.refused(400, "INVALID_CODE");
    }

    with(|b| b.limits())
    async fn lane_over_its_day_is_mailed_a_long_code(app) {
        ada_from_home(&app).await;
        guess_for_a_day(&app, ADA).await;

        let code = ask(&app, STRANGER).await;

        assert_eq!(code.len(), 19, "{code}");
        assert_eq!(ask(&app, HOME).await.len(), 6, "only the lane that guessed");
        typed(&app, ADA, STRANGER, &code.to_uppercase().replace('-', " ")).await.expect(200);
    }

    with(|b| linking(b).limits())
    async fn mail_with_a_long_code_has_the_link_too(app) {
        ada_from_home(&app).await;
        guess_for_a_day(&app, ADA).await;
        app.clock.advance(minutes(1));
        send_sign_in_link(&app.anon(), ADA).from_ip(STRANGER).send().await.expect(202);

        let mail = app.mail_to(ADA).await;

        assert_eq!(mail.code().len(), 19, "{}", mail.text);
        app.anon().get(&mail.link()).send().await.redirected();
        sign_in_by_link(&app.anon(), &mail.token(), VERIFIER).from_ip(STRANGER).send().await.expect(200);
        typed(&app, ADA, STRANGER, &mail.code()).await.refused(400, "INVALID_CODE");
    }

    with(|b| b.limits())
    async fn unknown_address_over_its_day_gets_its_account_by_a_long_code(app) {
        guess_for_a_day(&app, ADA).await;

        let code = ask(&app, STRANGER).await;

        assert_eq!(code.len(), 19, "{code}");
        typed(&app, ADA, STRANGER, &code).await.expect(200);
    }

    // The owner has used up a code, signs in, and asks again: a stranger's calls answer as before.
    with(|b| b.limits())
    async fn stranger_sees_nothing_of_the_owners_lane(app) {
        ada_from_home(&app).await;
        let mut seen = Vec::new();
        for is_busy in [false, true] {
            if is_busy {
                let code = ask(&app, HOME).await;
                for _ in 0..5 {
                    typed(&app, ADA, HOME, other_than(&code)).await.refused(400, "INVALID_CODE");
                }
                app.clock.advance(minutes(2));
            }
            let mut steps = vec![shown(&send_otp(&app.anon(), ADA).from_ip(STRANGER).send().await)];
            for _ in 0..6 {
                steps.push(shown(&typed(&app, ADA, STRANGER, "000000").await));
            }
            seen.push(steps);
            app.clock.advance(hours(25));
        }

        assert_eq!(seen[0], seen[1]);
    }
}
