//! Where browsers may be sent: `redirectTo`, the default, `options.emailRedirectTo`, and the list, as the calls that
//! mail links keep it. The list's own rules are tested to the end where they live; here stand the hard cases.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, json};
use url::Url;

use crate::email_calls::{
    TARGET, resend, resend_to, reset_link, send_reset, send_reset_to, sign_up_to, signed_up_link,
};

const ADA: &str = "ada@example.org";

/// What no list of one page on `app.example` lets pass.
const HARD: &[&str] = &[
    "",
    "/done",
    "//app.example/done",
    "app.example/done",
    "https:app.example/done",
    "https:/app.example/done",
    "https:///app.example/done",
    "http://app.example/done",
    "https://app.example:444/done",
    "https://app.example./done",
    "https://www.app.example/done",
    "https://app.example.evil.example/done",
    "https://evil.example/https://app.example/done",
    "https://evil.example/?https://app.example/done",
    "https://evil.example/#https://app.example/done",
    "https://app.example@evil.example/done",
    "https://app.example:done@evil.example/done",
    "https://ada@app.example/done",
    "https://@app.example/done",
    "https://:@app.example/done",
    "https:\\\\app.example\\done",
    "https://evil.example\\@app.example/done",
    "https://app.example\\.evil.example/done",
    "https://app.example/done\\..\\other",
    " https://app.example/done",
    "https://app.example/done ",
    "https://app.example/done\n",
    "ht\ttps://app.example/done",
    "https://app.exa\u{7f}mple/done",
    "https://app.example%00.evil.example/done",
    "https://app.example%2f@evil.example/done",
    "https://app.example/done/",
    "https://app.example/done/more",
    "https://app.example/done%2f..%2fother",
    "https://app.example/Done",
    "https://app.example/done/../other",
    "https://app.example/",
    "https://[::1]/done",
    "https://",
    "javascript:alert(1)//https://app.example/done",
    "JavaScript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://app.example/done",
    "about:blank",
    "myapp://callback",
];

/// An answer that says: not on the list. With its message.
#[track_caller]
fn off_list(answer: &Answer) -> String {
    answer.refused(400, "REDIRECT_NOT_ALLOWED")["message"].as_str().unwrap().to_owned()
}

