//! Tests of profile fields at PATCH /api/profiles/me: null, types, lengths, usernames, avatar URLs. A refused request
//! changes nothing. The same rules at setProfile are in `set_profile`.

use latchkey_testkit::{Answer, User, Value, both_stores, json, minutes};

const ME: &str = "/api/profiles/me";

async fn patch(user: &User, field: &str, value: Value) -> Answer {
    user.patch(ME, json!({field: value})).send().await
}

async fn record(user: &User) -> Value {
    user.get(ME).send().await.expect(200)
}

/// Asserts that the field is stored exactly as sent.
async fn takes(user: &User, field: &str, value: Value) {
    let changed = patch(user, field, value.clone()).await.expect(200);

    assert_eq!(changed[field], value);
    assert_eq!(record(user).await, changed);
}

/// Asserts that the value is refused with the field's name, and that valid fields of the same request are not stored.
async fn refuses(user: &User, field: &str, value: Value) {
    let before = record(user).await;
    let beside = if field == "bio" { "name" } else { "bio" };

    let answer = user.patch(ME, json!({field: value, beside: "must not be kept"})).send().await;

    let refusal = answer.refused(400, "VALIDATION_ERROR");
    assert!(refusal["message"].as_str().unwrap().contains(field), "{field} {value}: {refusal}");
    assert_eq!(record(user).await, before, "{field} {value}");
}

