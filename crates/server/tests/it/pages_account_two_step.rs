//! `/auth/account/two-step`: two-step sign-in of the own account on the pages.

use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Authenticator, Browser, PASSWORD, TestApp, both_stores, minutes, seconds};

use crate::pages_account::signed_in;
use crate::pages_calls::{assert_in_account, enter};
use crate::pages_enroll::{choosing, required_on_pages, set_up, shown_authenticator, shown_codes};
use crate::two_step_calls::set_policy;

const PATH: &str = "/auth/account/two-step";
const ADA: &str = "ada@example.org";

/// Begins the set-up of an authenticator app; returns the page with the key, and the app.
async fn begun(app: &TestApp, browser: &Browser) -> (Answer, Authenticator) {
    let page = browser.get(PATH).await;
    let page = browser.follow(&browser.submit(&page, "act=begin", &[]).await).await;
    let authenticator = shown_authenticator(app, &page);
    (page, authenticator)
}

/// Turns two-step sign-in on; returns the app, and the page with the recovery codes.
async fn turned_on(app: &TestApp, browser: &Browser) -> (Authenticator, Answer) {
    let (page, authenticator) = begun(app, browser).await;
    let done = browser.submit(&page, "act=code", &[("code", &authenticator.code())]).await;
    let codes = browser.follow(&done).await;
    app.clock.advance(seconds(30));
    (authenticator, codes)
}

