//! Links of mails on the pages: the flow that asked for the mail, prefetches, and the headers of the undo page; and what a
//! long request of an app costs.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Browser, PASSWORD, TestApp, both_stores, minutes};

use crate::pages_calls::{CHALLENGE, exchange, from_app, target_of};

const ADA: &str = "ada@example.org";
const NEW: &str = "a staple of the battery";

/// Opens the newest mailed link in a browser; returns path and query of the page that it leads to.
async fn landing(app: &TestApp, browser: &Browser) -> String {
    let landed = browser.get(&app.mail_to(ADA).await.link()).await.redirected();
    format!("{}?{}", landed.path(), landed.query().unwrap())
}

/// Signs up from an app, in French.
async fn signed_up(browser: &Browser, query: &str) -> Answer {
    let page = browser.get(&format!("{}&locale=fr{query}", from_app("/auth/sign-up"))).await;
    let fields = [("email", ADA), ("password", PASSWORD)];
    browser.follow(&browser.submit(&page, "/auth/sign-up", &fields).await).await
}

/// Asks for the mail of a reset, from an app; sets the new password by its link, in this browser.
async fn reset_by_link(app: &TestApp, browser: &Browser) -> Answer {
    let page = browser.get(&landing(app, browser).await).await;
    let page = browser.follow(&page).await;
    browser.follow(&browser.submit(&page, "/auth/reset", &[("password", NEW)]).await).await
}

async fn asked_for_reset(browser: &Browser) {
    let page = browser.get(&from_app("/auth/forgot")).await;
    browser.submit(&page, "/auth/forgot", &[("email", ADA)]).await;
}

