//! Several tabs of one browser: a form does what the person saw, for the account that it was shown for.

use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Browser, EmailSignIn, PASSWORD, TestApp, both_stores};

use crate::pages_calls::{APP, enter, exchange, from_app, target_of};

const ADA: &str = "ada@example.org";
const BOB: &str = "bob@example.org";
const NEW: &str = "a staple of the battery";

/// A browser with the page session of Ada; Bob has an account too.
async fn of_ada(app: &TestApp) -> Browser {
    let (_ada, _bob) = (app.user("ada").await, app.user("bob").await);
    let browser = app.browser();
    enter(&browser, "/auth/sign-in", ADA, PASSWORD).await;
    browser
}

/// Signs Bob in by another tab, in place of Ada.
async fn bob_signs_in(browser: &Browser) {
    enter(browser, "/auth/sign-in?prompt=login", BOB, PASSWORD).await.hosted(200);
}

/// Opens the newest mailed link of an address; returns the page that it leads to.
async fn opened(app: &TestApp, browser: &Browser, email: &str) -> Answer {
    let landed = browser.get(&app.mail_to(email).await.link()).await.redirected();
    let moved = browser.get(&format!("{}?{}", landed.path(), landed.query().unwrap())).await;
    browser.follow(&moved).await
}

/// Asks for the mail of a reset; returns the page after it.
async fn ask(browser: &Browser, email: &str) -> Answer {
    let page = browser.get("/auth/forgot").await;
    browser.follow(&browser.submit(&page, "/auth/forgot", &[("email", email)]).await).await
}

/// Types the code of the newest mail to an address; returns the page after it.
async fn type_code(app: &TestApp, browser: &Browser, page: &Answer, email: &str) -> Answer {
    let code = app.mail_to(email).await.code();
    browser.follow(&browser.submit(page, "act=code", &[("code", &code)]).await).await
}

