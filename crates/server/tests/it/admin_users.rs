//! Tests of the admin's user calls: authorization and creation. The list is in `admin_user_list`, changes and deletion
//! in `admin_user_changes`.

use latchkey_domain::tokens::TokenHash;
use latchkey_testkit::{
    ADMIN_KEY, ANON_KEY, Answer, Client, PASSWORD, TestApp, Value, both_stores, json, minutes,
};

use crate::routes::{ROUTES, Who};

const USERS: &str = "/api/auth/users";
/// Successor of [`ADMIN_KEY`]; both are valid during rotation.
const NEXT_KEY: &str = "next-admin-key-of-the-tests-0123456789";
const UNKNOWN_ID: &str = "00000000-0000-7000-8000-000000000000";

/// Responses to every call that needs an admin key, each with the user's id and a body. Those that matter most have one
/// that would take effect.
async fn every_call(client: &Client, user_id: &str) -> Vec<Answer> {
    let mut answers = Vec::new();
    for route in ROUTES.iter().filter(|route| route.who == Who::Admin) {
        let path =
            route.path.replace("{id}", user_id).replace("{provider}", "google").replace("{key}", "acme");
        let request = client.request(route.method, &path);
        let request = match (route.method, route.path) {
            ("DELETE", "/api/auth/users") => request.json(&json!({"userIds": [user_id]})),
            ("PATCH", "/api/auth/users/{id}") => request.json(&json!({"banned": true})),
            ("PUT", "/api/auth/config") => request.json(&json!({"disableSignup": true})),
            _ if route.takes_body() => request.json(&json!({})),
            _ => request,
        };
        answers.push(request.send().await);
    }
    answers
}

async fn create(app: &TestApp, body: Value) -> Answer {
    app.admin().post(USERS, body).send().await
}

