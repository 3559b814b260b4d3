//! Tests of the limits that hold for a user: an admin lists and lifts them.

use latchkey_testkit::{Client, PASSWORD, TestApp, User, Value, both_stores, json, minutes, seconds};

use crate::audit::last;
use crate::email_calls::{reset_code, send_reset};
use crate::limits::limited;
use crate::routes::NOBODY;
use crate::two_step_calls::{challenged_from, wrong};

const ADA: &str = "ada@example.org";
const HERE: &str = "203.0.113.9";
const PAIR: &str = "password sign-in, per account and address";
const ACCOUNT: &str = "password sign-in, per account over all addresses";

fn path(id: &str) -> String {
    format!("/api/auth/users/{id}/limits")
}

async fn held(app: &TestApp, user: &User) -> Value {
    app.admin().get(&path(&user.id)).send().await.expect(200)["data"].take()
}

async fn lift(app: &TestApp, user: &User) {
    let body = app.admin().delete(&path(&user.id)).send().await.expect(200);
    assert_eq!(body, json!({"message": "The limits were lifted."}));
}

fn limit(name: &str, purpose: Option<&str>, clients: &str, until: &str) -> Value {
    json!({"limit": name, "purpose": purpose, "clients": clients, "until": format!("2026-03-02T{until}.000Z")})
}

async fn fail(client: &Client, email: &str, ip: &str, times: usize) {
    for _ in 0..times {
        let answer = client.sign_in(email, "a wrong password").from_ip(ip).send().await;
        answer.refused(401, "INVALID_CREDENTIALS");
    }
}

both_stores! {
    with(|b| b.limits())
    async fn account_without_failures_has_no_limits(app) {
        let ada = app.user("ada").await;
        fail(&app.anon(), ADA, HERE, 9).await;

        assert_eq!(held(&app, &ada).await, json!([]));
    }

    with(|b| b.limits())
    async fn guess_limit_is_listed_until_it_ends(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        fail(&app.anon(), ADA, HERE, 10).await;
        fail(&app.anon(), "nobody@example.org", HERE, 10).await;

        assert_eq!(held(&app, &ada).await, json!([limit(PAIR, None, "some", "10:00:30")]));
        assert_eq!(held(&app, &bob).await, json!([]));
        app.clock.advance(seconds(30));
        assert_eq!(held(&app, &ada).await, json!([]));
    }

    with(|b| b.limits())
    async fn lifted_guess_limits_are_gone_on_every_instance(app) {
        let ada = app.user("ada").await;
        for number in 0..10 {
            fail(&app.anon(), ADA, &format!("192.0.2.{number}"), 10).await;
        }
        let expected = [limit(PAIR, None, "some", "10:00:30"), limit(ACCOUNT, None, "unknown", "11:00:00")];
        assert_eq!(held(&app, &ada).await, json!(expected));
        limited(&app.anon().sign_in(ADA, PASSWORD).from_ip(HERE).send().await, ACCOUNT);

        let beside = app.beside().await;
        lift(&beside, &ada).await;

        assert_eq!(held(&app, &ada).await, json!([]));
        app.anon().sign_in(ADA, PASSWORD).from_ip(HERE).send().await.expect(200);
        app.anon().sign_in(ADA, PASSWORD).from_ip("192.0.2.1").send().await.expect(200);
    }

    with(|b| b.limits())
    async fn lifting_is_audited_with_its_user(app) {
        let ada = app.user("ada").await;

        lift(&app, &ada).await;

        let event = last(&app, "limits_lifted").await;
        assert_eq!((&event["actor"], &event["userId"]), (&json!("admin"), &json!(ada.id)));
    }

    with(|b| b.limits())
    async fn mails_to_the_address_are_listed_and_lifted(app) {
        let ada = app.user("ada").await;
        send_reset(&app.anon(), ADA).send().await.expect(202);
        let name = "mails, per recipient";
        assert_eq!(held(&app, &ada).await, json!([limit(name, Some("reset_password"), "all", "10:01:00")]));

        lift(&app, &ada).await;

        assert_eq!(held(&app, &ada).await, json!([]));
        send_reset(&app.anon(), ADA).send().await.expect(202);
    }

    with(|b| b.limits())
    async fn wrong_codes_are_listed_and_lifted(app) {
        let ada = app.user("ada").await;
        let path = "/api/auth/email/exchange-reset-password-token";
        let code = reset_code(&app, ADA).await;
        for number in 0..10 {
            let wrong = if code == format!("00000{number}") { "111111" } else { &format!("00000{number}") };
            let body = json!({"email": ADA, "code": wrong});
            app.anon().post(path, body).send().await.refused(400, "INVALID_CODE");
        }
        app.clock.advance(minutes(2));
        let codes = limit("wrong codes, per account", Some("reset_password"), "unknown", "11:00:00");
        assert_eq!(held(&app, &ada).await, json!([codes]));

        lift(&app, &ada).await;

        assert_eq!(held(&app, &ada).await, json!([]));
        let code = reset_code(&app, ADA).await;
        app.anon().post(path, json!({"email": ADA, "code": code})).send().await.expect(200);
    }

    with(|b| b.verification_by_code().limits())
    async fn second_factors_are_listed_and_lifted(app) {
        let ada = app.two_step_user("ada").await;
        let client = app.anon().at(HERE);
        let mut challenge = String::new();
        for number in 0..10 {
            if number % 5 == 0 {
                challenge = challenged_from(&app, &ada, HERE).await;
            }
            wrong(&client, &ada, &challenge, number).await.refused(401, "INVALID_SECOND_FACTOR");
        }
        let listed = app.admin().get(&path(&ada.id)).send().await.expect(200);
        assert_eq!(listed["data"][0]["limit"], "second factor, per account and address");

        app.admin().delete(&path(&ada.id)).send().await.expect(200);

        let challenge = challenged_from(&app, &ada, HERE).await;
        client.answer(&challenge, "totp", &ada.authenticator.code()).send().await.expect(200);
    }

    with(|b| b.limits())
    async fn former_address_keeps_its_limits_to_itself(app) {
        let ada = app.user("ada").await;
        fail(&app.anon(), ADA, HERE, 10).await;

        let change = json!({"email": "ada@example.net", "emailVerified": true});
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), change).send().await.expect(200);

        assert_eq!(held(&app, &ada).await, json!([]));
    }

    async fn switched_off_limits_hold_for_nobody(app) {
        let ada = app.user("ada").await;
        fail(&app.anon(), ADA, HERE, 11).await;

        assert_eq!(held(&app, &ada).await, json!([]));
    }

    async fn limits_are_for_admins_and_known_users(app) {
        let ada = app.user("ada").await;

        app.admin().get(&path(NOBODY)).send().await.refused(404, "USER_NOT_FOUND");
        app.admin().delete(&path(NOBODY)).send().await.refused(404, "USER_NOT_FOUND");
        app.anon().get(&path(&ada.id)).send().await.refused(401, "ADMIN_UNAUTHORIZED");
        app.anon().delete(&path(&ada.id)).send().await.refused(401, "ADMIN_UNAUTHORIZED");
        ada.get(&path(&ada.id)).send().await.refused(403, "FORBIDDEN");
        ada.delete(&path(&ada.id)).send().await.refused(403, "FORBIDDEN");
    }
}