both_stores! {
    with(|b| b.pages())
    async fn press_to_continue_hands_over_the_account_that_the_page_named(app) {
        let browser = of_ada(&app).await;
        let page = browser.get(&from_app("/auth/sign-in")).await;
        assert!(page.hosted(200).contains("Continue as") && page.text().contains(ADA), "{page:?}");

        bob_signs_in(&browser).await;
        let swapped = browser.submit(&page, "act=resume", &[]).await;

        assert!(swapped.hosted(403).contains("Load the page again"), "{swapped:?}");
        let flow = link(&page, "/auth/sign-in?flow=").unwrap();
        let again = browser.get(&flow.replace("&other=1", "").replace("&stay=1", "")).await;
        assert!(again.hosted(200).contains("Continue as") && again.text().contains(BOB), "{again:?}");
        let done = browser.submit(&again, "act=resume", &[]).await;
        let session = exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        assert_eq!(session["user"]["email"], BOB);
    }

    with(|b| b.pages())
    async fn sign_out_ends_the_session_of_the_account_that_the_page_named(app) {
        let browser = of_ada(&app).await;
        for path in [format!("/auth/sign-out?redirect_uri={APP}"), "/auth/sign-out".to_owned()] {
            enter(&browser, "/auth/sign-in?prompt=login", ADA, PASSWORD).await;
            let page = browser.get(&path).await;
            assert!(page.hosted(200).contains(ADA), "{page:?}");

            bob_signs_in(&browser).await;
            for form in ["/auth/sign-out", "act=everywhere"] {
                browser.submit(&page, form, &[]).await.hosted(403);
            }

            assert!(browser.get("/auth/account").await.hosted(200).contains(BOB), "{path}");
        }
    }

    with(|b| b.pages())
    async fn second_press_of_sign_out_finds_the_person_signed_out(app) {
        let browser = of_ada(&app).await;
        for path in [format!("/auth/sign-out?redirect_uri={APP}"), "/auth/sign-out".to_owned()] {
            enter(&browser, "/auth/sign-in?prompt=login", ADA, PASSWORD).await;
            let page = browser.get(&path).await;

            let first = browser.submit(&page, "/auth/sign-out", &[]).await;
            let second = browser.submit(&page, "/auth/sign-out", &[]).await;

            assert_eq!(first.header("location"), second.header("location"), "{second:?}");
            assert!(browser.follow(&second).await.hosted(200).contains("You are signed out"));
        }
    }

    with(|b| b.pages())
    async fn form_of_the_own_account_is_for_its_session_in_a_flow_too(app) {
        let browser = of_ada(&app).await;
        let page = browser.get(&from_app("/auth/sign-in")).await;
        let flow = link(&page, "/auth/sign-in?flow=").unwrap();
        let (_, flow) = flow.split_once("flow=").unwrap();
        let flow = flow.split('&').next().unwrap();
        let page = browser.get(&format!("/auth/account/profile?flow={flow}")).await;
        assert!(page.hosted(200).contains("name=\"username\""), "{page:?}");

        bob_signs_in(&browser).await;
        let fields = [("name", "Ada"), ("username", "ada"), ("bio", ""), ("avatar_url", "")];
        let swapped = browser.submit(&page, "/auth/account/profile", &fields).await;

        swapped.hosted(403);
    }

    with(|b| b.pages())
    async fn sign_in_in_one_tab_leaves_the_password_forms_of_others_good(app) {
        let (_ada, _bob) = (app.user("ada").await, app.user("bob").await);
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;

        bob_signs_in(&browser).await;
        let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;

        let session = exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        assert_eq!(session["user"]["email"], ADA);
    }

    with(|b| b.pages().link_reset())
    async fn opened_link_of_a_reset_is_forgotten_when_another_address_asks(app) {
        let (_ada, _bob) = (app.user("ada").await, app.user("bob").await);
        let browser = app.browser();
        ask(&browser, ADA).await;
        assert!(opened(&app, &browser, ADA).await.hosted(200).contains("name=\"password\""));

        let page = ask(&browser, BOB).await;

        let text = page.hosted(200);
        assert!(text.contains("Check your mail") && text.contains(BOB) && !text.contains("name=\"password\""), "{text}");
    }

    with(|b| b.pages())
    async fn accepted_code_of_a_reset_stays_that_of_its_account_when_another_address_asks(app) {
        let (_ada, _bob) = (app.user("ada").await, app.user("bob").await);
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        let code = app.mail_to(ADA).await.code();
        let page = browser.follow(&browser.submit(&page, "act=code", &[("code", &code)]).await).await;
        assert!(page.hosted(200).contains("name=\"password\""), "{page:?}");

        let asked = ask(&browser, BOB).await;
        assert!(asked.hosted(200).contains("Check your mail") && asked.text().contains(BOB), "{asked:?}");
        browser.follow(&browser.submit(&page, "/auth/reset", &[("password", NEW)]).await).await.hosted(200);

        app.anon().sign_in(ADA, NEW).send().await.expect(200);
        app.anon().sign_in(BOB, PASSWORD).send().await.expect(200);
    }

    with(|b| b.pages().link_reset())
    async fn new_password_is_for_the_account_that_the_page_named(app) {
        let (_ada, _bob) = (app.user("ada").await, app.user("bob").await);
        let (asking, browser) = (app.browser(), app.browser());
        ask(&asking, ADA).await;
        let page = opened(&app, &browser, ADA).await;
        assert!(page.hosted(200).contains("a•••@example.org"), "{page:?}");
        ask(&asking, BOB).await;
        assert!(opened(&app, &browser, BOB).await.hosted(200).contains("b•••@example.org"));

        browser.follow(&browser.submit(&page, "/auth/reset", &[("password", NEW)]).await).await.hosted(200);

        app.anon().sign_in(ADA, NEW).send().await.expect(200);
        app.anon().sign_in(BOB, PASSWORD).send().await.expect(200);
    }

    with(|b| b.pages().link_reset())
    async fn links_of_two_resets_in_two_tabs_both_work(app) {
        let (_ada, _bob) = (app.user("ada").await, app.user("bob").await);
        let (asking, browser) = (app.browser(), app.browser());
        let mut tabs = Vec::new();
        for email in [ADA, BOB] {
            ask(&asking, email).await;
            tabs.push((email, opened(&app, &browser, email).await));
        }

        for (email, page) in &tabs {
            let password = format!("{NEW} of {email}");
            let done = browser.submit(page, "/auth/reset", &[("password", &password)]).await;
            browser.follow(&done).await.hosted(200);
            app.anon().sign_in(email, &password).send().await.expect(200);
        }
        for (_, page) in &tabs {
            let used = browser.submit(page, "/auth/reset", &[("password", NEW)]).await;
            assert!(used.hosted(400).contains("This link does not work"), "{used:?}");
        }
        assert_eq!(browser.cookie("latchkey_reset"), None);
    }

    with(|b| b.pages().email_sign_in(EmailSignIn::CodeAndLink))
    async fn links_of_two_sign_ins_in_two_tabs_both_work(app) {
        let (_ada, _bob) = (app.user("ada").await, app.user("bob").await);
        let browser = app.browser();
        let mut tabs = Vec::new();
        for email in [ADA, BOB] {
            let page = browser.get("/auth/mail-code").await;
            browser.submit(&page, "/auth/mail-code", &[("email", email)]).await;
            tabs.push((email, opened(&app, &browser, email).await));
        }

        for (email, page) in &tabs {
            let done = browser.submit(page, "act=link", &[]).await;
            assert!(browser.follow(&done).await.hosted(200).contains(email), "{email}: {done:?}");
        }
    }

    with(|b| b.pages())
    async fn reset_that_waits_for_a_code_is_not_taken_over_by_a_link_for_another_account(app) {
        let (_ada, _bob) = (app.user("ada").await, app.user("bob").await);
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        let code = app.mail_to(ADA).await.code();
        let other = ask(&browser, BOB).await;
        browser.follow(&browser.submit(&page, "act=code", &[("code", &code)]).await).await;

        let code = app.mail_to(BOB).await.code();
        let page = browser.follow(&browser.submit(&other, "act=code", &[("code", &code)]).await).await;

        assert!(page.hosted(200).contains("b•••@example.org"), "{page:?}");
    }
    with(|b| b.pages().verification_by_code())
    async fn second_factor_of_a_reset_goes_on_with_the_account_that_asked(app) {
        let (ada, _bob) = (app.two_step_user("ada").await, app.user("bob").await);
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        let page = type_code(&app, &browser, &page, ADA).await;
        let asked = browser.follow(&browser.submit(&page, "/auth/reset", &[("password", NEW)]).await).await;
        let other = ask(&browser, BOB).await;
        let other = type_code(&app, &browser, &other, BOB).await;
        assert!(other.hosted(200).contains("b•••@example.org"), "{other:?}");

        let done = browser.submit(&asked, "/auth/challenge", &[("code", &ada.authenticator.code())]).await;

        let page = browser.follow(&done).await;
        assert!(page.hosted(200).contains("a•••@example.org"), "{page:?}");
        browser.follow(&browser.submit(&page, "/auth/reset", &[("password", NEW)]).await).await.hosted(200);
        app.anon().sign_in(ADA, NEW).send().await.expect(200);
        app.anon().sign_in(BOB, PASSWORD).send().await.expect(200);
    }

    with(|b| b.pages().verification_by_code())
    async fn second_factor_of_a_reset_needs_no_cookie_of_the_link(app) {
        let ada = app.two_step_user("ada").await;
        let browser = app.browser();
        let page = ask(&browser, ADA).await;
        let page = type_code(&app, &browser, &page, ADA).await;
        let asked = browser.follow(&browser.submit(&page, "/auth/reset", &[("password", NEW)]).await).await;
        browser.forget("latchkey_reset");

        let done = browser.submit(&asked, "/auth/challenge", &[("code", &ada.authenticator.code())]).await;

        let page = browser.follow(&done).await;
        assert!(page.hosted(200).contains("a•••@example.org"), "{page:?}");
    }
}
