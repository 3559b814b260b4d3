//! Tests of the flat profile: getProfile and setProfile, custom fields, and the data shared with /api/profiles/me.

use latchkey_testkit::{Answer, TestApp, User, Value, both_stores, json, minutes};

use super::profile_fields::{NO_AVATARS, object_of_size};

const CURRENT: &str = "/api/auth/profiles/current";
const ME: &str = "/api/profiles/me";

async fn set(user: &User, body: Value) -> Answer {
    user.patch(CURRENT, body).send().await
}

/// Calls getProfile without credentials.
async fn get(app: &TestApp, user: &User) -> Value {
    app.anon().get(&format!("/api/auth/profiles/{}", user.id)).send().await.expect(200)
}

/// Asserts that setProfile refuses the fields in both forms of the body, and changes nothing.
async fn refuses(app: &TestApp, user: &User, fields: Value) {
    let before = get(app, user).await;
    for body in [fields.clone(), json!({"profile": fields})] {
        set(user, body.clone()).await.refused(400, "VALIDATION_ERROR");

        assert_eq!(get(app, user).await, before, "{body}");
    }
}

both_stores! {
    async fn flat_profile_is_at_the_top_and_nested_without_its_id(app) {
        let ada = app.user("ada").await;
        set(&ada, json!({"username": "countess", "colour": "red"})).await.expect(200);

        let flat = get(&app, &ada).await;

        let fields = json!({
            "name": "Ada",
            "username": "countess",
            "avatar_url": null,
            "bio": null,
            "colour": "red",
            "createdAt": "2026-03-02T10:00:00.000Z",
            "updatedAt": "2026-03-02T10:00:00.000Z",
        });
        let mut expected = fields.clone();
        expected["id"] = json!(ada.id);
        expected["profile"] = fields;
        assert_eq!(flat, expected);
    }

    async fn set_profile_answers_what_get_profile_shows(app) {
        let ada = app.user("ada").await;

        let answer = set(&ada, json!({"profile": {"name": "Ada L.", "colour": "red"}})).await.expect(200);

        assert_eq!(answer, get(&app, &ada).await);
        assert_eq!((&answer["name"], &answer["colour"]), (&json!("Ada L."), &json!("red")));
    }

    async fn body_may_be_the_bare_object(app) {
        let ada = app.user("ada").await;

        let answer = set(&ada, json!({"name": "Ada L.", "colour": "red"})).await.expect(200);

        assert_eq!((&answer["name"], &answer["colour"]), (&json!("Ada L."), &json!("red")));
        assert_eq!(answer["profile"]["colour"], "red");
    }

    async fn keys_beside_a_nested_profile_are_ignored(app) {
        let ada = app.user("ada").await;

        let answer = set(&ada, json!({"profile": {"a": 1}, "b": 2, "name": "Eve"})).await.expect(200);

        assert_eq!((&answer["a"], answer.get("b"), &answer["name"]), (&json!(1), None, &json!("Ada")));
    }

    async fn set_profile_demands_a_bearer(app) {
        let answer = app.anon().patch(CURRENT, json!({"name": "Eve"})).send().await;

        answer.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn profile_that_is_no_object_is_refused(app) {
        let ada = app.user("ada").await;

        for profile in
            [json!(null), json!(1), json!("name"), json!([]), json!([{"name": "Eve"}]), json!(true)]
        {
            set(&ada, json!({"profile": profile, "name": "Eve"})).await.refused(400, "VALIDATION_ERROR");
        }
        assert_eq!(get(&app, &ada).await["name"], "Ada");
    }

    async fn empty_bare_object_is_refused(app) {
        let ada = app.user("ada").await;

        let empty = set(&ada, json!({})).await;
        let nothing = ada.request("PATCH", CURRENT).send().await;

        empty.refused(400, "VALIDATION_ERROR");
        nothing.refused(400, "VALIDATION_ERROR");
    }

    async fn empty_nested_profile_changes_nothing(app) {
        let ada = app.user("ada").await;
        let before = get(&app, &ada).await;
        app.clock.advance(minutes(1));

        let answer = set(&ada, json!({"profile": {}})).await.expect(200);

        assert_eq!(answer, before);
    }

    async fn read_only_keys_are_ignored(app) {
        let ada = app.user("ada").await;
        let before = get(&app, &ada).await;
        app.clock.advance(minutes(1));
        let read_only = json!({
            "id": "x", "auth_id": 1, "createdAt": null, "updatedAt": "x", "created_at": [], "updated_at": {},
            "metadata": {"a": 1},
        });
        let mut nested = read_only.clone();
        nested["profile"] = json!({"name": "Eve"});

        let bare = set(&ada, read_only).await.expect(200);
        let nested = set(&ada, json!({"profile": nested})).await.expect(200);

        assert_eq!(bare, before);
        assert_eq!(nested, before);
        assert_eq!(ada.get(ME).send().await.expect(200)["metadata"], json!({}));
    }

    async fn fields_keep_the_rules_of_the_profile_record(app) {
        let ada = app.user("ada").await;

        refuses(&app, &ada, json!({"name": null, "colour": "red"})).await;
        refuses(&app, &ada, json!({"name": "n".repeat(101), "colour": "red"})).await;
        refuses(&app, &ada, json!({"bio": "b".repeat(1_001), "colour": "red"})).await;
        refuses(&app, &ada, json!({"username": "ab", "colour": "red"})).await;
        refuses(&app, &ada, json!({"username": "admin", "colour": "red"})).await;
        for field in ["name", "bio", "username", "avatar_url"] {
            refuses(&app, &ada, json!({field: 1, "colour": "red"})).await;
        }
    }

    async fn avatar_that_is_no_web_address_is_refused_here_too(app) {
        let ada = app.user("ada").await;

        for avatar in NO_AVATARS {
            refuses(&app, &ada, json!({"avatar_url": avatar, "name": "Eve"})).await;
        }
    }

    async fn taken_username_is_refused_here_too(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        set(&ada, json!({"username": "countess"})).await.expect(200);

        let answer = set(&eve, json!({"username": "Countess", "colour": "red"})).await;

        answer.refused(409, "USERNAME_TAKEN");
        assert_eq!(get(&app, &eve).await.get("colour"), None);
    }

    async fn null_clears_avatar_bio_and_username_here_too(app) {
        let ada = app.user("ada").await;
        let full = json!({"avatar_url": "https://example.org/a", "bio": "Countess", "username": "ada"});
        set(&ada, full).await.expect(200);

        let answer = set(&ada, json!({"avatar_url": null, "bio": null, "username": null})).await.expect(200);

        assert_eq!((&answer["avatar_url"], &answer["bio"]), (&json!(null), &json!(null)));
        assert_eq!(answer.get("username"), None);
    }

    async fn custom_fields_hold_any_json_under_any_key(app) {
        let ada = app.user("ada").await;
        let fields = json!({
            "": "empty", "a.b": 1.5, "__proto__": {"x": []}, "email": "not@the.account", "ключ": true, "Name": "N",
            "deep": {"list": [1, null, "x"], "null": null}, "n": -9_007_199_254_740_993_i64,
        });

        let answer = set(&ada, fields.clone()).await.expect(200);

        for (key, value) in fields.as_object().unwrap() {
            assert_eq!((&answer[key], &answer["profile"][key]), (value, value), "{key}");
        }
        assert_eq!(answer["name"], "Ada");
    }

    async fn custom_fields_merge_shallowly_and_null_deletes(app) {
        let ada = app.user("ada").await;
        set(&ada, json!({"a": {"x": 1}, "b": 2, "c": 3})).await.expect(200);

        let merged = set(&ada, json!({"a": {"y": 1}, "b": null, "never": null, "d": 4})).await.expect(200);

        assert_eq!((&merged["a"], &merged["c"], &merged["d"]), (&json!({"y": 1}), &json!(3), &json!(4)));
        assert_eq!((merged.get("b"), merged.get("never")), (None, None));
        assert_eq!(merged["profile"].get("b"), None);
    }

    async fn custom_fields_have_16_kib_together(app) {
        let ada = app.user("ada").await;
        set(&ada, object_of_size(16 * 1024)).await.expect(200);
        let full = get(&app, &ada).await;

        set(&ada, json!({"b": 1})).await.refused(400, "VALIDATION_ERROR");
        set(&ada, object_of_size(16 * 1024 + 1)).await.refused(400, "VALIDATION_ERROR");

        assert_eq!(get(&app, &ada).await, full);
        set(&ada, json!({"a": null, "b": 1})).await.expect(200);
    }

    with(|b| b.no_profile_on_sign_up())
    async fn set_profile_makes_the_profile_that_is_missing(app) {
        let ada = app.user("ada").await;
        app.anon().get(&format!("/api/auth/profiles/{}", ada.id)).send().await.refused(404, "USER_NOT_FOUND");
        app.clock.advance(minutes(1));

        let flat = set(&ada, json!({"bio": "here", "colour": "red"})).await.expect(200);

        assert_eq!(
            (&flat["name"], &flat["bio"], &flat["colour"]),
            (&json!(""), &json!("here"), &json!("red"))
        );
        assert_eq!(flat["createdAt"], "2026-03-02T10:01:00.000Z");
        let record = ada.get(ME).send().await.expect(200);
        assert_eq!((&record["auth_id"], &record["bio"]), (&json!(ada.id), &json!("here")));
    }

    with(|b| b.no_profile_on_sign_up())
    async fn refused_set_profile_makes_no_profile(app) {
        let ada = app.user("ada").await;

        set(&ada, json!({"name": "Ada", "avatar_url": "x"})).await.refused(400, "VALIDATION_ERROR");
        set(&ada, object_of_size(16 * 1024 + 1)).await.refused(400, "VALIDATION_ERROR");

        ada.get(ME).send().await.refused(404, "PROFILE_NOT_FOUND");
    }

    async fn both_profile_forms_show_one_row(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(1));
        ada.patch(ME, json!({"name": "One", "avatar_url": "https://example.org/1"})).send().await.expect(200);
        let flat = get(&app, &ada).await;
        assert_eq!((&flat["name"], &flat["avatar_url"]), (&json!("One"), &json!("https://example.org/1")));
        app.clock.advance(minutes(1));

        let flat = set(&ada, json!({"name": "Two", "bio": "b", "username": "two"})).await.expect(200);

        let record = ada.get(ME).send().await.expect(200);
        for field in ["name", "bio", "username", "avatar_url"] {
            assert_eq!(record[field], flat[field], "{field}");
        }
        assert_eq!((&record["created_at"], &record["updated_at"]), (&flat["createdAt"], &flat["updatedAt"]));
        assert_eq!(record["updated_at"], "2026-03-02T10:02:00.000Z");
        let user = ada.get("/api/auth/sessions/current").send().await.expect(200)["user"]["profile"].clone();
        assert_eq!(user, json!({"name": "Two", "avatar_url": "https://example.org/1"}));
    }

    async fn metadata_and_custom_fields_never_mix(app) {
        let ada = app.user("ada").await;
        ada.patch(ME, json!({"metadata": {"secret": "private"}})).send().await.expect(200);

        let flat =
            set(&ada, json!({"colour": "public", "metadata": {"secret": "overwritten"}})).await.expect(200);

        assert!(!flat.to_string().contains("secret"), "{flat}");
        let record = ada.get(ME).send().await.expect(200);
        assert_eq!(record["metadata"], json!({"secret": "private"}));
        assert_eq!((record.get("colour"), record.get("custom")), (None, None));
    }

    parallel with(|b| b.no_profile_on_sign_up())
    async fn twenty_at_once_make_one_profile(app) {
        let ada = app.user("ada").await;

        let change = |n: usize| ada.patch(CURRENT, json!({format!("key{n}"): n}));
        let racers: Vec<_> = (0..20).map(|n| tokio::spawn(change(n).send())).collect();
        for racer in racers {
            racer.await.unwrap().expect(200);
        }

        let flat = get(&app, &ada).await;
        assert!((0..20).all(|n| flat[format!("key{n}")] == n), "{flat}");
        ada.patch(ME, json!({"name": "Ada"})).send().await.expect(200);
        let hits = app.anon().search("ada").send().await.expect(200);
        assert_eq!(hits.as_array().unwrap().len(), 1);
    }

    parallel async fn twenty_parallel_custom_fields_are_all_kept(app) {
        let ada = app.user("ada").await;

        let change = |n: usize| ada.patch(CURRENT, json!({format!("key{n}"): n}));
        let racers: Vec<_> = (0..20).map(|n| tokio::spawn(change(n).send())).collect();
        for racer in racers {
            racer.await.unwrap().expect(200);
        }

        let flat = get(&app, &ada).await;
        for n in 0..20 {
            assert_eq!(flat[format!("key{n}")], n);
        }
    }
}
