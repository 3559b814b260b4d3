//! Tests of six-digit codes for verification, reset and sign-in: lifetime, attempts and scope.

use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, challenge_id, hours, json, minutes, seconds};

use crate::email_calls::{
    exchange, other_than, resend, reset_code, send_otp, send_reset, sign_in_by_code, sign_in_code,
    signed_up_code,
};
use crate::email_sign_in::session_by_code;

/// Purpose of a code.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Purpose {
    Verification,
    Reset,
    SignIn,
}

use Purpose::{Reset, SignIn, Verification};

const ADA: &str = "ada@example.org";

/// Creates an account with a valid code of this purpose, and returns the code.
async fn first_code(app: &TestApp, purpose: Purpose) -> String {
    let code = signed_up_code(app, ADA).await;
    match purpose {
        Verification => code,
        Reset => reset_code(app, ADA).await,
        SignIn => sign_in_code(app, ADA).await,
    }
}

async fn next_code(app: &TestApp, purpose: Purpose) -> String {
    match purpose {
        Verification => resend(&app.anon(), ADA).send().await.expect(202),
        Reset => send_reset(&app.anon(), ADA).send().await.expect(202),
        SignIn => send_otp(&app.anon(), ADA).send().await.expect(202),
    };
    app.mail_to(ADA).await.code()
}

async fn attempt(app: &TestApp, purpose: Purpose, code: &str) -> Answer {
    attempt_for(app, purpose, ADA, code).await
}

async fn attempt_for(app: &TestApp, purpose: Purpose, email: &str, code: &str) -> Answer {
    match purpose {
        Verification => app.anon().verify(email, code).send().await,
        Reset => exchange(&app.anon(), email, code).send().await,
        SignIn => sign_in_by_code(&app.anon(), email, code).send().await,
    }
}

async fn fail(app: &TestApp, purpose: Purpose, right: &str, times: usize) {
    for _ in 0..times {
        attempt(app, purpose, other_than(right)).await.refused(400, "INVALID_CODE");
    }
}

async fn is_good_for_ten_minutes(app: TestApp, purpose: Purpose) {
    let code = first_code(&app, purpose).await;

    app.clock.advance(minutes(10));
    attempt(&app, purpose, &code).await.refused(400, "INVALID_CODE");

    let code = next_code(&app, purpose).await;
    app.clock.advance(minutes(10) - seconds(1));
    attempt(&app, purpose, &code).await.expect(200);
}

async fn works_once(app: TestApp, purpose: Purpose) {
    let code = first_code(&app, purpose).await;
    attempt(&app, purpose, &code).await.expect(200);

    attempt(&app, purpose, &code).await.refused(400, "INVALID_CODE");
}

async fn newest_alone_is_good(app: TestApp, purpose: Purpose) {
    let older = first_code(&app, purpose).await;
    let newer = next_code(&app, purpose).await;

    assert_ne!(older, newer);
    attempt(&app, purpose, &older).await.refused(400, "INVALID_CODE");
    attempt(&app, purpose, &newer).await.expect(200);
}

async fn fifth_attempt_may_still_be_right(app: TestApp, purpose: Purpose) {
    let code = first_code(&app, purpose).await;
    fail(&app, purpose, &code, 4).await;

    attempt(&app, purpose, &code).await.expect(200);
}

async fn sixth_attempt_is_refused(app: TestApp, purpose: Purpose) {
    let code = first_code(&app, purpose).await;
    fail(&app, purpose, &code, 5).await;

    attempt(&app, purpose, &code).await.refused(400, "INVALID_CODE");
}

async fn ten_attempts_an_hour_across_resends(app: TestApp, purpose: Purpose) {
    let code = first_code(&app, purpose).await;
    fail(&app, purpose, &code, 5).await;
    let code = next_code(&app, purpose).await;
    fail(&app, purpose, &code, 5).await;
    let code = next_code(&app, purpose).await;
    attempt(&app, purpose, &code).await.refused(400, "INVALID_CODE");

    app.clock.advance(hours(1));
    let code = next_code(&app, purpose).await;

    attempt(&app, purpose, &code).await.expect(200);
}

async fn is_no_code_of_another_account(app: TestApp, purpose: Purpose) {
    let code = first_code(&app, purpose).await;
    signed_up_code(&app, "eve@example.org").await;
    send_reset(&app.anon(), "eve@example.org").send().await.expect(202);

    attempt_for(&app, purpose, "eve@example.org", &code).await.refused(400, "INVALID_CODE");

    attempt(&app, purpose, &code).await.expect(200);
}

