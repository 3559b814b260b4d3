//! `/auth/sign-in`, `/auth/sign-up`, `/auth/verify`, `/auth/continue` and `/auth/sign-out`: from an app to the pages and back.

use std::time::Duration;

use latchkey_testkit::answer::parameter;
use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Browser, PASSWORD, Value, both_stores, json, minutes, seconds};

use crate::pages_calls::{CHALLENGE, exchange, from_app, in_language, plain, target_of};

const ADA: &str = "ada@example.org";
async fn sign_in(browser: &Browser, page: &Answer, password: &str) -> Answer {
    browser.submit(page, "/auth/sign-in", &[("email", ADA), ("password", password)]).await
}

both_stores! {
    with(|b| b.pages())
    async fn app_gets_a_session_for_the_sign_in_at_the_pages(app) {
        let ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;
        assert!(page.hosted(200).contains("localhost"), "{page:?}");

        let done = sign_in(&browser, &page, PASSWORD).await;
        let page = browser.follow(&done).await;
        let target = target_of(&page);

        assert!(page.hosted(200).contains("data-continue") && page.text().contains("http-equiv=\"refresh\""));
        assert_eq!(parameter(&target, "state").as_deref(), Some("app~state!"));
        let session = exchange(&app, &target).await.expect(200);
        assert_eq!(session["user"]["id"], Value::from(ada.id.clone()));
        exchange(&app, &target).await.refused(400, "INVALID_OAUTH_CODE");
    }

    with(|b| b.pages())
    async fn way_back_is_shown_once_to_this_browser(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;
        let done = sign_in(&browser, &page, PASSWORD).await;
        let address = done.header("location").unwrap().to_owned();

        app.browser().get(&address).await.hosted(400);
        let head = browser.send(app.anon().request("HEAD", &address).header("host", "localhost:8700")).await;
        assert_eq!(head.status, 200, "{head:?}");
        let first = browser.get(&address).await;
        assert!(parameter(&target_of(&first), "service_code").is_some(), "{first:?}");
        let again = browser.get(&address).await;
        assert_eq!(parameter(&target_of(&again), "service_code"), None, "{again:?}");
        assert!(!again.hosted(200).contains("data-continue"), "{again:?}");

        let page = browser.get(&format!("{}&prompt=login", from_app("/auth/sign-in"))).await;
        let late = sign_in(&browser, &page, PASSWORD).await;
        app.clock.advance(seconds(61));
        let page = browser.follow(&late).await;
        assert_eq!(parameter(&target_of(&page), "service_code"), None, "{page:?}");
    }

    with(|b| b.pages())
    async fn second_app_needs_one_press(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;
        let done = sign_in(&browser, &page, PASSWORD).await;
        assert_eq!(done.header("location"), Some("/auth/account"), "{done:?}");

        let page = browser.get(&from_app("/auth/sign-in")).await;
        let text = page.hosted(200);
        assert!(text.contains("Continue as") && text.contains(ADA) && !text.contains("name=\"password\""), "{text}");
        let done = browser.submit(&page, "act=resume", &[]).await;
        exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);

        let other = link(&page, "other=1").unwrap();
        assert!(browser.get(&other).await.hosted(200).contains("name=\"password\""));
        let asks = browser.get(&format!("{}&prompt=login", from_app("/auth/sign-in"))).await;
        assert!(asks.hosted(200).contains("name=\"password\""), "{asks:?}");
        app.clock.advance(minutes(10));
        let old = browser.get(&format!("{}&max_age=60", from_app("/auth/sign-in"))).await;
        assert!(old.hosted(200).contains("name=\"password\""), "{old:?}");
    }

    with(|b| b.pages())
    async fn greatest_age_of_a_sign_in_is_exact(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;
        sign_in(&browser, &page, PASSWORD).await;
        let asks = async |most: u32| {
            let page = browser.get(&format!("{}&max_age={most}", from_app("/auth/sign-in"))).await;
            page.hosted(200).contains("name=\"password\"")
        };

        assert!(asks(0).await, "no age is none");
        app.clock.advance(seconds(1));
        assert!(!asks(1).await);
        app.clock.advance(Duration::from_millis(1));
        assert!(asks(1).await);
    }

    with(|b| b.pages())
    async fn press_to_continue_that_comes_too_late_for_the_app_leads_to_the_password(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;
        sign_in(&browser, &page, PASSWORD).await;
        let page = browser.get(&format!("{}&max_age=60", from_app("/auth/sign-in"))).await;
        assert!(page.hosted(200).contains("Continue as"), "{page:?}");
        app.clock.advance(seconds(61));

        let late = browser.submit(&page, "act=resume", &[]).await;

        assert_eq!(late.status, 303, "{late:?}");
        assert!(browser.follow(&late).await.hosted(200).contains("name=\"password\""), "{late:?}");
    }

    with(|b| b.pages())
    async fn refused_password_of_another_account_is_told_at_the_form_that_was_sent(app) {
        let (_ada, _bob) = (app.user("ada").await, app.user("bob").await);
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;
        let before = browser.get("/auth/sign-in").await;
        sign_in(&browser, &before, PASSWORD).await;

        for (password, status, told) in [("a wrong password", 401, "Email address or password is not right"), ("", 400, "Fill in this field")] {
            let fields = [("email", "bob@example.org"), ("password", password)];
            let refused = browser.submit(&page, "/auth/sign-in", &fields).await;

            let text = refused.hosted(status);
            assert!(text.contains(told) && text.contains("value=\"bob@example.org\""), "{text}");
            assert!(text.contains("name=\"password\"") && !text.contains("Continue as"), "{text}");
            let done = browser.submit(&refused, "/auth/sign-in", &[("email", "bob@example.org"), ("password", PASSWORD)]).await;
            exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
            let back = browser.get("/auth/sign-in?prompt=login").await;
            sign_in(&browser, &back, PASSWORD).await;
        }
    }

    with(|b| b.pages().redirects(&["https://app.example/**"]))
    async fn bad_request_of_an_app_is_a_page_and_never_a_redirect(app) {
        let good = "https://app.example/done";
        for query in [
            format!("redirect_uri=https://evil.example/&code_challenge={CHALLENGE}"),
            format!("redirect_uri={good}"),
            format!("redirect_uri={good}&code_challenge=short"),
            format!("redirect_uri=javascript:alert(1)&code_challenge={CHALLENGE}"),
            format!("redirect_uri={good}&code_challenge={CHALLENGE}&state=%0a"),
            format!("redirect_uri={good}&code_challenge={CHALLENGE}&state=a%20b"),
            format!("redirect_uri={good}&code_challenge={CHALLENGE}&state={}", "s".repeat(513)),
            format!("redirect_uri={good}&redirect_uri={good}&code_challenge={CHALLENGE}"),
        ] {
            let answer = app.browser().get(&format!("/auth/sign-in?{query}")).await;

            answer.hosted(400);
            assert_eq!(answer.header("location"), None, "{query}: {answer:?}");
        }
    }

    with(|b| b.pages())
    async fn wrong_password_and_unknown_address_get_the_same_page(app) {
        let _ada = app.user("ada").await;
        let mut pages = Vec::new();
        for email in [ADA, "eve@example.org"] {
            let browser = app.browser();
            let page = browser.get(&from_app("/auth/sign-in")).await;
            let fields = [("email", email), ("password", "a wrong password")];
            let answer = browser.submit(&page, "/auth/sign-in", &fields).await;
            assert!(answer.hosted(401).contains("Email address or password is not right"), "{answer:?}");
            assert!(!answer.text().contains("a wrong password"), "{answer:?}");
            assert_eq!(browser.cookie("latchkey_pages"), None);
            pages.push(plain(&answer, email));
        }
        assert_eq!(pages[0], pages[1]);
    }

    with(|b| b.pages())
    async fn empty_fields_are_told_together(app) {
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;

        let answer = browser.submit(&page, "/auth/sign-in", &[("email", ""), ("password", "")]).await;

        assert_eq!(answer.hosted(400).matches("Fill in this field").count(), 4, "{answer:?}");
    }

    with(|b| b.pages())
    async fn sign_out_ends_the_page_session_by_post_alone(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;
        let done = sign_in(&browser, &page, PASSWORD).await;
        let session = exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        let token = session["accessToken"].as_str().unwrap().to_owned();
        let old = browser.cookie("latchkey_pages").unwrap();

        let page = browser.get("/auth/sign-out").await;
        assert!(page.hosted(200).contains(ADA), "{page:?}");
        browser.get("/auth/sign-out").await.hosted(200);
        let done = browser.submit(&page, "/auth/sign-out", &[]).await;

        assert!(!browser.follow(&done).await.hosted(200).contains(ADA));
        assert_eq!(browser.cookie("latchkey_pages"), None);
        let again = app.anon().get("/auth/sign-out").header("host", "localhost:8700").cookie(&format!(
            "latchkey_browser_8700={}; latchkey_pages_8700={old}",
            browser.cookie("latchkey_browser").unwrap()
        ));
        assert!(!again.send().await.hosted(200).contains(ADA));
        app.bearing(&token).get("/api/auth/sessions/current").send().await.expect(200);
    }

    with(|b| b.pages())
    async fn target_after_a_sign_out_that_is_not_allowed_any_more_is_no_link(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let list = |redirects: &[&str]| app.admin().put("/api/auth/config", json!({"allowedRedirectUrls": redirects}));
        list(&["https://shop.example/**"]).send().await.expect(200);
        let page = browser.get("/auth/sign-out?redirect_uri=https://shop.example/bye").await;
        assert!(link(&page, "https://shop.example/bye").is_some(), "{page:?}");
        list(&[]).send().await.expect(200);

        let again = browser.get(&in_language(&page, "en")).await;

        assert!(!again.hosted(200).contains("shop.example"), "{again:?}");
    }

    with(|b| b.pages())
    async fn sign_out_everywhere_ends_the_sessions_of_apps_too(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;
        let done = sign_in(&browser, &page, PASSWORD).await;
        let session = exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        let token = session["accessToken"].as_str().unwrap().to_owned();

        let page = browser.get("/auth/sign-out").await;
        let _ = browser.submit(&page, "act=everywhere", &[]).await;

        app.bearing(&token).get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.pages().verification_by_code())
    async fn sign_up_with_a_code_ends_in_the_app(app) {
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-up")).await;
        let fields = [("name", "Ada"), ("email", ADA), ("password", PASSWORD)];
        let sent = browser.submit(&page, "/auth/sign-up", &fields).await;
        let page = browser.follow(&sent).await;
        assert!(page.hosted(200).contains(ADA), "{page:?}");

        let code = app.mail_to(ADA).await.code();
        let done = browser.submit(&page, "/auth/verify", &[("code", &code)]).await;

        let session = exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        assert_eq!(session["user"]["emailVerified"], true);
        assert_eq!(session["user"]["profile"]["name"], "Ada");
    }

    with(|b| b.pages())
    async fn weak_password_of_a_sign_up_is_told_at_its_field(app) {
        let browser = app.browser();
        let page = browser.get("/auth/sign-up").await;

        let fields = [("name", "Ada"), ("email", ADA), ("password", "short")];
        let answer = browser.submit(&page, "/auth/sign-up", &fields).await;

        let text = answer.hosted(400);
        assert!(text.contains("Use at least 8 characters") && text.contains("value=\"Ada\""), "{text}");
        app.anon().sign_in(ADA, "short").send().await.refused(401, "INVALID_CREDENTIALS");
    }
}
