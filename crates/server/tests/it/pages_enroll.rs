//! `/auth/challenge`: the enrolment of a second factor at a sign-in, where the operator requires one.

use latchkey_testkit::browser::ceremony;
use latchkey_testkit::{
    Answer, Authenticator, Browser, PASSWORD, TestApp, TestAppBuilder, both_stores, seconds,
};

use crate::pages_calls::{assert_in_account, enter, exchange, from_app, target_of};
use crate::passkey_calls::required;

const ADA: &str = "ada@example.org";

pub(crate) fn required_on_pages(builder: TestAppBuilder) -> TestAppBuilder {
    required(builder).pages()
}

/// Signs up for an app and verifies, up to the choice of a factor.
pub(crate) async fn choosing(app: &TestApp, browser: &Browser) -> Answer {
    let page = browser.get(&from_app("/auth/sign-up")).await;
    let fields = [("email", ADA), ("password", PASSWORD)];
    let page = browser.follow(&browser.submit(&page, "/auth/sign-up", &fields).await).await;
    let code = app.mail_to(ADA).await.code();
    let page = browser.follow(&browser.submit(&page, "/auth/verify", &[("code", &code)]).await).await;
    assert!(page.hosted(200).contains("<h1>Add a second step</h1>"), "{page:?}");
    page
}

/// Begins the set-up of an authenticator app; returns the page and the app.
pub(crate) async fn set_up(app: &TestApp, browser: &Browser, page: &Answer) -> (Answer, Authenticator) {
    let page = browser.follow(&browser.submit(page, "act=totp", &[]).await).await;
    let authenticator = shown_authenticator(app, &page);
    (page, authenticator)
}

/// Authenticator app with the key that a page shows.
pub(crate) fn shown_authenticator(app: &TestApp, page: &Answer) -> Authenticator {
    let text = page.hosted(200);
    assert!(text.contains("<svg"), "{text}");
    let key = text.split("<code id=\"secret\">").nth(1).unwrap().split('<').next().unwrap();
    Authenticator::new(&key.replace(' ', ""), &app.clock)
}

/// Recovery codes of a page.
pub(crate) fn shown_codes(page: &Answer) -> Vec<String> {
    let lines = page.text().split("<li><code>").skip(1);
    lines.map(|line| line.split('<').next().unwrap().to_owned()).collect()
}

both_stores! {
    with(required_on_pages)
    async fn authenticator_app_is_set_up_and_the_recovery_codes_are_shown(app) {
        let browser = app.browser();
        let page = choosing(&app, &browser).await;
        let (page, authenticator) = set_up(&app, &browser, &page).await;

        let done = browser.submit(&page, "act=code", &[("code", &authenticator.code())]).await;
        let page = browser.follow(&done).await;

        let codes = shown_codes(&page);
        assert_eq!(codes.len(), 10, "{page:?}");
        let done = browser.submit(&page, "act=next", &[]).await;
        assert_eq!(browser.cookie("latchkey_codes"), None);
        let session = exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        assert_eq!(session["user"]["email"], ADA);

        app.clock.advance(seconds(30));
        let other = app.browser();
        let page = enter(&other, "/auth/sign-in", ADA, PASSWORD).await;
        let done = other.submit(&page, "/auth/challenge", &[("code", &authenticator.code())]).await;
        assert_in_account(&other, &done, ADA).await;
    }

    with(required_on_pages)
    async fn wrong_first_code_is_told_and_the_key_stays(app) {
        let browser = app.browser();
        let page = choosing(&app, &browser).await;
        let (page, authenticator) = set_up(&app, &browser, &page).await;

        let refused = browser.submit(&page, "act=code", &[("code", &authenticator.wrong_code(1))]).await;

        assert!(refused.hosted(401).contains("id=\"code-fault\""), "{refused:?}");
        assert!(refused.text().contains("<svg"), "{refused:?}");
        let done = browser.submit(&refused, "act=code", &[("code", &authenticator.code())]).await;
        assert_eq!(shown_codes(&browser.follow(&done).await).len(), 10);
    }

    with(required_on_pages)
    async fn set_up_that_is_dead_leads_back_to_the_choice(app) {
        let browser = app.browser();
        let page = choosing(&app, &browser).await;
        let (page, authenticator) = set_up(&app, &browser, &page).await;
        for number in 1..=5 {
            let wrong = authenticator.wrong_code(number);
            browser.submit(&page, "act=code", &[("code", &wrong)]).await.hosted(401);
        }

        let code = authenticator.code();
        let page = browser.follow(&browser.submit(&page, "act=code", &[("code", &code)]).await).await;

        assert!(page.hosted(200).contains("<h1>Add a second step</h1>"), "{page:?}");
        let (page, authenticator) = set_up(&app, &browser, &page).await;
        let done = browser.submit(&page, "act=code", &[("code", &authenticator.code())]).await;
        assert_eq!(shown_codes(&browser.follow(&done).await).len(), 10);
    }

    with(required_on_pages)
    async fn passkey_is_registered_and_the_recovery_codes_are_shown(app) {
        let browser = app.browser();
        let page = choosing(&app, &browser).await;
        let begun = ceremony(&page);
        let creation = app.phone().create(&begun.options);

        let credential = creation.to_json().to_string();
        let done = browser.submit(&page, "act=passkey", &[("credential", &credential)]).await;

        let page = browser.follow(&done).await;
        assert_eq!(shown_codes(&page).len(), 10, "{page:?}");
        let done = browser.submit(&page, "act=next", &[]).await;
        exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        let mut passkey = creation.passkey;
        app.anon().sign_in_by_passkey(&mut passkey).await.send().await.expect(200);
    }

    with(required_on_pages)
    async fn recovery_codes_are_shown_in_this_browser_alone(app) {
        let browser = app.browser();
        let page = choosing(&app, &browser).await;
        let (page, authenticator) = set_up(&app, &browser, &page).await;
        let done = browser.submit(&page, "act=code", &[("code", &authenticator.code())]).await;
        let address = done.header("location").unwrap();
        assert_eq!(shown_codes(&browser.follow(&done).await).len(), 10);

        app.browser().get(address).await.hosted(400);
        browser.forget("latchkey_codes");
        let gone = browser.get(address).await;

        assert_eq!(gone.status, 303, "{gone:?}");
    }
}
