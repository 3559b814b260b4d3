//! `/auth/mail-code`: sign-in by a mailed code or link on the pages.

use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Browser, EmailSignIn, TestApp, TestAppBuilder, both_stores, json, minutes};

use crate::pages_calls::{assert_in_account, exchange, from_app, in_language, plain, target_of};

const ADA: &str = "ada@example.org";
const PATH: &str = "/auth/mail-code";

fn linking(builder: TestAppBuilder) -> TestAppBuilder {
    builder.pages().email_sign_in(EmailSignIn::CodeAndLink).redirects(&["http://localhost:3000/**"])
}

/// Asks for the mail from the sign-in page of an app; returns the page that asks for the code.
async fn ask(browser: &Browser, email: &str) -> Answer {
    let page = browser.get(&from_app("/auth/sign-in")).await;
    let page = browser.get(&link(&page, PATH).unwrap()).await;
    let sent = browser.submit(&page, PATH, &[("email", email)]).await;
    let page = browser.follow(&sent).await;
    page.hosted(200);
    page
}

/// Opens the link of the mail; returns where the pages were told to go.
async fn arrive(browser: &Browser, link: &str) -> String {
    let target = browser.get(link).await.redirected();
    assert_eq!(target.path(), PATH, "{target}");
    format!("{PATH}?{}", target.query().unwrap())
}

/// Opens the link of the newest mail, up to the page with the button.
async fn open_link(app: &TestApp, browser: &Browser) -> Answer {
    let target = arrive(browser, &app.mail_to(ADA).await.link()).await;
    let moved = browser.get(&target).await;
    assert!(!moved.header("location").unwrap().contains("token="), "{moved:?}");
    browser.follow(&moved).await
}

both_stores! {
    with(|b| b.pages())
    async fn mailed_code_signs_in_for_an_app(app) {
        let ada = app.user("ada").await;
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        assert!(page.text().contains("inputmode=\"numeric\"") && page.text().contains(ADA), "{page:?}");

        let code = app.mail_to(ADA).await.code();
        let spaced = format!("{} {}", &code[..3], &code[3..]);
        let done = browser.submit(&page, "act=code", &[("code", &spaced)]).await;

        let session = exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        assert_eq!(session["user"]["id"].as_str(), Some(ada.id.as_str()));
    }

    with(|b| b.pages())
    async fn unknown_address_gets_the_pages_of_a_known_one(app) {
        let _ada = app.user("ada").await;
        let mut seen = Vec::new();
        for email in [ADA, "eve@example.org"] {
            let browser = app.browser();
            let page = ask(&browser, email).await;
            let wrong = browser.submit(&page, "act=code", &[("code", "000000")]).await;
            assert!(wrong.hosted(400).contains("id=\"code-fault\""), "{wrong:?}");
            let names = |page: &Answer| page.headers.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
            seen.push((plain(&page, email), names(&page), plain(&wrong, email), names(&wrong)));
        }
        assert_eq!(seen[0], seen[1]);
    }

    with(|b| b.pages().limits())
    async fn mail_that_was_refused_is_not_told_as_sent(app) {
        let (browser, other) = (app.browser(), app.browser());
        let page = browser.get(PATH).await;
        ask(&other, ADA).await;

        let refused = browser.submit(&page, PATH, &[("email", ADA)]).await;

        assert_eq!(refused.status, 429, "{refused:?}");
        let german = browser.get(&in_language(&refused, "de")).await;
        let text = german.hosted(200);
        assert!(text.contains("type=\"email\"") && !text.contains("name=\"code\""), "{text}");
        assert!(text.contains(&format!("value=\"{ADA}\"")), "{text}");
    }

    with(linking)
    async fn link_signs_in_by_a_press_in_the_browser_that_asked(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        ask(&browser, ADA).await;

        let page = open_link(&app, &browser).await;
        let text = page.hosted(200);
        assert!(text.contains("Press the button to sign in as") && text.contains("a•••@example.org"), "{text}");
        assert!(!text.contains(ADA), "{text}");
        assert_eq!(browser.cookie("latchkey_pages"), None);
        let done = browser.submit(&page, "act=link", &[]).await;

        exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        assert_eq!(browser.cookie("latchkey_sign_in_link"), None);
        let used = browser.submit(&page, "act=link", &[]).await;
        assert_eq!(used.status, 400, "{used:?}");
    }

    with(linking)
    async fn link_in_another_browser_says_where_to_type_the_code(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        let mail = app.mail_to(ADA).await;

        let phone = app.browser();
        let target = arrive(&phone, &mail.link()).await;
        let moved = phone.get(&target).await;
        assert!(!moved.header("location").unwrap().contains("token"), "{moved:?}");
        let elsewhere = phone.follow(&moved).await;
        assert!(elsewhere.hosted(200).contains("in the browser where you asked for it"), "{elsewhere:?}");
        assert_eq!((phone.cookie("latchkey_pages"), phone.cookie("latchkey_sign_in_link")), (None, None));

        let done = browser.submit(&page, "act=code", &[("code", &mail.code())]).await;
        exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        let dead = arrive(&phone, &mail.link()).await;
        assert!(phone.get(&dead).await.hosted(400).contains("This link does not work"));
    }

    with(|b| b.pages())
    async fn code_can_be_asked_for_again_and_the_address_changed(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = ask(&browser, "typo@example.org").await;
        let first = browser.get(&link(&page, "change=1").unwrap()).await;
        assert!(first.hosted(200).contains("typo@example.org"), "{first:?}");
        let page = browser.follow(&browser.submit(&first, PATH, &[("email", ADA)]).await).await;
        app.clock.advance(minutes(2));

        let sent = browser.follow(&browser.submit(&page, "act=send", &[]).await).await;

        assert!(sent.hosted(200).contains("A new mail is on its way"), "{sent:?}");
        let code = app.mail_to(ADA).await.code();
        let done = browser.submit(&sent, "act=code", &[("code", &code)]).await;
        exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
    }

    with(|b| b.pages().email_sign_in(EmailSignIn::Off))
    async fn page_says_that_it_is_off_and_nothing_leads_to_it(app) {
        let browser = app.browser();
        assert_eq!(link(&browser.get("/auth/sign-in").await, PATH), None);

        let page = browser.get(PATH).await;

        let text = page.hosted(200);
        assert!(text.contains("This is switched off here.") && !text.contains("method=\"post\""), "{text}");
    }

    with(|b| b.pages())
    async fn form_that_was_shown_before_it_was_off_does_nothing(app) {
        let browser = app.browser();
        let page = browser.get(PATH).await;
        page.hosted(200);
        app.admin().put("/api/auth/config", json!({"emailSignIn": "off"})).send().await.expect(200);

        let refused = browser.submit(&page, PATH, &[("email", ADA)]).await;

        let text = refused.hosted(403);
        assert_eq!(text.matches("This is switched off here.").count(), 1, "{text}");
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);
    }

    with(|b| b.pages())
    async fn own_account_is_the_end_without_an_app(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(PATH).await;
        let page = browser.follow(&browser.submit(&page, PATH, &[("email", ADA)]).await).await;

        let code = app.mail_to(ADA).await.code();
        let done = browser.submit(&page, "act=code", &[("code", &code)]).await;

        assert_in_account(&browser, &done, ADA).await;
    }
}
