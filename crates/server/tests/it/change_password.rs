//! Tests of changePassword: POST /api/auth/password.

use latchkey_testkit::{Client, PASSWORD, Request, both_stores, json, minutes};

const NEW: &str = "a wholly new lantern";
const WRONG: &str = "another lantern 42";

both_stores! {
    async fn right_current_password_sets_the_new_one(app) {
        let ada = app.user("ada").await;

        let changed = change(&ada, PASSWORD, NEW).send().await.expect(200);

        assert!(changed["message"].is_string() && changed.as_object().unwrap().len() == 1, "{changed}");
        app.anon().sign_in(&ada.email, NEW).send().await.expect(200);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }

    async fn change_ends_the_other_sessions_and_keeps_the_one_that_asked(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let other = ada.sign_in_again().await;

        change(&ada, PASSWORD, NEW).send().await.expect(200);

        app.with_session(&other).get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().refresh(&other).send().await.refused(401, "AUTH_UNAUTHORIZED");
        ada.get("/api/auth/sessions/current").send().await.expect(200);
        ada.refreshed().await.expect(200);
        bob.get("/api/auth/sessions/current").send().await.expect(200);
    }

    async fn wrong_current_password_changes_nothing(app) {
        let ada = app.user("ada").await;
        let other = ada.sign_in_again().await;

        let answer = change(&ada, WRONG, NEW).send().await;

        answer.refused(401, "INVALID_CREDENTIALS");
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
        app.with_session(&other).get("/api/auth/sessions/current").send().await.expect(200);
    }

    with(|b| b.limits())
    async fn wrong_current_passwords_and_wrong_sign_ins_count_together(app) {
        let ada = app.user("ada").await;
        for _ in 0..5 {
            change(&ada, WRONG, NEW).send().await.refused(401, "INVALID_CREDENTIALS");
            ada.sign_in("ada@example.org", WRONG).send().await.refused(401, "INVALID_CREDENTIALS");
        }

        let change = change(&ada, PASSWORD, NEW).send().await;
        let sign_in = ada.sign_in("ada@example.org", PASSWORD).send().await;

        change.refused(429, "TOO_MANY_REQUESTS");
        sign_in.refused(429, "TOO_MANY_REQUESTS");
    }

    async fn outstanding_reset_code_dies_with_the_change(app) {
        let ada = app.user("ada").await;
        ada.post("/api/auth/email/send-reset-password", json!({"email": ada.email})).send().await.expect(202);
        let code = app.mail_to(&ada.email).await.code();

        change(&ada, PASSWORD, NEW).send().await.expect(200);

        let body = json!({"email": ada.email, "code": code});
        let exchange = app.anon().post("/api/auth/email/exchange-reset-password-token", body).send().await;
        exchange.refused(400, "INVALID_CODE");
    }

    async fn outstanding_reset_token_dies_with_the_change(app) {
        let ada = app.user("ada").await;
        ada.post("/api/auth/email/send-reset-password", json!({"email": ada.email})).send().await.expect(202);
        let body = json!({"email": ada.email, "code": app.mail_to(&ada.email).await.code()});
        let exchanged =
            app.anon().post("/api/auth/email/exchange-reset-password-token", body).send().await.expect(200);

        change(&ada, PASSWORD, NEW).send().await.expect(200);

        let body = json!({"newPassword": WRONG, "otp": exchanged["token"]});
        let reset = app.anon().post("/api/auth/email/reset-password", body).send().await;
        reset.refused(400, "INVALID_CODE");
    }

    with(|b| b.link_reset())
    async fn outstanding_reset_link_dies_with_the_change(app) {
        let ada = app.user("ada").await;
        let body = json!({"email": ada.email, "redirectTo": "http://localhost:3000/reset"});
        ada.post("/api/auth/email/send-reset-password", body).send().await.expect(202);
        let mail = app.mail_to(&ada.email).await;

        change(&ada, PASSWORD, NEW).send().await.expect(200);

        let landed = app.anon().get(&mail.link()).send().await.redirected();
        assert!(landed.query().unwrap().contains("service_status=error"), "{landed}");
        let body = json!({"newPassword": WRONG, "otp": mail.token()});
        let reset = app.anon().post("/api/auth/email/reset-password", body).send().await;
        reset.refused(400, "INVALID_CODE");
    }

    async fn outstanding_verification_code_dies_with_the_change(app) {
        let ada = app.user("ada").await;
        ada.post("/api/auth/email/send-verification", json!({"email": ada.email})).send().await.expect(202);
        let code = app.mail_to(&ada.email).await.code();

        change(&ada, PASSWORD, NEW).send().await.expect(200);

        app.anon().verify(&ada.email, &code).send().await.refused(400, "INVALID_CODE");
    }

    async fn weak_new_password_is_refused_and_changes_nothing(app) {
        let ada = app.user("adalovelace").await;

        for weak in ["short", "password", "my-AdaLovelace-9", &"qz7".repeat(43)] {
            let answer = change(&ada, PASSWORD, weak).send().await;

            answer.refused(400, "WEAK_PASSWORD");
        }
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
    }

    async fn both_passwords_are_normalised(app) {
        let ada = app.user("ada").await;
        change(&ada, PASSWORD, "cafe\u{301} au lait").send().await.expect(200);

        let answer = change(&ada, "caf\u{e9} au lait", NEW).send().await;

        answer.expect(200);
    }

    async fn change_demands_a_good_bearer(app) {
        let ada = app.user("ada").await;
        let anonymous = change(&app.anon(), PASSWORD, NEW).send().await;
        app.clock.advance(minutes(16));

        let expired = change(&ada, PASSWORD, NEW).send().await;

        anonymous.refused(401, "AUTH_UNAUTHORIZED");
        expired.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn missing_field_is_named(app) {
        let ada = app.user("ada").await;
        for (body, field) in [
            (json!({"newPassword": NEW}), "currentPassword"),
            (json!({"currentPassword": PASSWORD}), "newPassword"),
            (json!({"currentPassword": PASSWORD, "newPassword": null}), "newPassword"),
        ] {
            let answer = ada.post("/api/auth/password", body).send().await;

            let message = answer.refused(400, "VALIDATION_ERROR")["message"].to_string();
            assert!(message.contains(field), "{message}");
        }
    }

    with(|b| b.verification_by_code())
    async fn account_without_a_password_accepts_no_current_password(app) {
        for password in [PASSWORD, WRONG] {
            app.anon().sign_up("ada@example.org", password).send().await.expect(200);
        }
        let code = app.mail_to("ada@example.org").await.code();
        let verified = app.anon().verify("ada@example.org", &code).send().await.expect(200);
        let ada = app.bearing(verified["accessToken"].as_str().unwrap());

        let answer = change(&ada, PASSWORD, NEW).send().await;

        answer.refused(401, "INVALID_CREDENTIALS");
    }
}

fn change(client: &Client, current: &str, new: &str) -> Request {
    client.post("/api/auth/password", json!({"currentPassword": current, "newPassword": new}))
}
