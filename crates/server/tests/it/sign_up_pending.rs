//! Tests of signUp with required verification: it only sends a mail, and reveals no account.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{PASSWORD, TestApp, Value, both_stores, json};

use crate::enumeration::shown;

const OTHER: &str = "a wholly other lantern";

both_stores! {
    with(|b| b.verification_by_code())
    async fn required_verification_mails_a_code_and_gives_no_tokens(app) {
        let answer = app.anon().sign_up("ada@example.org", PASSWORD).send().await;

        let expected = json!({"accessToken": null, "requireEmailVerification": true, "csrfToken": null});
        assert_eq!(answer.expect(200), expected);
        assert!(!answer.set_cookies().iter().any(|cookie| cookie.contains("HttpOnly")), "{answer:?}");
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

    with(|b| b.verification_by_code())
    async fn other_clients_get_no_refresh_token_before_the_address_is_verified(app) {
        for client_type in ["mobile", "desktop", "server"] {
            let email = app.unique_email(client_type);

            let answer = app.anon().sign_up(&email, PASSWORD).client_type(client_type).send().await;

            let expected = json!({"accessToken": null, "requireEmailVerification": true, "csrfToken": null});
            assert_eq!(answer.expect(200), expected, "{client_type}");
            assert!(answer.set_cookies().is_empty(), "{client_type}");
        }
    }

    with(|b| b.verification_by_code())
    async fn free_taken_pending_contested_and_banned_addresses_are_answered_alike(app) {
        every_kind_of_address(&app, json!({})).await;
        let mut answers = Vec::new();
        for name in ["free", "taken", "pending", "contested", "banned"] {
            answers.push(app.anon().sign_up(&format!("{name}@example.org"), OTHER).send().await);
        }

        let free = shown(&answers[0]);

        answers[0].expect(200);
        for answer in &answers[1..] {
            assert_eq!(shown(answer), free);
        }
    }

    with(|b| b.verification_by_link())
    async fn addresses_are_answered_alike_by_link_too(app) {
        let target = json!({"redirectTo": "http://localhost:3000/done"});
        every_kind_of_address(&app, target.clone()).await;
        let mut answers = Vec::new();
        for name in ["free", "taken", "pending", "contested", "banned"] {
            let body = with(json!({"email": format!("{name}@example.org"), "password": OTHER}), &target);
            answers.push(app.anon().post("/api/auth/users", body).send().await);
        }

        let free = shown(&answers[0]);

        answers[0].expect(200);
        for answer in &answers[1..] {
            assert_eq!(shown(answer), free);
        }
    }

    with(|b| b.verification_by_code())
    async fn owner_of_a_taken_address_is_notified_and_nothing_changes(app) {
        let ada = app.user("ada").await;
        let before = ada.get("/api/auth/sessions/current").send().await.expect(200);
        app.mail().clear();

        let body = json!({"email": "ADA@example.org", "password": OTHER, "name": "Eve"});
        app.anon().post("/api/auth/users", body).send().await.expect(200);

        let mail = app.mail_to("ada@example.org").await;
        assert_eq!(app.mail().total(), 1);
        assert!(!mail.text.lines().any(|line| line.trim().parse::<u32>().is_ok()), "a code: {mail:?}");
        assert!(!mail.text.contains("token="), "{mail:?}");
        assert_eq!(ada.get("/api/auth/sessions/current").send().await.expect(200), before);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
        app.anon().sign_in(&ada.email, OTHER).send().await.refused(403, "EMAIL_NOT_VERIFIED");
    }

    with(|b| b.no_mail_transport())
    async fn verification_cannot_be_required_without_a_mail_transport(app) {
        let required = json!({"requireEmailVerification": true});

        let answer = app.admin().put("/api/auth/config", required).send().await;

        answer.refused(400, "EMAIL_PROVIDER_NOT_CONFIGURED");
        let signed_up = app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        assert_eq!(signed_up["requireEmailVerification"], false);
    }

    with(|b| b.verification_by_link())
    async fn link_needs_a_redirect_target(app) {
        let answer = app.anon().sign_up("ada@example.org", PASSWORD).send().await;

        let message = answer.refused(400, "VALIDATION_ERROR")["message"].to_string();
        assert!(message.contains("redirectTo"), "{message}");
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/*"]))
    async fn target_off_the_list_is_refused_for_known_and_unknown_alike(app) {
        app.user("ada").await;
        let sign_up = |email: &str, field: Value| {
            app.anon().post("/api/auth/users", with(json!({"email": email, "password": PASSWORD}), &field))
        };

        for field in [
            json!({"redirectTo": "https://evil.example/"}),
            json!({"options": {"emailRedirectTo": "https://evil.example/"}}),
        ] {
            let known = sign_up("ada@example.org", field.clone()).send().await;
            let unknown = sign_up("eve@example.org", field).send().await;

            known.refused(400, "REDIRECT_NOT_ALLOWED");
            assert_eq!(shown(&known), shown(&unknown));
        }
    }

    with(|b| b
        .verification_by_link()
        .redirects(&["https://app.example/*"])
        .default_redirect("https://app.example/default"))
    async fn redirect_to_goes_before_the_default_and_the_default_before_the_older_option(app) {
        let older = json!({"options": {"emailRedirectTo": "https://app.example/older"}});
        let both = with(json!({"redirectTo": "https://app.example/current"}), &older);

        let by_both = landing(&app, "ada@example.org", &both).await;
        let by_older = landing(&app, "bob@example.org", &older).await;
        let by_none = landing(&app, "eve@example.org", &json!({})).await;

        assert_eq!((by_both.as_str(), by_older.as_str(), by_none.as_str()), ("/current", "/default", "/default"));
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/*"]))
    async fn older_option_counts_where_there_is_no_default(app) {
        let older = json!({"options": {"emailRedirectTo": "https://app.example/older"}});

        let landed = landing(&app, "ada@example.org", &older).await;

        assert_eq!(landed, "/older");
    }
}

/// Creates accounts named `taken`, `pending`, `contested` and `banned`. The address `free` has none.
async fn every_kind_of_address(app: &TestApp, target: Value) {
    app.user("taken").await;
    let banned = app.user("banned").await;
    app.admin()
        .patch(&format!("/api/auth/users/{}", banned.id), json!({"banned": true}))
        .send()
        .await
        .expect(200);
    for (name, password) in [("pending", PASSWORD), ("contested", PASSWORD), ("contested", OTHER)] {
        let body = with(json!({"email": format!("{name}@example.org"), "password": password}), &target);
        app.anon().post("/api/auth/users", body).send().await.expect(200);
    }
}

/// Path of the link that a sign-up mails.
async fn landing(app: &TestApp, email: &str, target: &Value) -> String {
    let body = with(json!({"email": email, "password": PASSWORD}), target);
    app.anon().post("/api/auth/users", body).send().await.expect(200);
    let landed = app.anon().get(&app.mail_to(email).await.link()).send().await.redirected();
    assert_eq!(parameter(&landed, "service_status").as_deref(), Some("success"));
    landed.path().to_owned()
}

fn with(mut body: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}