/// Where a reset link to this target leads; the target must be allowed.
async fn leads_to(app: &TestApp, target: &str) -> Url {
    send_reset_to(&app.anon(), ADA, target).send().await.expect(202);
    let link = app.mail_to(ADA).await.link();
    app.anon().get(&link).send().await.redirected()
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
    async fn default_target_stands_in(app) {
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

    with(|b| b.link_reset().redirects(&[TARGET]))
    async fn hard_urls_are_refused(app) {
        for target in HARD {
            let answer = send_reset_to(&app.anon(), ADA, target).send().await;

            off_list(&answer);
        }
    }

    with(|b| b.link_reset().redirects(&[TARGET]))
    async fn refusal_says_which_rule_failed(app) {
        for (target, rule) in [
            ("/done", "absolute"),
            ("javascript:alert(1)", "scheme"),
            ("https://ada@app.example/done", "user information"),
            ("https://app.example/\\done", "backslash"),
            ("https://app.example/do\tne", "control character"),
            ("http://app.example/done", "scheme"),
            ("https://evil.example/done", "host"),
            ("https://app.example:8443/done", "port"),
            ("https://app.example/other", "path"),
        ] {
            let message = off_list(&send_reset_to(&app.anon(), ADA, target).send().await);

            assert!(message.contains(rule), "{target}: {message}");
        }
    }

    with(|b| b.link_reset().redirects(&[TARGET]))
    async fn what_is_stored_and_used_is_the_parsed_url(app) {
        app.user("ada").await;

        for spelling in
            ["HTTPS://APP.EXAMPLE:443/done", "https://app.example/x/../done", "https://app%2eexample/done"]
        {
            let landed = leads_to(&app, spelling).await;

            assert!(landed.as_str().starts_with("https://app.example/done?service_status=ready"), "{landed}");
        }
    }

    with(|b| b.link_reset().redirects(&["https://*.app.example/one/*", "https://open.example/**"]))
    async fn wildcards_take_one_label_one_segment_or_the_rest_of_a_path(app) {
        app.user("ada").await;
        for target in ["https://a.app.example/one/x", "https://open.example/", "https://open.example/a/b?c#d"]
        {
            assert_eq!(parameter(&leads_to(&app, target).await, "service_status").as_deref(), Some("ready"));
        }

        for target in [
            "https://app.example/one/x",
            "https://a.b.app.example/one/x",
            "https://evil.example/.app.example/one/x",
            "https://evil.example#.app.example/one/x",
            "https://a.app.example/one/x/y",
            "https://a.app.example/one/",
            "https://a.app.example/one/..%2f..%2fadmin",
            "https://open.example/%2e%2e%5cadmin",
            "http://open.example/",
        ] {
            off_list(&send_reset_to(&app.anon(), ADA, target).send().await);
        }
    }

    with(|b| b.link_reset().redirects(&["https://app.example/any", "https://app.example/one?tab=1"]))
    async fn entry_with_a_query_demands_it_and_one_without_lets_any_pass(app) {
        app.user("ada").await;

        let landed = leads_to(&app, "https://app.example/one?tab=1").await;
        assert_eq!(parameter(&landed, "tab").as_deref(), Some("1"));
        leads_to(&app, "https://app.example/any?x=y").await;

        for target in
            ["https://app.example/one", "https://app.example/one?tab=2", "https://app.example/one?tab=1&x=y"]
        {
            off_list(&send_reset_to(&app.anon(), ADA, target).send().await);
        }
    }

    with(|b| b.link_reset().redirects(&["myapp://callback"]))
    async fn custom_scheme_matches_exactly(app) {
        app.user("ada").await;

        let landed = leads_to(&app, "myapp://callback").await;

        assert!(landed.as_str().starts_with("myapp://callback?service_status=ready&"), "{landed}");
        for target in ["myapp://callback/x", "myapp://Callback", "myapp:callback", "myapp2://callback"] {
            off_list(&send_reset_to(&app.anon(), ADA, target).send().await);
        }
    }

    with(|b| b.mode_production().link_reset())
    async fn empty_list_allows_nothing(app) {
        for target in ["https://app.example/", "http://localhost:3000/", "https://accounts.example.org/"] {
            off_list(&send_reset_to(&app.anon(), ADA, target).send().await);
        }
    }

    with(|b| b.link_reset())
    async fn empty_list_of_development_allows_localhost_as_sent(app) {
        app.user("ada").await;
        for target in ["http://localhost:3000/x", "https://LOCALHOST/", "http://127.0.0.1:5173/"] {
            leads_to(&app, target).await;
        }

        for target in [
            "http://localhost.evil.example/",
            "http://127.1/",
            "http://2130706433/",
            "http://[::1]/",
            "http://%6cocalhost/",
            "http://127.0.0.2/",
            "https://app.example/",
            "myapp://localhost",
        ] {
            off_list(&send_reset_to(&app.anon(), ADA, target).send().await);
        }
    }

    with(|b| b.link_reset().redirects(&["https://app.example/done"]))
    async fn localhost_is_off_a_list_that_is_not_empty(app) {
        off_list(&send_reset_to(&app.anon(), ADA, "http://localhost:3000/").send().await);
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
    async fn default_takes_over_where_the_target_left_the_list(app) {
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

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn target_of_another_type_or_too_long_is_refused(app) {
        for target in [json!(1), json!(["https://app.example/"]), json!({}), json!(true)] {
            let body = json!({"email": ADA, "redirectTo": target});
            let answer = app.anon().post("/api/auth/email/send-reset-password", body).send().await;
            assert!(
                answer.refused(400, "VALIDATION_ERROR")["message"].as_str().unwrap().contains("redirectTo")
            );
        }

        let long = format!("https://app.example/{}", "x".repeat(2048));

        off_list(&send_reset_to(&app.anon(), ADA, &long).send().await);
    }

    with(|b| b.link_reset().default_redirect(TARGET).redirects(&[TARGET]))
    async fn null_target_counts_as_none(app) {
        let body = json!({"email": ADA, "redirectTo": null, "options": null});

        app.anon().post("/api/auth/email/send-reset-password", body).send().await.expect(202);
    }
}
