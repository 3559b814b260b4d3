//! Tests of sendResetPasswordEmail, exchangeResetPasswordToken and resetPassword. Codes are in `codes`, reset links in
//! a browser in `reset_links`.

use latchkey_testkit::{PASSWORD, TestApp, both_stores, json, minutes, seconds};

use crate::email_calls::{
    NEW_PASSWORD, change_user, exchange, id_of, resend, reset, reset_code, reset_link, reset_token,
    send_reset, signed_up_code, verify_token,
};

/// Asserts that resetPassword refuses this token.
async fn is_refused(app: &TestApp, token: &str) {
    reset(&app.anon(), token, NEW_PASSWORD).send().await.refused(400, "INVALID_CODE");
}

both_stores! {
    async fn reset_mail_is_confirmed_for_every_address_and_sent_to_accounts(app) {
        app.user("ada").await;
        app.user("bob").await;
        change_user(&app, "bob@example.org", json!({"banned": true})).await;

        let mut answers = Vec::new();
        for address in ["ada@example.org", "bob@example.org", "nobody@example.org"] {
            answers.push(send_reset(&app.anon(), address).send().await.expect(202));
        }

        assert_eq!(answers[0]["success"], true);
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        app.run_jobs().await;
        assert_eq!(app.mail().recipients(), ["ada@example.org"]);
    }

    async fn exchange_gives_a_token_of_64_hex_digits_for_fifteen_minutes(app) {
        let ada = app.user("ada").await;
        let code = reset_code(&app, &ada.email).await;

        let body = exchange(&app.anon(), &ada.email, &code).send().await.expect(200);

        let token = body["token"].as_str().unwrap();
        assert!(token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
        assert_eq!(body["expiresAt"], "2026-03-02T10:15:00.000Z");
    }

    async fn token_sets_a_password_and_opens_no_session(app) {
        let ada = app.user("ada").await;
        let token = reset_token(&app, &ada.email).await;

        let answer = reset(&app.anon(), &token, NEW_PASSWORD).send().await;

        let body = answer.expect(200);
        assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["message"]);
        assert!(answer.set_cookies().is_empty());
        app.anon().sign_in(&ada.email, NEW_PASSWORD).send().await.expect(200);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }

    async fn token_lives_for_fifteen_minutes(app) {
        let ada = app.user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        app.clock.advance(minutes(15));
        is_refused(&app, &token).await;

        let token = reset_token(&app, &ada.email).await;
        app.clock.advance(minutes(15) - seconds(1));

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);
    }

    async fn token_works_once(app) {
        let ada = app.user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        reset(&app.anon(), &token, "quite another lantern").send().await.refused(400, "INVALID_CODE");

        app.anon().sign_in(&ada.email, NEW_PASSWORD).send().await.expect(200);
    }

    async fn weak_password_does_not_cost_the_token(app) {
        let ada = app.user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        for weak in ["short", "password123", &"x".repeat(129)] {
            reset(&app.anon(), &token, weak).send().await.refused(400, "WEAK_PASSWORD");
        }

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        app.anon().sign_in(&ada.email, NEW_PASSWORD).send().await.expect(200);
    }

    async fn weak_password_does_not_reveal_an_invalid_token(app) {
        reset(&app.anon(), &"0".repeat(64), "short").send().await.refused(400, "INVALID_CODE");
    }

    async fn reset_ends_every_session(app) {
        let ada = app.user("ada").await;
        let other = ada.sign_in_again().await;
        let token = reset_token(&app, &ada.email).await;

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        for session in [&ada.session, &other] {
            let current = app.with_session(session).get("/api/auth/sessions/current").send().await;
            current.refused(401, "AUTH_UNAUTHORIZED");
            app.anon().refresh(session).send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
    }

    with(|b| b.verification_by_code())
    async fn reset_verifies_the_address(app) {
        signed_up_code(&app, "ada@example.org").await;
        let token = reset_token(&app, "ada@example.org").await;

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        let signed_in = app.anon().sign_in("ada@example.org", NEW_PASSWORD).send().await.expect(200);
        assert_eq!(signed_in["user"]["emailVerified"], true);
    }

    async fn first_verification_by_reset_removes_public_text(app) {
        let eve = app.user("eve").await;
        let text =
            json!({"bio": "Send me money", "avatar_url": "https://evil.example/x.png", "username": "boss"});
        eve.patch("/api/profiles/me", text).send().await.expect(200);
        eve.patch("/api/auth/profiles/current", json!({"city": "Evilville"})).send().await.expect(200);
        let token = reset_token(&app, &eve.email).await;

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        let public = app.anon().get(&format!("/api/profiles/{}", eve.id)).send().await.expect(200);
        assert_eq!(
            (&public["name"], &public["bio"], &public["avatar_url"]),
            (&json!(""), &json!(null), &json!(null))
        );
        assert_eq!(public.get("username"), None);
        let flat = app.anon().get(&format!("/api/auth/profiles/{}", eve.id)).send().await.expect(200);
        assert_eq!(flat.get("city"), None, "{flat}");
        for word in ["Eve", "money", "boss"] {
            assert_eq!(app.anon().search(word).send().await.number("x-total-count"), 0, "{word}");
        }
    }

    async fn later_reset_leaves_the_profile(app) {
        let ada = app.user("ada").await;
        change_user(&app, &ada.email, json!({"emailVerified": true})).await;
        ada.patch("/api/profiles/me", json!({"bio": "Wrote a program"})).send().await.expect(200);
        let token = reset_token(&app, &ada.email).await;

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        let public = app.anon().get(&format!("/api/profiles/{}", ada.id)).send().await.expect(200);
        assert_eq!((&public["name"], &public["bio"]), (&json!("Ada"), &json!("Wrote a program")));
    }

    with(|b| b.verification_by_code())
    async fn reset_of_a_contested_account_ends_the_contest(app) {
        signed_up_code(&app, "ada@example.org").await;
        app.anon().sign_up("ada@example.org", "the password of an impostor").send().await.expect(200);
        let token = reset_token(&app, "ada@example.org").await;

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        app.anon().sign_in("ada@example.org", NEW_PASSWORD).send().await.expect(200);
        for lost in [PASSWORD, "the password of an impostor"] {
            app.anon().sign_in("ada@example.org", lost).send().await.refused(401, "INVALID_CREDENTIALS");
        }
    }

    with(|b| b.verification_by_code())
    async fn reset_ends_the_verification_code(app) {
        let code = signed_up_code(&app, "ada@example.org").await;
        let token = reset_token(&app, "ada@example.org").await;

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        app.anon().verify("ada@example.org", &code).send().await.refused(400, "INVALID_CODE");
    }

    async fn reset_ends_the_reset_code_that_was_mailed_since(app) {
        let ada = app.user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        let code = reset_code(&app, &ada.email).await;

        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        exchange(&app.anon(), &ada.email, &code).send().await.refused(400, "INVALID_CODE");
    }

    async fn newer_token_replaces_the_older(app) {
        let ada = app.user("ada").await;
        let older = reset_token(&app, &ada.email).await;
        let newer = reset_token(&app, &ada.email).await;

        is_refused(&app, &older).await;

        reset(&app.anon(), &newer, NEW_PASSWORD).send().await.expect(200);
    }

    async fn password_change_ends_codes_and_tokens(app) {
        let ada = app.user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        let code = reset_code(&app, &ada.email).await;

        let change = json!({"currentPassword": PASSWORD, "newPassword": "a password of my own"});
        ada.post("/api/auth/password", change).send().await.expect(200);

        is_refused(&app, &token).await;
        exchange(&app.anon(), &ada.email, &code).send().await.refused(400, "INVALID_CODE");
    }

    async fn ban_ends_codes_and_tokens_for_good(app) {
        let ada = app.user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        let code = reset_code(&app, &ada.email).await;

        change_user(&app, &ada.email, json!({"banned": true})).await;
        is_refused(&app, &token).await;
        change_user(&app, &ada.email, json!({"banned": false})).await;

        is_refused(&app, &token).await;
        exchange(&app.anon(), &ada.email, &code).send().await.refused(400, "INVALID_CODE");
    }

    async fn changed_address_ends_codes_and_tokens(app) {
        let ada = app.user("ada").await;
        let token = reset_token(&app, &ada.email).await;
        let code = reset_code(&app, &ada.email).await;

        change_user(&app, &ada.email, json!({"email": "ada@example.net"})).await;

        is_refused(&app, &token).await;
        for address in ["ada@example.org", "ada@example.net"] {
            exchange(&app.anon(), address, &code).send().await.refused(400, "INVALID_CODE");
        }
    }

    async fn deleted_account_takes_its_token_along(app) {
        let ada = app.user("ada").await;
        let token = reset_token(&app, &ada.email).await;

        let ids = json!({"userIds": [id_of(&app, &ada.email).await]});
        app.admin().delete("/api/auth/users").json(&ids).send().await.expect(200);

        is_refused(&app, &token).await;
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn reset_token_verifies_no_address_and_the_other_way_round(app) {
        let ada = app.user("ada").await;
        reset_link(&app, &ada.email).await;
        let reset_token = app.mail().last(&ada.email).token();
        let by_link = json!({"verifyEmailMethod": "link", "defaultRedirectUrl": "https://app.example/done"});
        app.admin().put("/api/auth/config", by_link).send().await.expect(200);
        resend(&app.anon(), &ada.email).send().await.expect(202);
        let verify_otp = app.mail_to(&ada.email).await.token();

        verify_token(&app.anon(), &reset_token).send().await.refused(400, "INVALID_CODE");
        is_refused(&app, &verify_otp).await;

        verify_token(&app.anon(), &verify_otp).send().await.expect(200);
        is_refused(&app, &reset_token).await; // ended by the first verification
    }

    async fn malformed_token_is_refused_like_a_wrong_one(app) {
        let long = "0".repeat(65);
        let letters = "g".repeat(64);
        for otp in ["", "123456", "0", &long, &letters] {
            is_refused(&app, otp).await;
        }
    }

    async fn missing_field_is_named(app) {
        let token = "0".repeat(64);
        for (path, body, field) in [
            ("reset-password", json!({"otp": token}), "newPassword"),
            ("reset-password", json!({"newPassword": NEW_PASSWORD}), "otp"),
            ("reset-password", json!({"newPassword": 12_345_678, "otp": token}), "newPassword"),
            ("exchange-reset-password-token", json!({"email": "ada@example.org"}), "code"),
            ("exchange-reset-password-token", json!({"code": "123456"}), "email"),
            ("exchange-reset-password-token", json!({"email": "ada@example.org", "code": 123_456}), "code"),
        ] {
            let answer = app.anon().post(&format!("/api/auth/email/{path}"), body).send().await;

            let refusal = answer.refused(400, "VALIDATION_ERROR");
            assert!(refusal["message"].as_str().unwrap().contains(field), "{refusal}");
        }
    }
}
