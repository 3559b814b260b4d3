//! Tests of concurrent calls of sign-in by mail: one code opens one session, and none gets a 5xx.

use latchkey_testkit::{PASSWORD, Session, both_stores, json};

use crate::email_calls::{
    id_of, send_otp, send_sign_in_link, sign_in_by_code, sign_in_by_link, sign_in_code,
};
use crate::email_sign_in_links::linking;
use crate::oauth_calls::VERIFIER;
use crate::oauth_calls::user_count;
use crate::races::{count, one_wins, patient, race};
use crate::two_step_calls::session_count;

const ADA: &str = "ada@example.org";

both_stores! {
    parallel async fn of_twenty_right_codes_one_opens_a_session(app) {
        app.user("ada").await;
        let code = sign_in_code(&app, ADA).await;

        let answers = race(|_| sign_in_by_code(&app.anon(), ADA, &code)).await;

        one_wins(&answers, 400, "INVALID_CODE");
    }

    parallel async fn of_twenty_right_codes_one_makes_an_account(app) {
        let code = sign_in_code(&app, ADA).await;

        let answers = race(|_| sign_in_by_code(&app.anon(), ADA, &code)).await;

        one_wins(&answers, 400, "INVALID_CODE");
        assert_eq!(user_count(&app).await, 1);
        let winner = Session::of(answers.iter().find(|answer| answer.status == 200).unwrap());
        assert_eq!(session_count(&app.with_session(&winner)).await, 1);
    }

    parallel with(patient)
    async fn twenty_requests_leave_one_good_code(app) {
        let answers = race(|_| send_otp(&app.anon(), ADA)).await;

        assert_eq!(count(&answers, 202), 20, "{answers:?}");
        app.run_jobs().await;
        let mut good = 0;
        for mail in app.mail().all(ADA) {
            let answer = sign_in_by_code(&app.anon(), ADA, &mail.code()).send().await;
            good += usize::from(answer.status == 200);
        }
        assert_eq!(good, 1);
    }

    parallel with(linking)
    async fn of_twenty_right_links_one_makes_an_account(app) {
        send_sign_in_link(&app.anon(), ADA).send().await.expect(202);
        let token = app.mail_to(ADA).await.token();

        let answers = race(|_| sign_in_by_link(&app.anon(), &token, VERIFIER)).await;

        one_wins(&answers, 400, "INVALID_CODE");
        assert_eq!(user_count(&app).await, 1);
    }

    parallel with(linking)
    async fn code_and_link_of_a_mail_open_one_session(app) {
        app.user("ada").await;
        send_sign_in_link(&app.anon(), ADA).send().await.expect(202);
        let mail = app.mail_to(ADA).await;

        let answers = race(|number| {
            if number.is_multiple_of(2) {
                sign_in_by_link(&app.anon(), &mail.token(), VERIFIER)
            } else {
                sign_in_by_code(&app.anon(), ADA, &mail.code())
            }
        })
        .await;

        one_wins(&answers, 400, "INVALID_CODE");
    }

    parallel async fn code_and_sign_up_race_for_one_address(app) {
        let code = sign_in_code(&app, ADA).await;

        let answers = race(|number| {
            if number.is_multiple_of(2) { app.anon().sign_up(ADA, PASSWORD) } else { sign_in_by_code(&app.anon(), ADA, &code) }
        })
        .await;

        assert_eq!(count(&answers, 200), 1, "{answers:?}");
        assert_eq!(user_count(&app).await, 1);
    }

    parallel async fn request_that_races_with_a_ban_opens_nothing_afterwards(app) {
        app.user("ada").await;
        let path = format!("/api/auth/users/{}", id_of(&app, ADA).await);

        let answers = race(|number| {
            if number == 10 { app.admin().patch(&path, json!({"banned": true})) } else { send_otp(&app.anon(), ADA) }
        })
        .await;

        assert_eq!((count(&answers, 202), count(&answers, 200)), (19, 1), "{answers:?}");
        app.run_jobs().await;
        for mail in app.mail().all(ADA) {
            sign_in_by_code(&app.anon(), ADA, &mail.code()).send().await.refused(400, "INVALID_CODE");
        }
        app.admin().patch(&path, json!({"banned": false})).send().await.expect(200);
        for mail in app.mail().all(ADA) {
            sign_in_by_code(&app.anon(), ADA, &mail.code()).send().await.refused(400, "INVALID_CODE");
        }
    }
}