async fn is_no_code_of_another_purpose(app: TestApp, purpose: Purpose) {
    let code = first_code(&app, purpose).await;
    for other in [Verification, Reset, SignIn].into_iter().filter(|other| *other != purpose) {
        attempt(&app, other, &code).await.refused(400, "INVALID_CODE");
    }

    attempt(&app, purpose, &code).await.expect(200);
}

async fn malformed_one_is_refused_like_a_wrong_one_and_costs_nothing(app: TestApp, purpose: Purpose) {
    let code = first_code(&app, purpose).await;
    let wrong = attempt(&app, purpose, other_than(&code)).await;
    let with_space = format!(" {code}");
    let wide: String = code.chars().map(|digit| char::from_u32(digit as u32 + 0xFEE0).unwrap()).collect();

    for malformed in ["", "12345", "1234567", "abcdef", "-12345", "1e5555", &with_space, &wide] {
        let answer = attempt(&app, purpose, malformed).await;

        answer.refused(400, "INVALID_CODE");
        assert_eq!(answer.text_without_id(), wrong.text_without_id(), "{malformed}");
    }

    attempt(&app, purpose, &code).await.expect(200);
}

async fn unknown_address_is_refused_like_a_wrong_code(app: TestApp, purpose: Purpose) {
    let code = first_code(&app, purpose).await;
    let wrong = attempt(&app, purpose, other_than(&code)).await;

    for _ in 0..12 {
        let unknown = attempt_for(&app, purpose, "nobody@example.org", "123456").await;

        assert_eq!((unknown.status, unknown.text_without_id()), (wrong.status, wrong.text_without_id()));
    }
}

/// Generates a test for each purpose.
macro_rules! of_every_purpose {
    ($($fact:ident)*) => {
        $(mod $fact {
            use latchkey_testkit::both_stores;

            both_stores! {
                with(|b| b.verification_by_code())
                async fn verification(app) {
                    super::super::$fact(app, super::super::Verification).await;
                }

                with(|b| b.verification_by_code())
                async fn reset(app) {
                    super::super::$fact(app, super::super::Reset).await;
                }

                with(|b| b.verification_by_code())
                async fn sign_in(app) {
                    super::super::$fact(app, super::super::SignIn).await;
                }
            }
        })*
    };
}

of_every_purpose! {
    is_good_for_ten_minutes
    works_once
    newest_alone_is_good
    fifth_attempt_may_still_be_right
    sixth_attempt_is_refused
    ten_attempts_an_hour_across_resends
    is_no_code_of_another_account
    is_no_code_of_another_purpose
    malformed_one_is_refused_like_a_wrong_one_and_costs_nothing
    unknown_address_is_refused_like_a_wrong_code
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn budget_of_one_purpose_is_not_that_of_the_other(app) {
        let code = signed_up_code(&app, ADA).await;
        fail(&app, Verification, &code, 5).await;
        let code = next_code(&app, Verification).await;
        fail(&app, Verification, &code, 5).await;

        let code = reset_code(&app, ADA).await;

        attempt(&app, Reset, &code).await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn code_survives_a_restart(mut app) {
        let code = signed_up_code(&app, ADA).await;
        fail(&app, Verification, &code, 4).await;

        app.restart().await;

        fail(&app, Verification, &code, 1).await;
        attempt(&app, Verification, &code).await.refused(400, "INVALID_CODE");
    }

    with(|b| b.verification_by_code())
    async fn renewed_sign_up_ends_the_code_before(app) {
        let older = signed_up_code(&app, ADA).await;
        app.anon()
            .post("/api/auth/users", json!({"email": ADA, "password": PASSWORD}))
            .send()
            .await
            .expect(200);
        let newer = app.mail_to(ADA).await.code();

        attempt(&app, Verification, &older).await.refused(400, "INVALID_CODE");

        attempt(&app, Verification, &newer).await.expect(200);
    }

    // An account without a password is asked for a mailed code.
    with(|b| b.verification_by_code())
    async fn code_of_a_step_up_is_unknown_elsewhere_and_others_are_unknown_there(app) {
        let session = session_by_code(&app, ADA).await;
        let client = app.with_session(&session);
        let challenge = challenge_id(&client.reauthenticate().send().await);
        let body = json!({"challengeId": challenge});
        client.post("/api/auth/challenges/send-code", body).send().await.expect(202);
        let code = app.mail_to(ADA).await.code();

        for purpose in [Verification, Reset, SignIn] {
            attempt(&app, purpose, &code).await.refused(400, "INVALID_CODE");
        }
        for other in [sign_in_code(&app, ADA).await, reset_code(&app, ADA).await] {
            let answer = client.answer(&challenge, "email_code", &other).send().await;
            answer.refused(401, "INVALID_SECOND_FACTOR");
        }

        client.answer(&challenge, "email_code", &code).send().await.expect(200);
    }
}
