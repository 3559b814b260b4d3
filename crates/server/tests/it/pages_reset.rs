//! `/auth/forgot` and `/auth/reset`: a new password by a mailed code or link.

use latchkey_testkit::{Answer, Browser, PASSWORD, TestApp, both_stores, minutes, seconds};

use crate::pages_calls::plain;

const ADA: &str = "ada@example.org";
const NEW: &str = "a staple of the battery";

/// Asks for the mail; returns the page after it.
async fn ask(browser: &Browser, email: &str) -> Answer {
    let page = browser.get("/auth/forgot").await;
    let sent = browser.submit(&page, "/auth/forgot", &[("email", email)]).await;
    browser.follow(&sent).await
}

/// Types the code of the newest mail; returns the page after it.
async fn type_code(app: &TestApp, browser: &Browser, page: &Answer) -> Answer {
    let code = app.mail_to(ADA).await.code();
    let spaced = format!("{} {}", &code[..3], &code[3..]);
    let answer = browser.submit(page, "act=code", &[("code", &spaced)]).await;
    browser.follow(&answer).await
}

both_stores! {
    with(|b| b.pages())
    async fn code_of_the_mail_sets_a_new_password(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        assert!(page.hosted(200).contains(ADA), "{page:?}");

        let page = type_code(&app, &browser, &page).await;
        assert!(page.hosted(200).contains("a•••@example.org"), "{page:?}");
        let done = browser.submit(&page, "/auth/reset", &[("password", NEW)]).await;

        assert!(browser.follow(&done).await.hosted(200).contains("<h1>"), "{done:?}");
        app.anon().sign_in(ADA, NEW).send().await.expect(200);
        app.anon().sign_in(ADA, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        assert_eq!(browser.cookie("latchkey_reset"), None);
    }

    with(|b| b.pages().link_reset())
    async fn link_of_the_mail_sets_a_new_password_in_any_browser(app) {
        let _ada = app.user("ada").await;
        ask(&app.browser(), ADA).await.hosted(200);
        let link = app.mail_to(ADA).await.link();

        let phone = app.browser();
        let redirected = phone.get(&link).await.redirected();
        let target = format!("{}?{}", redirected.path(), redirected.query().unwrap());
        let moved = phone.get(&target).await;
        assert!(!moved.header("location").unwrap().contains("token"), "{moved:?}");
        let page = phone.follow(&moved).await;
        assert!(page.hosted(200).contains("a•••@example.org"), "{page:?}");
        let done = phone.submit(&page, "/auth/reset", &[("password", NEW)]).await;
        phone.follow(&done).await.hosted(200);

        app.anon().sign_in(ADA, NEW).send().await.expect(200);
        let used = phone.get(&target).await;
        assert!(!used.header("location").unwrap().contains("token"), "{used:?}");
        let used = phone.follow(&used).await;
        assert!(used.hosted(400).contains("This link does not work"), "{used:?}");
    }

    with(|b| b.pages())
    async fn wrong_code_is_told_at_its_field(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        let wrong = if app.mail_to(ADA).await.code() == "123456" { "654321" } else { "123456" };

        for (code, said) in [(wrong, "This code does not work"), ("", "Fill in this field"), ("12", "This code does not work")] {
            let answer = browser.submit(&page, "act=code", &[("code", code)]).await;

            assert!(answer.hosted(400).contains(said), "{code}: {answer:?}");
            assert!(answer.text().contains("id=\"code-fault\""), "{answer:?}");
        }
    }

    with(|b| b.pages())
    async fn weak_password_is_told_and_the_token_stays_good(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        let page = type_code(&app, &browser, &page).await;

        let weak = browser.submit(&page, "/auth/reset", &[("password", "short")]).await;
        assert!(weak.hosted(400).contains("Use at least 8 characters"), "{weak:?}");
        assert!(!weak.text().contains("short\""), "{weak:?}");

        let done = browser.submit(&weak, "/auth/reset", &[("password", NEW)]).await;
        browser.follow(&done).await.hosted(200);
        app.anon().sign_in(ADA, NEW).send().await.expect(200);
    }

    with(|b| b.pages())
    async fn token_that_died_while_its_page_was_open_leads_to_a_new_mail(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        let page = type_code(&app, &browser, &page).await;
        let (other, new) = (app.browser(), [("password", NEW)]);
        let elsewhere = ask(&other, ADA).await;
        let elsewhere = type_code(&app, &other, &elsewhere).await;
        other.submit(&elsewhere, "/auth/reset", &new).await;

        let dead = browser.submit(&page, "/auth/reset", &new).await;

        assert!(dead.hosted(400).contains("This link does not work"), "{dead:?}");
        assert!(!dead.text().contains("type=\"password\""), "{dead:?}");
        assert_eq!(browser.cookie("latchkey_reset"), None);
    }

    with(|b| b.pages())
    async fn unknown_address_gets_the_pages_of_a_known_one(app) {
        let _ada = app.user("ada").await;
        let (known, unknown) = (app.browser(), app.browser());
        let one = ask(&known, ADA).await;
        let other = ask(&unknown, "eve@example.org").await;
        assert_eq!(plain(&one, ADA), plain(&other, "eve@example.org"));

        let wrong = |browser: &Browser, page: &Answer| browser.form(page, "act=code", &[("code", "000000")]);
        let one = known.send(wrong(&known, &one)).await;
        let other = unknown.send(wrong(&unknown, &other)).await;
        assert_eq!((one.status, plain(&one, ADA)), (other.status, plain(&other, "eve@example.org")));
    }

    with(|b| b.pages().limits())
    async fn mail_can_be_asked_for_again(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        assert!(page.hosted(200).contains("data-after=\"60\""), "{page:?}");
        app.clock.advance(minutes(2));

        let again = browser.submit(&page, "act=send", &[]).await;

        let page = browser.follow(&again).await;
        assert!(page.hosted(200).contains("A new mail is on its way"), "{page:?}");
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 2);
    }

    with(|b| b.pages().limits().config(|config| config.limits.mailbox.mail_recipient_pause = seconds(90)))
    async fn wait_for_another_mail_is_that_of_the_settings(app) {
        let page = ask(&app.browser(), ADA).await;

        assert!(page.hosted(200).contains("data-after=\"90\""), "{page:?}");
    }

    with(|b| b.pages())
    async fn reset_without_a_beginning_leads_to_it(app) {
        let browser = app.browser();
        let answer = browser.get("/auth/reset").await;

        assert_eq!((answer.status, answer.header("location")), (303, Some("/auth/forgot")));
    }

    with(|b| b.pages())
    async fn failed_link_of_any_mail_is_a_400_page_at_an_address_without_its_token(app) {
        let browser = app.browser();
        for path in [
            "/auth/verified?service_status=error&service_type=verify_email",
            "/auth/mail-code?service_status=error&service_type=sign_in",
            "/auth/reset?service_status=error&service_type=reset_password",
        ] {
            let page = browser.get(path).await;
            assert!(page.hosted(400).contains("This link does not work"), "{path}: {page:?}");
        }
        for token in ["ab".repeat(32), "nonsense".to_owned(), String::new()] {
            let moved = browser.get(&format!("/auth/reset?token={token}")).await;
            assert!(!moved.header("location").unwrap().contains("token"), "{moved:?}");
            let page = browser.follow(&moved).await;
            assert!(page.hosted(400).contains("This link does not work"), "{page:?}");
        }
    }

    with(|b| b.pages())
    async fn new_password_waits_ten_minutes_in_this_browser(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        let page = type_code(&app, &browser, &page).await;

        app.clock.advance(minutes(11));
        let late = browser.submit(&page, "/auth/reset", &[("password", NEW)]).await;

        assert!(late.status == 400, "{late:?}");
        app.anon().sign_in(ADA, NEW).send().await.refused(401, "INVALID_CREDENTIALS");
    }
}
