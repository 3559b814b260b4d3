//! Tests of the password reset of accounts with two-step sign-in.

use latchkey_testkit::{Session, both_stores, challenge_id, json, minutes, seconds};

use crate::described::assert_successes_are_described;
use crate::email_calls::{NEW_PASSWORD, exchange, other_than, reset, reset_code, reset_link, reset_token};
use crate::two_step_calls::{fail, keys, signed_in};

both_stores! {
    with(|b| b.verification_by_code())
    async fn reset_asks_for_a_second_factor_and_uses_nothing_up(app) {
        let ada = app.two_step_user("ada").await;
        let token = reset_token(&app, &ada.email).await;

        let refusal = reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(403, "SECOND_FACTOR_REQUIRED");

        assert_eq!(keys(&refusal["challenge"]), ["expiresAt", "id", "kinds"]);
        assert_eq!(refusal["challenge"]["kinds"], json!(["totp", "recovery_code"]));
        let _ = challenge_id(&app.anon().sign_in(&ada.email, &ada.password).send().await);
        reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(403, "SECOND_FACTOR_REQUIRED");
    }

    with(|b| b.verification_by_code())
    async fn answer_gives_a_new_token_that_resets_and_the_one_before_is_dead(app) {
        let ada = app.two_step_user("ada").await;
        let other = app.with_session(&signed_in(&app, &ada).await);
        let token = reset_token(&app, &ada.email).await;
        let refusal = reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(403, "SECOND_FACTOR_REQUIRED");
        let id = refusal["challenge"]["id"].as_str().unwrap();

        let answer = app.anon().answer(id, "totp", &ada.authenticator.code()).send().await;

        let body = answer.expect(200);
        assert_eq!((keys(&body), answer.set_cookies().len()), (vec!["expiresAt", "token"], 0));
        let new = body["token"].as_str().unwrap();
        reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(400, "INVALID_CODE");
        reset(&app.anon(), new, NEW_PASSWORD).send().await.expect(200);
        reset(&app.anon(), new, NEW_PASSWORD).send().await.refused(400, "INVALID_CODE");
        other.get("/api/auth/account").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.clock.advance(seconds(30));
        let challenge = challenge_id(&app.anon().sign_in(&ada.email, NEW_PASSWORD).send().await);
        let _ = Session::of(&app.anon().answer(&challenge, "totp", &ada.authenticator.code()).send().await);
    }

    with(|b| b.verification_by_code())
    async fn weak_password_is_refused_before_a_second_factor_is_asked_for(app) {
        let ada = app.two_step_user("ada").await;
        let token = reset_token(&app, &ada.email).await;

        reset(&app.anon(), &token, "short").send().await.refused(400, "WEAK_PASSWORD");

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(403, "SECOND_FACTOR_REQUIRED");
    }

    // Before the token or code was right, accounts with and without two-step sign-in are answered alike.
    with(|b| b.verification_by_code())
    async fn wrong_token_and_wrong_code_tell_nothing(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.user("bob").await);
        let mut texts = Vec::new();
        for email in [&ada.email, &bob.email] {
            let code = reset_code(&app, email).await;
            let wrong = exchange(&app.anon(), email, other_than(&code)).send().await;
            wrong.refused(400, "INVALID_CODE");
            let right = exchange(&app.anon(), email, &code).send().await.expect(200);
            assert_eq!(keys(&right), ["expiresAt", "token"]);
            texts.push(wrong.text_without_id());
        }
        assert_eq!(texts[0], texts[1]);

        reset(&app.anon(), &"0".repeat(64), NEW_PASSWORD).send().await.refused(400, "INVALID_CODE");
    }

    with(|b| b.verification_by_code())
    async fn newer_reset_replaces_the_challenge_of_its_token(app) {
        let ada = app.two_step_user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        let mut ids = Vec::new();
        for _ in 0..2 {
            let refusal = reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(403, "SECOND_FACTOR_REQUIRED");
            ids.push(refusal["challenge"]["id"].as_str().unwrap().to_owned());
        }
        let code = ada.authenticator.code();

        app.anon().answer(&ids[0], "totp", &code).send().await.refused(401, "INVALID_CHALLENGE");

        app.anon().answer(&ids[1], "totp", &code).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn fifth_wrong_answer_kills_the_challenge_and_the_token_begins_another(app) {
        let ada = app.two_step_user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        let refusal = reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(403, "SECOND_FACTOR_REQUIRED");
        let id = refusal["challenge"]["id"].as_str().unwrap();
        fail(&app.anon(), &ada, id, 5).await;

        app.anon().answer(id, "totp", &ada.authenticator.code()).send().await.refused(401, "INVALID_CHALLENGE");

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(403, "SECOND_FACTOR_REQUIRED");
    }

    with(|b| b.verification_by_code())
    async fn new_token_is_good_for_fifteen_minutes(app) {
        let ada = app.two_step_user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        let refusal = reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(403, "SECOND_FACTOR_REQUIRED");
        let id = refusal["challenge"]["id"].as_str().unwrap();
        let body = app.anon().answer(id, "recovery_code", &ada.recovery_codes[0]).send().await.expect(200);
        assert_eq!(body["expiresAt"], "2026-03-02T10:15:30.000Z");

        app.clock.advance(minutes(15));

        let late = reset(&app.anon(), body["token"].as_str().unwrap(), NEW_PASSWORD).send().await;
        late.refused(400, "INVALID_CODE");
    }

    with(|b| b.verification_by_code().link_reset().redirects(&["https://app.example/**"]))
    async fn reset_by_link_asks_too(app) {
        let ada = app.two_step_user("ada").await;
        let link = reset_link(&app, &ada.email).await;
        let landed = app.anon().get(&link).send().await.redirected();
        let token = latchkey_testkit::answer::parameter(&landed, "token").unwrap();

        let refusal = reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(403, "SECOND_FACTOR_REQUIRED");

        let id = refusal["challenge"]["id"].as_str().unwrap();
        let body = app.anon().answer(id, "totp", &ada.authenticator.code()).send().await.expect(200);
        reset(&app.anon(), body["token"].as_str().unwrap(), NEW_PASSWORD).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn responses_are_described(app) {
        let ada = app.two_step_user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        let refused = reset(&app.anon(), &token, NEW_PASSWORD).send().await;
        let document = app.anon().get("/openapi.json").send().await.expect(200);
        crate::described::assert_described(&document, "POST /api/auth/email/reset-password", &refused);
        let id = refused.json()["challenge"]["id"].as_str().unwrap().to_owned();

        let answer = app.anon().answer(&id, "totp", &ada.authenticator.code());

        assert_successes_are_described(&app, [("POST /api/auth/challenges/answer", answer)]).await;
    }
}
