//! The ends of pages: the warning is of what ends first, staying leaves the forms of the page good, and what came too late
//! says where to go on.

use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Browser, EmailSignIn, PASSWORD, TestApp, both_stores, minutes};

use crate::pages_account::signed_in;
use crate::pages_calls::{enter, exchange, from_app, target_of};

const ADA: &str = "ada@example.org";
const NEW: &str = "a staple of the battery";
const FIELDS: [(&str, &str); 2] = [("email", ADA), ("password", PASSWORD)];

/// Seconds to the end of a page, and whether it can be postponed.
fn ending(page: &Answer) -> (u64, bool) {
    let (_, rest) = page.text().split_once("data-ends=\"").unwrap_or_else(|| panic!("no end: {page:?}"));
    (rest.split('"').next().unwrap().parse().unwrap(), rest.contains("Stay on this page"))
}

/// Opens the newest mailed link of an address; returns the page that it leads to.
async fn opened(app: &TestApp, browser: &Browser) -> Answer {
    let landed = browser.get(&app.mail_to(ADA).await.link()).await.redirected();
    let moved = browser.get(&format!("{}?{}", landed.path(), landed.query().unwrap())).await;
    browser.follow(&moved).await
}

async fn ask(browser: &Browser, path: &str) -> Answer {
    let page = browser.get(path).await;
    browser.follow(&browser.submit(&page, path, &[("email", ADA)]).await).await
}

both_stores! {
    with(|b| b.pages())
    async fn staying_leaves_the_form_of_the_page_good(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;
        assert_eq!(ending(&page), (1_800, true), "{page:?}");
        let other = browser.get(&from_app("/auth/sign-in")).await;

        for _ in 0..3 {
            app.clock.advance(minutes(29));
            let stayed = browser.get(&link(&page, "stay=1").unwrap()).await;
            assert_eq!(ending(&stayed), (1_800, true), "{stayed:?}");
        }

        browser.submit(&other, "/auth/sign-in", &FIELDS).await.hosted(400);
        let done = browser.submit(&page, "/auth/sign-in", &FIELDS).await;
        exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
    }

    with(|b| b.pages())
    async fn head_prolongs_nothing_and_a_flow_that_ended_cannot_be_prolonged(app) {
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;
        let stay = link(&page, "stay=1").unwrap();
        app.clock.advance(minutes(29));
        browser.send(app.anon().request("HEAD", &stay).header("host", "localhost:8700")).await;

        app.clock.advance(minutes(2));

        assert!(browser.get(&stay).await.hosted(400).contains("Start again in the app"));
    }

    with(|b| b.pages())
    async fn flow_without_an_app_that_ended_begins_anew_here(app) {
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;
        app.clock.advance(minutes(31));

        let late = browser.submit(&page, "/auth/sign-in", &FIELDS).await;

        assert!(late.hosted(400).contains("This page has expired"), "{late:?}");
        assert!(!late.text().contains("the app"), "{late:?}");
        browser.get(&link(&late, "/auth/sign-in").unwrap()).await.hosted(200);
    }

    with(|b| b.pages().verification_by_code())
    async fn page_of_a_challenge_ends_with_it(app) {
        let _ada = app.two_step_user("ada").await;
        let browser = app.browser();

        let page = enter(&browser, "/auth/sign-in", ADA, PASSWORD).await;

        assert_eq!(ending(&page), (600, false), "{page:?}");
        app.clock.advance(minutes(4));
        let wrong = browser.submit(&page, "/auth/challenge", &[("code", "000000")]).await;
        assert_eq!(ending(&wrong), (360, false), "{wrong:?}");
    }

    with(|b| b.pages())
    async fn page_of_a_confirmation_ends_with_its_challenge(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        app.clock.advance(minutes(11));
        let page = browser.get("/auth/account/email").await;

        let asked = browser.submit(&page, "/auth/account/email", &[("email", "countess@example.com")]).await;

        let page = browser.follow(&asked).await;
        assert_eq!(ending(&page), (600, false), "{page:?}");
    }

    with(|b| b.pages().link_reset())
    async fn page_of_a_reset_ends_with_its_token_and_then_leads_to_a_new_mail(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        ask(&app.browser(), "/auth/forgot").await;
        let page = opened(&app, &browser).await;
        assert_eq!(ending(&page), (600, false), "{page:?}");
        app.clock.advance(minutes(10));

        let late = browser.submit(&page, "/auth/reset", &[("password", NEW)]).await;

        assert!(late.hosted(400).contains("This link does not work"), "{late:?}");
        browser.get(&link(&late, "/auth/forgot").unwrap()).await.hosted(200);
        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
    }

    with(|b| b.pages().email_sign_in(EmailSignIn::CodeAndLink))
    async fn page_of_a_sign_in_link_ends_with_its_token_and_then_leads_to_a_new_code(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        ask(&browser, "/auth/mail-code").await;
        let page = opened(&app, &browser).await;
        assert_eq!(ending(&page), (600, false), "{page:?}");
        app.clock.advance(minutes(10));

        let late = browser.submit(&page, "act=link", &[]).await;

        assert!(late.hosted(400).contains("This link does not work"), "{late:?}");
        let again = browser.get(&link(&late, "change=1").unwrap()).await;
        assert!(again.hosted(200).contains("type=\"email\""), "{again:?}");
        assert_eq!(browser.cookie("latchkey_pages"), None);
    }

    with(|b| b.pages().config(|config| config.lifetimes.oauth.code = std::time::Duration::from_secs(20)))
    async fn way_back_gives_no_code_that_has_expired(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;
        let done = browser.submit(&page, "/auth/sign-in", &FIELDS).await;

        app.clock.advance(std::time::Duration::from_secs(21));

        let page = browser.follow(&done).await;
        assert!(page.hosted(200).contains("This sign-in is finished") && !page.text().contains("service_code"), "{page:?}");
    }
}
