//! Tests of concurrent calls of two-step sign-in.

use latchkey_testkit::{Answer, Session, both_stores, challenge_id};

use crate::races::{count, one_wins, race};
use crate::two_step_calls::{account, session_count};

both_stores! {
    parallel with(|b| b.verification_by_code())
    async fn of_twenty_right_answers_to_one_challenge_one_wins(app) {
        let ada = app.two_step_user("ada").await;
        let challenge = ada.challenged().await;
        let code = ada.authenticator.code();

        let answers = race(|_| app.anon().answer(&challenge, "totp", &code)).await;

        one_wins(&answers, 401, "INVALID_CHALLENGE");
        assert_eq!(session_count(&ada).await, 2);
    }

    parallel with(|b| b.verification_by_code())
    async fn one_code_answers_one_of_twenty_challenges(app) {
        let ada = app.two_step_user("ada").await;
        let mut challenges = Vec::new();
        for _ in 0..20 {
            challenges.push(ada.challenged().await);
        }
        let code = ada.authenticator.code();

        let answers = race(|number| app.anon().answer(&challenges[number], "totp", &code)).await;

        one_wins(&answers, 401, "INVALID_SECOND_FACTOR");
    }

    parallel with(|b| b.verification_by_code())
    async fn one_recovery_code_answers_one_of_twenty_challenges(app) {
        let ada = app.two_step_user("ada").await;
        let mut challenges = Vec::new();
        for _ in 0..20 {
            challenges.push(ada.challenged().await);
        }

        let answers =
            race(|number| app.anon().answer(&challenges[number], "recovery_code", &ada.recovery_codes[0])).await;

        one_wins(&answers, 401, "INVALID_SECOND_FACTOR");
        assert_eq!(account(&ada).await["recoveryCodesLeft"], 9);
    }

    parallel with(|b| b.verification_by_code())
    async fn each_recovery_code_works_once_among_others(app) {
        let ada = app.two_step_user("ada").await;
        app.run_jobs().await;
        app.mail().clear();
        let mut challenges = Vec::new();
        for _ in 0..20 {
            challenges.push(ada.challenged().await);
        }

        let code = |number: usize| &ada.recovery_codes[number % 9];
        let answers = race(|number| app.anon().answer(&challenges[number], "recovery_code", code(number))).await;

        for first in 0..9 {
            let (right, wrong): (Vec<_>, Vec<_>) =
                answers.iter().skip(first).step_by(9).partition(|answer| answer.status == 200);
            assert_eq!(right.len(), 1, "{answers:?}");
            for answer in wrong {
                answer.refused(401, "INVALID_SECOND_FACTOR");
            }
        }
        assert_eq!(account(&ada).await["recoveryCodesLeft"], 1);
        app.run_jobs().await;
        let mails = app.mail().all(&ada.email);
        assert_eq!(mails.len(), 9);
        for left in 2..10 {
            let told = format!("was used. {left} unused codes are left.");
            let tells = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&told);
            assert_eq!(mails.iter().filter(|mail| tells(&mail.text)).count(), 1, "{left}: {mails:#?}");
        }
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_wrong_answers_five_are_judged(app) {
        let ada = app.two_step_user("ada").await;
        let challenge = ada.challenged().await;
        let code = |number: usize| ada.authenticator.wrong_code(number);

        let answers = race(|number| app.anon().answer(&challenge, "totp", &code(number))).await;

        let judged = answers.iter().filter(|answer| answer.error_code() == "INVALID_SECOND_FACTOR");
        assert_eq!(judged.count(), 5, "{answers:?}");
    }

    parallel with(|b| b.verification_by_code())
    async fn of_twenty_confirmations_one_turns_two_step_on(app) {
        let ada = app.user("ada").await;
        let (phone, id) = app.begin_totp(&ada).await;
        let code = phone.code();

        let answers = race(|_| ada.confirm_totp(&id, &code)).await;

        assert_eq!(count(&answers, 200), 1, "{answers:?}");
        assert!(answers.iter().all(|answer| answer.status < 500), "{answers:?}");
        let winner = answers.iter().find(|answer| answer.status == 200).unwrap();
        assert_eq!(session_count(&app.with_session(&Session::of(winner))).await, 1);
    }

    parallel with(|b| b.verification_by_code())
    async fn sign_in_that_runs_while_two_step_is_turned_on_leaves_no_session(app) {
        let ada = app.user("ada").await;
        let (phone, id) = app.begin_totp(&ada).await;
        let code = phone.code();

        let answers = race(|number| match number {
            10 => ada.confirm_totp(&id, &code),
            _ => app.anon().sign_in(&ada.email, &ada.password),
        })
        .await;

        let client = app.with_session(&Session::of(&answers[10]));
        assert_eq!(session_count(&client).await, 1, "{answers:?}");
        for answer in answers.iter().enumerate().filter(|(number, _)| *number != 10).map(|(_, answer)| answer) {
            assert_is_worth_nothing(&app, answer).await;
        }
    }

    parallel with(|b| b.verification_by_code())
    async fn sign_in_that_is_banned_while_it_is_answered_leaves_no_session(app) {
        let ada = app.two_step_user("ada").await;
        let mut challenges = Vec::new();
        for _ in 0..10 {
            challenges.push(ada.challenged().await);
        }
        let path = format!("/api/auth/users/{}", ada.id);
        let ban = || app.admin().patch(&path, latchkey_testkit::json!({"banned": true}));

        let answers = race(|number| match number {
            0..10 => app.anon().answer(&challenges[number], "recovery_code", &ada.recovery_codes[number]),
            _ => ban(),
        })
        .await;

        for answer in &answers[..10] {
            let is_refused = answer.status == 401 || answer.status == 403;
            assert!(answer.status == 200 || is_refused, "{answer:?}");
            if answer.status == 200 {
                let client = app.with_session(&Session::of(answer));
                client.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
            }
        }
    }

    parallel with(|b| b.verification_by_code())
    async fn third_app_is_refused_however_many_begin_at_once(app) {
        let ada = app.two_step_user("ada").await;
        let mut pending = Vec::new();
        for _ in 0..3 {
            let session = crate::two_step_calls::signed_in(&app, &ada).await;
            let client = app.with_session(&session);
            let (phone, id) = app.begin_totp(&client).await;
            pending.push((client, phone, id));
        }

        let answers = race(|number| {
            let (client, phone, id) = &pending[number % 3];
            client.confirm_totp(id, &phone.code())
        })
        .await;

        assert!(count(&answers, 200) <= 1, "{answers:?}");
        assert!(answers.iter().all(|answer| answer.status < 500), "{answers:?}");
        assert!(account(&ada).await["totp"].as_array().unwrap().len() <= 2);
    }
}

/// A sign-in beside the turn was either challenged, or its session is over.
async fn assert_is_worth_nothing(app: &latchkey_testkit::TestApp, answer: &Answer) {
    if answer.json().get("challenge").is_some() {
        let _ = challenge_id(answer);
        return;
    }
    let client = app.with_session(&Session::of(answer));
    client.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
}
