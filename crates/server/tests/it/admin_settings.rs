//! Tests of the settings: the public config, the admin's config, its changes and their persistence, and settings pinned
//! by the operator.

use latchkey_testkit::{Answer, PASSWORD, TestApp, Value, both_stores, json};

const CONFIG: &str = "/api/auth/config";
const PUBLIC: &str = "/api/auth/public-config";
const APP: &str = "https://app.example.org/done";

async fn put(app: &TestApp, body: Value) -> Answer {
    app.admin().put(CONFIG, body).send().await
}

async fn config(app: &TestApp) -> Value {
    app.admin().get(CONFIG).send().await.expect(200)
}

async fn sign_up(app: &TestApp, name: &str, password: &str) -> Answer {
    app.anon().sign_up(&format!("{name}@example.org"), password).send().await
}

/// Public settings of a fresh development service.
fn public_defaults() -> Value {
    json!({
        "oAuthProviders": [],
        "customOAuthProviders": [],
        "requireEmailVerification": false,
        "passwordMinLength": 8,
        "requireNumber": false,
        "requireLowercase": false,
        "requireUppercase": false,
        "requireSpecialChar": false,
        "verifyEmailMethod": "code",
        "resetPasswordMethod": "code",
        "emailSignIn": "code",
        "secondFactor": "optional",
        "passkeys": true,
        "locales": ["en", "de", "fr", "es", "it", "pt", "ja", "zh"],
        "disableSignup": false,
    })
}

