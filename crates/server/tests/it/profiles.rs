//! Tests of GET and PATCH /api/profiles/me and GET /api/profiles/{userId}: responses, credentials, missing profiles.
//! Fields are in `profile_fields`, entity tags in `profile_etags`, the flat profile in `set_profile`.

use latchkey_testkit::{ADMIN_KEY, ANON_KEY, both_stores, json, minutes};

use crate::email_calls::signed_up_code;

both_stores! {
    async fn owner_sees_the_whole_record(app) {
        let ada = app.user("ada").await;

        let answer = ada.get("/api/profiles/me").send().await;

        let record = answer.expect(200);
        let expected = json!({
            "id": record["id"],
            "auth_id": ada.id,
            "name": "Ada",
            "avatar_url": null,
            "bio": null,
            "metadata": {},
            "created_at": "2026-03-02T10:00:00.000Z",
            "updated_at": "2026-03-02T10:00:00.000Z",
        });
        assert_eq!(record, expected);
        assert_ne!(record["id"], record["auth_id"]);
        assert!(answer.header("etag").is_some());
    }

    async fn others_see_neither_metadata_nor_the_last_change(app) {
        let ada = app.user("ada").await;
        ada.patch("/api/profiles/me", json!({"metadata": {"theme": "dark"}})).send().await.expect(200);

        let public = app.anon().get(&format!("/api/profiles/{}", ada.id)).send().await.expect(200);

        let expected = json!({
            "id": public["id"],
            "auth_id": ada.id,
            "name": "Ada",
            "avatar_url": null,
            "bio": null,
            "created_at": "2026-03-02T10:00:00.000Z",
        });
        assert_eq!(public, expected);
    }

    async fn patch_changes_only_the_keys_present(app) {
        let ada = app.user("ada").await;
        let before = ada.get("/api/profiles/me").send().await.expect(200);
        app.clock.advance(minutes(1));

        let after = ada.patch("/api/profiles/me", json!({"bio": "Mathematician"})).send().await.expect(200);

        let mut expected = before;
        expected["bio"] = json!("Mathematician");
        expected["updated_at"] = json!("2026-03-02T10:01:00.000Z");
        assert_eq!(after, expected);
        assert_eq!(ada.get("/api/profiles/me").send().await.expect(200), after);
    }

    with(|b| b.anon_key())
    async fn own_profile_demands_a_bearer(app) {
        let ada = app.user("ada").await;
        app.anon().sign_out(&ada.session).send().await.expect(200);
        let ended = ada.session.access_token.as_str();

        for bearer in [None, Some("x"), Some("a.b.c"), Some(ANON_KEY), Some(ADMIN_KEY), Some(ended)] {
            let client = bearer.map_or_else(|| app.anon(), |bearer| app.bearing(bearer));
            let get = client.get("/api/profiles/me").send().await;
            let patch = client.patch("/api/profiles/me", json!({"name": "Eve"})).send().await;

            get.refused(401, "AUTH_UNAUTHORIZED");
            patch.refused(401, "AUTH_UNAUTHORIZED");
        }
    }

    async fn own_profile_is_closed_when_the_access_token_ends(app) {
        let ada = app.user("ada").await;

        app.clock.advance(minutes(15));

        ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn cookie_alone_opens_no_profile(app) {
        let ada = app.user("ada").await;

        let answer = app.anon().get("/api/profiles/me").session(&ada.session).send().await;

        answer.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn change_affects_no_other_profile(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        let before = ada.get("/api/profiles/me").send().await.expect(200);
        let adas = json!({"auth_id": ada.id, "id": before["id"], "bio": "Eve was here"});

        let changed = eve.patch("/api/profiles/me", adas).send().await.expect(200);

        assert_eq!(changed["auth_id"], eve.id);
        assert_eq!(ada.get("/api/profiles/me").send().await.expect(200), before);
    }

    async fn ids_and_times_cannot_be_written(app) {
        let ada = app.user("ada").await;
        let before = ada.get("/api/profiles/me").send().await.expect(200);
        let other = "00000000-0000-7000-8000-000000000000";
        let body = json!({"id": other, "auth_id": other, "created_at": "x", "updated_at": "x", "unknown": 1});

        let after = ada.patch("/api/profiles/me", body).send().await.expect(200);

        assert_eq!(after, before);
    }

    async fn every_profile_form_shows_the_username_once_set(app) {
        let ada = app.user("ada").await;

        ada.patch("/api/profiles/me", json!({"username": "countess"})).send().await.expect(200);

        let paths = [
            "/api/profiles/me",
            &format!("/api/profiles/{}", ada.id),
            &format!("/api/auth/profiles/{}", ada.id),
        ];
        for path in paths {
            assert_eq!(ada.get(path).send().await.expect(200)["username"], "countess", "{path}");
        }
    }

    async fn public_profile_has_no_custom_fields(app) {
        let ada = app.user("ada").await;
        ada.patch("/api/auth/profiles/current", json!({"colour": "red"})).send().await.expect(200);

        let public = app.anon().get(&format!("/api/profiles/{}", ada.id)).send().await.expect(200);

        let keys: Vec<_> = public.as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys.len(), 6, "{keys:?}");
        assert_eq!(public.get("colour"), None);
    }

    async fn public_profile_is_read_with_a_stale_or_wrong_bearer(app) {
        let ada = app.user("ada").await;
        let path = format!("/api/profiles/{}", ada.id);
        app.clock.advance(minutes(16));

        ada.get(&path).send().await.expect(200);
        app.bearing("nonsense").get(&path).send().await.expect(200);
    }

    async fn public_profile_is_asked_for_by_user_id_not_by_profile_id(app) {
        let ada = app.user("ada").await;
        let record = ada.get("/api/profiles/me").send().await.expect(200);

        let answer =
            app.anon().get(&format!("/api/profiles/{}", record["id"].as_str().unwrap())).send().await;

        answer.refused(404, "USER_NOT_FOUND");
    }

    async fn profile_of_a_deleted_user_is_not_found(app) {
        let ada = app.user("ada").await;

        app.admin().delete("/api/auth/users").json(&json!({"userIds": [ada.id]})).send().await.expect(200);

        for path in [format!("/api/profiles/{}", ada.id), format!("/api/auth/profiles/{}", ada.id)] {
            app.anon().get(&path).send().await.refused(404, "USER_NOT_FOUND");
        }
    }

    with(|b| b.verification_by_code())
    async fn profile_of_a_pending_or_banned_user_is_not_found(app) {
        let ada = app.user("ada").await;
        let code = signed_up_code(&app, "eve@example.org").await;
        let users = app.admin().get("/api/auth/users").query("search", "eve").send().await.expect(200);
        let eve = users["data"][0]["id"].as_str().unwrap().to_owned();
        let paths = |id: &str| [format!("/api/profiles/{id}"), format!("/api/auth/profiles/{id}")];
        let unknown = app.anon().get("/api/profiles/00000000-0000-7000-8000-000000000000").send().await;
        let ban = |banned: bool| {
            app.admin().patch(&format!("/api/auth/users/{}", ada.id), json!({"banned": banned}))
        };

        ban(true).send().await.expect(200);

        for path in [&*ada.id, &*eve].into_iter().flat_map(paths) {
            let answer = app.anon().get(&path).send().await;
            assert_eq!(answer.status, 404, "{path}");
            assert_eq!(answer.text_without_id(), unknown.text_without_id());
        }
        ban(false).send().await.expect(200);
        app.anon().verify("eve@example.org", &code).send().await.expect(200);
        for path in [&*ada.id, &*eve].into_iter().flat_map(paths) {
            app.anon().get(&path).send().await.expect(200);
        }
    }

    async fn refusals_say_what_to_do_next(app) {
        let ada = app.user("ada").await;
        let unknown = "/api/profiles/00000000-0000-7000-8000-000000000000";
        app.admin().delete(&format!("/api/auth/users/{}/profile", ada.id)).send().await.expect(200);

        let missing = ada.get("/api/profiles/me").send().await.refused(404, "PROFILE_NOT_FOUND");
        let nobody = app.anon().get(unknown).send().await.refused(404, "USER_NOT_FOUND");
        let query = app.anon().get("/api/profiles/search").send().await.refused(400, "MISSING_QUERY");
        let avatar = ada.patch("/api/profiles/me", json!({"avatar_url": "x"})).send().await;

        for refusal in [missing, nobody, query, avatar.refused(400, "VALIDATION_ERROR")] {
            assert!(refusal["nextAction"].as_str().is_some_and(|text| !text.is_empty()), "{refusal}");
        }
    }

    with(|b| b.no_profile_on_sign_up())
    async fn missing_profile_is_a_refusal_of_its_own(app) {
        let ada = app.user("ada").await;

        let get = ada.get("/api/profiles/me").send().await;
        let patch = ada.patch("/api/profiles/me", json!({"name": "Ada"})).send().await;
        let public = app.anon().get(&format!("/api/profiles/{}", ada.id)).send().await;

        get.refused(404, "PROFILE_NOT_FOUND");
        patch.refused(404, "PROFILE_NOT_FOUND");
        public.refused(404, "USER_NOT_FOUND");
    }

    async fn user_id_that_is_unknown_or_no_uuid_is_not_found(app) {
        let ids = [
            "00000000-0000-7000-8000-000000000000",
            "ada",
            "1",
            "%00",
            "%ff",
            "00000000-0000-7000-8000",
            "ada%2fme",
            "%F0%9F%99%82",
        ];
        for id in ids {
            for face in ["/api/profiles", "/api/auth/profiles"] {
                let answer = app.anon().get(&format!("{face}/{id}")).send().await;

                answer.refused(404, "USER_NOT_FOUND");
            }
        }
    }
}
