//! The longest request of an app: target, state and hint of the greatest length go every way through the pages and back.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Browser, EmailSignIn, PASSWORD, TestApp, TestAppBuilder, both_stores, json};
use url::Url;

use crate::oauth_calls::acme;
use crate::pages_calls::{CHALLENGE, exchange};
use crate::pages_provider::{landing, leave};

const ADA: &str = "ada@example.org";
const APP: &str = "http://localhost:3000/";
/// Greatest length of a redirect URL.
const LONGEST: usize = 2_048;

fn linking(builder: TestAppBuilder) -> TestAppBuilder {
    builder
        .pages()
        .verification_by_link()
        .email_sign_in(EmailSignIn::CodeAndLink)
        .redirects(&["http://localhost:3000/**"])
}

fn target() -> String {
    format!("{APP}{}", "p".repeat(LONGEST - APP.len()))
}

/// A state of the greatest length, half of characters that become three in an address.
fn state() -> String {
    "{\"a+".repeat(128)
}

/// Address of a page as an app opens it.
fn longest(page: &str) -> String {
    let hint = format!(
        "{}@{}.example.org",
        "a".repeat(64),
        ["b".repeat(60), "c".repeat(60), "d".repeat(50)].join(".")
    );
    let mut url = Url::parse("http://localhost").unwrap().join(page).unwrap();
    let (target, state) = (target(), state());
    let pairs = [
        ("redirect_uri", target.as_str()),
        ("code_challenge", CHALLENGE),
        ("state", &state),
        ("login_hint", &hint),
    ];
    url.query_pairs_mut().extend_pairs(pairs);
    format!("{page}?{}", url.query().unwrap())
}

/// Target of the page `/auth/continue`.
fn target_of(page: &Answer) -> Url {
    let href = link(page, &format!("{APP}ppp")).unwrap_or_else(|| panic!("no way back: {page:?}"));
    Url::parse(&href).unwrap()
}

/// Asserts that the browser goes back to the app with all that it asked for.
async fn assert_back(app: &TestApp, browser: &Browser, done: &Answer) {
    let page = browser.follow(done).await;
    let back = target_of(&page);
    assert!(back.as_str().starts_with(&target()) && parameter(&back, "state") == Some(state()), "{back}");
    exchange(app, &back).await.expect(200);
    let again = browser.follow(done).await;
    assert_eq!(target_of(&again).as_str(), target(), "{again:?}");
}

/// Opens the newest mailed link, up to the page that it leads to.
async fn opened(app: &TestApp, browser: &Browser, email: &str) -> Answer {
    let landed = browser.get(&app.mail_to(email).await.link()).await.redirected();
    browser.get(&format!("{}?{}", landed.path(), landed.query().unwrap())).await
}

both_stores! {
    with(|b| b.pages())
    async fn longest_request_signs_in_by_password(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&longest("/auth/sign-in")).await;

        let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;

        assert_back(&app, &browser, &done).await;
    }

    with(|b| b.pages())
    async fn longest_request_signs_in_through_a_provider(app) {
        let acme = acme(&app).await;
        let browser = app.browser();
        let url = leave(&browser, &browser.get(&longest("/auth/sign-in")).await).await;

        let done = browser.get(&landing(&browser, &acme.consent(&url)).await).await;

        assert_back(&app, &browser, &done).await;
    }

    with(linking)
    async fn longest_request_signs_in_by_a_mailed_link(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&longest("/auth/mail-code")).await;
        browser.follow(&browser.submit(&page, "/auth/mail-code", &[("email", ADA)]).await).await.hosted(200);

        let page = browser.follow(&opened(&app, &browser, ADA).await).await;
        let done = browser.submit(&page, "act=link", &[]).await;

        assert_back(&app, &browser, &done).await;
    }

    with(linking)
    async fn verify_link_leads_back_to_the_longest_request(app) {
        let browser = app.browser();
        let page = browser.get(&longest("/auth/sign-up")).await;
        let fields = [("email", ADA), ("password", PASSWORD)];
        browser.follow(&browser.submit(&page, "/auth/sign-up", &fields).await).await.hosted(200);

        let page = opened(&app, &browser, ADA).await;
        assert!(page.hosted(200).contains("localhost"), "{page:?}");
        let page = browser.get(&link(&page, "/auth/sign-in?flow=").unwrap()).await;
        let done = browser.submit(&page, "/auth/sign-in", &fields).await;

        assert_back(&app, &browser, &done).await;
    }

    with(|b| b.pages().redirects(&["http://localhost:3000/**"]))
    async fn target_that_leaves_the_list_during_a_flow_opens_no_session(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&longest("/auth/sign-in")).await;
        let list = json!({"allowedRedirectUrls": ["https://app.example.com/"]});
        app.admin().put("/api/auth/config", list).send().await.expect(200);

        let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;

        assert!(done.hosted(400).contains("an address that is not allowed"), "{done:?}");
        assert_eq!(browser.cookie("latchkey_pages"), None);
        let again = browser.get("/auth/sign-in").await;
        assert!(!again.hosted(200).contains("Continue as"), "{again:?}");
    }
}
