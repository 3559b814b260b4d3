//! GET and PATCH /api/profiles/me, GET /api/profiles/{userId}. The flat face is in `set_profile`.

use latchkey_testkit::{both_stores, json, minutes};

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

    async fn avatar_that_is_no_web_address_is_refused_and_changes_nothing(app) {
        let ada = app.user("ada").await;
        for avatar in ["not a url", "/ada.png", "ftp://example.org/ada.png", "javascript:alert(1)"] {
            let body = json!({"name": "Eve", "avatar_url": avatar});

            let answer = ada.patch("/api/profiles/me", body).send().await;

            answer.refused(400, "VALIDATION_ERROR");
        }
        assert_eq!(ada.get("/api/profiles/me").send().await.expect(200)["name"], "Ada");
    }

    async fn own_profile_demands_a_bearer(app) {
        let get = app.anon().get("/api/profiles/me").send().await;
        let patch = app.anon().patch("/api/profiles/me", json!({"name": "Eve"})).send().await;

        get.refused(401, "AUTH_UNAUTHORIZED");
        patch.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.no_profile_on_sign_up())
    async fn user_without_a_profile_is_told_so(app) {
        let ada = app.user("ada").await;

        let get = ada.get("/api/profiles/me").send().await;
        let patch = ada.patch("/api/profiles/me", json!({"name": "Ada"})).send().await;
        let public = app.anon().get(&format!("/api/profiles/{}", ada.id)).send().await;

        get.refused(404, "PROFILE_NOT_FOUND");
        patch.refused(404, "PROFILE_NOT_FOUND");
        public.refused(404, "USER_NOT_FOUND");
    }

    async fn user_id_that_is_unknown_or_no_uuid_is_not_found(app) {
        for id in ["00000000-0000-7000-8000-000000000000", "ada", "1"] {
            let answer = app.anon().get(&format!("/api/profiles/{id}")).send().await;

            answer.refused(404, "USER_NOT_FOUND");
        }
    }
}
