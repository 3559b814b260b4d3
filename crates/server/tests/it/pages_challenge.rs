//! `/auth/challenge`: the second factor of a sign-in or reset on the pages, and the restoral of an account in deletion.

use latchkey_testkit::browser::{ceremony, link};
use latchkey_testkit::{
    Answer, Browser, PASSWORD, TestApp, TwoStepUser, both_stores, json, minutes, seconds,
};

use crate::deletion_calls::deleted;
use crate::pages_calls::{assert_in_account, enter, exchange, from_app, target_of};
use crate::two_step_calls::claims;

const PATH: &str = "/auth/challenge";
const NEW: &str = "a staple of the battery";

/// Signs in up to the page of the challenge.
async fn challenged(browser: &Browser, ada: &TwoStepUser) -> Answer {
    let page = enter(browser, "/auth/sign-in", &ada.email, PASSWORD).await;
    assert!(page.hosted(200).contains("<h1>One more step</h1>"), "{page:?}");
    assert_eq!(browser.cookie("latchkey_pages"), None);
    page
}

async fn answer(browser: &Browser, page: &Answer, code: &str) -> Answer {
    browser.submit(page, PATH, &[("code", code)]).await
}

/// Asks for a new password by a mailed code, up to the page of the challenge.
async fn reset_challenged(app: &TestApp, browser: &Browser, email: &str) -> Answer {
    let page = browser.get("/auth/forgot").await;
    let page = browser.follow(&browser.submit(&page, "/auth/forgot", &[("email", email)]).await).await;
    let code = app.mail_to(email).await.code();
    let page = browser.follow(&browser.submit(&page, "act=code", &[("code", &code)]).await).await;
    browser.follow(&browser.submit(&page, "/auth/reset", &[("password", NEW)]).await).await
}

