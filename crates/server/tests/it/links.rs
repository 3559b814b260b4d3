//! Tests of verification links in a browser: GET /api/auth/email/verify-link, its redirects and its page. Reset links
//! are in `reset_links`, rules of redirect targets in `redirects`.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{PASSWORD, TestApp, both_stores, days, hours, json, minutes, seconds};
use url::Url;

use crate::email_calls::{TARGET, change_user, resend_to, sign_up_to, signed_up_link};

const ADA: &str = "ada@example.org";

async fn open(app: &TestApp, link: &str) -> Url {
    app.anon().get(link).send().await.redirected()
}

fn unknown_link() -> String {
    format!("/api/auth/email/verify-link?token={}", "0".repeat(64))
}

/// Asserts the redirect of an invalid link: to `front`, with an error of this type, without a token.
#[track_caller]
pub(crate) fn is_error(landed: &Url, front: &str, kind: &str) {
    assert!(landed.as_str().starts_with(front), "{landed}");
    assert_eq!(parameter(landed, "service_status").as_deref(), Some("error"), "{landed}");
    assert_eq!(parameter(landed, "service_type").as_deref(), Some(kind), "{landed}");
    assert!(parameter(landed, "service_error").is_some_and(|text| text.contains(' ')), "{landed}");
    assert_eq!(parameter(landed, "token"), None, "{landed}");
}