/// Compact JSON of this many bytes: `{"a":"xx…"}`.
pub(crate) fn object_of_size(bytes: usize) -> Value {
    json!({"a": "x".repeat(bytes - r#"{"a":""}"#.len())})
}

/// `[[…]]` of this depth.
fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

both_stores! {
    async fn null_clears_avatar_bio_and_username(app) {
        let ada = app.user("ada").await;
        let full = json!({"avatar_url": "https://example.org/a.png", "bio": "Countess", "username": "ada"});
        ada.patch(ME, full).send().await.expect(200);

        let nulls = json!({"avatar_url": null, "bio": null, "username": null});
        let cleared = ada.patch(ME, nulls).send().await.expect(200);

        assert_eq!((&cleared["avatar_url"], &cleared["bio"]), (&json!(null), &json!(null)));
        assert_eq!(cleared.get("username"), None);
        assert_eq!(cleared["name"], "Ada");
        assert_eq!(record(&ada).await, cleared);
    }

    async fn name_and_metadata_cannot_be_null(app) {
        let ada = app.user("ada").await;

        refuses(&ada, "name", json!(null)).await;
        refuses(&ada, "metadata", json!(null)).await;
    }

    async fn field_of_another_type_is_refused(app) {
        let ada = app.user("ada").await;

        for field in ["name", "avatar_url", "bio", "username"] {
            for value in [json!(1), json!(true), json!(["x"]), json!({"x": 1})] {
                refuses(&ada, field, value).await;
            }
        }
        for value in [json!(1), json!(true), json!("{}"), json!([]), json!([{"a": 1}])] {
            refuses(&ada, "metadata", value).await;
        }
    }

    async fn body_that_is_no_object_is_refused(app) {
        let ada = app.user("ada").await;
        let before = record(&ada).await;

        for body in [
            "[]",
            "null",
            "1",
            r#""name""#,
            r#"[{"name":"Eve"}]"#,
            r#"{"name":"Eve""#,
            r#"{"name":"a","name":"b"}"#,
        ] {
            let answer = ada.request("PATCH", ME).raw("application/json", body).send().await;

            answer.refused(400, "VALIDATION_ERROR");
        }
        assert_eq!(record(&ada).await, before);
    }

    async fn name_has_at_most_100_characters(app) {
        let ada = app.user("ada").await;

        takes(&ada, "name", json!("n".repeat(100))).await;
        takes(&ada, "name", json!("🙂".repeat(100))).await;
        takes(&ada, "name", json!("")).await;
        refuses(&ada, "name", json!("n".repeat(101))).await;
        refuses(&ada, "name", json!("🙂".repeat(101))).await;
    }

    async fn bio_has_at_most_1000_characters(app) {
        let ada = app.user("ada").await;

        takes(&ada, "bio", json!("b".repeat(1_000))).await;
        takes(&ada, "bio", json!("ß\n".repeat(500))).await;
        takes(&ada, "bio", json!("")).await;
        refuses(&ada, "bio", json!("b".repeat(1_001))).await;
        refuses(&ada, "bio", json!("𝔟".repeat(1_001))).await;
    }

    async fn avatar_url_has_at_most_2048_characters(app) {
        let ada = app.user("ada").await;
        let start = "https://example.org/";

        takes(&ada, "avatar_url", json!(start.to_owned() + &"a".repeat(2_048 - start.len()))).await;
        takes(&ada, "avatar_url", json!(start.to_owned() + &"ä".repeat(2_048 - start.len()))).await;
        refuses(&ada, "avatar_url", json!(start.to_owned() + &"a".repeat(2_049 - start.len()))).await;
    }

    async fn metadata_has_at_most_16_kib(app) {
        let ada = app.user("ada").await;

        takes(&ada, "metadata", object_of_size(16 * 1024)).await;
        refuses(&ada, "metadata", object_of_size(16 * 1024 + 1)).await;
    }

    async fn json_nests_at_most_32_levels(app) {
        let ada = app.user("ada").await;
        // The body is the first level, metadata the second.
        let body = |depth: usize| format!(r#"{{"metadata":{{"a":{}}}}}"#, nested(depth - 2));

        let deepest = ada.request("PATCH", ME).raw("application/json", body(32)).send().await;
        let deeper = ada.request("PATCH", ME).raw("application/json", body(33)).send().await;
        let bottomless = ada.request("PATCH", ME).raw("application/json", body(50_000)).send().await;

        let kept = deepest.expect(200)["metadata"].clone();
        deeper.refused(400, "VALIDATION_ERROR");
        bottomless.refused(400, "VALIDATION_ERROR");
        assert_eq!(kept["a"].to_string(), nested(30));
        assert_eq!(record(&ada).await["metadata"], kept);
    }

    async fn metadata_replaces_the_whole_object(app) {
        let ada = app.user("ada").await;
        takes(&ada, "metadata", json!({"theme": "dark", "tags": ["a", null, 1.5], "deep": {"x": {}}})).await;

        takes(&ada, "metadata", json!({"tags": [], "nothing": null})).await;
        takes(&ada, "metadata", json!({})).await;
    }

    async fn texts_are_kept_as_sent(app) {
        let ada = app.user("ada").await;

        for text in [
            "  Ａda  ",
            "E\u{301}va",
            "O'Neil <b>&amp;</b> \\u0041",
            "مرحبا \u{202e}x",
            "'; DROP TABLE profiles; --",
        ] {
            takes(&ada, "name", json!(text)).await;
            takes(&ada, "bio", json!(text)).await;
            takes(&ada, "metadata", json!({text: text})).await;
        }
    }

    async fn nul_and_lone_surrogates_are_refused(app) {
        let ada = app.user("ada").await;
        let before = record(&ada).await;

        for text in [r"a\u0000b", r"\ud800", r"a\udc00b", r"\ude00\ud83d"] {
            for body in [
                format!(r#"{{"name":"{text}"}}"#),
                format!(r#"{{"bio":"{text}"}}"#),
                format!(r#"{{"metadata":{{"{text}":1}}}}"#),
                format!(r#"{{"metadata":{{"a":["{text}"]}}}}"#),
            ] {
                let answer = ada.request("PATCH", ME).raw("application/json", body).send().await;

                answer.refused(400, "VALIDATION_ERROR");
            }
        }
        assert_eq!(record(&ada).await, before);
    }

    async fn username_has_3_to_32_characters_of_its_own(app) {
        let ada = app.user("ada").await;

        for good in ["abc", "a.b", "_-_", "007", &"u".repeat(32), "ada_lovelace-1815.x"] {
            takes(&ada, "username", json!(good)).await;
        }
        for bad in [
            "",
            "ab",
            &"u".repeat(33),
            "a b",
            "ada!",
            "ada@x",
            "ádá",
            "аdа",
            "ＡＤＡ",
            " ada",
            "ada\n",
            "a\u{200b}da",
        ] {
            refuses(&ada, "username", json!(bad)).await;
        }
    }

    async fn reserved_username_is_refused_in_any_case(app) {
        let ada = app.user("ada").await;

        for word in ["admin", "ADMIN", "Root", "support", "me"] {
            refuses(&ada, "username", json!(word)).await;
        }
    }

    async fn username_of_another_user_is_taken_in_any_case(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        patch(&ada, "username", json!("countess")).await.expect(200);
        let before = record(&eve).await;

        for username in ["countess", "COUNTESS", "Countess"] {
            let answer = eve.patch(ME, json!({"username": username, "bio": "Eve"})).send().await;

            answer.refused(409, "USERNAME_TAKEN");
            assert_eq!(record(&eve).await, before, "{username}");
        }
    }

    async fn own_username_can_be_sent_again_in_another_case(app) {
        let ada = app.user("ada").await;
        patch(&ada, "username", json!("countess")).await.expect(200);

        let again = patch(&ada, "username", json!("Countess")).await.expect(200);

        assert!(again["username"].as_str().unwrap().eq_ignore_ascii_case("countess"));
    }

    async fn released_username_is_free_again(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        patch(&ada, "username", json!("countess")).await.expect(200);
        patch(&eve, "username", json!("countess")).await.refused(409, "USERNAME_TAKEN");

        patch(&ada, "username", json!(null)).await.expect(200);

        takes(&eve, "username", json!("countess")).await;
    }

    parallel async fn one_of_twenty_gets_the_username(app) {
        let mut users = Vec::new();
        for n in 0..20 {
            users.push(app.user(&format!("user{n}")).await);
        }

        let claim = |user: &User| user.patch(ME, json!({"username": "countess"})).send();
        let racers: Vec<_> = users.iter().map(|user| tokio::spawn(claim(user))).collect();
        let mut statuses = Vec::new();
        for racer in racers {
            statuses.push(racer.await.unwrap().status);
        }

        statuses.sort_unstable();
        assert_eq!(statuses[0], 200);
        assert_eq!(statuses[1..], [409; 19]);
    }

    async fn avatar_url_is_kept_as_sent(app) {
        let ada = app.user("ada").await;

        for url in [
            "https://example.org/a.png",
            "HTTP://EXAMPLE.org/A",
            "http://127.0.0.1:8080/a?b=c#d",
            "https://[2001:db8::1]/a",
            "https://bücher.example/ü.png",
            "https://example.org/a%20b",
            "https://example.org",
        ] {
            takes(&ada, "avatar_url", json!(url)).await;
        }
    }

    async fn refused_change_is_not_seen_in_the_time_of_the_last_change(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(5));

        refuses(&ada, "avatar_url", json!("no url")).await;

        assert_eq!(record(&ada).await["updated_at"], "2026-03-02T10:00:00.000Z");
    }
}

/// Texts that are not absolute http or https URLs with a host, or contain white space or control characters.
pub(crate) const NO_AVATARS: &[&str] = &[
    "",
    " ",
    "not a url",
    "example.org/a.png",
    "/a.png",
    "//example.org/a.png",
    "?a",
    "#a",
    "http://",
    "https:///",
    "https://?a",
    "https://#a",
    "https://:443/a",
    "https://user@/a",
    "ftp://example.org/a.png",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "JavaScript://example.org/%0aalert(1)",
    "data:image/png;base64,AAAA",
    "blob:https://example.org/1",
    "about:blank",
    "mailto:ada@example.org",
    "httpx://example.org/",
    "https//example.org",
    "https://example.org:99999/a",
    "https://example.org:x/a",
    "https://[::1/a",
    "https://[::g]/a",
    "https://1.2.3.256/a",
    "https://exa<mple.org/",
    "https://%00.example/",
    " https://example.org/",
    "https://example.org/ ",
    "https://example.org/a b",
    "https://exa mple.org/",
    "https://example.org/\t",
    "https://exam\tple.org/",
    "ht\ntps://example.org/",
    "https://example.org/\r\nX: y",
    "https://example.org/\u{7f}",
    "https://example.org/\u{85}",
    "https://example.org/\u{9f}",
    "https://example.org/\u{a0}",
    "https://example.org/\u{2003}",
    "https://example.org/\u{2028}",
    "https://example.org/\u{3000}",
];

both_stores! {
    async fn avatar_that_is_no_web_address_is_refused_and_changes_nothing(app) {
        let ada = app.user("ada").await;

        for avatar in NO_AVATARS {
            refuses(&ada, "avatar_url", json!(avatar)).await;
        }
    }
}
