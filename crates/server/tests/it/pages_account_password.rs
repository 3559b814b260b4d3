//! `/auth/account/password`: a new password for the own account on the pages.

use latchkey_testkit::{PASSWORD, both_stores, minutes};

use crate::email_calls::NEW_PASSWORD;
use crate::pages_account::signed_in;
use crate::pages_calls::{enter_by_mail, exchange, from_app, target_of};

const PATH: &str = "/auth/account/password";
const ADA: &str = "ada@example.org";

both_stores! {
    with(|b| b.pages())
    async fn new_password_ends_the_other_sessions_and_says_so(app) {
        let ada = app.user("ada").await;
        let (browser, other) = (signed_in(&app).await, signed_in(&app).await);
        let before = browser.cookie("latchkey_pages");
        let page = browser.get(PATH).await;

        let fields = [("current_password", PASSWORD), ("new_password", NEW_PASSWORD)];
        let done = browser.submit(&page, PATH, &fields).await;

        let overview = browser.follow(&done).await;
        assert!(overview.hosted(200).contains("Your other sessions have ended."), "{overview:?}");
        assert_ne!(browser.cookie("latchkey_pages"), before);
        assert_eq!(other.get(PATH).await.status, 303);
        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.anon().sign_in(ADA, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        app.anon().sign_in(ADA, NEW_PASSWORD).send().await.expect(200);
    }

    with(|b| b.pages())
    async fn code_for_an_app_from_before_the_new_password_opens_nothing(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(&from_app("/auth/sign-in")).await;
        let way_back = browser.follow(&browser.submit(&page, "act=resume", &[]).await).await;

        let fields = [("current_password", PASSWORD), ("new_password", NEW_PASSWORD)];
        browser.submit(&browser.get(PATH).await, PATH, &fields).await;

        exchange(&app, &target_of(&way_back)).await.refused(400, "INVALID_OAUTH_CODE");
        browser.get(PATH).await.hosted(200);
    }

    with(|b| b.pages())
    async fn cookie_of_a_browser_that_keeps_its_session_still_lasts(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;
        let fields = [("email", ADA), ("password", PASSWORD), ("keep", "on")];
        browser.submit(&page, "/auth/sign-in", &fields).await;

        let fields = [("current_password", PASSWORD), ("new_password", NEW_PASSWORD)];
        let done = browser.submit(&browser.get(PATH).await, PATH, &fields).await;

        let cookies = done.set_cookies();
        assert!(cookies.iter().any(|line| line.contains("latchkey_pages") && line.contains("Max-Age=2592000")), "{done:?}");
    }

    with(|b| b.pages())
    async fn refusals_stand_at_their_fields_and_show_no_password(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;

        for (current, new, status, told) in [
            ("not the one", NEW_PASSWORD, 401, "id=\"current_password-fault\">This password is not right."),
            (PASSWORD, "short", 400, "id=\"new_password-fault\">Use at least 8 characters."),
            (PASSWORD, "", 400, "id=\"new_password-fault\">Fill in this field."),
            ("", NEW_PASSWORD, 400, "id=\"current_password-fault\">Fill in this field."),
        ] {
            let fields = [("current_password", current), ("new_password", new)];
            let refused = browser.submit(&page, PATH, &fields).await;
            let text = refused.hosted(status);
            assert!(text.contains(told), "{current} {new}: {text}");
            assert!(!text.contains(NEW_PASSWORD) && !text.contains("not the one"), "{text}");
        }
        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);
    }

    with(|b| b.pages())
    async fn account_without_a_password_sets_one(app) {
        let browser = app.browser();
        enter_by_mail(&app, &browser, ADA).await;
        let page = browser.get(PATH).await;
        assert!(page.hosted(200).contains("Set password") && !page.text().contains("current_password"), "{page:?}");

        let done = browser.submit(&page, PATH, &[("new_password", NEW_PASSWORD)]).await;

        assert!(browser.follow(&done).await.hosted(200).contains("A password is set."), "{done:?}");
        app.anon().sign_in(ADA, NEW_PASSWORD).send().await.expect(200);
    }

    with(|b| b.pages())
    async fn first_password_needs_a_recent_sign_in(app) {
        let browser = app.browser();
        enter_by_mail(&app, &browser, ADA).await;
        app.clock.advance(minutes(11));
        let page = browser.get(PATH).await;

        let asked = browser.submit(&page, PATH, &[("new_password", NEW_PASSWORD)]).await;

        assert!(asked.header("location").unwrap().starts_with("/auth/account/confirm?"), "{asked:?}");
        assert!(!browser.follow(&asked).await.text().contains(NEW_PASSWORD));
        app.anon().sign_in(ADA, NEW_PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }
}
