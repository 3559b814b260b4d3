//! What the ways in on the pages have in common: alike answers for all addresses, the link of a sign-up, lasting sessions.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, PASSWORD, both_stores, json};

use crate::pages_calls::{APP, CHALLENGE, assert_in_account, enter, exchange, from_app, plain, target_of};

const ADA: &str = "ada@example.org";

fn header_names(answer: &Answer) -> Vec<String> {
    answer.headers.keys().map(ToString::to_string).collect()
}

both_stores! {
    with(|b| b.pages().verification_by_code())
    async fn sign_up_of_a_taken_address_looks_like_a_new_one(app) {
        let _ada = app.user("ada").await;
        let mut seen = Vec::new();
        for email in [ADA, "eve@example.org"] {
            let browser = app.browser();
            let page = browser.get(&from_app("/auth/sign-up")).await;
            let sent = browser.submit(&page, "/auth/sign-up", &[("email", email), ("password", PASSWORD)]).await;
            let page = browser.follow(&sent).await;
            page.hosted(200);
            seen.push((sent.status, header_names(&sent), header_names(&page), plain(&page, email)));
        }
        assert_eq!(seen[0], seen[1]);
    }

    with(|b| b.pages().verification_by_link())
    async fn link_of_a_sign_up_leads_to_the_page_that_says_so(app) {
        let browser = app.browser();
        let page = browser.get("/auth/sign-up").await;
        let sent = browser.submit(&page, "/auth/sign-up", &[("email", ADA), ("password", PASSWORD)]).await;
        assert!(browser.follow(&sent).await.hosted(200).contains(ADA));

        let landed = browser.get(&app.mail_to(ADA).await.link()).await.redirected();
        assert_eq!(landed.path(), "/auth/verified");
        let target = format!("{}?{}", landed.path(), landed.query().unwrap());

        assert!(browser.get(&target).await.hosted(200).contains("/auth/sign-in"));
        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
        browser.get("/auth/verified?service_status=error&service_type=verify_email").await.hosted(400);
    }

    with(|b| b.pages())
    async fn link_opened_where_the_account_signed_up_asks_nothing(app) {
        app.admin().put("/api/auth/config", json!({"verifyEmailMethod": "link"})).send().await.expect(200);
        let browser = app.browser();
        let page = browser.get("/auth/sign-up").await;
        let done = browser.submit(&page, "/auth/sign-up", &[("email", ADA), ("password", PASSWORD)]).await;
        let overview = browser.follow(&done).await;
        let page = browser.get(&link(&overview, "/auth/verify?").unwrap()).await;
        browser.submit(&page, "act=send", &[]).await;
        let mailed = app.mail_to(ADA).await.link();

        let elsewhere = app.browser().get(&mailed).await;
        let landed = browser.get(&mailed).await;

        assert_eq!(elsewhere.status, 200, "another browser is asked first: {elsewhere:?}");
        assert_eq!(parameter(&landed.redirected(), "service_status").as_deref(), Some("success"));
        assert!(!browser.get("/auth/account").await.hosted(200).contains("Not verified"));
        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
    }

    with(|b| b.pages().verification_by_code())
    async fn pasted_code_may_have_spaces(app) {
        let browser = app.browser();
        let page = browser.get("/auth/sign-up").await;
        let sent = browser.submit(&page, "/auth/sign-up", &[("email", ADA), ("password", PASSWORD)]).await;
        let page = browser.follow(&sent).await;
        let code = app.mail_to(ADA).await.code();

        let spaced = format!(" {} {}\u{a0}", &code[..3], &code[3..]);
        let done = browser.submit(&page, "/auth/verify", &[("code", &spaced)]).await;

        assert_in_account(&browser, &done, ADA).await;
    }

    with(|b| b.pages().default_redirect(APP))
    async fn app_may_fill_in_the_address_and_leave_out_the_target(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let query = format!("code_challenge={CHALLENGE}&login_hint=ada%40example.org&locale=de");

        let page = browser.get(&format!("/auth/sign-in?{query}")).await;

        let text = page.hosted(200);
        assert!(text.contains("value=\"ada@example.org\"") && text.contains("lang=\"de\""), "{text}");
        let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;
        exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
    }

    with(|b| b.pages())
    async fn sign_in_that_is_kept_outlives_the_browser_and_no_other_does(app) {
        let _ada = app.user("ada").await;
        for (tick, status) in [(&[("keep", "yes")][..], 200), (&[], 303)] {
            let browser = app.browser();
            let page = browser.get("/auth/sign-in").await;
            let fields = [&[("email", ADA), ("password", PASSWORD)], tick].concat();
            browser.submit(&page, "/auth/sign-in", &fields).await;

            browser.restart();

            assert_eq!(browser.get("/auth/account").await.status, status, "{tick:?}");
        }
    }

    // Each side has cookies of its own, and knows nothing of those of the other.
    with(|b| b.pages())
    async fn pages_and_api_read_no_credential_of_the_other(app) {
        let ada = app.user("ada").await;
        let browser = app.browser();
        enter(&browser, "/auth/sign-in", ADA, PASSWORD).await;
        let token = browser.cookie("latchkey_pages").unwrap();
        let as_refresh = format!("latchkey_refresh_8700={token}; latchkey_pages_8700={token}");

        app.bearing(&token).get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
        let refresh = app.anon().post("/api/auth/refresh", json!({})).cookie(&as_refresh);
        assert_eq!(refresh.send().await.status, 401);

        let stranger = app.browser();
        stranger.get("/auth/sign-in").await;
        let overview = stranger.send(ada.get("/auth/account").header("host", "localhost:8700")
            .cookie(ada.session.cookie.as_ref().unwrap())).await;
        assert!(overview.header("location").unwrap().starts_with("/auth/sign-in"), "{overview:?}");
    }

    with(|b| b.pages())
    async fn tick_decides_how_long_the_cookie_lives(app) {
        let _ada = app.user("ada").await;
        for (tick, lifetime) in [(&[("keep", "yes")][..], Some("Max-Age=2592000")), (&[], None)] {
            let browser = app.browser();
            let page = browser.get("/auth/sign-in").await;
            let fields = [&[("email", ADA), ("password", PASSWORD)], tick].concat();

            let done = browser.submit(&page, "/auth/sign-in", &fields).await;

            let cookie = done.set_cookies().into_iter().find(|line| line.contains("latchkey_pages")).unwrap();
            let said = cookie.split("; ").find(|part| part.starts_with("Max-Age"));
            assert_eq!(said, lifetime, "{cookie}");
        }
    }
}
