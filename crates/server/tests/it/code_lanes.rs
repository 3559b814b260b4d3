//! Tests of attempt budgets of codes, per known client and for strangers together. Strangers lock no one out, and a
//! used daily budget leads to long codes.

use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, days, hours, minutes};

use crate::email_calls::{exchange, other_than, resend, send_reset, signed_up_code};

const ADA: &str = "ada@example.org";
const HOME: &str = "203.0.113.9";
const STRANGER: &str = "192.0.2.1";

/// Ada, signed in from [`HOME`].
async fn ada_from_home(app: &TestApp) {
    app.user("ada").await;
    app.anon().sign_in(ADA, PASSWORD).from_ip(HOME).send().await.expect(200);
}

/// Requests a reset code and returns it.
async fn ask(app: &TestApp, ip: &str) -> String {
    app.clock.advance(minutes(1));
    send_reset(&app.anon(), ADA).from_ip(ip).send().await.expect(202);
    app.mail_to(ADA).await.code()
}

async fn typed(app: &TestApp, ip: &str, code: &str) -> Answer {
    typed_for(app, ADA, ip, code).await
}

async fn typed_for(app: &TestApp, email: &str, ip: &str, code: &str) -> Answer {
    exchange(&app.anon(), email, code).from_ip(ip).send().await
}

/// Enters ten wrong codes, each from another address of the network, below the limit per address.
async fn guess(app: &TestApp, email: &str, network: &str) {
    for host in 1..=10 {
        typed_for(app, email, &format!("{network}.{host}"), "000000").await.refused(400, "INVALID_CODE");
    }
}

/// Enters all wrong codes that a day allows.
async fn guess_for_a_day(app: &TestApp, email: &str) {
    for _ in 0..3 {
        guess(app, email, "192.0.2").await;
        app.clock.advance(hours(1));
    }
}

fn is_long(code: &str) -> bool {
    code.len() == 19 && code.split('-').all(|group| group.len() == 4)
}

both_stores! {
    with(|b| b.limits())
    async fn strangers_guesses_do_not_lock_the_owner_out_of_known_addresses(app) {
        ada_from_home(&app).await;
        let code = ask(&app, HOME).await;
        for network in ["192.0.2", "198.51.100", "198.18.1"] {
            guess(&app, ADA, network).await;
        }

        typed(&app, HOME, &code).await.expect(200);
    }

    with(|b| b.limits())
    async fn strangers_code_neither_ends_the_owners_nor_is_worse(app) {
        ada_from_home(&app).await;
        let owners = ask(&app, HOME).await;
        let strangers = ask(&app, STRANGER).await;
        typed(&app, HOME, other_than(&owners)).await.refused(400, "INVALID_CODE");

        typed(&app, HOME, &owners).await.expect(200);

        typed(&app, HOME, &strangers).await.refused(400, "INVALID_CODE");
        let strangers = ask(&app, STRANGER).await;
        typed(&app, HOME, &strangers).await.expect(200);
    }

    with(|b| b.limits())
    async fn lane_that_is_used_up_refuses_the_right_code(app) {
        ada_from_home(&app).await;
        guess(&app, ADA, "192.0.2").await;
        let code = ask(&app, HOME).await;

        typed(&app, STRANGER, &code).await.refused(400, "INVALID_CODE");

        typed(&app, HOME, &code).await.expect(200);
    }

    with(|b| b.limits())
    async fn lane_over_its_day_is_mailed_a_long_code(app) {
        ada_from_home(&app).await;
        guess_for_a_day(&app, ADA).await;

        let code = ask(&app, STRANGER).await;

        assert!(is_long(&code), "{code}");
        let as_typed = code.to_uppercase().replace('-', " ").replace('0', "O").replace('1', "l");
        typed(&app, STRANGER, &as_typed).await.expect(200);
        typed(&app, STRANGER, &code).await.refused(400, "INVALID_CODE");
        assert!(!is_long(&ask(&app, HOME).await), "only the lane that guessed");
        app.clock.advance(days(1));
        assert!(!is_long(&ask(&app, STRANGER).await), "for a day");
    }

    with(|b| b.limits())
    async fn long_codes_are_tried_without_being_counted(app) {
        ada_from_home(&app).await;
        guess_for_a_day(&app, ADA).await;
        let code = ask(&app, STRANGER).await;
        for host in 1..=20 {
            let ip = format!("198.51.100.{host}");
            typed(&app, &ip, "0000-0000-0000-0000").await.refused(400, "INVALID_CODE");
        }

        typed(&app, STRANGER, &code).await.expect(200);
    }

    with(|b| b.limits().verification_by_code())
    async fn sign_up_over_its_day_is_verified_by_a_long_code(app) {
        signed_up_code(&app, ADA).await;
        for _ in 0..3 {
            for host in 1..=10 {
                let guess = app.anon().verify(ADA, "000000").from_ip(&format!("192.0.2.{host}"));
                guess.send().await.refused(400, "INVALID_CODE");
            }
            app.clock.advance(hours(1));
        }
        resend(&app.anon(), ADA).send().await.expect(202);
        let resent = app.mail_to(ADA).await.code();
        app.clock.advance(minutes(1));
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let again = app.mail_to(ADA).await.code();

        assert!(is_long(&resent) && is_long(&again), "{resent} {again}");
        app.anon().verify(ADA, &resent).send().await.refused(400, "INVALID_CODE");
        app.anon().verify(ADA, &again).send().await.expect(200);
    }

    with(|b| b.limits())
    async fn unknown_address_answers_alike_in_every_lane(app) {
        ada_from_home(&app).await;
        let nobody = "nobody@example.org";
        let mut answers = Vec::new();
        for email in [ADA, nobody] {
            guess_for_a_day(&app, email).await;
            let asked = send_reset(&app.anon(), email).from_ip(STRANGER).send().await;
            let long = typed_for(&app, email, STRANGER, "0000-0000-0000-0000").await;
            let short = typed_for(&app, email, STRANGER, "000000").await;
            answers.push([asked, long, short].map(|answer| (answer.status, answer.text_without_id())));
        }

        assert_eq!(answers[0], answers[1]);
    }
}
