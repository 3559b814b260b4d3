//! Tests of answers to challenges: attempts, used codes, kinds, forms, and challenges of others.

use latchkey_testkit::{
    Authenticator, Session, TestApp, TwoStepUser, both_stores, challenge_id, json, seconds,
};

use crate::two_step_calls::{fail, wrong};

/// Two users with apps of their own.
async fn two(app: &TestApp) -> (TwoStepUser, TwoStepUser) {
    (app.two_step_user("ada").await, app.two_step_user("bob").await)
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn fourth_wrong_answer_leaves_the_challenge_and_the_fifth_kills_it(app) {
        let ada = app.two_step_user("ada").await;
        let (alive, dead) = (ada.challenged().await, ada.challenged().await);
        fail(&app.anon(), &ada, &dead, 5).await;
        fail(&app.anon(), &ada, &alive, 4).await;

        let refused = app.anon().answer(&dead, "totp", &ada.authenticator.code()).send().await;

        refused.refused(401, "INVALID_CHALLENGE");
        wrong(&app.anon(), &ada, &dead, 9).await.refused(401, "INVALID_CHALLENGE");
        let _ = Session::of(&app.anon().answer(&alive, "totp", &ada.authenticator.code()).send().await);
    }

    with(|b| b.verification_by_code())
    async fn answered_challenge_is_used_up(app) {
        let ada = app.two_step_user("ada").await;
        let challenge = ada.challenged().await;
        app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await.expect(200);
        app.clock.advance(seconds(30));

        for (kind, code) in [("totp", &ada.authenticator.code()), ("recovery_code", &ada.recovery_codes[0])] {
            let again = app.anon().answer(&challenge, kind, code).send().await;
            again.refused(401, "INVALID_CHALLENGE");
        }
    }

    with(|b| b.verification_by_code())
    async fn unknown_and_malformed_ids_are_one_refusal(app) {
        let ada = app.two_step_user("ada").await;
        let code = ada.authenticator.code();
        let flipped = ada.challenged().await.replace(|letter: char| letter.is_ascii_digit(), "x");

        let mut texts = Vec::new();
        for id in ["", "x", &"A".repeat(43), &"A".repeat(44), &flipped, "…"] {
            let answer = app.anon().answer(id, "totp", &code).send().await;
            answer.refused(401, "INVALID_CHALLENGE");
            texts.push(answer.text_without_id());
        }

        texts.dedup();
        assert_eq!(texts.len(), 1, "{texts:?}");
    }

    with(|b| b.verification_by_code())
    async fn malformed_answers_cost_nothing(app) {
        let ada = app.two_step_user("ada").await;
        let challenge = ada.challenged().await;
        let answers = [
            (json!({"kind": "totp"}), "code"),
            (json!({"kind": "totp", "code": "12345"}), "code"),
            (json!({"kind": "totp", "code": "123 456"}), "code"),
            (json!({"kind": "totp", "code": ada.recovery_codes[0]}), "code"),
            (json!({"kind": "totp", "code": 123_456}), "code"),
            (json!({"kind": "recovery_code", "code": "123456"}), "code"),
            (json!({"kind": "recovery_code"}), "code"),
            (json!({"kind": "password", "password": ada.password}), "kind"),
            (json!({"kind": "email_code", "code": "123456"}), "kind"),
            (json!({"kind": "enroll"}), "kind"),
            (json!({"kind": "sms", "code": "123456"}), "kind"),
            (json!({"code": "123456"}), "kind"),
        ];

        for (mut body, field) in answers {
            body["challengeId"] = json!(challenge);
            let answer = app.anon().post("/api/auth/challenges/answer", body.clone()).send().await;
            let refusal = answer.refused(400, "VALIDATION_ERROR");
            assert_eq!(refusal["field"], field, "{body}");
        }

        fail(&app.anon(), &ada, &challenge, 4).await;
        let _ = Session::of(&app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await);
    }

    with(|b| b.verification_by_code())
    async fn code_is_good_once(app) {
        let ada = app.two_step_user("ada").await;
        let code = ada.authenticator.code();
        let (first, second) = (ada.challenged().await, ada.challenged().await);
        app.anon().answer(&first, "totp", &code).send().await.expect(200);

        let used = app.anon().answer(&second, "totp", &code).send().await;

        used.refused(401, "INVALID_SECOND_FACTOR");
        assert_eq!(used.text_without_id(), wrong(&app.anon(), &ada, &second, 0).await.text_without_id());
        app.clock.advance(seconds(30));
        let _ = Session::of(&app.anon().answer(&second, "totp", &ada.authenticator.code()).send().await);
    }

    with(|b| b.verification_by_code())
    async fn confirming_code_is_used_up(app) {
        let ada = app.user("ada").await;
        let (phone, id) = app.begin_totp(&ada).await;
        ada.confirm_totp(&id, &phone.code()).send().await.expect(200);
        let challenge = challenge_id(&app.anon().sign_in(&ada.email, &ada.password).send().await);

        let answer = app.anon().answer(&challenge, "totp", &phone.code()).send().await;

        answer.refused(401, "INVALID_SECOND_FACTOR");
        app.clock.advance(seconds(30));
        let _ = Session::of(&app.anon().answer(&challenge, "totp", &phone.code()).send().await);
    }

    with(|b| b.verification_by_code())
    async fn steps_beside_now_are_good_and_those_beyond_are_not(app) {
        let ada = app.two_step_user("ada").await;
        app.clock.advance(seconds(90));
        for (steps, is_good) in [(-2, false), (2, false), (-1, true), (0, true), (1, true)] {
            let challenge = ada.challenged().await;

            let answer = app.anon().answer(&challenge, "totp", &ada.authenticator.code_of_step(steps)).send().await;

            assert_eq!(answer.status, if is_good { 200 } else { 401 }, "{steps}: {answer:?}");
        }
    }

    with(|b| b.verification_by_code())
    async fn step_before_an_accepted_one_is_used_up(app) {
        let ada = app.two_step_user("ada").await;
        let (first, second) = (ada.challenged().await, ada.challenged().await);
        let next = ada.authenticator.code_of_step(1);
        app.anon().answer(&first, "totp", &next).send().await.expect(200);

        for code in [ada.authenticator.code(), next] {
            let answer = app.anon().answer(&second, "totp", &code).send().await;
            answer.refused(401, "INVALID_SECOND_FACTOR");
        }
    }

    with(|b| b.verification_by_code())
    async fn each_app_has_steps_of_its_own(app) {
        let ada = app.two_step_user("ada").await;
        let (tablet, id) = app.begin_totp(&ada).await;
        ada.confirm_totp(&id, &tablet.code_of_step(-1)).send().await.expect(200);

        for phone in [&ada.authenticator, &tablet] {
            let challenge = ada.challenged().await;
            let _ = Session::of(&app.anon().answer(&challenge, "totp", &phone.code()).send().await);
        }
    }

    with(|b| b.verification_by_code())
    async fn used_code_of_one_app_stays_used_beside_another_app(app) {
        let ada = app.two_step_user("ada").await;
        let (tablet, id) = app.begin_totp(&ada).await;
        ada.confirm_totp(&id, &tablet.code_of_step(-1)).send().await.expect(200);
        let (phone, other) = (ada.authenticator.code(), tablet.code());
        for code in [&phone, &other] {
            let challenge = ada.challenged().await;
            let _ = Session::of(&app.anon().answer(&challenge, "totp", code).send().await);
        }

        for code in [&phone, &other] {
            let challenge = ada.challenged().await;
            let again = app.anon().answer(&challenge, "totp", code).send().await;
            again.refused(401, "INVALID_SECOND_FACTOR");
        }

        // Removing one app does not make the codes of the other new.
        ada.delete(&format!("/api/auth/factors/totp/{id}")).send().await.expect(200);
        let challenge = ada.challenged().await;
        for code in [&phone, &other] {
            app.anon().answer(&challenge, "totp", code).send().await.refused(401, "INVALID_SECOND_FACTOR");
        }
    }

    with(|b| b.verification_by_code())
    async fn code_of_another_account_is_wrong(app) {
        let (ada, bob) = two(&app).await;
        let challenge = ada.challenged().await;

        for (kind, code) in [("totp", &bob.authenticator.code()), ("recovery_code", &bob.recovery_codes[0])] {
            let answer = app.anon().answer(&challenge, kind, code).send().await;
            answer.refused(401, "INVALID_SECOND_FACTOR");
        }

        let own = bob.challenged().await;
        let _ = Session::of(&app.anon().answer(&own, "totp", &bob.authenticator.code()).send().await);
    }

    with(|b| b.verification_by_code())
    async fn challenge_of_a_sign_in_is_answered_as_a_sign_in_whoever_bears(app) {
        let (ada, bob) = two(&app).await;
        let challenge = ada.challenged().await;

        let answer = bob.answer(&challenge, "totp", &ada.authenticator.code()).send().await;

        assert_eq!(Session::of(&answer).user_id, ada.id);
    }

    // A step-up can be answered by nobody but the session that began it, and it opens no session.
    with(|b| b.verification_by_code())
    async fn step_up_is_answered_by_its_own_session_alone(app) {
        let (ada, bob) = two(&app).await;
        let other = crate::two_step_calls::signed_in(&app, &ada).await;
        let challenge = challenge_id(&ada.reauthenticate().send().await);
        let code = ada.authenticator.code();

        for client in [&app.anon(), &bob, &app.with_session(&other), &app.bearing("no token")] {
            let answer = client.answer(&challenge, "totp", &code).send().await;
            answer.refused(401, "AUTH_UNAUTHORIZED");
        }

        let answer = ada.answer(&challenge, "totp", &code).send().await;
        assert!(answer.set_cookies().is_empty(), "{answer:?}");
        assert_eq!(crate::two_step_calls::keys(&answer.expect(200)), ["accessToken", "expiresAt", "user"]);
    }

    with(|b| b.verification_by_code())
    async fn code_for_a_mail_goes_out_for_challenges_of_that_kind_alone(app) {
        let ada = app.two_step_user("ada").await;
        let challenge = ada.challenged().await;
        app.run_jobs().await;
        let before = app.mail().total();

        let send = |id: &str| app.anon().post("/api/auth/challenges/send-code", json!({"challengeId": id}));
        let answers = [send(&challenge).send().await, send("none").send().await, send(&"A".repeat(43)).send().await];

        for answer in &answers[1..] {
            answer.refused(401, "INVALID_CHALLENGE");
        }
        assert!(answers[0].status >= 400, "{:?}", answers[0]);
        app.run_jobs().await;
        assert_eq!(app.mail().total(), before);
    }

    with(|b| b.verification_by_code())
    async fn wrong_code_of_a_look_alike_app_is_wrong(app) {
        let ada = app.two_step_user("ada").await;
        let stranger = Authenticator::new("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", &app.clock);
        let challenge = ada.challenged().await;

        let answer = app.anon().answer(&challenge, "totp", &stranger.code()).send().await;

        answer.refused(401, "INVALID_SECOND_FACTOR");
    }
}
