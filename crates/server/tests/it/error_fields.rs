//! Tests of the machine-readable parts of errors: `field` and `reasons`.

use latchkey_testkit::{Client, Request, TestApp, Value, both_stores, json};

const WEAK: &str = "WEAK_PASSWORD";
const INVALID: &str = "VALIDATION_ERROR";

both_stores! {
    async fn weak_password_names_its_field_and_every_rule_that_it_breaks(app) {
        let ada = app.user("ada").await;
        for (password, reasons) in [
            ("short-7", &["too_short"][..]),
            ("password", &["too_common"]),
            ("my-adalovelace-pass", &["contains_email"]),
            ("latchkey-adalovelace", &["contains_email", "contains_service_name"]),
            (&"q7z ".repeat(33), &["too_long"]),
        ] {
            app.anon().sign_up("adalovelace@example.org", password).send().await.refused_for(WEAK, "password", reasons);
        }
        let change = json!({"currentPassword": ada.password, "newPassword": "password"});
        ada.post("/api/auth/password", change).send().await.refused_for(WEAK, "newPassword", &["too_common"]);
        let made = json!({"email": "bob@example.org", "password": "password"});
        app.admin().post("/api/auth/users", made).send().await.refused_for(WEAK, "password", &["too_common"]);
    }

    with(|b| b.settings(|settings| {
        settings.require_number = true;
        settings.require_lowercase = true;
        settings.require_uppercase = true;
        settings.require_special_char = true;
    }))
    async fn character_classes_are_named(app) {
        let all = ["too_short", "missing_number", "missing_lowercase", "missing_uppercase", "missing_special_char"];

        app.anon().sign_up("ada@example.org", "\u{30c6}").send().await.refused_for(WEAK, "password", &all);
    }

    async fn body_keys_are_named_with_a_reason(app) {
        for (body, field, reason) in [
            (json!({"password": "x"}), "email", "required"),
            (json!({"email": "ada@example.org"}), "password", "required"),
            (json!({"email": 7, "password": "x"}), "email", "wrong_type"),
            (json!({"email": null, "password": "x"}), "email", "wrong_type"),
            (json!({"email": "ada", "password": "x"}), "email", "invalid_format"),
            (json!({"email": " ada@example.org", "password": "x"}), "email", "invalid_characters"),
            (json!({"email": format!("{}@example.org", "a".repeat(1100)), "password": "x"}), "email", "too_long"),
            (json!({"email": "ada@example.org", "password": "x", "name": "a".repeat(101)}), "name", "too_long"),
            (json!({"email": "ada@example.org", "password": "x", "name": "a\nb"}), "name", "invalid_characters"),
            (json!({"email": "ada@example.org", "password": "x", "options": 1}), "options", "wrong_type"),
            (
                json!({"email": "ada@example.org", "password": "x", "options": {"emailRedirectTo": 1}}),
                "options.emailRedirectTo",
                "wrong_type",
            ),
            (json!({"email": "ada@example.org", "password": "a\u{0}b"}), "password", "invalid_characters"),
            (json!({"email": "ada@example.org", "password": {"a": ["\u{0}"]}}), "password.a[0]", "invalid_characters"),
        ] {
            sign_up(&app, &body).send().await.refused_for(INVALID, field, &[reason]);
        }
        for (text, field, reason) in [
            (r#"{"email":"a@b.example","email":"c@d.example"}"#, Some("email"), "duplicate"),
            (r#"{"email":"#, None, "malformed"),
            ("[]", None, "wrong_type"),
            ("\u{feff}{}", None, "malformed"),
        ] {
            let answer = app.anon().request("POST", "/api/auth/users").raw("application/json", text).send().await;

            let body = answer.refused(400, INVALID);
            assert_eq!((body.get("field").and_then(Value::as_str), &body["reasons"]), (field, &json!([reason])));
        }
    }

    async fn profile_fields_are_named_with_a_reason(app) {
        let ada = app.user("ada").await;
        let large = json!({"a": "x".repeat(17_000)});
        for (change, field, reason) in [
            (json!({"avatar_url": "ftp://a.example"}), "avatar_url", "invalid_format"),
            (json!({"avatar_url": "https://a.example/ b"}), "avatar_url", "invalid_characters"),
            (json!({"username": "A!"}), "username", "invalid_format"),
            (json!({"username": "admin"}), "username", "reserved"),
            (json!({"bio": "x".repeat(1001)}), "bio", "too_long"),
            (json!({"name": null}), "name", "wrong_type"),
            (json!({"metadata": large}), "metadata", "too_large"),
        ] {
            ada.patch("/api/profiles/me", change).send().await.refused_for(INVALID, field, &[reason]);
        }
        set_profile(&ada, json!({"bio": 1})).send().await.refused_for(INVALID, "bio", &["wrong_type"]);
        let nested = set_profile(&ada, json!({"profile": {"name": 1}})).send().await;
        nested.refused_for(INVALID, "profile.name", &["wrong_type"]);
        set_profile(&ada, json!({})).send().await.refused_for(INVALID, "profile", &["required"]);
        let all = set_profile(&ada, json!({"a": "x".repeat(17_000)})).send().await;
        all.refused_for(INVALID, "profile", &["too_large"]);
    }

    async fn parameters_are_named_with_a_reason(app) {
        for (query, field, reason) in [
            ("q=a&limit=0", "limit", "out_of_range"),
            ("q=a&limit=x", "limit", "out_of_range"),
            ("q=a&offset=-1", "offset", "out_of_range"),
            ("q=a&q=b", "q", "duplicate"),
            ("q=%FF", "q", "malformed"),
            ("q=%00", "q", "invalid_characters"),
        ] {
            let answer = app.anon().get(&format!("/api/profiles/search?{query}")).send().await;

            answer.refused_for(INVALID, field, &[reason]);
        }
        app.anon().search(&"a".repeat(101)).send().await.refused_for(INVALID, "q", &["too_long"]);
        let missing = app.anon().get("/api/profiles/search").send().await.refused(400, "MISSING_QUERY");
        assert_eq!(missing["field"], "q");
    }

    async fn unknown_names_of_an_admin_are_named(app) {
        let body = json!({"email": "ada@example.org", "emial": "x"});

        app.admin().post("/api/auth/users", body).send().await.refused_for(INVALID, "emial", &["unknown"]);
        let query = app.admin().get("/api/auth/users?serach=a").send().await;
        query.refused_for(INVALID, "serach", &["unknown"]);
    }

    async fn redirect_targets_are_named_with_a_reason(app) {
        let with = |extra: Value| {
            let mut body = json!({"email": "ada@example.org", "password": latchkey_testkit::PASSWORD});
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            sign_up(&app, &body)
        };
        let not_listed = with(json!({"redirectTo": "https://evil.example/"})).send().await;
        not_listed.refused_for("REDIRECT_NOT_ALLOWED", "redirectTo", &["not_allowed"]);
        let no_url = with(json!({"redirectTo": "/done"})).send().await;
        no_url.refused_for("REDIRECT_NOT_ALLOWED", "redirectTo", &["invalid_format"]);
        let older = with(json!({"options": {"emailRedirectTo": "https://evil.example/"}})).send().await;
        older.refused_for("REDIRECT_NOT_ALLOWED", "options.emailRedirectTo", &["not_allowed"]);
    }

    async fn taken_names_name_their_field(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        ada.patch("/api/profiles/me", json!({"username": "ada"})).send().await.expect(200);

        let username = bob.patch("/api/profiles/me", json!({"username": "ADA"})).send().await;
        let email = app.anon().sign_up("ada@example.org", latchkey_testkit::PASSWORD).send().await;

        assert_eq!(username.refused(409, "USERNAME_TAKEN")["field"], "username");
        assert_eq!(email.refused(409, "EMAIL_EXISTS")["field"], "email");
    }

    async fn refusal_of_no_value_names_none(app) {
        for answer in [
            app.anon().get("/api/profiles/me").send().await,
            app.anon().sign_in("ada@example.org", "wrong meadow 78").send().await,
            app.anon().get("/nothing").send().await,
        ] {
            let body = answer.refused(answer.status, &answer.error_code());
            assert!(body.get("field").is_none() && body.get("reasons").is_none(), "{body}");
        }
    }

    async fn reasons_of_the_document_are_a_closed_list(app) {
        let document = app.anon().get("/openapi.json").send().await.expect(200);

        let words = &document["components"]["schemas"]["ErrorResponse"]["properties"]["reasons"]["items"]["enum"];

        for word in ["required", "too_short", "too_common", "contains_email", "invalid_format"] {
            assert!(words.as_array().unwrap().contains(&json!(word)), "{word}: {words}");
        }
    }
}

fn sign_up(app: &TestApp, body: &Value) -> Request {
    app.anon().post("/api/auth/users", body.clone())
}

fn set_profile(user: &Client, body: Value) -> Request {
    user.patch("/api/auth/profiles/current", body)
}
