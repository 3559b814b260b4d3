//! Tests of redirect targets in the calls that mail links: `redirectTo`, the default target, `options.emailRedirectTo`,
//! and the allow list. Matching is in `redirect_list`.

use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, json};

use crate::email_calls::{
    TARGET, resend, resend_to, reset_link, send_reset, send_reset_to, sign_up_to, signed_up_link,
};

const ADA: &str = "ada@example.org";

/// Asserts the error of a target that is not on the list, and returns its message.
#[track_caller]
pub(crate) fn off_list(answer: &Answer) -> String {
    answer.refused(400, "REDIRECT_NOT_ALLOWED")["message"].as_str().unwrap().to_owned()
}

async fn list(app: &TestApp, entries: &[&str]) {
    app.admin().put("/api/auth/config", json!({"allowedRedirectUrls": entries})).send().await.expect(200);
}

both_stores! {
    with(|b| b.verification_by_link().link_reset())
    async fn target_is_required_where_the_mail_carries_a_link(app) {
        for request in
            [app.anon().sign_up(ADA, PASSWORD), resend(&app.anon(), ADA), send_reset(&app.anon(), ADA)]
        {
            let refusal = request.send().await.refused(400, "VALIDATION_ERROR");

            assert!(refusal["message"].as_str().unwrap().contains("redirectTo"), "{refusal}");
        }
        let users = app.admin().get("/api/auth/users").send().await.expect(200);
        assert_eq!(users["pagination"]["total"], 0);
    }

    with(|b| b.settings(|settings| settings.verify_email_method = latchkey_testkit::EmailMethod::Link))
    async fn sign_up_needs_no_target_while_verification_is_off(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
    }

    with(|b| b.verification_by_link().link_reset().redirects(&[TARGET]).default_redirect(TARGET))
    async fn default_target_is_used(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        let verify = app.mail_to(ADA).await.link();
        let landed = app.anon().get(&verify).send().await.redirected();
        assert!(landed.as_str().starts_with(TARGET), "{landed}");

        resend(&app.anon(), ADA).send().await.expect(202);
        send_reset(&app.anon(), ADA).send().await.expect(202);

        let landed = app.anon().get(&app.mail_to(ADA).await.link()).send().await.redirected();
        assert!(landed.as_str().starts_with(TARGET), "{landed}");
    }

    with(|b| b.verification_by_code())
    async fn code_mails_need_no_target(app) {
        app.anon().sign_up(ADA, PASSWORD).send().await.expect(200);
        resend(&app.anon(), ADA).send().await.expect(202);
        send_reset(&app.anon(), ADA).send().await.expect(202);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"])
        .default_redirect("https://app.example/default"))
    async fn redirect_to_goes_before_the_default(app) {
        let link = signed_up_link(&app, ADA).await;

        assert_eq!(app.anon().get(&link).send().await.redirected().path(), "/done");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"])
        .default_redirect("https://app.example/default"))
    async fn default_goes_before_the_older_option(app) {
        let options = json!({"emailRedirectTo": "https://app.example/older"});
        let body = json!({"email": ADA, "password": PASSWORD, "options": options});
        app.anon().post("/api/auth/users", body).send().await.expect(200);

        let link = app.mail_to(ADA).await.link();

        assert_eq!(app.anon().get(&link).send().await.redirected().path(), "/default");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn older_option_is_the_fallback_at_sign_up_and_resend(app) {
        let options = json!({"emailRedirectTo": "https://app.example/older"});
        let body = json!({"email": ADA, "password": PASSWORD, "options": options});
        app.anon().post("/api/auth/users", body.clone()).send().await.expect(200);
        let first = app.mail_to(ADA).await.link();
        let landed = app.anon().request("HEAD", &first).send().await.redirected();
        assert_eq!(landed.path(), "/older");

        app.anon().post("/api/auth/email/send-verification", body).send().await.expect(202);

        let second = app.mail_to(ADA).await.link();
        assert_ne!(first, second);
        assert_eq!(app.anon().get(&second).send().await.redirected().path(), "/older");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn redirect_to_goes_before_the_older_option(app) {
        let options = json!({"emailRedirectTo": "https://app.example/older"});
        let body = json!({"email": ADA, "password": PASSWORD, "options": options, "redirectTo": TARGET});
        app.anon().post("/api/auth/users", body).send().await.expect(200);

        let link = app.mail_to(ADA).await.link();

        assert_eq!(app.anon().get(&link).send().await.redirected().path(), "/done");
    }

    with(|b| b.verification_by_link().redirects(&[TARGET]).default_redirect(TARGET))
    async fn older_option_is_checked_even_where_it_is_not_used(app) {
        let options = json!({"emailRedirectTo": "https://evil.example/"});
        let body = json!({"email": ADA, "password": PASSWORD, "options": options, "redirectTo": TARGET});

        for path in ["/api/auth/users", "/api/auth/email/send-verification"] {
            off_list(&app.anon().post(path, body.clone()).send().await);
        }
    }

    with(|b| b.verification_by_link().link_reset().redirects(&[TARGET]))
    async fn target_off_the_list_is_refused_for_known_and_unknown_alike(app) {
        let evil = "https://evil.example/done";
        app.user("ada").await;
        app.mail().clear();

        let mut refusals = Vec::new();
        for email in [ADA, "nobody@example.org"] {
            refusals.push(off_list(&sign_up_to(&app.anon(), email, evil).send().await));
            refusals.push(off_list(&resend_to(&app.anon(), email, evil).send().await));
            refusals.push(off_list(&send_reset_to(&app.anon(), email, evil).send().await));
        }

        assert!(refusals.iter().all(|refusal| *refusal == refusals[0]), "{refusals:?}");
        assert!(refusals[0].contains("host") && !refusals[0].contains("evil"), "{refusals:?}");
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);
        let users = app.admin().get("/api/auth/users").send().await.expect(200);
        assert_eq!(users["pagination"]["total"], 1);
    }

    with(|b| b.redirects(&[TARGET]))
    async fn target_off_the_list_is_refused_where_mails_carry_codes_and_where_none_go_out(app) {
        let evil = "https://evil.example/done";
        off_list(&sign_up_to(&app.anon(), ADA, evil).send().await);
        off_list(&resend_to(&app.anon(), ADA, evil).send().await);
        off_list(&send_reset_to(&app.anon(), ADA, evil).send().await);
    }

    with(|b| b.verification_by_link().link_reset().redirects(&[TARGET]))
    async fn target_is_checked_again_when_the_link_opens(app) {
        let verify = signed_up_link(&app, ADA).await;
        let reset = reset_link(&app, ADA).await;
        list(&app, &["https://elsewhere.example/"]).await;

        for link in [&verify, &reset] {
            assert_eq!(app.anon().get(link).send().await.header("location"), None);
            app.anon().get(link).send().await.page(400);
        }

        list(&app, &[TARGET]).await;
        let landed = app.anon().get(&reset).send().await.redirected();
        assert!(landed.as_str().starts_with("https://app.example/done?service_status=ready"), "{landed}");
    }

    with(|b| b.link_reset().redirects(&[TARGET]))
    async fn default_is_used_if_the_target_is_no_longer_on_the_list(app) {
        app.user("ada").await;
        let link = reset_link(&app, ADA).await;
        let settings = json!({
            "allowedRedirectUrls": ["https://elsewhere.example/home"],
            "defaultRedirectUrl": "https://elsewhere.example/home",
        });
        app.admin().put("/api/auth/config", settings).send().await.expect(200);

        let landed = app.anon().get(&link).send().await.redirected();

        assert!(
            landed.as_str().starts_with("https://elsewhere.example/home?service_status=ready"),
            "{landed}"
        );
    }

    with(|b| b.verification_by_link().link_reset().redirects(&["https://app.example/**"]))
    async fn mail_never_carries_the_target(app) {
        sign_up_to(&app.anon(), ADA, "https://app.example/secret-page?x=whispered").send().await.expect(200);
        send_reset_to(&app.anon(), ADA, "https://app.example/secret-page?x=whispered")
            .send()
            .await
            .expect(202);

        app.run_jobs().await;

        let mails = app.mail().all(ADA);
        assert_eq!(mails.len(), 2);
        for mail in mails {
            for part in [&mail.subject, &mail.text, &mail.html] {
                assert!(!part.contains("app.example") && !part.contains("whispered"), "{part}");
            }
        }
    }

    with(|b| b.link_reset().default_redirect(TARGET).redirects(&[TARGET]))
    async fn null_target_counts_as_none(app) {
        let body = json!({"email": ADA, "redirectTo": null, "options": null});

        app.anon().post("/api/auth/email/send-reset-password", body).send().await.expect(202);
    }
}
