//! `/auth/account/confirm`: the recent sign-in that a change of the own account asks for, and the way back to its form.

use latchkey_testkit::browser::{ceremony, link};
use latchkey_testkit::{Answer, Browser, PASSWORD, TestApp, both_stores, hours, minutes};

use crate::pages_account::signed_in;
use crate::pages_calls::{enter, enter_by_mail};

const EMAIL: &str = "/auth/account/email";
const CONFIRM: &str = "/auth/account/confirm";
const NEW: &str = "countess@example.com";

/// Asks for a change that needs a recent sign-in, eleven minutes after the sign-in.
async fn late_change(app: &TestApp, browser: &Browser) -> Answer {
    app.clock.advance(minutes(11));
    let page = browser.get(EMAIL).await;
    let answer = browser.submit(&page, EMAIL, &[("email", NEW)]).await;
    assert!(answer.header("location").unwrap().starts_with("/auth/account/confirm?task="), "{answer:?}");
    answer
}

both_stores! {
    with(|b| b.pages())
    async fn late_change_asks_for_the_password_and_comes_back_with_what_was_typed(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let before = browser.cookie("latchkey_pages");

        let page = browser.follow(&late_change(&app, &browser).await).await;

        let text = page.hosted(200);
        assert!(text.contains("Confirm that it is you") && text.contains("current-password"), "{text}");
        assert!(!text.contains(NEW), "{text}");
        app.run_jobs().await;
        assert_eq!(app.mail().count(NEW), 0);
        let back = browser.submit(&page, CONFIRM, &[("password", PASSWORD)]).await;
        assert!(!back.header("location").unwrap().contains("countess"), "{back:?}");
        assert_ne!(browser.cookie("latchkey_pages"), before);
        let form = browser.follow(&back).await;
        assert!(form.hosted(200).contains(&format!("value=\"{NEW}\"")), "{form:?}");
        assert!(form.text().contains("Press the button once more"), "{form:?}");
        let done = browser.submit(&form, EMAIL, &[("email", NEW)]).await;
        assert_eq!(done.header("location"), Some(EMAIL), "{done:?}");
        assert!(browser.follow(&done).await.hosted(200).contains("new_code"));
    }

    with(|b| b.pages())
    async fn wrong_password_is_told_at_its_field_until_the_attempts_are_used_up(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.follow(&late_change(&app, &browser).await).await;

        for _ in 0..4 {
            let wrong = browser.submit(&page, CONFIRM, &[("password", "not it")]).await;
            let text = wrong.hosted(401);
            assert!(text.contains("id=\"password-fault\"") && !text.contains("not it"), "{text}");
        }
        browser.submit(&page, CONFIRM, &[("password", "not it")]).await.hosted(401);
        let over = browser.submit(&page, CONFIRM, &[("password", PASSWORD)]).await;

        assert!(over.hosted(401).contains("The attempts are used up"), "{over:?}");
        let form = browser.get(&link(&over, EMAIL).unwrap()).await;
        assert!(form.hosted(200).contains(&format!("value=\"{NEW}\"")), "{form:?}");
        let again = browser.submit(&form, EMAIL, &[("email", NEW)]).await;
        let page = browser.follow(&again).await;
        let back = browser.submit(&page, CONFIRM, &[("password", PASSWORD)]).await;
        assert!(back.header("location").unwrap().starts_with(EMAIL), "{back:?}");
    }

    with(|b| b.pages())
    async fn empty_password_costs_no_attempt(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.follow(&late_change(&app, &browser).await).await;

        for _ in 0..6 {
            let empty = browser.submit(&page, CONFIRM, &[("password", "")]).await;
            assert!(empty.hosted(400).contains("Fill in this field"), "{empty:?}");
        }

        assert_eq!(browser.submit(&page, CONFIRM, &[("password", PASSWORD)]).await.status, 303);
    }

    with(|b| b.pages())
    async fn late_answer_leads_back_without_a_change(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let asked = late_change(&app, &browser).await;
        let page = browser.follow(&asked).await;

        app.clock.advance(minutes(11));

        let late = browser.submit(&page, CONFIRM, &[("password", PASSWORD)]).await;
        assert!(late.hosted(401).contains("too much time has passed"), "{late:?}");
        let shown = browser.follow(&asked).await;
        assert!(shown.hosted(200).contains("too much time has passed"), "{shown:?}");
    }

    with(|b| b.pages())
    async fn task_belongs_to_its_browser_and_what_was_typed_to_its_account(app) {
        let _ada = app.user("ada").await;
        let bob = app.user("bob").await;
        let (browser, other) = (signed_in(&app).await, signed_in(&app).await);
        let asked = late_change(&app, &browser).await;
        let back = browser.submit(&browser.follow(&asked).await, CONFIRM, &[("password", PASSWORD)]).await;
        let form = back.header("location").unwrap();

        let foreign = other.get(asked.header("location").unwrap()).await;
        assert_eq!(foreign.header("location"), Some("/auth/account"), "{foreign:?}");
        assert!(!other.get(form).await.hosted(200).contains(NEW));
        let page = browser.get("/auth/sign-in?prompt=login").await;
        let fields = [("email", bob.email.as_str()), ("password", PASSWORD)];
        browser.follow(&browser.submit(&page, "/auth/sign-in", &fields).await).await.hosted(200);
        assert!(!browser.get(form).await.hosted(200).contains(NEW));
    }

    with(|b| b.pages())
    async fn what_was_typed_is_kept_over_the_end_of_the_session_while_it_is_confirmed(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let asked = late_change(&app, &browser).await;
        let page = browser.follow(&asked).await;
        app.clock.advance(hours(12));
        let fields = [("email", "ada@example.org"), ("password", PASSWORD)];

        let shown = browser.get(asked.header("location").unwrap()).await;
        let sent = browser.submit(&page, CONFIRM, &[("password", PASSWORD)]).await;

        for late in [shown, sent] {
            browser.forget("latchkey_pages");
            let page = browser.follow(&late).await;
            let form = browser.follow(&browser.submit(&page, "/auth/sign-in", &fields).await).await;
            assert!(form.hosted(200).contains(&format!("value=\"{NEW}\"")), "{form:?}");
        }
    }

    with(|b| b.pages())
    async fn task_of_a_session_that_another_one_replaced_leads_back_to_its_form(app) {
        let _ada = app.user("ada").await;
        let bob = app.user("bob").await;
        for (email, is_kept) in [("ada@example.org", true), (bob.email.as_str(), false)] {
            let browser = signed_in(&app).await;
            let asked = late_change(&app, &browser).await;
            let before = browser.follow(&asked).await;
            let page = browser.get("/auth/sign-in?prompt=login").await;
            browser.submit(&page, "/auth/sign-in", &[("email", email), ("password", PASSWORD)]).await;

            let back = browser.get(asked.header("location").unwrap()).await;

            assert!(back.header("location").unwrap().starts_with(EMAIL), "{back:?}");
            let form = browser.follow(&back).await;
            assert_eq!(form.hosted(200).contains(NEW), is_kept, "{form:?}");
            browser.submit(&before, CONFIRM, &[("password", PASSWORD)]).await.hosted(403);
        }
    }

    with(|b| b.pages().verification_by_code())
    async fn two_step_sign_in_asks_for_its_second_factor(app) {
        let ada = app.two_step_user("ada").await;
        let browser = app.browser();
        let page = enter(&browser, "/auth/sign-in", &ada.email, PASSWORD).await;
        browser.submit(&page, "/auth/challenge", &[("code", &ada.authenticator.code())]).await;
        let page = browser.follow(&late_change(&app, &browser).await).await;

        for wrong in [ada.authenticator.wrong_code(1).as_str(), "12345"] {
            let refused = browser.submit(&page, CONFIRM, &[("code", wrong)]).await;
            assert!(refused.text().contains("id=\"code-fault\">This code is wrong or was used"), "{refused:?}");
        }
        let other = browser.get(&link(&page, "kind=recovery_code").unwrap()).await;
        let back = browser.submit(&other, CONFIRM, &[("code", &ada.recovery_codes[0])]).await;

        let form = browser.follow(&back).await;
        let done = browser.submit(&form, EMAIL, &[("email", NEW)]).await;
        assert_eq!(done.header("location"), Some(EMAIL), "{done:?}");
    }

    with(|b| b.pages().verification_by_code())
    async fn passkey_is_asked_for_first_and_can_be_tried_again(app) {
        let ada = app.user("ada").await;
        let (passkey, _) = ada.add_passkey(&app.phone()).await;
        let browser = signed_in(&app).await;
        let page = browser.follow(&late_change(&app, &browser).await).await;
        assert!(link(&page, "kind=password").is_some(), "{page:?}");
        let send = async |page: &Answer, options: &latchkey_testkit::Value| {
            let credential = passkey.clone().sign(options).to_json().to_string();
            browser.submit(page, "kind=passkey", &[("credential", &credential)]).await
        };

        let mut wrong = ceremony(&page).options;
        wrong["challenge"] = "AAAA".into();
        let refused = send(&page, &wrong).await;
        assert!(refused.hosted(401).contains("This passkey did not work."), "{refused:?}");
        let back = send(&refused, &ceremony(&refused).options).await;

        assert!(back.header("location").unwrap().starts_with(EMAIL), "{back:?}");
    }

    with(|b| b.pages())
    async fn page_of_the_account_leads_over_the_sign_in_and_back(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();

        let page = browser.follow(&browser.get(EMAIL).await).await;
        let done = browser.submit(&page, "/auth/sign-in", &[("email", "ada@example.org"), ("password", PASSWORD)]).await;

        assert_eq!(done.header("location"), Some(EMAIL), "{done:?}");
        browser.follow(&done).await.hosted(200);
    }

    with(|b| b.pages())
    async fn account_without_a_password_confirms_by_a_mailed_code(app) {
        let browser = app.browser();
        enter_by_mail(&app, &browser, "ada@example.org").await;
        let before = app.mail().total();
        let page = browser.follow(&late_change(&app, &browser).await).await;
        assert!(page.hosted(200).contains("We send a code to"), "{page:?}");
        app.run_jobs().await;
        assert_eq!(app.mail().total(), before);

        let page = browser.follow(&browser.submit(&page, "act=send", &[]).await).await;
        let code = app.mail_to("ada@example.org").await.code();
        let wrong = browser.submit(&page, CONFIRM, &[("code", "000000")]).await;
        assert!(wrong.hosted(401).contains("id=\"code-fault\">This code does not work."), "{wrong:?}");
        let back = browser.submit(&wrong, CONFIRM, &[("code", &code)]).await;

        let form = browser.follow(&back).await;
        let done = browser.submit(&form, EMAIL, &[("email", NEW)]).await;
        assert_eq!(done.header("location"), Some(EMAIL), "{done:?}");
    }
}
