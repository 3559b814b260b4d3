//! Tests of signInWithPassword: POST /api/auth/sessions.

use latchkey_testkit::{EmailMethod, PASSWORD, both_stores, json};

const WRONG: &str = "another lantern 42";

both_stores! {
    async fn right_password_opens_a_session(app) {
        let ada = app.user("ada").await;

        let signed_in = app.anon().sign_in("Ada@Example.org", PASSWORD).send().await.expect(200);

        assert_eq!(signed_in["user"]["id"], ada.id);
        assert!(signed_in["accessToken"].is_string() && signed_in["csrfToken"].is_string());
        assert_eq!(signed_in.get("requireEmailVerification"), None);
    }

    async fn wrong_password_and_unknown_address_get_the_same_refusal(app) {
        app.user("ada").await;

        let wrong = app.anon().sign_in("ada@example.org", "another lantern 42").send().await;
        let unknown = app.anon().sign_in("bob@example.org", PASSWORD).send().await;

        wrong.refused(401, "INVALID_CREDENTIALS");
        assert_eq!(wrong.text_without_id(), unknown.text_without_id());
    }

    with(|b| b.verification(EmailMethod::Code))
    async fn right_password_of_an_unverified_account_must_verify_first(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);

        let answer = app.anon().sign_in("ada@example.org", PASSWORD).send().await;

        answer.refused(403, "EMAIL_NOT_VERIFIED");
    }

    with(|b| b.limits())
    async fn eleventh_wrong_password_from_an_address_has_to_wait(app) {
        app.user("ada").await;
        let guess = || app.anon().sign_in("ada@example.org", "another lantern 42").from_ip("203.0.113.9");
        for _ in 0..10 {
            guess().send().await.refused(401, "INVALID_CREDENTIALS");
        }

        let answer = guess().send().await;

        answer.refused(429, "TOO_MANY_REQUESTS");
        assert!(answer.number("retry-after") > 0);
    }

    async fn response_has_these_fields_and_the_refresh_token_in_one_place(app) {
        app.user("ada").await;

        let web = app.anon().sign_in("ada@example.org", PASSWORD).send().await;
        let server = app.anon().sign_in("ada@example.org", PASSWORD).client_type("server").send().await;

        let keys = |body: latchkey_testkit::Value| body.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(web.expect(200)), ["accessToken", "csrfToken", "user"]);
        assert_eq!(keys(server.expect(200)), ["accessToken", "refreshToken", "user"]);
        assert_eq!((web.set_cookies().len(), server.set_cookies().len()), (1, 0));
    }

    async fn method_is_password_or_left_out(app) {
        app.user("ada").await;
        let body = |method: &str| json!({"email": "ada@example.org", "password": PASSWORD, "method": method});

        let password = app.anon().post("/api/auth/sessions", body("password")).send().await;
        let other = app.anon().post("/api/auth/sessions", body("magic")).send().await;

        password.expect(200);
        let message = other.refused(400, "VALIDATION_ERROR")["message"].to_string();
        assert!(message.contains("method"), "{message}");
    }

    async fn missing_or_malformed_field_is_named(app) {
        for (body, field) in [
            (json!({"password": PASSWORD}), "email"),
            (json!({"email": "ada@example.org"}), "password"),
            (json!({"email": " ada@example.org", "password": PASSWORD}), "email"),
            (json!({"email": "ada@example.org", "password": 12_345_678}), "password"),
        ] {
            let answer = app.anon().post("/api/auth/sessions", body).send().await;

            let message = answer.refused(400, "VALIDATION_ERROR")["message"].to_string();
            assert!(message.contains(field), "{message}");
        }
    }

    async fn ban_is_revealed_only_with_the_right_password(app) {
        let ada = app.user("ada").await;
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), json!({"banned": true})).send().await.expect(200);

        let right = app.anon().sign_in(&ada.email, PASSWORD).send().await;
        let wrong = app.anon().sign_in(&ada.email, WRONG).send().await;

        right.refused(403, "USER_BANNED");
        wrong.refused(401, "INVALID_CREDENTIALS");
    }

    with(|b| b.verification_by_code())
    async fn unverified_address_is_revealed_only_with_the_right_password(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);

        let wrong = app.anon().sign_in("ada@example.org", WRONG).send().await;

        wrong.refused(401, "INVALID_CREDENTIALS");
    }

    async fn unverified_account_signs_in_while_verification_is_not_required(app) {
        app.user("ada").await;

        let signed_in = app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);

        assert_eq!(signed_in["user"]["emailVerified"], false);
    }

    async fn unverified_account_signs_in_no_more_once_verification_is_required(app) {
        app.user("ada").await;
        let required = json!({"requireEmailVerification": true});
        app.admin().put("/api/auth/config", required).send().await.expect(200);

        let answer = app.anon().sign_in("ada@example.org", PASSWORD).send().await;

        answer.refused(403, "EMAIL_NOT_VERIFIED");
    }

    async fn too_long_password_is_a_wrong_one(app) {
        app.user("ada").await;

        let known = app.anon().sign_in("ada@example.org", &"qz7".repeat(43)).send().await;
        let unknown = app.anon().sign_in("bob@example.org", &"qz7".repeat(43)).send().await;

        known.refused(401, "INVALID_CREDENTIALS");
        assert_eq!(known.text_without_id(), unknown.text_without_id());
    }

    async fn rules_on_new_passwords_do_not_lock_out_older_ones(app) {
        app.user("ada").await;
        let rules = json!({"passwordMinLength": 60, "requireUppercase": true});
        app.admin().put("/api/auth/config", rules).send().await.expect(200);

        let answer = app.anon().sign_in("ada@example.org", PASSWORD).send().await;

        answer.expect(200);
    }

    async fn closed_sign_up_leaves_sign_in_open(app) {
        app.user("ada").await;
        app.admin().put("/api/auth/config", json!({"disableSignup": true})).send().await.expect(200);

        let answer = app.anon().sign_in("ada@example.org", PASSWORD).send().await;

        answer.expect(200);
    }

    async fn password_hashed_under_other_parameters_still_opens(mut app) {
        app.user("ada").await;

        app.restart_with(|b| b.config(|config| config.hashing.memory_kib = 128)).await;

        app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200); // replaces the hash
        app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
        app.anon().sign_in("ada@example.org", WRONG).send().await.refused(401, "INVALID_CREDENTIALS");
    }

    async fn each_sign_in_is_a_session_of_its_own(app) {
        let ada = app.user("ada").await;

        let other = ada.sign_in_again().await;

        app.anon().sign_out(&other).send().await.expect(200);
        ada.get("/api/auth/sessions/current").send().await.expect(200);
        ada.refreshed().await.expect(200);
    }
}
