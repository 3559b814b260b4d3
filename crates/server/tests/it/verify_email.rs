//! Tests of verifyEmail (POST /api/auth/email/verify) with a code, and with the token of a link, an older variant.
//! Codes are in `codes`, requested mails in `resend`, links in a browser in `links`.

use latchkey_testkit::{PASSWORD, Session, both_stores, hours, json};

use crate::email_calls::{change_user, resend, resend_to, signed_up_code, signed_up_link, verify_token};

both_stores! {
    with(|b| b.verification_by_code())
    async fn right_code_verifies_and_opens_a_session(app) {
        let code = signed_up_code(&app, "ada@example.org").await;

        let answer = app.anon().verify("ada@example.org", &code).send().await;

        let session = Session::of(&answer);
        let user = answer.json()["user"].clone();
        assert_eq!((&user["email"], &user["emailVerified"]), (&json!("ada@example.org"), &json!(true)));
        assert!(session.csrf_token.is_some() && session.cookie.is_some());
        let current = app.with_session(&session).get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(current["user"], user);
    }

    with(|b| b.verification_by_code())
    async fn other_clients_get_their_refresh_token_in_the_body(app) {
        let code = signed_up_code(&app, "ada@example.org").await;

        let answer = app.anon().verify("ada@example.org", &code).client_type("mobile").send().await;

        let body = answer.expect(200);
        assert!(body["refreshToken"].is_string() && body.get("csrfToken").is_none());
        assert!(answer.set_cookies().is_empty());
    }

    with(|b| b.verification_by_code())
    async fn address_is_compared_without_case(app) {
        let code = signed_up_code(&app, "Ada@Example.org").await;

        let answer = app.anon().verify("ADA@example.ORG", &code).send().await;

        assert_eq!(answer.expect(200)["user"]["email"], "Ada@Example.org");
    }

    with(|b| b.verification_by_code())
    async fn verified_user_signs_in_and_an_unverified_one_does_not(app) {
        let code = signed_up_code(&app, "ada@example.org").await;
        app.anon().sign_in("ada@example.org", PASSWORD).send().await.refused(403, "EMAIL_NOT_VERIFIED");

        app.anon().verify("ada@example.org", &code).send().await.expect(200);

        app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
    }

    async fn verification_by_the_signed_in_user_ends_no_session(app) {
        let ada = app.user("ada").await;
        resend(&app.anon(), &ada.email).send().await.expect(202);
        let code = app.mail_to(&ada.email).await.code();

        ada.verify(&ada.email, &code).send().await.expect(200);

        let current = ada.get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(current["user"]["emailVerified"], true);
        assert_eq!(ada.refreshed().await.status, 200);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn link_token_without_an_address_verifies_and_opens_a_session(app) {
        signed_up_link(&app, "ada@example.org").await;
        let token = app.mail().last("ada@example.org").token();

        let answer = verify_token(&app.anon(), &token).send().await;

        assert_eq!(token.len(), 64);
        assert_eq!(answer.expect(200)["user"]["emailVerified"], true);
        let session = Session::of(&answer);
        app.with_session(&session).get("/api/auth/sessions/current").send().await.expect(200);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn link_token_with_its_own_address_is_taken(app) {
        signed_up_link(&app, "ada@example.org").await;
        let token = app.mail().last("ada@example.org").token();

        app.anon().verify("Ada@example.org", &token).send().await.expect(200);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn link_token_with_the_address_of_another_account_is_refused(app) {
        signed_up_link(&app, "eve@example.org").await;
        signed_up_link(&app, "ada@example.org").await;
        let token = app.mail().last("ada@example.org").token();

        let answer = app.anon().verify("eve@example.org", &token).send().await;

        answer.refused(400, "INVALID_CODE");
        app.anon().sign_in("ada@example.org", PASSWORD).send().await.refused(403, "EMAIL_NOT_VERIFIED");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn link_token_opens_one_session_only(app) {
        signed_up_link(&app, "ada@example.org").await;
        let token = app.mail().last("ada@example.org").token();
        verify_token(&app.anon(), &token).send().await.expect(200);

        let again = verify_token(&app.anon(), &token).send().await;

        again.refused(400, "INVALID_CODE");
        assert!(again.set_cookies().is_empty());
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn link_token_that_a_browser_opened_opens_no_session(app) {
        let link = signed_up_link(&app, "ada@example.org").await;
        let token = app.mail().last("ada@example.org").token();
        app.anon().get(&link).send().await.redirected();

        let answer = verify_token(&app.anon(), &token).send().await;

        answer.refused(400, "INVALID_CODE");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn link_token_lives_for_a_day(app) {
        signed_up_link(&app, "ada@example.org").await;
        let token = app.mail().last("ada@example.org").token();

        app.clock.advance(hours(24));

        verify_token(&app.anon(), &token).send().await.refused(400, "INVALID_CODE");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn newer_link_ends_the_token_of_the_older(app) {
        signed_up_link(&app, "ada@example.org").await;
        let older = app.mail().last("ada@example.org").token();
        resend_to(&app.anon(), "ada@example.org", "https://app.example/done").send().await.expect(202);
        let newer = app.mail_to("ada@example.org").await.token();

        verify_token(&app.anon(), &older).send().await.refused(400, "INVALID_CODE");

        verify_token(&app.anon(), &newer).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn banned_account_is_not_verified(app) {
        let code = signed_up_code(&app, "ada@example.org").await;
        change_user(&app, "ada@example.org", json!({"banned": true})).await;

        app.anon().verify("ada@example.org", &code).send().await.refused(400, "INVALID_CODE");

        change_user(&app, "ada@example.org", json!({"banned": false})).await;
        app.anon().verify("ada@example.org", &code).send().await.refused(400, "INVALID_CODE");
    }

    with(|b| b.verification_by_code())
    async fn changed_address_ends_the_code(app) {
        let code = signed_up_code(&app, "ada@example.org").await;
        change_user(&app, "ada@example.org", json!({"email": "ada@example.net"})).await;

        app.anon().verify("ada@example.org", &code).send().await.refused(400, "INVALID_CODE");

        app.anon().verify("ada@example.net", &code).send().await.refused(400, "INVALID_CODE");
    }

    with(|b| b.verification_by_code())
    async fn missing_or_wrong_field_is_named(app) {
        for (body, field) in [
            (json!({"email": "ada@example.org"}), "otp"),
            (json!({"email": "ada@example.org", "otp": 123_456}), "otp"),
            (json!({"otp": "123456"}), "email"),
            (json!({"email": "no address", "otp": "123456"}), "email"),
            (json!({"email": ["ada@example.org"], "otp": "123456"}), "email"),
        ] {
            let answer = app.anon().post("/api/auth/email/verify", body).send().await;

            let refusal = answer.refused(400, "VALIDATION_ERROR");
            assert!(refusal["message"].as_str().unwrap().contains(field), "{refusal}");
        }
    }

    parallel with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn of_twenty_uses_of_one_link_token_one_opens_a_session(app) {
        signed_up_link(&app, "ada@example.org").await;
        let token = app.mail().last("ada@example.org").token();
        let uses: Vec<_> = (0..20).map(|_| tokio::spawn(verify_token(&app.anon(), &token).send())).collect();

        let mut statuses = Vec::new();
        for used in uses {
            statuses.push(used.await.unwrap().status);
        }

        statuses.sort_unstable();
        assert_eq!(statuses, [vec![200], vec![400; 19]].concat());
    }
}