both_stores! {
    async fn admin_key_is_taken_as_bearer_and_as_api_key(app) {
        let bearer = app.bearing(ADMIN_KEY).get(USERS).send().await;
        let api_key = app.anon().get(USERS).header("x-api-key", ADMIN_KEY).send().await;
        let beside_a_user = app.user("ada").await.get(USERS).header("x-api-key", ADMIN_KEY).send().await;

        bearer.expect(200);
        api_key.expect(200);
        beside_a_user.expect(200);
    }

    with(|b| b.config(|config| config.access.admin.push(TokenHash::of(NEXT_KEY.as_bytes()))))
    async fn two_admin_keys_are_good_at_once(app) {
        app.bearing(ADMIN_KEY).get(USERS).send().await.expect(200);
        app.bearing(NEXT_KEY).get(USERS).send().await.expect(200);
    }

    async fn missing_admin_key_is_refused_on_every_call(app) {
        let ada = app.user("ada").await;

        for answer in every_call(&app.anon(), &ada.id).await {
            answer.refused(401, "ADMIN_UNAUTHORIZED");
        }
        ada.get("/api/profiles/me").send().await.expect(200);
    }

    with(|b| b.anon_key())
    async fn wrong_admin_key_is_refused_on_every_call(app) {
        let ada = app.user("ada").await;
        let longer = format!("{ADMIN_KEY}x");

        for key in
            ["x", &ADMIN_KEY[1..], &longer, &ADMIN_KEY.to_uppercase(), ANON_KEY, ada.session.refresh_secret()]
        {
            for client in [app.bearing(key), app.anon().with_header("x-api-key", key)] {
                for answer in every_call(&client, &ada.id).await {
                    answer.refused(401, "ADMIN_UNAUTHORIZED");
                }
            }
        }
        ada.get("/api/profiles/me").send().await.expect(200);
    }

    async fn wrong_api_key_beside_the_right_bearer_is_refused(app) {
        let answer = app.admin().get(USERS).header("x-api-key", "wrong").send().await;

        answer.refused(401, "ADMIN_UNAUTHORIZED");
    }

    async fn token_of_a_user_is_forbidden_on_every_call(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);

        for answer in every_call(&eve, &ada.id).await {
            answer.refused(403, "FORBIDDEN");
        }
        ada.get("/api/profiles/me").send().await.expect(200);
    }

    async fn credentials_are_checked_before_ids_and_bodies(app) {
        let unknown = app.anon().get(&format!("{USERS}/no-id")).send().await;
        let malformed =
            app.anon().request("PATCH", &format!("{USERS}/{UNKNOWN_ID}")).raw("text/plain", "{").send().await;

        unknown.refused(401, "ADMIN_UNAUTHORIZED");
        malformed.refused(401, "ADMIN_UNAUTHORIZED");
    }

    async fn unknown_user_is_not_found(app) {
        for id in [UNKNOWN_ID, "ada", "1", "%ff"] {
            let user = format!("{USERS}/{id}");
            let admin = app.admin();

            admin.get(&user).send().await.refused(404, "USER_NOT_FOUND");
            admin.patch(&user, json!({"banned": true})).send().await.refused(404, "USER_NOT_FOUND");
            admin.delete(&format!("{user}/sessions")).send().await.refused(404, "USER_NOT_FOUND");
            assert_eq!(admin.delete(&format!("{user}/profile")).send().await.status, 404);
        }
    }

    async fn post_with_a_users_token_or_a_wrong_bearer_is_a_sign_up(app) {
        let ada = app.user("ada").await;
        let body =
            |email| json!({"email": email, "password": PASSWORD, "autoConfirm": true, "metadata": {"a": 1}});

        let by_user = ada.post(USERS, body("one@example.org")).send().await.expect(200);
        let by_wrong_key = app.bearing("wrong").post(USERS, body("two@example.org")).send().await.expect(200);

        for answer in [by_user, by_wrong_key] {
            assert!(answer["accessToken"].is_string(), "{answer}");
            assert_eq!(
                (&answer["user"]["emailVerified"], &answer["user"]["metadata"]),
                (&json!(false), &json!({}))
            );
        }
    }

    async fn post_with_a_wrong_api_key_is_refused_and_creates_no_user(app) {
        let body = json!({"email": "one@example.org", "password": PASSWORD});

        for key in ["wrong", ""] {
            let answer = app.anon().post(USERS, body.clone()).header("x-api-key", key).send().await;

            answer.refused(401, "ADMIN_UNAUTHORIZED");
        }
        assert_eq!(app.admin().get(USERS).send().await.expect(200)["pagination"]["total"], 0);
    }

    async fn created_user_is_answered_without_tokens_and_without_a_cookie(app) {
        let body = json!({"email": "Ada@Example.org", "password": PASSWORD, "name": "Ada", "autoConfirm": true,
            "metadata": {"plan": "pro"}});

        let answer = create(&app, body).await;

        let created = answer.expect(200);
        let id = created["user"]["id"].clone();
        let user = json!({
            "id": id, "email": "Ada@Example.org", "emailVerified": true, "providers": ["email"], "banned": false,
            "createdAt": "2026-03-02T10:00:00.000Z", "updatedAt": "2026-03-02T10:00:00.000Z",
            "profile": {"name": "Ada", "avatar_url": null}, "metadata": {"plan": "pro"},
        });
        assert_eq!(created, json!({"user": user}));
        assert!(answer.set_cookies().is_empty());
        let shown = app.admin().get(&format!("{USERS}/{}", id.as_str().unwrap())).send().await;
        assert_eq!(shown.expect(200), user);
    }

    async fn created_user_can_sign_in_and_has_a_profile(app) {
        create(&app, json!({"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}))
            .await
            .expect(200);

        let session = app.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);

        let ada = app.bearing(session["accessToken"].as_str().unwrap());
        assert_eq!(ada.get("/api/profiles/me").send().await.expect(200)["name"], "Ada");
    }

    async fn user_created_without_a_profile_has_none(app) {
        let body =
            json!({"email": "ada@example.org", "password": PASSWORD, "name": "Ada", "createProfile": false});

        let user = create(&app, body).await.expect(200)["user"].clone();

        assert_eq!(user["profile"], json!({"name": "", "avatar_url": null}));
        let path = format!("/api/profiles/{}", user["id"].as_str().unwrap());
        app.anon().get(&path).send().await.refused(404, "USER_NOT_FOUND");
        assert_eq!(app.anon().search("ada").send().await.expect(200), json!([]));
    }

    with(|b| b.verification_by_code())
    async fn user_created_unconfirmed_must_verify_first(app) {
        create(&app, json!({"email": "ada@example.org", "password": PASSWORD})).await.expect(200);

        let refused = app.anon().sign_in("ada@example.org", PASSWORD).send().await;
        let body = json!({"email": "ada@example.org"});
        app.anon().post("/api/auth/email/send-verification", body).send().await.expect(202);
        let code = app.mail_to("ada@example.org").await.code();

        refused.refused(403, "EMAIL_NOT_VERIFIED");
        app.anon().verify("ada@example.org", &code).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn user_created_confirmed_signs_in_at_once(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD, "autoConfirm": true});
        create(&app, body).await.expect(200);

        let answer = app.anon().sign_in("ada@example.org", PASSWORD).send().await;

        assert_eq!(answer.expect(200)["user"]["emailVerified"], true);
    }

    with(|b| b.verification_by_code())
    async fn sign_up_changes_nothing_of_a_user_that_an_admin_made(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD, "name": "Ada"});
        let user = create(&app, body).await.expect(200)["user"].clone();

        app.anon().sign_up("ada@example.org", "another lantern 43").send().await.expect(200);

        let path = format!("{USERS}/{}", user["id"].as_str().unwrap());
        assert_eq!(app.admin().get(&path).send().await.expect(200), user);
        let own = app.anon().sign_in("ada@example.org", PASSWORD).send().await;
        own.refused(403, "EMAIL_NOT_VERIFIED");
        let other = app.anon().sign_in("ada@example.org", "another lantern 43").send().await;
        other.refused(403, "EMAIL_NOT_VERIFIED");
    }

    with(|b| b.sign_up_disabled())
    async fn admin_creates_users_while_sign_up_is_closed(app) {
        let body = json!({"email": "ada@example.org", "password": PASSWORD});
        app.anon().post(USERS, body.clone()).send().await.refused(403, "SIGNUP_DISABLED");

        create(&app, body).await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn taken_address_is_reported_to_the_admin(app) {
        create(&app, json!({"email": "ada@example.org", "password": PASSWORD})).await.expect(200);

        let answer = create(&app, json!({"email": "ADA@example.ORG", "password": PASSWORD})).await;

        answer.refused(409, "EMAIL_EXISTS");
    }

    async fn creation_keeps_the_rules_of_sign_up(app) {
        for (body, code) in [
            (json!({}), "VALIDATION_ERROR"),
            (json!({"email": "no address", "password": PASSWORD}), "VALIDATION_ERROR"),
            (json!({"email": ["a@example.org"], "password": PASSWORD}), "VALIDATION_ERROR"),
            (json!({"email": "a@example.org", "password": "short"}), "WEAK_PASSWORD"),
            (json!({"email": "a@example.org", "password": "password1"}), "WEAK_PASSWORD"),
            (
                json!({"email": "a@example.org", "password": PASSWORD, "name": "n".repeat(101)}),
                "VALIDATION_ERROR",
            ),
            (
                json!({"email": "a@example.org", "password": PASSWORD, "autoConfirm": "yes"}),
                "VALIDATION_ERROR",
            ),
            (json!({"email": "a@example.org", "password": PASSWORD, "createProfile": 1}), "VALIDATION_ERROR"),
            (json!({"email": "a@example.org", "password": PASSWORD, "metadata": []}), "VALIDATION_ERROR"),
            (
                json!({"email": "a@example.org", "password": PASSWORD, "metadata": {"a": "x".repeat(16_384)}}),
                "VALIDATION_ERROR",
            ),
        ] {
            create(&app, body).await.refused(400, code);
        }
        assert_eq!(app.admin().get(USERS).send().await.expect(200)["pagination"]["total"], 0);
    }

    with(|b| b.limits())
    async fn admin_creates_more_users_than_one_address_may_sign_up(app) {
        for n in 0..25 {
            let body = json!({"email": format!("user{n}@example.org"), "password": PASSWORD});

            create(&app, body).await.expect(200);
        }
    }

    with(|b| b.limits())
    async fn refused_admin_keys_of_one_address_are_limited(app) {
        let mut refusals = Vec::new();
        for n in 0..30 {
            let client = app.bearing(&format!("wrong-{n}"));
            refusals.push(client.get(USERS).from_ip("203.0.113.9").send().await.status);
        }

        assert!(refusals.starts_with(&[401, 401, 401]), "{refusals:?}");
        let limited = app.bearing("wrong").get(USERS).from_ip("203.0.113.9").send().await;
        limited.refused(429, "TOO_MANY_REQUESTS");
        assert!(limited.number("retry-after") > 0);
        app.bearing("wrong")
            .get(USERS)
            .from_ip("203.0.113.10")
            .send()
            .await
            .refused(401, "ADMIN_UNAUTHORIZED");
        app.admin().get(USERS).from_ip("203.0.113.9").send().await.expect(200);
        app.clock.advance(minutes(15));
        app.bearing("wrong")
            .get(USERS)
            .from_ip("203.0.113.9")
            .send()
            .await
            .refused(401, "ADMIN_UNAUTHORIZED");
    }
}
