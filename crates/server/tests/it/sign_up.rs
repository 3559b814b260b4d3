//! signUp: POST /api/auth/users.

use latchkey_testkit::{PASSWORD, Value, both_stores, json};

both_stores! {
    async fn sign_up_without_verification_answers_with_a_session(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD, "name": "Ada"});

        let signed_up = app.anon().post("/api/auth/users", body).send().await.expect(200);

        assert_eq!(signed_up["requireEmailVerification"], false);
        assert!(signed_up["accessToken"].is_string() && signed_up["csrfToken"].is_string());
        let user = &signed_up["user"];
        let expected = json!({
            "id": user["id"],
            "email": "ada@example.org",
            "emailVerified": false,
            "providers": ["email"],
            "createdAt": "2026-03-02T10:00:00.000Z",
            "updatedAt": "2026-03-02T10:00:00.000Z",
            "profile": {"name": "Ada", "avatar_url": null},
            "metadata": {},
        });
        assert_eq!(user, &expected);
    }

    async fn sign_up_without_a_name_gives_the_empty_name(app) {
        let signed_up = app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);

        assert_eq!(signed_up["user"]["profile"]["name"], "");
    }

    async fn web_client_gets_its_refresh_token_in_an_http_only_cookie(app) {
        let answer = app.anon().sign_up("ada@example.org", PASSWORD).send().await;

        assert_eq!(answer.expect(200).get("refreshToken"), None);
        let cookies = answer.set_cookies();
        assert_eq!(cookies.len(), 1);
        assert!(cookies[0].starts_with("latchkey_refresh="), "{cookies:?}");
        assert!(cookies[0].ends_with("; Path=/api/auth; Max-Age=2592000; HttpOnly; SameSite=Lax"), "{cookies:?}");
    }

    async fn other_clients_get_their_refresh_token_in_the_body_and_no_cookie(app) {
        for client_type in ["mobile", "desktop", "server"] {
            let email = app.unique_email(client_type);

            let answer = app.anon().sign_up(&email, PASSWORD).client_type(client_type).send().await;

            let body = answer.expect(200);
            assert!(body["refreshToken"].is_string(), "{client_type}");
            assert_eq!(body.get("csrfToken"), None, "{client_type}");
            assert!(answer.set_cookies().is_empty(), "{client_type}");
        }
    }

    async fn taken_address_is_told_while_verification_is_off(app) {
        app.user("ada").await;

        let answer = app.anon().sign_up("ADA@example.org", PASSWORD).send().await;

        answer.refused(409, "EMAIL_EXISTS");
    }

    with(|b| b.verification_by_code())
    async fn required_verification_mails_a_code_and_gives_no_tokens(app) {
        let answer = app.anon().sign_up("ada@example.org", PASSWORD).send().await;

        let expected = json!({"accessToken": null, "requireEmailVerification": true, "csrfToken": null});
        assert_eq!(answer.expect(200), expected);
        assert!(answer.set_cookies().is_empty());
        assert_eq!(app.mail_to("ada@example.org").await.code().len(), 6);
        assert_eq!(app.mail().total(), 1);
    }

    with(|b| b.verification_by_link())
    async fn required_verification_mails_a_link_to_the_service(app) {
        let body =
            json!({"email": "ada@example.org", "password": PASSWORD, "redirectTo": "http://localhost:3000/done"});

        app.anon().post("/api/auth/users", body).send().await.expect(200);

        let link = app.mail_to("ada@example.org").await.link();
        assert!(link.starts_with("http://localhost:8700/api/auth/email/verify-link?token="), "{link}");
        assert!(!link.contains("localhost:3000"), "the target is never carried in the mail");
    }

    with(|b| b.sign_up_disabled())
    async fn closed_sign_up_is_refused(app) {
        let answer = app.anon().sign_up("ada@example.org", PASSWORD).send().await;

        answer.refused(403, "SIGNUP_DISABLED");
    }

    async fn missing_field_is_named(app) {
        for (body, field) in [
            (json!({"password": PASSWORD}), "email"),
            (json!({"email": "ada@example.org"}), "password"),
            (json!({"email": ["ada@example.org"], "password": PASSWORD}), "email"),
        ] {
            let answer = app.anon().post("/api/auth/users", body).send().await;

            let message = answer.refused(400, "VALIDATION_ERROR")["message"].clone();
            assert!(message.as_str().is_some_and(|message| message.contains(field)), "{message}");
        }
    }

    async fn account_survives_a_restart(mut app) {
        let ada = app.user("ada").await;

        app.restart().await;

        let user = ada.get("/api/auth/sessions/current").send().await.expect(200)["user"].clone();
        assert_eq!(user["id"], Value::from(ada.id.clone()));
    }
}