both_stores! {
    with(|b| b.pages().verification_by_code())
    async fn code_of_the_authenticator_app_completes_the_sign_in(app) {
        let ada = app.two_step_user("ada").await;
        let browser = app.browser();
        let page = enter(&browser, &from_app("/auth/sign-in"), &ada.email, PASSWORD).await;
        assert!(page.text().contains("inputmode=\"numeric\""), "{page:?}");

        let code = ada.authenticator.code();
        let done = answer(&browser, &page, &format!("{} {}", &code[..3], &code[3..])).await;

        let session = exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        let claims = claims(session["accessToken"].as_str().unwrap());
        assert_eq!((&claims["aal"], &claims["amr"]), (&json!(2), &json!(["pwd", "otp", "mfa"])));
    }

    with(|b| b.pages().verification_by_code())
    async fn wrong_used_and_malformed_codes_are_told_at_the_field(app) {
        let ada = app.two_step_user("ada").await;
        let browser = app.browser();
        let page = challenged(&browser, &ada).await;

        for (code, status) in [("", 400), ("12345", 400), (&ada.authenticator.wrong_code(1), 401)] {
            let refused = answer(&browser, &page, code).await;
            assert!(refused.hosted(status).contains("id=\"code-fault\""), "{code}: {refused:?}");
        }
        let code = ada.authenticator.code();
        let done = answer(&browser, &page, &code).await;
        assert_in_account(&browser, &done, &ada.email).await;
        let other = app.browser();
        let page = challenged(&other, &ada).await;
        assert!(answer(&other, &page, &code).await.hosted(401).contains("id=\"code-fault\""));
    }

    with(|b| b.pages().verification_by_code())
    async fn recovery_code_signs_in_and_the_codes_left_are_told(app) {
        let ada = app.two_step_user("ada").await;
        let browser = app.browser();
        let page = enter(&browser, &from_app("/auth/sign-in"), &ada.email, PASSWORD).await;
        let page = browser.get(&link(&page, "kind=recovery_code").unwrap()).await;
        assert!(page.hosted(200).contains("inputmode=\"text\""), "{page:?}");

        let code = ada.recovery_codes[0].to_uppercase().replace('-', " ");
        let page = browser.follow(&answer(&browser, &page, &code).await).await;

        assert!(page.hosted(200).contains("9 recovery codes are left"), "{page:?}");
        assert!(page.text().contains("<h1>You used a recovery code</h1>"), "{page:?}");
        let done = browser.submit(&page, "act=next", &[]).await;
        exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        let other = app.browser();
        let page = challenged(&other, &ada).await;
        let page = other.get(&link(&page, "kind=recovery_code").unwrap()).await;
        let used = answer(&other, &page, &code).await;
        assert!(used.hosted(401).contains("was used already. Enter another one."), "{used:?}");
    }

    with(|b| b.pages().verification_by_code())
    async fn passkey_is_asked_for_first_and_can_be_tried_again(app) {
        let ada = app.two_step_user("ada").await;
        let (passkey, _) = ada.add_passkey(&app.phone()).await;
        let browser = app.browser();
        let page = challenged(&browser, &ada).await;
        let send = async |page: &Answer, options: &latchkey_testkit::Value| {
            let credential = passkey.clone().sign(options).to_json().to_string();
            browser.submit(page, "kind=passkey", &[("credential", &credential)]).await
        };
        let shown = ceremony(&page).options;
        assert_eq!(shown["allowCredentials"][0]["id"], passkey.id());
        assert_eq!(ceremony(&browser.get(page_path(&page)).await).options, shown);

        let mut wrong = shown.clone();
        wrong["challenge"] = json!("AAAA");
        let refused = send(&page, &wrong).await;
        assert!(refused.hosted(401).contains("This passkey did not work."), "{refused:?}");
        browser.submit(&page, "kind=passkey", &[("credential", "{}")]).await.hosted(400);
        let done = send(&refused, &ceremony(&refused).options).await;

        assert_in_account(&browser, &done, &ada.email).await;
    }

    with(|b| b.pages().verification_by_code())
    async fn other_ways_are_listed_and_work(app) {
        let ada = app.two_step_user("ada").await;
        ada.add_passkey(&app.phone()).await;
        let browser = app.browser();
        let page = challenged(&browser, &ada).await;
        for kind in ["totp", "recovery_code"] {
            assert!(link(&page, &format!("kind={kind}")).is_some(), "{page:?}");
        }

        let page = browser.get(&link(&page, "kind=totp").unwrap()).await;
        assert!(link(&page, "kind=passkey").is_some() && link(&page, "kind=totp").is_none(), "{page:?}");
        let done = answer(&browser, &page, &ada.authenticator.code()).await;

        assert_in_account(&browser, &done, &ada.email).await;
    }

    with(|b| b.pages().verification_by_code())
    async fn fifth_wrong_code_leads_back_to_the_sign_in(app) {
        let ada = app.two_step_user("ada").await;
        let browser = app.browser();
        let page = challenged(&browser, &ada).await;
        for number in 1..=4 {
            let refused = answer(&browser, &page, &ada.authenticator.wrong_code(number)).await;
            assert!(refused.hosted(401).contains("name=\"code\""), "{number}: {refused:?}");
        }

        let last = answer(&browser, &page, &ada.authenticator.wrong_code(5)).await;

        let text = last.hosted(401);
        assert!(text.contains("The attempts are used up") && !text.contains("name=\"code\""), "{text}");
        answer(&browser, &page, &ada.authenticator.code()).await.hosted(401);
        let start = browser.get(&link(&last, "/auth/sign-in").unwrap()).await;
        assert!(start.hosted(200).contains("name=\"password\""), "{start:?}");
    }

    with(|b| b.pages().verification_by_code())
    async fn challenge_ends_after_ten_minutes_and_says_so(app) {
        let ada = app.two_step_user("ada").await;
        let browser = app.browser();
        let page = challenged(&browser, &ada).await;

        app.clock.advance(minutes(10));

        let late = browser.get(page_path(&page)).await;
        assert!(late.hosted(200).contains("too much time has passed"), "{late:?}");
        answer(&browser, &page, &ada.authenticator.code()).await.hosted(401);
        let none = browser.get(PATH).await;
        assert_eq!((none.status, none.header("location")), (303, Some("/auth/sign-in")));
    }

    with(|b| b.pages().verification_by_code())
    async fn tick_of_the_sign_in_is_kept_over_the_challenge(app) {
        let ada = app.two_step_user("ada").await;
        for (tick, is_lasting) in [(&[("keep", "yes")][..], true), (&[], false)] {
            let browser = app.browser();
            let page = browser.get("/auth/sign-in").await;
            let fields = [&[("email", ada.email.as_str()), ("password", PASSWORD)], tick].concat();
            let page = browser.follow(&browser.submit(&page, "/auth/sign-in", &fields).await).await;
            app.clock.advance(seconds(30));

            let done = answer(&browser, &page, &ada.authenticator.code()).await;

            let cookie = done.set_cookies().into_iter().find(|line| line.contains("latchkey_pages")).unwrap();
            assert_eq!(cookie.contains("Max-Age=2592000"), is_lasting, "{cookie}");
            assert_eq!(cookie.contains("Max-Age"), is_lasting, "{cookie}");
        }
    }

    with(|b| b.pages().verification_by_code())
    async fn reset_asks_for_the_second_factor_and_then_for_the_password(app) {
        let ada = app.two_step_user("ada").await;
        let browser = app.browser();
        let page = reset_challenged(&app, &browser, &ada.email).await;
        assert!(page.hosted(200).contains("name=\"code\""), "{page:?}");

        let page = browser.follow(&answer(&browser, &page, &ada.authenticator.code()).await).await;
        assert!(page.hosted(200).contains("a•••@example.org"), "{page:?}");
        let done = browser.submit(&page, "/auth/reset", &[("password", NEW)]).await;

        browser.follow(&done).await.hosted(200);
        app.anon().sign_in(&ada.email, NEW).send().await.expect(200);
        app.anon().sign_in(&ada.email, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }

    with(|b| b.pages().verification_by_code())
    async fn account_in_deletion_is_kept_by_a_press(app) {
        let ada = deleted(&app, "ada").await;
        let browser = app.browser();

        let page = enter(&browser, "/auth/sign-in", &ada.email, PASSWORD).await;
        let text = page.hosted(200);
        assert!(text.contains("<h1>This account is to be deleted</h1>") && text.contains("<time datetime="), "{text}");
        assert!(text.contains("Keep my account"), "{text}");
        let done = browser.submit(&page, "kind=restore", &[]).await;

        assert_in_account(&browser, &done, &ada.email).await;
        app.anon().sign_in(&ada.email, PASSWORD).send().await.expect(200)["accessToken"].as_str().unwrap();
    }

    with(|b| b.pages().verification_by_code())
    async fn challenge_of_another_browser_is_not_answered(app) {
        let ada = app.two_step_user("ada").await;
        let browser = app.browser();
        let page = challenged(&browser, &ada).await;

        app.browser().get(page_path(&page)).await.hosted(400);
        let stolen = app.browser();
        stolen.get("/auth/sign-in").await;
        let answer = stolen.submit(&page, PATH, &[("code", &ada.authenticator.code())]).await;

        answer.hosted(400);
        assert_eq!(stolen.cookie("latchkey_pages"), None);
    }
}

/// Address of a page that has a form to itself.
fn page_path(page: &Answer) -> &str {
    page.text().split("action=\"").nth(1).unwrap().split(['"', '&']).next().unwrap()
}