both_stores! {
    with(|b| b.pages().verification_by_code())
    async fn authenticator_app_turns_two_step_on_and_other_sessions_end(app) {
        let ada = app.user("ada").await;
        let (browser, other) = (signed_in(&app).await, signed_in(&app).await);
        let before = browser.cookie("latchkey_pages");

        let (authenticator, codes) = turned_on(&app, &browser).await;

        assert_eq!(shown_codes(&codes).len(), 10, "{codes:?}");
        assert_ne!(browser.cookie("latchkey_pages"), before);
        assert_eq!(other.get(PATH).await.status, 303);
        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
        let fresh = app.browser();
        let page = enter(&fresh, "/auth/sign-in", ADA, PASSWORD).await;
        let done = fresh.submit(&page, "/auth/challenge", &[("code", &authenticator.code())]).await;
        assert_in_account(&fresh, &done, ADA).await;
    }

    with(|b| b.pages().settings(|settings| settings.second_factor = SecondFactorPolicy::Off))
    async fn nothing_leads_to_a_set_up_where_second_factors_are_off(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;

        let (overview, page) = (browser.get("/auth/account").await, browser.get(PATH).await);

        assert!(!overview.hosted(200).contains(PATH), "{overview:?}");
        let text = page.hosted(200);
        assert!(text.contains("This is switched off here.") && !text.contains("method=\"post\""), "{text}");
    }

    with(|b| b.pages().verification_by_code())
    async fn recovery_codes_are_gone_once_they_are_noted(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let (_, codes) = turned_on(&app, &browser).await;

        let done = browser.submit(&codes, "act=noted", &[]).await;

        assert_eq!((done.header("location"), browser.cookie("latchkey_codes")), (Some(PATH), None));
        let page = browser.get(&format!("{PATH}?shows=codes")).await;
        assert!(page.hosted(200).contains("10 recovery codes are left"), "{page:?}");
        assert_eq!(shown_codes(&page), Vec::<String>::new());
    }

    with(|b| b.pages().verification_by_code())
    async fn recovery_codes_are_shown_to_their_owner_alone(app) {
        let _ada = app.user("ada").await;
        let eve = app.user("eve").await;
        let browser = signed_in(&app).await;
        let (_, codes) = turned_on(&app, &browser).await;
        let sealed = browser.cookie("latchkey_codes").unwrap();

        let page = browser.get(&link(&codes, "/auth/sign-out").unwrap()).await;
        browser.submit(&page, "/auth/sign-out", &[]).await;

        assert_eq!(browser.cookie("latchkey_codes"), None);
        let browser = browser.with_cookie("latchkey_codes_8700", sealed);
        for signed_out in ["/auth/challenge?says=codes", "/auth/account/two-step?shows=codes"] {
            assert_eq!(browser.get(signed_out).await.status, 303, "{signed_out}");
        }
        enter(&browser, "/auth/sign-in", &eve.email, PASSWORD).await.hosted(200);
        assert_eq!(browser.get("/auth/challenge?says=codes").await.status, 303);
        assert_eq!(shown_codes(&browser.get(&format!("{PATH}?shows=codes")).await), Vec::<String>::new());
    }

    with(|b| b.pages().verification_by_code())
    async fn deletion_forgets_the_recovery_codes(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        turned_on(&app, &browser).await;

        browser.submit(&browser.get("/auth/account/data").await, "act=delete", &[]).await;

        assert_eq!((browser.cookie("latchkey_pages"), browser.cookie("latchkey_codes")), (None, None));
    }

    with(|b| b.pages().verification_by_code())
    async fn new_recovery_codes_replace_the_old_ones(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let (_, codes) = turned_on(&app, &browser).await;
        let old = shown_codes(&codes);

        let done = browser.submit(&browser.get(PATH).await, "act=renew", &[]).await;

        let new = shown_codes(&browser.follow(&done).await);
        assert!(new.len() == 10 && old.iter().all(|code| !new.contains(code)), "{new:?}");
        let other = app.browser();
        let page = enter(&other, "/auth/sign-in", ADA, PASSWORD).await;
        let page = other.get(&link(&page, "kind=recovery_code").unwrap()).await;
        let refused = other.submit(&page, "/auth/challenge", &[("code", &old[0])]).await;
        assert_eq!(refused.status, 401, "{refused:?}");
        let done = other.submit(&refused, "/auth/challenge", &[("code", &new[0])]).await;
        assert!(other.follow(&done).await.hosted(200).contains('9'));
    }

    with(|b| b.pages().verification_by_code())
    async fn wrong_first_code_is_told_and_the_key_stays(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let (page, authenticator) = begun(&app, &browser).await;

        let refused = browser.submit(&page, "act=code", &[("code", &authenticator.wrong_code(1))]).await;

        assert!(refused.hosted(401).contains("id=\"code-fault\""), "{refused:?}");
        let done = browser.submit(&refused, "act=code", &[("code", &authenticator.code())]).await;
        assert_eq!(shown_codes(&browser.follow(&done).await).len(), 10);
    }

    with(|b| b.pages().verification_by_code())
    async fn set_up_that_expired_begins_anew(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let (page, authenticator) = begun(&app, &browser).await;
        app.clock.advance(minutes(11));

        let done = browser.submit(&page, "act=code", &[("code", &authenticator.code())]).await;

        assert_eq!(done.header("location"), Some(PATH), "{done:?}");
        assert!(browser.follow(&done).await.hosted(200).contains("act=begin"));
    }

    with(|b| b.pages().verification_by_code())
    async fn app_is_added_and_removed_and_two_step_turned_off(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let (_, codes) = turned_on(&app, &browser).await;
        browser.submit(&codes, "act=noted", &[]).await;
        let (page, second) = begun(&app, &browser).await;

        let done = browser.submit(&page, "act=code", &[("code", &second.code())]).await;
        let page = browser.follow(&done).await;
        assert_eq!(page.hosted(200).matches("name=\"id\"").count(), 2, "{page:?}");
        assert!(!page.text().contains("act=begin"), "{page:?}");

        let page = browser.follow(&browser.submit(&page, "act=remove", &[]).await).await;
        assert_eq!(page.hosted(200).matches("name=\"id\"").count(), 1, "{page:?}");

        let page = browser.follow(&browser.submit(&page, "act=off", &[]).await).await;
        assert!(page.hosted(200).contains("act=begin"), "{page:?}");
        let other = app.browser();
        assert!(enter(&other, "/auth/sign-in", ADA, PASSWORD).await.hosted(200).contains(ADA));
    }

    with(|b| b.pages().verification_by_code())
    async fn changes_ask_for_a_recent_sign_in_and_lead_back(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        app.clock.advance(minutes(11));
        let page = browser.get(PATH).await;

        let done = browser.submit(&page, "act=begin", &[]).await;

        assert!(done.header("location").unwrap().starts_with("/auth/account/confirm?"), "{done:?}");
        let page = browser.follow(&done).await;
        let back = browser.submit(&page, "/auth/account/confirm", &[("password", PASSWORD)]).await;
        assert!(back.header("location").unwrap().starts_with(PATH), "{back:?}");
        begun(&app, &browser).await;
    }

    with(|b| b.pages().verification_by_code())
    async fn two_step_that_became_required_stays_on_and_the_page_says_why(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let (_, codes) = turned_on(&app, &browser).await;
        browser.submit(&codes, "act=noted", &[]).await;
        let page = browser.get(PATH).await;
        set_policy(&app, "required").await;

        let refused = browser.submit(&page, "act=off", &[]).await;

        let text = refused.hosted(403);
        assert!(text.contains("It cannot be turned off") && !text.contains("act=off"), "{text}");
    }

    with(required_on_pages)
    async fn required_two_step_has_no_form_that_turns_it_off(app) {
        let browser = app.browser();
        let page = choosing(&app, &browser).await;
        let (page, authenticator) = set_up(&app, &browser, &page).await;
        browser.submit(&page, "act=code", &[("code", &authenticator.code())]).await;

        let page = browser.get(PATH).await;

        assert!(page.hosted(200).contains("act=renew") && !page.text().contains("act=off"), "{page:?}");
    }
}
