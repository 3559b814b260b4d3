//! Tests of attacks that a security review found and that no other file covers.

use latchkey_testkit::{PASSWORD, TestApp, Value, both_stores, json};

both_stores! {
    with(|b| b.verification_by_code())
    async fn search_does_not_tell_whether_a_sign_up_made_an_account(app) {
        app.user("ada").await;
        let client = app.anon().at("203.0.113.9");
        for (email, name) in [("ada@example.org", "Oracle taken"), ("new@example.org", "Oracle free")] {
            let body = json!({"email": email, "password": "another violet lantern", "name": name});
            client.post("/api/auth/users", body).send().await.expect(200);
        }

        assert_eq!(found(&app, "oracle").await, 0);
    }

    with(|b| b.verification_by_code())
    async fn search_finds_a_profile_as_soon_as_its_address_is_verified(app) {
        let body = json!({"email": "new@example.org", "password": PASSWORD, "name": "Nova"});
        app.anon().post("/api/auth/users", body).send().await.expect(200);
        let code = app.mail_to("new@example.org").await.code();

        app.anon().verify("new@example.org", &code).send().await.expect(200);

        assert_eq!(found(&app, "nova").await, 1);
    }

    with(|b| b.verification_by_code())
    async fn search_finds_a_pending_profile_once_its_owner_signs_in(mut app) {
        app.anon().post("/api/auth/users", json!({"email": "a@example.org", "password": PASSWORD, "name": "Nova"}))
            .send().await.expect(200);
        app.restart_with(|b| b.settings(|settings| settings.require_email_verification = false)).await;
        assert_eq!(found(&app, "nova").await, 0);

        app.anon().sign_in("a@example.org", PASSWORD).send().await.expect(200);

        assert_eq!(found(&app, "nova").await, 1);
    }

    async fn one_stored_setting_that_does_not_fit_takes_no_other_with_it(mut app) {
        let change = json!({
            "allowedRedirectUrls": ["https://old.example/done"],
            "defaultRedirectUrl": "https://old.example/done",
            "disableSignup": true,
        });
        app.admin().put("/api/auth/config", change).send().await.expect(200);

        app.restart_with(|b| b.redirects(&["https://new.example/done"]).pinned("auth.allowed_redirect_urls")).await;

        let config = app.admin().get("/api/auth/config").send().await.expect(200);
        assert_eq!(config["disableSignup"], true);
        assert_eq!(config["defaultRedirectUrl"], Value::Null);
        assert_eq!(config["allowedRedirectUrls"], json!(["https://new.example/done"]));
    }

    async fn search_takes_words_that_unfold_into_many(app) {
        let ligatures: Vec<String> = ('\u{3300}'..'\u{3332}').map(|letter| letter.to_string()).collect();
        for text in [ligatures.join(" "), "\u{fdfa}".repeat(100), ligatures.concat()] {
            app.anon().get("/api/profiles/search").query("q", &text).send().await.expect(200);
        }
    }
}

async fn found(app: &TestApp, words: &str) -> usize {
    app.anon().search(words).send().await.expect(200).as_array().unwrap().len()
}
