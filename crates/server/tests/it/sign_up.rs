//! Tests of signUp (POST /api/auth/users) without required verification. With it, they are in `sign_up_pending.rs`, and
//! later events in `contested.rs`.

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
        assert!(cookies[0].starts_with("latchkey_refresh_8700="), "{cookies:?}");
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

    async fn taken_address_is_reported_while_verification_is_off(app) {
        app.user("ada").await;

        let answer = app.anon().sign_up("ADA@example.org", PASSWORD).send().await;

        answer.refused(409, "EMAIL_EXISTS");
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

    async fn response_has_exactly_these_fields(app) {
        let web = app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        let server = app.anon().sign_up("bob@example.org", PASSWORD).client_type("server").send().await.expect(200);

        assert_eq!(keys(&web), ["accessToken", "csrfToken", "requireEmailVerification", "user"]);
        assert_eq!(keys(&server), ["accessToken", "refreshToken", "requireEmailVerification", "user"]);
    }

    async fn csrf_token_is_base64url_or_hex_without_padding(app) {
        let signed_up = app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);

        let token = signed_up["csrfToken"].as_str().unwrap();
        assert!(token.len() >= 43, "{token}");
        assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{token}");
    }

    async fn unknown_client_type_is_a_web_client(app) {
        let answer = app.anon().sign_up("ada@example.org", PASSWORD).client_type("toaster").send().await;

        assert!(answer.expect(200)["csrfToken"].is_string());
        assert_eq!(answer.set_cookies().len(), 1);
    }

    async fn client_type_given_twice_is_refused_and_does_not_sign_up(app) {
        let request = app.anon().sign_up("ada@example.org", PASSWORD).client_type("web").client_type("server");

        let answer = request.send().await;

        answer.refused(400, "VALIDATION_ERROR");
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    }

    with(|b| b.mode_production())
    async fn cookie_in_production_is_secure_and_has_no_domain(app) {
        let answer = app.anon().sign_up("ada@example.org", PASSWORD).send().await;

        let (_, attributes) = answer.set_cookies()[0].split_once("; ").unwrap();
        assert!(answer.set_cookies()[0].starts_with("__Secure-latchkey_refresh="));
        assert_eq!(attributes, "Path=/api/auth; Max-Age=2592000; HttpOnly; Secure; SameSite=Lax");
    }

    with(|b| b.mode_production().http(|http| http.cross_site_apps = true))
    async fn cookie_for_apps_on_other_sites_is_same_site_none(app) {
        let answer = app.anon().sign_up("ada@example.org", PASSWORD).send().await;

        assert!(answer.set_cookies()[0].ends_with("; HttpOnly; Secure; SameSite=None"), "{answer:?}");
    }

    async fn sign_up_without_verification_sends_no_mail(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);

        app.run_jobs().await;

        assert_eq!(app.mail().total(), 0);
    }

    async fn nothing_of_the_address_becomes_public(app) {
        let signed_up = app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        let id = signed_up["user"]["id"].as_str().unwrap();

        let public = app.anon().get(&format!("/api/profiles/{id}")).send().await;
        let flat = app.anon().get(&format!("/api/auth/profiles/{id}")).send().await;

        assert_eq!(public.expect(200)["name"], "");
        assert_eq!(flat.expect(200)["name"], "");
        assert!(!public.text().contains("ada") && !flat.text().contains("ada"));
    }

    async fn name_has_a_hundred_characters_at_most(app) {
        let sign_up = |email: &str, name: Value| {
            app.anon().post("/api/auth/users", json!({"email": email, "password": PASSWORD, "name": name}))
        };

        let longest = sign_up("ada@example.org", json!("é".repeat(100))).send().await;
        let longer = sign_up("bob@example.org", json!("é".repeat(101))).send().await;
        let no_text = sign_up("bob@example.org", json!(7)).send().await;

        assert_eq!(longest.expect(200)["user"]["profile"]["name"], "é".repeat(100));
        for refusal in [longer, no_text] {
            let message = refusal.refused(400, "VALIDATION_ERROR")["message"].to_string();
            assert!(message.contains("name"), "{message}");
        }
    }

    with(|b| b.no_profile_on_sign_up())
    async fn sign_up_makes_no_profile_where_the_operator_wants_none(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD, "name": "Ada"});

        let signed_up = app.anon().post("/api/auth/users", body).send().await.expect(200);

        assert_eq!(signed_up["user"]["profile"], json!({"name": "", "avatar_url": null}));
        let me = app.bearing(signed_up["accessToken"].as_str().unwrap()).get("/api/profiles/me").send().await;
        me.refused(404, "PROFILE_NOT_FOUND");
    }

    async fn unknown_keys_are_ignored(app) {
        let body = json!({
            "email": "ada@example.org", "password": PASSWORD,
            "emailVerified": true, "role": "admin", "metadata": {"plan": "gold"}, "id": "1",
        });

        let signed_up = app.anon().post("/api/auth/users", body).send().await.expect(200);

        assert_eq!(signed_up["user"]["emailVerified"], false);
        assert_eq!(signed_up["user"]["metadata"], json!({}));
    }

    async fn taken_address_of_a_banned_account_is_reported_too(app) {
        let ada = app.user("ada").await;
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), json!({"banned": true})).send().await.expect(200);

        let answer = app.anon().sign_up("ada@example.org", PASSWORD).send().await;

        answer.refused(409, "EMAIL_EXISTS");
    }

    with(|b| b.redirects(&["https://app.example/done"]))
    async fn target_off_the_list_is_refused_even_where_no_mail_goes_out(app) {
        let base = || json!({"email": "ada@example.org", "password": PASSWORD});
        let (mut current, mut older) = (base(), base());
        current["redirectTo"] = json!("https://evil.example/");
        older["options"] = json!({"emailRedirectTo": "https://evil.example/"});

        let answers = [
            app.anon().post("/api/auth/users", current).send().await,
            app.anon().post("/api/auth/users", older).send().await,
        ];

        for answer in answers {
            answer.refused(400, "REDIRECT_NOT_ALLOWED");
        }
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    }

    with(|b| b.sign_up_disabled().verification_by_code())
    async fn closed_sign_up_sends_no_mail_either(app) {
        let answer = app.anon().sign_up("ada@example.org", PASSWORD).send().await;

        answer.refused(403, "SIGNUP_DISABLED");
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);
    }

    async fn optional_fields_may_be_null(app) {
        let body = json!({
            "email": "ada@example.org", "password": PASSWORD, "name": null, "redirectTo": null, "options": null,
        });

        let answer = app.anon().post("/api/auth/users", body).send().await;

        assert_eq!(answer.expect(200)["user"]["profile"]["name"], "");
    }
}

fn keys(body: &Value) -> Vec<&str> {
    body.as_object().unwrap().keys().map(String::as_str).collect()
}
