//! `/auth/account/email`: a change of the own address on the pages.

use latchkey_testkit::{Answer, Browser, TestApp, both_stores};

use crate::email_change_calls::change;
use crate::pages_account::signed_in;

const PATH: &str = "/auth/account/email";
const ADA: &str = "ada@example.org";
const NEW: &str = "countess@example.com";

/// Asks for a change to [`NEW`]; the page that asks for the codes.
async fn begun(app: &TestApp, browser: &Browser) -> Answer {
    let page = browser.get(PATH).await;
    let answer = browser.submit(&page, PATH, &[("email", NEW)]).await;
    app.run_jobs().await;
    browser.follow(&answer).await
}

both_stores! {
    with(|b| b.pages().verification_by_code())
    async fn codes_of_both_sides_change_the_address(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = begun(&app, &browser).await;
        let (new, current) = (app.mail().last(NEW).code(), app.mail().last(ADA).code());
        assert!(page.hosted(200).contains(NEW));
        let code = format!(" {} {} ", &new[..3], &new[3..]);

        let half = browser.submit(&page, "act=confirm", &[("new_code", &code), ("current_code", "")]).await;
        let page = browser.follow(&half).await;
        assert!(!page.hosted(200).contains("name=\"new_code\""), "{page:?}");
        let done = browser.submit(&page, "act=confirm", &[("current_code", &current)]).await;

        let overview = browser.follow(&done).await;
        let text = overview.hosted(200);
        assert!(text.contains("Your address is changed.") && text.contains(NEW) && !text.contains(ADA), "{text}");
        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.pages().verification_by_code())
    async fn wrong_code_is_told_at_its_field_and_the_right_one_counts(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = begun(&app, &browser).await;
        let new = app.mail().last(NEW).code();

        let wrong = browser.submit(&page, "act=confirm", &[("new_code", &new), ("current_code", "nonsense")]).await;

        let text = wrong.hosted(400);
        assert!(text.contains("id=\"current_code-fault\"") && !text.contains("name=\"new_code\""), "{text}");
        let empty = browser.submit(&page, "act=confirm", &[("current_code", "")]).await;
        assert!(empty.hosted(400).contains("Fill in this field"), "{empty:?}");
    }

    with(|b| b.pages().verification_by_code())
    async fn new_codes_can_be_sent(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = begun(&app, &browser).await;
        let old = (app.mail().last(NEW).code(), app.mail().last(ADA).code());

        let sent = browser.submit(&page, "act=send", &[]).await;
        app.run_jobs().await;

        let page = browser.follow(&sent).await;
        assert!(page.hosted(200).contains("A new mail is on its way"), "{page:?}");
        let (new, current) = (app.mail().last(NEW).code(), app.mail().last(ADA).code());
        assert_ne!((&new, &current), (&old.0, &old.1));
        let fields = [("new_code", new.as_str()), ("current_code", current.as_str())];
        let done = browser.submit(&page, "act=confirm", &fields).await;
        assert!(browser.follow(&done).await.hosted(200).contains("Your address is changed."));
    }

    with(|b| b.pages().verification_by_code())
    async fn change_can_be_cancelled(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = begun(&app, &browser).await;
        let (new, current) = (app.mail().last(NEW).code(), app.mail().last(ADA).code());

        let done = browser.submit(&page, "act=cancel", &[]).await;

        assert!(browser.follow(&done).await.hosted(200).contains("Your address stays as it is."));
        let codes = [("new_code", new.as_str()), ("current_code", current.as_str())];
        let late = browser.submit(&page, "act=confirm", &codes).await;
        assert!(browser.follow(&late).await.hosted(200).contains("name=\"email\""));
        assert!(browser.get("/auth/account").await.hosted(200).contains(ADA));
    }

    with(|b| b.pages())
    async fn own_address_and_nonsense_are_refused_at_the_field(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;

        for (typed, told) in [("Ada@Example.org", "This is your address already."), ("ada@", "Enter a whole"), ("", "Fill in")] {
            let refused = browser.submit(&page, PATH, &[("email", typed)]).await;
            let text = refused.hosted(400);
            assert!(text.contains("id=\"email-fault\"") && text.contains(told), "{typed}: {text}");
            assert!(text.contains(&format!("value=\"{typed}\"")), "{text}");
        }
    }

    with(|b| b.pages().verification_by_code())
    async fn change_of_another_session_can_be_cancelled_but_not_finished_here(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        change(&ada, NEW).send().await.expect(202);

        let page = browser.get(PATH).await;

        let text = page.hosted(200);
        assert!(text.contains("In another session") && !text.contains("name=\"new_code\""), "{text}");
        browser.follow(&browser.submit(&page, "act=cancel", &[]).await).await.hosted(200);
        assert!(!browser.get(PATH).await.hosted(200).contains("In another session"));
    }
}
