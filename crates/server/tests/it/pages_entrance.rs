//! What the ways in on the pages have in common: alike answers for all addresses, the link of a sign-up, lasting sessions.

use latchkey_testkit::{Answer, PASSWORD, both_stores};

use crate::pages_calls::{from_app, plain};

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
