//! Tests of reset links in a browser: GET /api/auth/email/reset-password-link, its redirects and its page.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{PASSWORD, TestApp, both_stores, days, json, minutes, seconds};
use url::Url;

use crate::email_calls::{NEW_PASSWORD, change_user, reset, reset_link, send_reset_to};
use crate::links::is_error;

const DONE: &str = "https://app.example/done";

async fn open(app: &TestApp, link: &str) -> Url {
    app.anon().get(link).send().await.redirected()
}

/// Token in a redirect whose status is `ready`.
#[track_caller]
fn ready(landed: &Url) -> String {
    assert_eq!(parameter(landed, "service_status").as_deref(), Some("ready"), "{landed}");
    assert_eq!(parameter(landed, "service_error"), None, "{landed}");
    parameter(landed, "token").unwrap()
}

both_stores! {
    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn reset_link_hands_out_a_token_that_sets_a_password(app) {
        let ada = app.user("ada").await;
        let link = reset_link(&app, &ada.email).await;

        let landed = open(&app, &link).await;

        let token = ready(&landed);
        assert_eq!(token.len(), 64);
        let expected = format!("{DONE}?service_status=ready&service_type=reset_password&token={token}");
        assert_eq!(landed.as_str(), expected);
        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);
        app.anon().sign_in(&ada.email, NEW_PASSWORD).send().await.expect(200);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn query_and_fragment_of_the_target_survive(app) {
        let ada = app.user("ada").await;
        send_reset_to(&app.anon(), &ada.email, "https://app.example/#/reset?x=1").send().await.expect(202);
        let link = app.mail_to(&ada.email).await.link();

        let landed = open(&app, &link).await;

        assert_eq!((landed.path(), landed.fragment()), ("/", Some("/reset?x=1")));
        ready(&landed);
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn reset_link_opens_any_number_of_times(app) {
        let ada = app.user("ada").await;
        let link = reset_link(&app, &ada.email).await;

        let mut landed = Vec::new();
        for method in ["GET", "HEAD", "GET", "GET"] {
            landed.push(app.anon().request(method, &link).send().await.redirected());
        }

        assert!(landed.iter().all(|url| *url == landed[0]), "{landed:?}");
        reset(&app.anon(), &ready(&landed[0]), NEW_PASSWORD).send().await.expect(200);
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn opened_reset_link_changes_nothing(app) {
        let ada = app.user("ada").await;
        let link = reset_link(&app, &ada.email).await;

        let answer = app.anon().get(&link).send().await;

        assert!(answer.set_cookies().is_empty() && answer.body.is_empty());
        let current = ada.get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(current["user"]["emailVerified"], false);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200);
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn reset_link_lives_for_half_an_hour(app) {
        let ada = app.user("ada").await;
        let link = reset_link(&app, &ada.email).await;

        app.clock.advance(minutes(30) - seconds(1));
        let token = ready(&open(&app, &link).await);
        app.clock.advance(seconds(1));

        is_error(&open(&app, &link).await, DONE, "reset_password");
        reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(400, "INVALID_CODE");
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn used_reset_link_is_an_error_at_the_click(app) {
        let ada = app.user("ada").await;
        let link = reset_link(&app, &ada.email).await;
        let token = ready(&open(&app, &link).await);
        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);

        is_error(&open(&app, &link).await, DONE, "reset_password");
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn newer_reset_link_replaces_the_older(app) {
        let ada = app.user("ada").await;
        let older = reset_link(&app, &ada.email).await;
        let token = ready(&open(&app, &older).await);
        let newer = reset_link(&app, &ada.email).await;

        is_error(&open(&app, &older).await, DONE, "reset_password");
        reset(&app.anon(), &token, NEW_PASSWORD).send().await.refused(400, "INVALID_CODE");

        reset(&app.anon(), &ready(&open(&app, &newer).await), NEW_PASSWORD).send().await.expect(200);
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn password_change_ends_the_reset_link(app) {
        let ada = app.user("ada").await;
        let link = reset_link(&app, &ada.email).await;
        let change = json!({"currentPassword": PASSWORD, "newPassword": "a password of my own"});
        ada.post("/api/auth/password", change).send().await.expect(200);

        is_error(&open(&app, &link).await, DONE, "reset_password");
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn ban_ends_the_reset_link(app) {
        let ada = app.user("ada").await;
        let link = reset_link(&app, &ada.email).await;

        change_user(&app, &ada.email, json!({"banned": true})).await;

        is_error(&open(&app, &link).await, DONE, "reset_password");
    }

    async fn reset_link_with_an_unknown_token_shows_a_page(app) {
        let path = format!("/api/auth/email/reset-password-link?token={}", "0".repeat(64));

        let answer = app.anon().get(&path).send().await;

        assert!(answer.page(400).contains("reset"));
        assert_eq!(answer.header("location"), None);
    }

    with(|b| b.redirects(&["https://app.example/**"]).default_redirect("https://app.example/home"))
    async fn unknown_reset_token_goes_to_the_default_target_where_there_is_one(app) {
        let path = format!("/api/auth/email/reset-password-link?token={}", "0".repeat(64));

        is_error(&open(&app, &path).await, "https://app.example/home", "reset_password");
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn reset_token_is_unknown_to_the_verify_link_and_the_other_way_round(app) {
        let ada = app.user("ada").await;
        let link = reset_link(&app, &ada.email).await;

        let crossed = link.replace("reset-password-link", "verify-link");

        app.anon().get(&crossed).send().await.page(400);
        let current = ada.get("/api/auth/sessions/current").send().await.expect(200);
        assert_eq!(current["user"]["emailVerified"], false);
    }

    async fn exchanged_token_is_no_link(app) {
        let ada = app.user("ada").await;
        let token = crate::email_calls::reset_token(&app, &ada.email).await;

        let path = format!("/api/auth/email/reset-password-link?token={token}");

        app.anon().get(&path).send().await.page(400);
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"]))
    async fn used_reset_link_is_reported_as_such_for_a_week_and_unknown_afterwards(app) {
        let ada = app.user("ada").await;
        let link = reset_link(&app, &ada.email).await;
        let token = ready(&open(&app, &link).await);
        reset(&app.anon(), &token, NEW_PASSWORD).send().await.expect(200);
        app.clock.advance(days(7) - minutes(1));
        app.run_jobs().await;
        is_error(&open(&app, &link).await, DONE, "reset_password");

        app.clock.advance(days(1));
        app.run_jobs().await;

        app.anon().get(&link).send().await.page(400);
    }

    with(|b| b.link_reset().redirects(&["https://app.example/**"])
        .config(|config| "app".clone_into(&mut config.site.redirect_param_prefix)))
    async fn token_has_no_prefix(app) {
        let ada = app.user("ada").await;
        let link = reset_link(&app, &ada.email).await;

        let landed = open(&app, &link).await;

        assert_eq!(parameter(&landed, "app_status").as_deref(), Some("ready"));
        assert_eq!(parameter(&landed, "app_type").as_deref(), Some("reset_password"));
        assert!(parameter(&landed, "token").is_some());
    }
}
