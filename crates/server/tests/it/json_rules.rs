//! Tests of the rules of a request body, on every route that takes one: a strict JSON object in UTF-8 of limited depth.

use latchkey_testkit::{PASSWORD, both_stores, json};

use crate::routes::with_body;

both_stores! {
    async fn body_that_is_no_json_is_refused(app) {
        refused_everywhere(
            &app,
            &[
                " ",
                "{",
                "}",
                "{}x",
                "{}{}",
                "{},",
                "{\"a\":1,}",
                "{a:1}",
                "{'a':1}",
                "{\"a\":NaN}",
                "{\"a\":01}",
                "{\"a\":+1}",
                "{\"a\":\"\t\"}",
                "// x\n{}",
                "{\"a\":\"\\x\"}",
                "{\"a\":1e999}",
                "email=ada",
                "<a/>",
            ],
        )
        .await;
    }

    async fn body_that_is_no_object_is_refused(app) {
        refused_everywhere(&app, &["[]", "[{}]", "null", "true", "1", "\"{}\"", "-0.0e1"]).await;
    }

    async fn duplicate_key_is_refused_at_any_depth_and_in_any_spelling(app) {
        refused_everywhere(
            &app,
            &[
                r#"{"x":1,"x":1}"#,
                r#"{"email":"a@example.org","\u0065mail":"b@example.org"}"#,
                r#"{"metadata":{"a":{"b":1,"b":2}}}"#,
                r#"{"x":[[{"b":1,"b":2}]]}"#,
            ],
        )
        .await;
    }

    async fn nul_is_refused_in_any_text_and_key(app) {
        refused_everywhere(
            &app,
            &[
                r#"{"x":"\u0000"}"#,
                r#"{"\u0000":1}"#,
                r#"{"x":{"y":["a\u0000b"]}}"#,
                "{\"x\":\"\0\"}",
                "{\"x\":1}\0",
            ],
        )
        .await;
    }

    async fn lone_surrogate_is_refused_in_any_text_and_key(app) {
        refused_everywhere(
            &app,
            &[
                r#"{"x":"\ud800"}"#,
                r#"{"x":"\udfff"}"#,
                r#"{"\ud800":1}"#,
                r#"{"x":["\ude00\ud83d"]}"#,
                r#"{"x":"\ud83dx"}"#,
            ],
        )
        .await;
    }

    async fn invalid_utf8_is_refused(app) {
        let bodies: [&[u8]; 5] = [
            b"{\"x\":\"\xff\"}",
            b"{\"x\":\"\xc3\"}",
            b"{\"x\":\"\xed\xa0\x80\"}",
            b"{\"x\":\"\xc0\x80\"}",
            b"\xef\xbb\xbf{}",
        ];
        let ada = app.user("ada").await;
        for route in with_body() {
            for body in bodies {
                let answer = route.request(&app, &ada).raw("application/json", body).send().await;

                answer.refused(400, "VALIDATION_ERROR");
            }
        }
    }

    async fn utf16_is_refused(app) {
        let body: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();

        let answer =
            app.anon().request("POST", "/api/auth/logout").raw("application/json", body).send().await;

        answer.refused(400, "VALIDATION_ERROR");
    }

    async fn body_deeper_than_32_is_refused(app) {
        let objects = |depth: usize| format!("{}1{}", r#"{"x":"#.repeat(depth), "}".repeat(depth));
        let arrays = format!(r#"{{"x":{}"#, "[".repeat(60_000));

        refused_everywhere(&app, &[&objects(33), &objects(9000), &arrays]).await;

        let ada = app.user("bob").await;
        ada.patch("/api/profiles/me", serde_json::from_str(&objects(32)).unwrap()).send().await.expect(200);
    }

    async fn profile_that_is_not_sent_is_refused_and_changes_nothing(app) {
        let ada = app.user("ada").await;
        let before = ada.get("/api/profiles/me").send().await.expect(200);

        let record = ada.request("PATCH", "/api/profiles/me").send().await;
        let flat = ada.request("PATCH", "/api/auth/profiles/current").send().await;

        record.refused(400, "VALIDATION_ERROR");
        flat.refused(400, "VALIDATION_ERROR");
        assert_eq!(ada.get("/api/profiles/me").send().await.expect(200), before);
    }

    async fn older_options_are_an_unknown_key_of_a_reset_mail(app) {
        let options = json!({"emailRedirectTo": "https://evil.example/"});
        let body = json!({"email": "ada@example.org", "options": options});

        let reset = app.anon().post("/api/auth/email/send-reset-password", body.clone()).send().await;
        let resend = app.anon().post("/api/auth/email/send-verification", body).send().await;

        reset.expect(202);
        resend.refused(400, "REDIRECT_NOT_ALLOWED");
    }

    async fn unknown_keys_are_ignored(app) {
        let mut body = json!({"email": "ada@example.org", "password": PASSWORD});
        body["__proto__"] = json!({"admin": true});
        body[""] = json!([]);

        let signed_up = app.anon().post("/api/auth/users", body).send().await.expect(200);

        assert_eq!(signed_up["user"]["email"], "ada@example.org");
    }

    async fn message_names_the_field_and_never_repeats_the_value(app) {
        for (body, field) in [
            (json!({"email": 4711, "password": PASSWORD}), "email"),
            (json!({"email": "ada@example.org", "password": {"secret-4711": 1}}), "password"),
            (json!({"email": "ada@example.org", "password": ["secret-4711"]}), "password"),
            (json!({"email": "secret-4711@@example.org", "password": PASSWORD}), "email"),
        ] {
            let refusal =
                app.anon().post("/api/auth/users", body).send().await.refused(400, "VALIDATION_ERROR");

            let message = refusal["message"].as_str().unwrap();
            assert!(message.contains(field) && !message.contains("4711"), "{message}");
        }
    }
}

/// Asserts 400 `VALIDATION_ERROR` for these bodies on every route that takes one.
async fn refused_everywhere(app: &latchkey_testkit::TestApp, bodies: &[&str]) {
    let ada = app.user("ada").await;
    for route in with_body() {
        for &body in bodies {
            let answer = route.request(app, &ada).raw("application/json", body).send().await;

            assert_eq!(answer.status, 400, "{} {}: {body:.80}: {answer:?}", route.method, route.path);
            answer.refused(400, "VALIDATION_ERROR");
        }
    }
}
