//! Tests of changes of a user by an admin: address, verification, ban, metadata, sessions, profile, deletion.

use latchkey_testkit::{Answer, PASSWORD, TestApp, User, Value, both_stores, json, minutes};

const USERS: &str = "/api/auth/users";
const ME: &str = "/api/profiles/me";

async fn change(app: &TestApp, user: &User, body: Value) -> Answer {
    app.admin().patch(&format!("{USERS}/{}", user.id), body).send().await
}

async fn shown(app: &TestApp, user: &User) -> Value {
    app.admin().get(&format!("{USERS}/{}", user.id)).send().await.expect(200)
}

async fn delete(app: &TestApp, ids: Value) -> Answer {
    app.admin().delete(USERS).json(&json!({"userIds": ids})).send().await
}

/// Asserts that all sessions of the user have ended: access token and refresh token are refused.
async fn is_signed_out(user: &User) {
    user.get(ME).send().await.refused(401, "AUTH_UNAUTHORIZED");
    user.refreshed().await.refused(401, "AUTH_UNAUTHORIZED");
}

async fn send(app: &TestApp, what: &str, email: &str) {
    let body = json!({"email": email});
    app.anon().post(&format!("/api/auth/email/{what}"), body).send().await.expect(202);
}

both_stores! {
    async fn change_returns_the_whole_user_and_updates_its_time(app) {
        let ada = app.user("ada").await;
        let mut expected = shown(&app, &ada).await;
        app.clock.advance(minutes(1));

        let answer = change(&app, &ada, json!({"metadata": {"plan": "pro"}})).await.expect(200);

        expected["metadata"] = json!({"plan": "pro"});
        expected["updatedAt"] = json!("2026-03-02T10:01:00.000Z");
        assert_eq!(answer, expected);
        assert_eq!(shown(&app, &ada).await, expected);
    }

    async fn empty_change_changes_nothing(app) {
        let ada = app.user("ada").await;
        let before = shown(&app, &ada).await;
        app.clock.advance(minutes(1));

        let answer =
            change(&app, &ada, json!({"id": "x", "providers": [], "profile": {"name": "Eve"}})).await;

        assert_eq!(answer.expect(200), before);
    }

    async fn field_of_another_type_is_refused_and_changes_nothing(app) {
        let ada = app.user("ada").await;
        let before = shown(&app, &ada).await;

        for (field, value) in [
            ("email", json!(null)),
            ("email", json!("no address")),
            ("email", json!(["a@example.org"])),
            ("emailVerified", json!(null)),
            ("emailVerified", json!("true")),
            ("emailVerified", json!(1)),
            ("banned", json!(null)),
            ("banned", json!("yes")),
            ("banned", json!({})),
            ("metadata", json!(null)),
            ("metadata", json!([])),
            ("metadata", json!("{}")),
            ("metadata", json!({"a": "x".repeat(16_384)})),
        ] {
            let beside = if field == "metadata" { "banned" } else { "metadata" };
            let good = if beside == "banned" { json!(true) } else { json!({"kept": false}) };

            let refusal = change(&app, &ada, json!({field: value, beside: good}))
                .await
                .refused(400, "VALIDATION_ERROR");

            assert!(refusal["message"].as_str().unwrap().contains(field), "{field} {value}: {refusal}");
            assert_eq!(shown(&app, &ada).await, before, "{field} {value}");
        }
    }

    async fn metadata_is_replaced_whole_and_shown_to_its_user(app) {
        let ada = app.user("ada").await;
        change(&app, &ada, json!({"metadata": {"plan": "pro", "seats": 3}})).await.expect(200);

        change(&app, &ada, json!({"metadata": {"plan": "free"}})).await.expect(200);

        let current = ada.get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(current["user"]["metadata"], json!({"plan": "free"}));
        assert_eq!(ada.get(ME).send().await.expect(200)["metadata"], json!({}));
    }

    async fn ban_acts_on_the_very_next_request_on_every_instance(app) {
        let ada = app.user("ada").await;
        let elsewhere = app.beside().await;
        elsewhere.with_session(&ada.session).get(ME).send().await.expect(200);

        let user = change(&app, &ada, json!({"banned": true})).await.expect(200);

        assert_eq!(user["banned"], true);
        elsewhere.with_session(&ada.session).get(ME).send().await.refused(401, "AUTH_UNAUTHORIZED");
        is_signed_out(&ada).await;
    }

    async fn banned_user_cannot_sign_in(app) {
        let ada = app.user("ada").await;
        change(&app, &ada, json!({"banned": true})).await.expect(200);

        let right = app.anon().sign_in(&ada.email, PASSWORD).send().await;
        let wrong = app.anon().sign_in(&ada.email, "a wrong password 1").send().await;

        right.refused(403, "USER_BANNED");
        assert!(right.set_cookies().is_empty());
        wrong.refused(401, "INVALID_CREDENTIALS");
    }

    async fn ban_ends_outstanding_reset_codes(app) {
        let ada = app.user("ada").await;
        send(&app, "send-reset-password", &ada.email).await;
        let code = app.mail_to(&ada.email).await.code();

        change(&app, &ada, json!({"banned": true})).await.expect(200);
        change(&app, &ada, json!({"banned": false})).await.expect(200);

        let body = json!({"email": ada.email, "code": code});
        let answer = app.anon().post("/api/auth/email/exchange-reset-password-token", body).send().await;
        answer.refused(400, "INVALID_CODE");
    }

    with(|b| b.verification_by_code())
    async fn ban_ends_outstanding_verification_codes(app) {
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        let code = app.mail_to("ada@example.org").await.code();
        let list = app.admin().get(USERS).send().await.expect(200);
        let path = format!("{USERS}/{}", list["data"][0]["id"].as_str().unwrap());

        for banned in [true, false] {
            app.admin().patch(&path, json!({"banned": banned})).send().await.expect(200);
        }

        app.anon().verify("ada@example.org", &code).send().await.refused(400, "INVALID_CODE");
    }

    async fn lifted_ban_lets_the_user_sign_in_but_revives_no_session(app) {
        let ada = app.user("ada").await;
        change(&app, &ada, json!({"banned": true})).await.expect(200);

        let user = change(&app, &ada, json!({"banned": false})).await.expect(200);

        assert_eq!(user["banned"], false);
        is_signed_out(&ada).await;
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
    }

    async fn new_address_signs_in_and_the_old_one_does_not(app) {
        let ada = app.user("ada").await;

        let user = change(&app, &ada, json!({"email": "Lovelace@example.org"})).await.expect(200);

        assert_eq!(user["email"], "Lovelace@example.org");
        app.anon().sign_in("lovelace@example.org", PASSWORD).send().await.expect(200);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        app.anon().sign_up(&ada.email, PASSWORD).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn new_address_is_unverified(app) {
        let ada = app.user("ada").await;

        let user = change(&app, &ada, json!({"email": "lovelace@example.org"})).await.expect(200);

        assert_eq!(user["emailVerified"], false);
        let answer = app.anon().sign_in("lovelace@example.org", PASSWORD).send().await;
        answer.refused(403, "EMAIL_NOT_VERIFIED");
    }

    with(|b| b.verification_by_code())
    async fn new_address_can_be_set_as_verified_in_one_change(app) {
        let ada = app.user("ada").await;

        let both = json!({"email": "lovelace@example.org", "emailVerified": true});
        let user = change(&app, &ada, both).await.expect(200);

        assert_eq!(user["emailVerified"], true);
        app.anon().sign_in("lovelace@example.org", PASSWORD).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn same_address_in_another_case_stays_verified(app) {
        let ada = app.user("ada").await;

        let user = change(&app, &ada, json!({"email": "ADA@example.org"})).await.expect(200);

        assert_eq!((&user["email"], &user["emailVerified"]), (&json!("ADA@example.org"), &json!(true)));
    }

    async fn address_of_another_user_is_taken(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        let before = shown(&app, &ada).await;

        let body = json!({"email": eve.email.to_uppercase(), "banned": true});
        change(&app, &ada, body).await.refused(409, "EMAIL_EXISTS");

        assert_eq!(shown(&app, &ada).await, before);
    }

    async fn address_change_ends_codes_that_went_to_the_old_address(app) {
        let ada = app.user("ada").await;
        send(&app, "send-reset-password", &ada.email).await;
        let code = app.mail_to(&ada.email).await.code();

        change(&app, &ada, json!({"email": "lovelace@example.org"})).await.expect(200);

        for email in [ada.email.as_str(), "lovelace@example.org"] {
            let body = json!({"email": email, "code": code});
            let answer = app.anon().post("/api/auth/email/exchange-reset-password-token", body).send().await;
            answer.refused(400, "INVALID_CODE");
        }
    }

    async fn address_change_ends_an_exchanged_reset_token(app) {
        let ada = app.user("ada").await;
        send(&app, "send-reset-password", &ada.email).await;
        let body = json!({"email": ada.email, "code": app.mail_to(&ada.email).await.code()});
        let answer = app.anon().post("/api/auth/email/exchange-reset-password-token", body).send().await;
        let token = answer.expect(200)["token"].clone();

        change(&app, &ada, json!({"email": "lovelace@example.org"})).await.expect(200);

        let body = json!({"newPassword": "another lantern 43", "otp": token});
        app.anon().post("/api/auth/email/reset-password", body).send().await.refused(400, "INVALID_CODE");
    }

    with(|b| b.verification_by_link().link_reset().redirects(&["https://app.example.org/done"]))
    async fn address_change_ends_links_that_went_to_the_old_address(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD});
        let id = app.admin().post(USERS, body).send().await.expect(200)["user"]["id"].clone();
        let mut links = Vec::new();
        for what in ["send-verification", "send-reset-password"] {
            let body = json!({"email": "ada@example.org", "redirectTo": "https://app.example.org/done"});
            app.anon().post(&format!("/api/auth/email/{what}"), body).send().await.expect(202);
            links.push(app.mail_to("ada@example.org").await.link());
        }

        let path = format!("{USERS}/{}", id.as_str().unwrap());
        app.admin().patch(&path, json!({"email": "new@example.org"})).send().await.expect(200);

        for link in links {
            let target = app.anon().get(&link).send().await.redirected();
            assert!(target.query().unwrap().contains("service_status=error"), "{target}");
        }
        assert_eq!(app.admin().get(&path).send().await.expect(200)["emailVerified"], false);
    }

    with(|b| b.verification_by_code())
    async fn admin_can_verify_and_unverify_an_address(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD});
        app.anon().post(USERS, body).send().await.expect(200);
        let list = app.admin().get(USERS).send().await.expect(200);
        let path = format!("{USERS}/{}", list["data"][0]["id"].as_str().unwrap());

        app.admin().patch(&path, json!({"emailVerified": true})).send().await.expect(200);
        app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
        app.admin().patch(&path, json!({"emailVerified": false})).send().await.expect(200);

        let answer = app.anon().sign_in("ada@example.org", PASSWORD).send().await;
        answer.refused(403, "EMAIL_NOT_VERIFIED");
    }

    async fn verification_by_an_admin_ends_no_session_and_removes_no_text(app) {
        let ada = app.user("ada").await;
        ada.patch(ME, json!({"bio": "Countess"})).send().await.expect(200);

        change(&app, &ada, json!({"emailVerified": true})).await.expect(200);

        assert_eq!(ada.get(ME).send().await.expect(200)["bio"], "Countess");
        ada.refreshed().await.expect(200);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
    }

    async fn ended_sessions_are_over_at_once_and_the_user_signs_in_again(app) {
        let ada = app.user("ada").await;
        let second = ada.sign_in_again().await;

        let path = format!("{USERS}/{}/sessions", ada.id);
        app.admin().delete(&path).send().await.expect(200);

        is_signed_out(&ada).await;
        app.with_session(&second).get(ME).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
        app.admin().delete(&path).send().await.expect(200);
    }

    async fn deleted_profile_is_gone_but_the_user_stays(app) {
        let ada = app.user("ada").await;
        ada.patch(ME, json!({"username": "countess"})).send().await.expect(200);
        let path = format!("{USERS}/{}/profile", ada.id);

        app.admin().delete(&path).send().await.expect(200);

        ada.get(ME).send().await.refused(404, "PROFILE_NOT_FOUND");
        app.anon().get(&format!("/api/profiles/{}", ada.id)).send().await.refused(404, "USER_NOT_FOUND");
        assert_eq!(shown(&app, &ada).await["profile"], json!({"name": "", "avatar_url": null}));
        app.admin().delete(&path).send().await.refused(404, "PROFILE_NOT_FOUND");
        let eve = app.user("eve").await;
        eve.patch(ME, json!({"username": "countess"})).send().await.expect(200);
        ada.patch("/api/auth/profiles/current", json!({"name": "Ada"})).send().await.expect(200);
    }

    async fn deletion_counts_deleted_users_and_skips_unknown_ids(app) {
        let (ada, eve, bob) = (app.user("ada").await, app.user("eve").await, app.user("bob").await);
        let nobody = "00000000-0000-7000-8000-000000000000";

        let answer = delete(&app, json!([ada.id, nobody, eve.id, ada.id])).await.expect(200);
        let again = delete(&app, json!([ada.id])).await.expect(200);
        let none = delete(&app, json!([])).await.expect(200);

        assert_eq!(answer["deletedCount"], 2);
        assert!(answer["message"].is_string());
        assert_eq!((&again["deletedCount"], &none["deletedCount"]), (&json!(0), &json!(0)));
        bob.get(ME).send().await.expect(200);
        assert_eq!(app.admin().get(USERS).send().await.expect(200)["pagination"]["total"], 1);
    }

    async fn deletion_without_a_list_is_refused(app) {
        let ada = app.user("ada").await;

        for ids in [json!(null), json!(ada.id), json!({"id": ada.id}), json!([1]), json!([null])] {
            delete(&app, ids).await.refused(400, "VALIDATION_ERROR");
        }
        app.admin().delete(USERS).send().await.refused(400, "VALIDATION_ERROR");
        ada.get(ME).send().await.expect(200);
    }

    async fn sessions_die_with_the_user_on_every_instance(app) {
        let ada = app.user("ada").await;
        let elsewhere = app.beside().await;
        elsewhere.with_session(&ada.session).get(ME).send().await.expect(200);

        delete(&app, json!([ada.id])).await.expect(200);

        elsewhere.with_session(&ada.session).get(ME).send().await.refused(401, "AUTH_UNAUTHORIZED");
        is_signed_out(&ada).await;
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }

    async fn address_and_username_of_a_deleted_user_are_free_again(app) {
        let ada = app.user("ada").await;
        ada.patch(ME, json!({"username": "countess"})).send().await.expect(200);

        delete(&app, json!([ada.id])).await.expect(200);

        let again = app.user("ada").await;
        assert_ne!(again.id, ada.id);
        again.patch(ME, json!({"username": "countess"})).send().await.expect(200);
        ada.get(ME).send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn codes_of_a_deleted_user_do_nothing_to_the_next_one(app) {
        let ada = app.user("ada").await;
        send(&app, "send-reset-password", &ada.email).await;
        let code = app.mail_to(&ada.email).await.code();
        delete(&app, json!([ada.id])).await.expect(200);

        app.user("ada").await;

        let body = json!({"email": ada.email, "code": code});
        let answer = app.anon().post("/api/auth/email/exchange-reset-password-token", body).send().await;
        answer.refused(400, "INVALID_CODE");
    }
}