both_stores! {
    with(|b| b.pages().verification_by_link())
    async fn verify_link_of_a_flow_leads_back_to_the_app_in_its_language(app) {
        let browser = app.browser().with_header("accept-language", "en");
        signed_up(&browser, "").await.hosted(200);

        let page = browser.get(&landing(&app, &browser).await).await;

        let text = page.hosted(200);
        assert!(text.contains("<html lang=\"fr\"") && text.contains("localhost"), "{text}");
        let page = browser.get(&link(&page, "/auth/sign-in?flow=").unwrap()).await;
        assert!(page.hosted(200).contains(&format!("value=\"{ADA}\"")), "{page:?}");
        let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;
        exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
    }

    with(|b| b.pages().verification_by_link())
    async fn verify_link_works_without_the_flow_in_another_browser_and_after_its_end(app) {
        let browser = app.browser();
        let page = signed_up(&browser, "").await;
        let other = app.browser();
        let target = landing(&app, &other).await;

        let elsewhere = other.get(&target).await;
        assert!(elsewhere.hosted(200).contains("href=\"/auth/sign-in\""), "{elsewhere:?}");
        browser.submit(&page, "act=send", &[]).await;
        let target = landing(&app, &browser).await;
        app.clock.advance(minutes(31));
        let late = browser.get(&target).await;
        assert!(late.hosted(200).contains("href=\"/auth/sign-in\""), "{late:?}");
        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
    }

    with(|b| b.pages().verification_by_link())
    async fn verify_link_under_the_session_of_another_account_leads_to_the_own_sign_in(app) {
        let browser = app.browser();
        let bob = app.user("bob").await;
        crate::pages_calls::enter(&browser, "/auth/sign-in", &bob.email, PASSWORD).await.hosted(200);
        let page = browser.get(&from_app("/auth/sign-up")).await;
        browser.submit(&page, "/auth/sign-up", &[("email", ADA), ("password", PASSWORD)]).await;

        let page = browser.get(&landing(&app, &browser).await).await;

        assert!(link(&page, "/auth/forgot").is_some(), "{page:?}");
        let page = browser.get(&link(&page, "/auth/sign-in").unwrap()).await;
        assert!(!page.hosted(200).contains("Continue as"), "{page:?}");
        assert!(page.text().contains(&format!("value=\"{ADA}\"")), "{page:?}");
    }

    with(|b| b.pages().settings(|settings| settings.verify_email_method = latchkey_testkit::EmailMethod::Link))
    async fn verify_link_of_the_own_account_leads_back_to_it(app) {
        let browser = app.browser();
        let page = browser.get("/auth/sign-up").await;
        let done = browser.submit(&page, "/auth/sign-up", &[("email", ADA), ("password", PASSWORD)]).await;
        let page = browser.follow(&done).await;
        let page = browser.get(&link(&page, "/auth/verify").unwrap()).await;
        let page = browser.follow(&browser.submit(&page, "act=send", &[]).await).await;
        assert!(page.hosted(200).contains("Open the link that we sent"), "{page:?}");

        let page = browser.get(&landing(&app, &browser).await).await;

        assert!(page.hosted(200).contains(">Your account</a>"), "{page:?}");
        let page = browser.get(&link(&page, "/auth/account").unwrap()).await;
        assert!(page.hosted(200).contains("Your address is verified"), "{page:?}");
    }

    with(|b| b.pages().link_reset())
    async fn new_password_by_link_leads_back_to_the_app(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        asked_for_reset(&browser).await;

        let done = reset_by_link(&app, &browser).await;

        let page = browser.get(&link(&done, "/auth/sign-in?flow=").unwrap()).await;
        assert!(page.hosted(200).contains("localhost"), "{page:?}");
        let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", NEW)]).await;
        exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
    }

    with(|b| b.pages().link_reset())
    async fn new_password_by_link_in_another_browser_has_no_app(app) {
        let _ada = app.user("ada").await;
        asked_for_reset(&app.browser()).await;

        let done = reset_by_link(&app, &app.browser()).await;

        assert!(done.hosted(200).contains("href=\"/auth/sign-in\""), "{done:?}");
    }

    with(|b| b.pages().link_reset())
    async fn prefetch_and_head_of_a_page_have_no_effect(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;
        let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;
        let ticket = done.header("location").unwrap().to_owned();
        asked_for_reset(&browser).await;
        let reset = landing(&app, &browser).await;

        for path in [ticket.as_str(), reset.as_str(), "/auth/sign-out", "/auth/account"] {
            let ahead = |name, value| app.anon().get(path).header("host", "localhost:8700").header(name, value);
            for (name, value) in [("sec-purpose", "prefetch"), ("sec-purpose", "prefetch;prerender"), ("purpose", "prefetch")] {
                let answer = browser.send(ahead(name, value)).await;
                answer.hosted(403);
                assert_eq!(answer.set_cookies(), Vec::<&str>::new(), "{name}: {answer:?}");
            }
            let head = browser.send(app.anon().request("HEAD", path).header("host", "localhost:8700")).await;
            assert_eq!(head.set_cookies(), Vec::<&str>::new(), "{head:?}");
        }
        assert!(parameter(&target_of(&browser.get(&ticket).await), "service_code").is_some());
        assert_eq!(browser.get(&reset).await.status, 303);
    }

    with(|b| b.pages())
    async fn flow_without_any_target_ends_at_the_own_account(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&format!("/auth/sign-in?code_challenge={CHALLENGE}&state=x")).await;
        page.hosted(200);

        let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;

        assert_eq!(done.header("location"), Some("/auth/account"), "{done:?}");
        for query in ["code_challenge=short".to_owned(), format!("code_challenge={CHALLENGE}&state=%0a")] {
            app.browser().get(&format!("/auth/sign-in?{query}")).await.hosted(400);
        }
    }

    with(|b| b.pages())
    async fn page_of_a_flow_with_a_long_request_fits_24_kib(app) {
        let long = format!("http://localhost:3000/{}", "p".repeat(400));
        let hint = format!("{}@{}.example.org", "a".repeat(64), "b".repeat(60));
        let state = "s".repeat(512);
        let query = format!("redirect_uri={long}&code_challenge={CHALLENGE}&state={state}&login_hint={hint}");

        for path in ["/auth/sign-in", "/auth/sign-up", "/auth/forgot"] {
            let page = app.browser().get(&format!("{path}?{query}")).await;

            let size = page.hosted(200).len();
            assert!(size <= 24 * 1024, "{path}: {size} bytes");
        }
    }

    with(|b| b.pages().verification_by_code())
    async fn undo_page_has_the_headers_of_hosted_pages(app) {
        let ada = app.two_step_user("ada").await;
        let token = app.mail_to(&ada.email).await.token();
        let body = format!("token={token}&email={}", ada.email.replace('@', "%40"));
        let send = |path: &str| app.anon().get(path).send();
        let shown = send(&format!("/api/auth/undo?token={token}")).await;
        let dead = send("/api/auth/undo?token=nonsense").await;
        let act = app.anon().request("POST", "/api/auth/undo").raw("application/x-www-form-urlencoded", body);
        let done = act.send().await;

        for page in [shown, dead, done] {
            for (name, value) in latchkey_pages::HEADERS {
                if !["content-security-policy", "referrer-policy"].contains(&name) {
                    assert_eq!(page.header(name), Some(value), "{page:?}");
                }
            }
            page.page(page.status);
        }
    }
}