both_stores! {
    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn verify_link_verifies_and_goes_to_the_redirect_target(app) {
        sign_up_to(&app.anon(), ADA, "https://app.example/welcome").send().await.expect(200);
        let link = app.mail_to(ADA).await.link();

        let answer = app.anon().get(&link).send().await;

        let expected = "https://app.example/welcome?service_status=success&service_type=verify_email";
        assert_eq!((answer.status, answer.header("location")), (302, Some(expected)));
        answer.redirected();
        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn query_and_fragment_of_the_target_survive(app) {
        let target = "https://app.example/welcome?tab=1&q=a%20b+c&service_status=mine#top?x=1";
        sign_up_to(&app.anon(), ADA, target).send().await.expect(200);
        let link = app.mail_to(ADA).await.link();

        let landed = open(&app, &link).await;

        // All parameters of the target are kept, except those that the service adds itself: otherwise the target's
        // author could forge the result.
        let expected = "https://app.example/welcome?tab=1&q=a%20b+c\
            &service_status=success&service_type=verify_email#top?x=1";
        assert_eq!(landed.as_str(), expected);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"])
        .config(|config| "latchkey".clone_into(&mut config.site.redirect_param_prefix)))
    async fn prefix_of_the_parameters_is_a_setting(app) {
        let link = signed_up_link(&app, ADA).await;

        let landed = open(&app, &link).await;

        let expected = "https://app.example/done?latchkey_status=success&latchkey_type=verify_email";
        assert_eq!(landed.as_str(), expected);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn verify_link_opens_no_session(app) {
        let link = signed_up_link(&app, ADA).await;

        let answer = app.anon().get(&link).send().await;

        assert!(answer.set_cookies().is_empty());
        assert_eq!(parameter(&answer.redirected(), "token"), None);
        assert!(answer.body.is_empty(), "{answer:?}");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn verify_link_opened_again_is_a_success_again(app) {
        let link = signed_up_link(&app, ADA).await;
        let first = open(&app, &link).await;

        app.clock.advance(hours(23));
        let second = open(&app, &link).await;

        assert_eq!(first, second);
        assert_eq!(parameter(&second, "service_status").as_deref(), Some("success"));
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn used_verify_link_ends_with_its_day(app) {
        let link = signed_up_link(&app, ADA).await;
        open(&app, &link).await;

        app.clock.advance(hours(24));

        is_error(&open(&app, &link).await, "https://app.example/done", "verify_email");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn verify_link_lives_for_a_day(app) {
        let link = signed_up_link(&app, ADA).await;

        app.clock.advance(hours(24) - seconds(1));

        assert_eq!(parameter(&open(&app, &link).await, "service_status").as_deref(), Some("success"));
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn expired_verify_link_is_an_error_and_changes_nothing(app) {
        let link = signed_up_link(&app, ADA).await;
        app.clock.advance(hours(24));

        let landed = open(&app, &link).await;

        is_error(
            &landed,
            "https://app.example/done?service_status=error&service_type=verify_email&",
            "verify_email",
        );
        app.anon().sign_in(ADA, PASSWORD).send().await.refused(403, "EMAIL_NOT_VERIFIED");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn superseded_verify_link_is_an_error_and_the_newer_one_works(app) {
        let older = signed_up_link(&app, ADA).await;
        resend_to(&app.anon(), ADA, "https://app.example/newer").send().await.expect(202);
        let newer = app.mail_to(ADA).await.link();

        is_error(&open(&app, &older).await, "https://app.example/done", "verify_email");
        app.anon().sign_in(ADA, PASSWORD).send().await.refused(403, "EMAIL_NOT_VERIFIED");

        assert_eq!(parameter(&open(&app, &newer).await, "service_status").as_deref(), Some("success"));
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn link_to_an_address_that_is_the_accounts_no_more_is_an_error(app) {
        let link = signed_up_link(&app, ADA).await;
        open(&app, &link).await;

        change_user(&app, ADA, json!({"email": "ada@example.net"})).await;

        is_error(&open(&app, &link).await, "https://app.example/done", "verify_email");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn used_verify_link_does_not_verify_again_what_an_admin_took_back(app) {
        let link = signed_up_link(&app, ADA).await;
        open(&app, &link).await;
        change_user(&app, ADA, json!({"emailVerified": false})).await;

        is_error(&open(&app, &link).await, "https://app.example/done", "verify_email");

        app.anon().sign_in(ADA, PASSWORD).send().await.refused(403, "EMAIL_NOT_VERIFIED");
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn head_changes_nothing(app) {
        let link = signed_up_link(&app, ADA).await;

        let looked = app.anon().request("HEAD", &link).send().await;

        assert_eq!(parameter(&looked.redirected(), "service_status").as_deref(), Some("success"));
        app.anon().sign_in(ADA, PASSWORD).send().await.refused(403, "EMAIL_NOT_VERIFIED");
        open(&app, &link).await;
        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
    }

    async fn verify_link_with_an_unknown_token_shows_a_page(app) {
        let answer = app.anon().get(&unknown_link()).send().await;

        let page = answer.page(400);
        assert!(page.contains("ask for a new"), "{page}");
        assert_eq!(answer.header("location"), None);
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe") && !policy.contains("script-src"), "{policy}");
        assert!(!page.contains("<script"), "{page}");
    }

    async fn link_that_was_not_copied_whole_shows_the_page(app) {
        for path in ["verify-link", "reset-password-link"] {
            for query in ["", "?token=", "?token=abc", "?tok=1", "?token=%3Cscript%3Ealert(1)%3C/script%3E"] {
                let answer = app.anon().get(&format!("/api/auth/email/{path}{query}")).send().await;

                assert!(!answer.page(400).contains("<script"), "{path}{query}");
            }
        }
    }

    with(|b| b.redirects(&["https://app.example/**"]).default_redirect("https://app.example/home"))
    async fn unknown_token_goes_to_the_default_target_where_there_is_one(app) {
        let landed = open(&app, &unknown_link()).await;

        is_error(
            &landed,
            "https://app.example/home?service_status=error&service_type=verify_email&",
            "verify_email",
        );
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn dead_link_is_reported_as_such_for_a_week_and_unknown_afterwards(app) {
        let link = signed_up_link(&app, ADA).await;
        app.clock.advance(hours(24) + days(7) - minutes(1));
        app.run_jobs().await;
        is_error(&open(&app, &link).await, "https://app.example/done", "verify_email");

        app.clock.advance(days(1));
        app.run_jobs().await;

        app.anon().get(&link).send().await.page(400);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn link_of_a_deleted_account_is_unknown(app) {
        let link = signed_up_link(&app, ADA).await;
        let ids = json!({"userIds": [crate::email_calls::id_of(&app, ADA).await]});
        app.admin().delete("/api/auth/users").json(&ids).send().await.expect(200);

        app.anon().get(&link).send().await.page(400);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn contested_address_keeps_no_password_after_its_link(app) {
        signed_up_link(&app, ADA).await;
        let body = json!({"email": ADA, "password": "the password of an impostor", "redirectTo": TARGET});
        app.anon().post("/api/auth/users", body).send().await.expect(200);
        let link = app.mail_to(ADA).await.link();

        assert_eq!(parameter(&open(&app, &link).await, "service_status").as_deref(), Some("success"));

        for lost in [PASSWORD, "the password of an impostor"] {
            app.anon().sign_in(ADA, lost).send().await.refused(401, "INVALID_CREDENTIALS");
        }
    }
}
