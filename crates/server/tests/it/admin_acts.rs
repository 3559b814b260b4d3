//! Acts of an admin on one user by API: mails, password, one session, identities.

use latchkey_testkit::{EmailSignIn, PASSWORD, TestApp, User, Value, both_stores, json, seconds};

use crate::audit::last;
use crate::described::assert_successes_are_described;
use crate::email_calls::NEW_PASSWORD;
use crate::oauth_calls::{VERIFIER, acme, exchange, identities, link_code, session};
use crate::routes::NOBODY;

const ADA: &str = "ada@example.org";

fn path(user: &User, act: &str) -> String {
    format!("/api/auth/users/{}/{act}", user.id)
}

async fn pending(app: &TestApp, email: &str) -> String {
    app.anon().sign_up(email, PASSWORD).send().await.expect(200);
    app.run_jobs().await;
    let users = app.admin().get("/api/auth/users").query("search", email).send().await.expect(200);
    users["data"][0]["id"].as_str().unwrap().to_owned()
}

both_stores! {
    with(|b| b.verification_by_code().limits())
    async fn admin_has_a_verification_mailed(app) {
        let id = pending(&app, "bob@example.org").await;
        let path = format!("/api/auth/users/{id}/send-verification");

        let body = app.admin().post(&path, json!({})).send().await.expect(200);

        assert_eq!(body, json!({"message": "The mail is on its way."}));
        let proof = json!({"email": "bob@example.org", "otp": app.mail_to("bob@example.org").await.code()});
        app.anon().post("/api/auth/email/verify", proof).send().await.expect(200);
        let event = last(&app, "verification_sent").await;
        assert_eq!((&event["actor"], &event["userId"]), (&json!("admin"), &json!(id)));
        app.admin().post(&path, json!({})).send().await.refused(409, "MAIL_NOT_SENT");
        app.admin().post(&path, json!({"redirect": "x"})).send().await.refused(400, "VALIDATION_ERROR");
    }

    with(|b| b.verification_by_code())
    async fn admin_has_a_reset_mailed_but_not_to_a_banned_account(app) {
        let ada = app.user("ada").await;
        let send = || app.admin().post(&path(&ada, "send-reset-password"), json!({}));

        send().send().await.expect(200);

        assert!(app.mail_to(ADA).await.subject.contains("reset"));
        assert_eq!(last(&app, "reset_sent").await["userId"], json!(ada.id));
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), json!({"banned": true})).send().await.expect(200);
        send().send().await.refused(409, "MAIL_NOT_SENT");
        let nobody = format!("/api/auth/users/{NOBODY}/send-reset-password");
        app.admin().post(&nobody, json!({})).send().await.refused(404, "USER_NOT_FOUND");
        app.anon().post(&path(&ada, "send-reset-password"), json!({})).send().await.refused(401, "ADMIN_UNAUTHORIZED");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example.org/**"]))
    async fn link_needs_a_target_that_is_allowed(app) {
        let id = pending_by_link(&app).await;
        let path = format!("/api/auth/users/{id}/send-verification");
        let send = |body: Value| app.admin().post(&path, body);

        send(json!({})).send().await.refused_for("VALIDATION_ERROR", "redirectTo", &["required"]);
        send(json!({"redirectTo": "https://evil.example/"})).send().await.refused(400, "REDIRECT_NOT_ALLOWED");
        send(json!({"redirectTo": "https://app.example.org/done"})).send().await.expect(200);

        assert!(app.mail_to("bob@example.org").await.text.contains("/api/auth/email/verify-link?token="));
    }

    with(|b| b.verification_by_code())
    async fn admin_sets_a_password_which_ends_sessions_and_codes(app) {
        let ada = app.user("ada").await;
        app.anon().post("/api/auth/email/send-reset-password", json!({"email": ADA})).send().await.expect(202);
        let code = app.mail_to(ADA).await.code();
        let set = |password: &str| app.admin().post(&path(&ada, "password"), json!({"newPassword": password}));

        set("short").send().await.refused(400, "WEAK_PASSWORD");
        set(NEW_PASSWORD).send().await.expect(200);

        ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
        let exchange = json!({"email": ADA, "code": code});
        app.anon().post("/api/auth/email/exchange-reset-password-token", exchange).send().await.refused(400, "INVALID_CODE");
        app.anon().sign_in(ADA, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        app.anon().sign_in(ADA, NEW_PASSWORD).send().await.expect(200);
        let mail = app.mail_to(ADA).await;
        assert!(mail.subject.contains("A new password was set"), "{mail:#?}");
        assert_eq!(last(&app, "password_set").await["actor"], "admin");
        set("").send().await.refused(400, "WEAK_PASSWORD");
        app.admin().post(&path(&ada, "password"), json!({})).send().await.refused(400, "VALIDATION_ERROR");
    }

    async fn admin_gives_an_account_of_a_provider_a_password(app) {
        let acme = acme(&app).await;
        let eve = session(&app, &acme, "acme").await;
        let path = format!("/api/auth/users/{}/password", eve.user_id);

        app.admin().post(&path, json!({"newPassword": NEW_PASSWORD})).send().await.expect(200);

        app.anon().sign_in(ADA, NEW_PASSWORD).send().await.expect(200);
    }

    async fn admin_ends_one_session(app) {
        let ada = app.user("ada").await;
        app.clock.advance(seconds(1));
        let kept = ada.sign_in_again().await;
        let sessions = app.admin().get(&path(&ada, "sessions")).send().await.expect(200);
        let first = sessions["data"].as_array().unwrap().iter();
        let first = first.min_by_key(|one| one["createdAt"].as_str().unwrap().to_owned()).unwrap();
        let end = path(&ada, &format!("sessions/{}", first["id"].as_str().unwrap()));

        app.admin().delete(&end).send().await.expect(200);

        ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.with_session(&kept).get("/api/profiles/me").send().await.expect(200);
        app.admin().delete(&end).send().await.refused(404, "NOT_FOUND");
        app.admin().delete(&path(&ada, "sessions/none")).send().await.refused(404, "NOT_FOUND");
        let of_nobody = end.replace(&ada.id, NOBODY);
        app.admin().delete(&of_nobody).send().await.refused(404, "USER_NOT_FOUND");
        let event = last(&app, "session_ended").await;
        assert_eq!((&event["userId"], &event["sessionId"]), (&json!(ada.id), &first["id"]));
    }

    with(|b| b.email_sign_in(EmailSignIn::Off))
    async fn admin_unlinks_an_identity_but_not_the_last_way_in(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let code = link_code(&bob, &acme, "acme").await;
        exchange(&bob, &code, VERIFIER).send().await.expect(200);
        let unlink = |query: &str| app.admin().delete(&format!("{}{query}", path(&bob, "identities/acme")));

        unlink("?subject=another").send().await.refused(404, "NOT_FOUND");
        unlink("?subjects=another").send().await.refused(400, "VALIDATION_ERROR");
        unlink("").send().await.expect(200);

        assert_eq!(identities(&bob).await, Vec::<String>::new());
        unlink("").send().await.refused(404, "NOT_FOUND");
        app.admin().delete(&path(&bob, "identities/none")).send().await.refused(404, "NOT_FOUND");
        let eve = session(&app, &acme, "acme").await;
        let last_way = format!("/api/auth/users/{}/identities/acme", eve.user_id);
        app.admin().delete(&last_way).send().await.refused(409, "LAST_SIGN_IN_METHOD");
        assert_eq!(last(&app, "identity_unlinked").await["details"], json!({"provider": "acme"}));
    }

    async fn acts_are_described(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let code = link_code(&bob, &acme, "acme").await;
        exchange(&bob, &code, VERIFIER).send().await.expect(200);
        let sessions = app.admin().get(&path(&bob, "sessions")).send().await.expect(200);
        let one = path(&bob, &format!("sessions/{}", sessions["data"][0]["id"].as_str().unwrap()));
        let admin = app.admin();
        let of = |act: &str| path(&bob, act);

        assert_successes_are_described(&app, [
            ("DELETE /api/auth/users/{id}/sessions/{sessionId}", admin.delete(&one)),
            ("POST /api/auth/users/{id}/send-verification", admin.post(&of("send-verification"), json!({}))),
            ("POST /api/auth/users/{id}/send-reset-password", admin.post(&of("send-reset-password"), json!({}))),
            ("POST /api/auth/users/{id}/password", admin.post(&of("password"), json!({"newPassword": NEW_PASSWORD}))),
            ("DELETE /api/auth/users/{id}/identities/{provider}", admin.delete(&of("identities/acme"))),
        ])
        .await;
    }
}

async fn pending_by_link(app: &TestApp) -> String {
    let body = json!({
        "email": "bob@example.org", "password": PASSWORD, "redirectTo": "https://app.example.org/done"
    });
    app.anon().post("/api/auth/users", body).send().await.expect(200);
    app.run_jobs().await;
    let users = app.admin().get("/api/auth/users").query("search", "bob@").send().await.expect(200);
    users["data"][0]["id"].as_str().unwrap().to_owned()
}
