//! Tests of the answer to an admin who asks why a user cannot sign in.

use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_testkit::{EmailSignIn, PASSWORD, TestApp, Value, both_stores, json, minutes};

use crate::deletion_calls::deleted;
use crate::email_calls::{resend, send_otp, sign_in_by_code};
use crate::imports::import_lines;
use crate::routes::NOBODY;

const ADA: &str = "ada@example.org";

async fn state(app: &TestApp, id: &str) -> Value {
    app.admin().get(&format!("/api/auth/users/{id}/sign-in-state")).send().await.expect(200)
}

/// The only obstacle of a user. The others have no value.
async fn obstacle(app: &TestApp, id: &str) -> (bool, Value) {
    let mut state = state(app, id).await;
    assert_eq!(state["obstacles"].as_array().unwrap().len(), 1, "{state}");
    let mut obstacle = state["obstacles"][0].take();
    obstacle.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    (state["canSignIn"].as_bool().unwrap(), obstacle)
}

/// Signs up an account that waits for its verification; returns its id.
async fn pending(app: &TestApp) -> String {
    app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
    let users = app.admin().get("/api/auth/users").send().await.expect(200);
    users["data"][0]["id"].as_str().unwrap().to_owned()
}

both_stores! {
    with(|b| b.verification_by_code().limits())
    async fn nothing_is_in_the_way_of_a_verified_user(app) {
        let ada = app.user("ada").await;

        assert_eq!(state(&app, &ada.id).await, json!({"canSignIn": true, "obstacles": []}));
    }

    async fn banned_user_is_told_since_when(app) {
        let ada = app.user("ada").await;
        let ban = json!({"banned": true});
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), ban).send().await.expect(200);
        app.clock.advance(minutes(5));

        let expected = json!({"kind": "banned", "since": "2026-03-02T10:00:00.000Z"});
        assert_eq!(obstacle(&app, &ada.id).await, (false, expected));
    }

    with(|b| b.verification_by_code().email_sign_in(EmailSignIn::Off))
    async fn unverified_user_is_told_the_fate_of_the_last_mail(app) {
        let ada = pending(&app).await;
        let unverified = |state: &str, at: &str| json!({
            "kind": "unverified", "since": "2026-03-02T10:00:00.000Z",
            "mail": {"state": state, "at": format!("2026-03-02T{at}.000Z")},
        });
        app.clock.advance(minutes(1));
        assert_eq!(obstacle(&app, &ada).await, (false, unverified("queued", "10:00:00")));

        app.run_jobs().await;
        assert_eq!(obstacle(&app, &ada).await, (false, unverified("sent", "10:01:00")));

        app.clock.advance(minutes(2));
        resend(&app.anon(), ADA).send().await.expect(202);
        app.mail().refuse_next(1);
        app.run_jobs().await;
        assert_eq!(obstacle(&app, &ada).await, (false, unverified("dead", "10:03:00")));
    }

    with(|b| b.verification_by_code().email_sign_in(EmailSignIn::Off))
    async fn address_that_an_admin_changed_is_unverified_since_then(app) {
        let ada = app.user("ada").await;
        app.clock.advance(minutes(7));
        let path = format!("/api/auth/users/{}", ada.id);
        app.admin().patch(&path, json!({"email": "ada@example.net"})).send().await.expect(200);
        app.clock.advance(minutes(1));

        let expected = json!({"kind": "unverified", "since": "2026-03-02T10:07:00.000Z"});
        assert_eq!(obstacle(&app, &ada.id).await, (false, expected));
    }

    with(|b| b.verification_by_code().email_sign_in(EmailSignIn::Code))
    async fn unverified_user_can_sign_in_by_mail_where_that_is_on(app) {
        let ada = pending(&app).await;

        let (can_sign_in, obstacle) = obstacle(&app, &ada).await;

        assert_eq!((can_sign_in, &obstacle["kind"]), (true, &json!("unverified")));
    }

    with(|b| b.email_sign_in(EmailSignIn::Code))
    async fn user_without_any_way_in_is_told(app) {
        send_otp(&app.anon(), ADA).send().await.expect(202);
        let code = app.mail_to(ADA).await.code();
        let made = sign_in_by_code(&app.anon(), ADA, &code).send().await.expect(200);
        let id = made["user"]["id"].as_str().unwrap();
        app.admin().put("/api/auth/config", json!({"emailSignIn": "off"})).send().await.expect(200);

        assert_eq!(obstacle(&app, id).await, (false, json!({"kind": "no_way"})));
    }

    async fn user_in_deletion_can_take_it_back(app) {
        let ada = deleted(&app, "ada").await;

        let (can_sign_in, obstacle) = obstacle(&app, &ada.id).await;

        assert_eq!((can_sign_in, &obstacle["kind"]), (true, &json!("deletion")));
        assert!(obstacle["until"].as_str().unwrap().starts_with("2026-"), "{obstacle}");
    }

    with(|b| b.verification_by_code().settings(|settings| settings.second_factor = SecondFactorPolicy::Required))
    async fn user_without_a_required_second_factor_is_told(app) {
        let body = json!({"email": ADA, "password": PASSWORD, "autoConfirm": true});
        let made = app.admin().post("/api/auth/users", body).send().await.expect(200);
        let id = made["user"]["id"].as_str().unwrap();

        assert_eq!(obstacle(&app, id).await, (true, json!({"kind": "must_enroll"})));
    }

    with(|b| b.limits())
    async fn limited_user_is_told_which_limit_and_until_when(app) {
        let ada = app.user("ada").await;
        for _ in 0..10 {
            let answer = app.anon().sign_in(ADA, "a wrong password").from_ip("203.0.113.9").send().await;
            answer.refused(401, "INVALID_CREDENTIALS");
        }

        let until = "2026-03-02T10:00:30.000Z";
        let limit = json!({
            "limit": "password sign-in, per account and address", "purpose": null, "clients": "some", "until": until,
        });
        let expected = json!({"kind": "limited", "until": until, "limit": limit});
        assert_eq!(obstacle(&app, &ada.id).await, (true, expected));
    }

    with(|b| b.limits().email_sign_in(EmailSignIn::Off))
    async fn limit_over_all_addresses_closes_an_account_that_nobody_has_signed_in_to(app) {
        let body = json!({"email": ADA, "password": PASSWORD, "autoConfirm": true});
        let made = app.admin().post("/api/auth/users", body).send().await.expect(200);
        let id = made["user"]["id"].as_str().unwrap();
        for number in 0..100 {
            let from = format!("192.0.2.{}", number / 9);
            app.anon().sign_in(ADA, "a wrong password").from_ip(&from).send().await.refused(401, "INVALID_CREDENTIALS");
        }

        let (can_sign_in, obstacle) = obstacle(&app, id).await;

        assert_eq!((can_sign_in, &obstacle["limit"]["clients"]), (false, &json!("all")), "{obstacle}");
        app.anon().sign_in(ADA, PASSWORD).from_ip("198.51.100.7").send().await.refused(429, "TOO_MANY_REQUESTS");
    }

    with(|b| b.limits())
    async fn limit_over_all_addresses_leaves_the_known_ones_to_an_account_in_use(app) {
        let ada = app.user("ada").await;
        for number in 0..100 {
            let from = format!("192.0.2.{}", number / 9);
            app.anon().sign_in(ADA, "a wrong password").from_ip(&from).send().await.refused(401, "INVALID_CREDENTIALS");
        }

        let (can_sign_in, obstacle) = obstacle(&app, &ada.id).await;

        assert_eq!((can_sign_in, &obstacle["limit"]["clients"]), (true, &json!("unknown")), "{obstacle}");
    }

    with(|b| b.limits().email_sign_in(EmailSignIn::Code))
    async fn limits_of_mails_and_codes_are_told_where_mail_is_the_only_way(app) {
        import_lines(&app, "", &json!({"email": ADA, "emailVerified": true}).to_string()).await;
        let users = app.admin().get("/api/auth/users").send().await.expect(200);
        let id = users["data"][0]["id"].as_str().unwrap();
        send_otp(&app.anon(), ADA).send().await.expect(202);
        let (can_sign_in, mails) = obstacle(&app, id).await;
        assert_eq!((can_sign_in, &mails["limit"]["limit"]), (true, &json!("mails, per recipient")), "a code was mailed");
        app.clock.advance(minutes(2));
        for host in 1..=10 {
            let from = format!("192.0.2.{host}");
            sign_in_by_code(&app.anon(), ADA, "000000").from_ip(&from).send().await.refused(400, "INVALID_CODE");
        }

        let (can_sign_in, obstacle) = obstacle(&app, id).await;

        assert_eq!((can_sign_in, &obstacle["limit"]["limit"]), (false, &json!("wrong codes, per account")));
        assert_eq!(obstacle["limit"]["purpose"], "sign_in");
    }

    async fn sign_in_state_is_for_admins_and_known_users(app) {
        let ada = app.user("ada").await;
        let path = |id: &str| format!("/api/auth/users/{id}/sign-in-state");

        app.admin().get(&path(NOBODY)).send().await.refused(404, "USER_NOT_FOUND");
        app.admin().get(&path("none")).send().await.refused(404, "USER_NOT_FOUND");
        app.anon().get(&path(&ada.id)).send().await.refused(401, "ADMIN_UNAUTHORIZED");
        ada.get(&path(&ada.id)).send().await.refused(403, "FORBIDDEN");
    }
}