both_stores! {
    async fn public_config_has_exactly_its_keys(app) {
        let answer = app.anon().get(PUBLIC).send().await;

        assert_eq!(answer.expect(200), public_defaults());
    }

    with(|b| b.redirects(&[APP]).default_redirect(APP))
    async fn admin_sees_the_redirect_list_and_the_default_besides(app) {
        let mut expected = public_defaults();
        expected["allowedRedirectUrls"] = json!([APP]);
        expected["defaultRedirectUrl"] = json!(APP);
        expected["defaultLocale"] = json!("en");

        assert_eq!(config(&app).await, expected);
        let public = app.anon().get(PUBLIC).send().await;
        assert!(!public.text().contains("example.org"), "{public:?}");
    }

    async fn change_is_partial_and_returns_all_settings(app) {
        let mut expected = config(&app).await;
        assert_eq!(
            (&expected["allowedRedirectUrls"], &expected["defaultRedirectUrl"]),
            (&json!([]), &json!(null))
        );

        let answer = put(&app, json!({"passwordMinLength": 12})).await.expect(200);

        expected["passwordMinLength"] = json!(12);
        assert_eq!(answer, expected);
        assert_eq!(config(&app).await, expected);
        assert_eq!(app.anon().get(PUBLIC).send().await.expect(200)["passwordMinLength"], 12);
    }

    async fn every_setting_can_be_changed_and_is_shown(app) {
        let all = json!({
            "requireEmailVerification": true, "passwordMinLength": 15, "requireNumber": true, "requireLowercase": true,
            "requireUppercase": true, "requireSpecialChar": true, "verifyEmailMethod": "link",
            "resetPasswordMethod": "link", "disableSignup": true, "allowedRedirectUrls": [APP, "myapp://callback"],
            "defaultRedirectUrl": APP, "defaultLocale": "de",
        });

        let answer = put(&app, all.clone()).await.expect(200);

        for (field, value) in all.as_object().unwrap() {
            assert_eq!(&answer[field], value, "{field}");
        }
        assert_eq!(config(&app).await, answer);
    }

    async fn empty_change_changes_nothing(app) {
        let before = config(&app).await;

        assert_eq!(put(&app, json!({})).await.expect(200), before);
    }

    async fn bad_value_is_refused_by_name_and_changes_nothing(app) {
        let before = config(&app).await;

        for (field, values) in [
            ("requireEmailVerification", vec![json!("true"), json!(1), json!([])]),
            ("disableSignup", vec![json!("no"), json!(0)]),
            ("requireNumber", vec![json!("x")]),
            ("requireLowercase", vec![json!({})]),
            ("requireUppercase", vec![json!(1)]),
            ("requireSpecialChar", vec![json!("!")]),
            ("verifyEmailMethod", vec![json!("Code"), json!("sms"), json!(""), json!(1), json!(["code"])]),
            ("resetPasswordMethod", vec![json!("both"), json!(true)]),
            (
                "passwordMinLength",
                vec![json!(7), json!(129), json!(0), json!(-8), json!(8.5), json!("8"), json!(1e30)],
            ),
        ] {
            for value in values {
                let beside = if field == "disableSignup" { "requireNumber" } else { "disableSignup" };

                let answer = put(&app, json!({field: value, beside: true})).await;

                let refusal = answer.refused(400, "VALIDATION_ERROR");
                assert!(refusal["message"].as_str().unwrap().contains(field), "{field} {value}: {refusal}");
                assert_eq!(config(&app).await, before, "{field} {value}");
            }
        }
    }

    async fn bad_redirect_entry_is_refused_by_name(app) {
        for entry in [
            "",
            "not a url",
            "/done",
            "javascript:alert(1)",
            "data:text/html,x",
            "https://*",
            "https://*/done",
            "https://**/x",
            "https://user:pw@app.example.org/",
            "https://app.example.org\\@evil.example/",
            "https://app.example.org/\u{7}",
        ] {
            let answer = put(&app, json!({"allowedRedirectUrls": [APP, entry]})).await;

            let refusal = answer.refused(400, "VALIDATION_ERROR");
            assert!(
                refusal["message"].as_str().unwrap().contains("allowedRedirectUrls"),
                "{entry:?}: {refusal}"
            );
        }
        for list in [json!(APP), json!([1]), json!([null]), json!({})] {
            put(&app, json!({"allowedRedirectUrls": list})).await.refused(400, "VALIDATION_ERROR");
        }
        assert_eq!(config(&app).await["allowedRedirectUrls"], json!([]));
    }

    async fn redirect_list_is_bounded_by_the_body_and_checked_fast_at_its_longest(app) {
        let list = |count: usize| {
            let entries: Vec<_> = (0..count).map(|n| format!("https://a{n}.example/**")).collect();
            json!({"allowedRedirectUrls": entries})
        };
        put(&app, list(2_000)).await.expect(200);
        put(&app, list(4_000)).await.refused(413, "PAYLOAD_TOO_LARGE");

        // Targets of the last entry, and of none, so that the whole list is searched.
        for (target, status) in [("https://a1999.example/done", 200), ("https://evil.example/done", 400)] {
            let body = json!({"email": "ada@example.org", "password": latchkey_testkit::PASSWORD, "redirectTo": target});
            assert_eq!(app.anon().post("/api/auth/users", body).send().await.status, status, "{target}");
        }
        assert_eq!(config(&app).await["allowedRedirectUrls"].as_array().unwrap().len(), 2_000);
    }

    async fn default_redirect_must_be_on_the_list(app) {
        let list = json!({"allowedRedirectUrls": [APP]});
        put(&app, list).await.expect(200);

        for url in
            ["https://evil.example/", "https://app.example.org/other", "app", "", "javascript:alert(1)"]
        {
            let answer = put(&app, json!({"defaultRedirectUrl": url})).await;

            let refusal = answer.refused(400, "VALIDATION_ERROR");
            assert!(refusal["message"].as_str().unwrap().contains("defaultRedirectUrl"), "{url}: {refusal}");
        }
        put(&app, json!({"defaultRedirectUrl": APP})).await.expect(200);
        assert_eq!(config(&app).await["defaultRedirectUrl"], APP);
    }

    async fn entry_that_the_default_needs_cannot_be_taken_off_the_list(app) {
        put(&app, json!({"allowedRedirectUrls": [APP], "defaultRedirectUrl": APP})).await.expect(200);

        let answer = put(&app, json!({"allowedRedirectUrls": ["https://other.example.org/"]})).await;

        answer.refused(400, "VALIDATION_ERROR");
        let both = json!({"allowedRedirectUrls": ["https://other.example.org/"], "defaultRedirectUrl": null});
        assert_eq!(put(&app, both).await.expect(200)["defaultRedirectUrl"], json!(null));
    }

    async fn required_verification_is_in_force_at_once(app) {
        let ada = app.user("ada").await;
        let session = |email: String| app.anon().sign_in(&email, PASSWORD);
        session(ada.email.clone()).send().await.expect(200);

        put(&app, json!({"requireEmailVerification": true})).await.expect(200);

        session(ada.email.clone()).send().await.refused(403, "EMAIL_NOT_VERIFIED");
        let signed_up = sign_up(&app, "eve", PASSWORD).await.expect(200);
        assert_eq!(
            (&signed_up["requireEmailVerification"], &signed_up["accessToken"]),
            (&json!(true), &json!(null))
        );
        assert_eq!(app.mail_to("eve@example.org").await.code().len(), 6);
    }

    async fn verification_method_is_in_force_at_once(app) {
        let link = json!({"requireEmailVerification": true, "verifyEmailMethod": "link", "allowedRedirectUrls": [APP],
            "defaultRedirectUrl": APP});
        put(&app, link).await.expect(200);
        sign_up(&app, "ada", PASSWORD).await.expect(200);
        assert_eq!(app.mail_to("ada@example.org").await.token().len(), 64);

        put(&app, json!({"verifyEmailMethod": "code"})).await.expect(200);

        sign_up(&app, "eve", PASSWORD).await.expect(200);
        assert_eq!(app.mail_to("eve@example.org").await.code().len(), 6);
    }

    async fn reset_method_is_in_force_at_once(app) {
        let ada = app.user("ada").await;
        let link =
            json!({"resetPasswordMethod": "link", "allowedRedirectUrls": [APP], "defaultRedirectUrl": APP});

        put(&app, link).await.expect(200);

        let body = json!({"email": ada.email});
        app.anon().post("/api/auth/email/send-reset-password", body).send().await.expect(202);
        assert!(app.mail_to(&ada.email).await.link().contains("/api/auth/email/reset-password-link?token="));
    }

    async fn closed_sign_up_is_in_force_at_once_and_opens_again(app) {
        put(&app, json!({"disableSignup": true})).await.expect(200);
        sign_up(&app, "ada", PASSWORD).await.refused(403, "SIGNUP_DISABLED");

        put(&app, json!({"disableSignup": false})).await.expect(200);

        sign_up(&app, "ada", PASSWORD).await.expect(200);
    }

    async fn password_rules_are_in_force_at_once(app) {
        for (field, value, weak, good) in [
            ("passwordMinLength", json!(12), "lantern-vio", "lantern-viol"),
            ("requireNumber", json!(true), "lantern-violet", "lantern-viole7"),
            ("requireUppercase", json!(true), "lantern-viole7", "lantern-Viole7"),
            ("requireSpecialChar", json!(true), "lanternXViole7", "lantern-Viole7x"),
            ("requireLowercase", json!(true), "LANTERN-VIOLE7", "LANTERN-vIOLE7"),
        ] {
            put(&app, json!({field: value})).await.expect(200);

            sign_up(&app, field, weak).await.refused(400, "WEAK_PASSWORD");
            sign_up(&app, field, good).await.expect(200);
        }
    }

    async fn stricter_rules_do_not_lock_out_older_passwords(app) {
        let ada = app.user("ada").await;

        put(&app, json!({"passwordMinLength": 64})).await.expect(200);

        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
    }

    async fn redirect_list_is_in_force_at_once(app) {
        put(&app, json!({"resetPasswordMethod": "link"})).await.expect(200);
        let send = async |target: &str| {
            let body = json!({"email": "nobody@example.org", "redirectTo": target});
            app.anon().post("/api/auth/email/send-reset-password", body).send().await
        };
        send(APP).await.refused(400, "REDIRECT_NOT_ALLOWED");

        put(&app, json!({"allowedRedirectUrls": [APP]})).await.expect(200);
        send(APP).await.expect(202);
        put(&app, json!({"allowedRedirectUrls": []})).await.expect(200);

        send(APP).await.refused(400, "REDIRECT_NOT_ALLOWED");
    }

    async fn origin_of_a_redirect_entry_is_known_at_once(app) {
        let origin = "https://app.example.org";
        let ask = || app.anon().get(PUBLIC).header("origin", origin).send();
        assert_eq!(ask().await.header("access-control-allow-origin"), None);

        put(&app, json!({"allowedRedirectUrls": [APP]})).await.expect(200);

        assert_eq!(ask().await.header("access-control-allow-origin"), Some(origin));
    }

    async fn change_outlives_a_restart(mut app) {
        let changed = json!({"passwordMinLength": 20, "verifyEmailMethod": "link", "allowedRedirectUrls": [APP],
            "defaultRedirectUrl": APP});
        let before = put(&app, changed).await.expect(200);

        app.restart().await;

        assert_eq!(config(&app).await, before);
        sign_up(&app, "ada", "lantern-violet").await.refused(400, "WEAK_PASSWORD");
    }

    async fn removed_default_redirect_stays_removed_after_a_restart(mut app) {
        app.restart_with(|b| b.redirects(&[APP]).default_redirect(APP)).await;
        assert_eq!(config(&app).await["defaultRedirectUrl"], APP);

        put(&app, json!({"defaultRedirectUrl": null})).await.expect(200);
        app.restart().await;

        assert_eq!(config(&app).await["defaultRedirectUrl"], json!(null));
    }

    async fn change_reaches_other_instances(app) {
        let other = app.beside().await;
        assert_eq!(config(&other).await["disableSignup"], false);

        put(&app, json!({"disableSignup": true})).await.expect(200);
        other.run_jobs().await;

        sign_up(&other, "ada", PASSWORD).await.refused(403, "SIGNUP_DISABLED");
    }

    async fn two_instances_do_not_undo_each_other(app) {
        let other = app.beside().await;

        put(&app, json!({"passwordMinLength": 12})).await.expect(200);
        let answer = put(&other, json!({"disableSignup": true})).await.expect(200);

        assert_eq!((&answer["passwordMinLength"], &answer["disableSignup"]), (&json!(12), &json!(true)));
    }

    with(|b| b.pinned("auth.disable_sign_up"))
    async fn change_with_a_pinned_setting_changes_nothing(app) {
        let before = config(&app).await;

        let answer = put(&app, json!({"disableSignup": true, "passwordMinLength": 12})).await;

        let refusal = answer.refused(409, "SETTING_PINNED");
        assert!(refusal["message"].as_str().unwrap().contains("disableSignup"), "{refusal}");
        assert_eq!(config(&app).await, before);
        put(&app, json!({"passwordMinLength": 12})).await.expect(200);
    }

    async fn pinned_setting_wins_over_what_an_admin_stored_before(mut app) {
        put(&app, json!({"disableSignup": true, "passwordMinLength": 12})).await.expect(200);

        app.restart_with(|b| b.pinned("auth.disable_sign_up")).await;

        let config = config(&app).await;
        assert_eq!((&config["disableSignup"], &config["passwordMinLength"]), (&json!(false), &json!(12)));
        sign_up(&app, "ada", PASSWORD).await.expect(200);
    }

    async fn every_setting_can_be_pinned(mut app) {
        app.restart_with(|b| b.pinned_all()).await;

        for (field, value) in config(&app).await.as_object().unwrap() {
            if !field.ends_with("Providers") && field != "locales" {
                put(&app, json!({field: value})).await.refused(409, "SETTING_PINNED");
            }
        }
    }

    with(|b| b.no_mail_transport())
    async fn verification_cannot_be_required_without_a_mail_transport(app) {
        let answer = put(&app, json!({"requireEmailVerification": true, "passwordMinLength": 12})).await;

        answer.refused(400, "EMAIL_PROVIDER_NOT_CONFIGURED");
        let config = config(&app).await;
        assert_eq!(
            (&config["requireEmailVerification"], &config["passwordMinLength"]),
            (&json!(false), &json!(8))
        );
        put(&app, json!({"requireEmailVerification": false})).await.expect(200);
    }
}
