//! `/auth/account/passkeys`: the passkeys of the own account on the pages.

use latchkey_testkit::browser::{ceremony, link};
use latchkey_testkit::{Answer, Browser, PASSWORD, TestApp, both_stores, minutes};

use crate::pages_account::signed_in;

const PATH: &str = "/auth/account/passkeys";

/// Page whose form takes a new passkey. The first passkey of an account has to be begun.
async fn ready(browser: &Browser) -> Answer {
    let page = browser.get(PATH).await;
    if page.hosted(200).contains("data-passkey=") {
        return page;
    }
    let begun = browser.submit(&page, "act=begin", &[]).await;
    browser.follow(&begun).await
}

/// Adds a passkey of the phone; returns the page after it.
async fn add(app: &TestApp, browser: &Browser, page: &Answer) -> Answer {
    let begun = ceremony(page);
    let credential = app.phone().create(&begun.options).to_json().to_string();
    let done = browser.submit(page, "act=add", &[("credential", &credential)]).await;
    browser.follow(&done).await
}

both_stores! {
    with(|b| b.pages().verification_by_code())
    async fn passkey_is_added_and_signs_in(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = ready(&browser).await;
        let begun = ceremony(&page);
        let creation = app.phone().create(&begun.options);
        let credential = creation.to_json().to_string();

        let done = browser.submit(&page, "act=add", &[("credential", &credential)]).await;

        let page = browser.follow(&done).await;
        assert_eq!(page.hosted(200).matches("act=remove").count(), 1, "{page:?}");
        assert!(page.text().contains("data-accepted="), "{page:?}");
        let mut passkey = creation.passkey;
        let body = app.anon().sign_in_by_passkey(&mut passkey).await.send().await.expect(200);
        assert_eq!(body["user"]["id"].as_str(), Some(ada.id.as_str()));
    }

    with(|b| b.pages().verification_by_code())
    async fn page_writes_nothing_before_the_form_that_begins(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;

        let page = browser.get(PATH).await;

        assert!(page.hosted(200).contains("act=begin") && !page.text().contains("data-passkey="), "{page:?}");
        assert!(ada.get("/api/auth/passkeys").send().await.expect(200)["userHandle"].is_null());
    }

    with(|b| b.pages().verification_by_code())
    async fn script_goes_on_after_the_press_that_begins_and_not_otherwise(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;

        assert!(ready(&browser).await.text().contains(" data-auto"));
        let page = ready(&browser).await;
        assert!(page.text().contains("data-passkey=\"create\"") && !page.text().contains(" data-auto"), "{page:?}");
    }

    with(|b| b.pages().settings(|settings| settings.passkeys_enabled = false))
    async fn page_says_that_passkeys_are_off_and_has_no_way_to_add_one(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;

        let page = browser.get(PATH).await;

        let text = page.hosted(200);
        assert!(text.contains("This is switched off here.") && !text.contains("method=\"post\""), "{text}");
        assert!(!text.contains("No more passkeys") && !text.contains("data-no-passkey"), "{text}");
    }

    with(|b| b.pages().verification_by_code())
    async fn passkey_is_renamed_and_removed(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = add(&app, &browser, &ready(&browser).await).await;
        let editing = browser.get(&link(&page, "rename=").unwrap()).await;
        assert!(editing.hosted(200).contains("act=rename"), "{editing:?}");

        let refused = browser.submit(&editing, "act=rename", &[("name", "")]).await;
        assert!(refused.hosted(400).contains("id=\"name-fault\""), "{refused:?}");
        let done = browser.submit(&editing, "act=rename", &[("name", "<b>My key</b>")]).await;

        let page = browser.follow(&done).await;
        assert!(page.hosted(200).contains("<bdi>&lt;b&gt;My key&lt;/b&gt;</bdi>"), "{page:?}");
        let page = browser.follow(&browser.submit(&page, "act=remove", &[]).await).await;
        assert!(!page.hosted(200).contains("act=remove"), "{page:?}");
    }

    with(|b| b.pages().verification_by_code())
    async fn new_name_that_comes_late_is_kept_over_the_sign_in(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = add(&app, &browser, &ready(&browser).await).await;
        let editing = browser.get(&link(&page, "rename=").unwrap()).await;
        browser.forget("latchkey_pages");

        let late = browser.submit(&editing, "act=rename", &[("name", "My key")]).await;

        let page = browser.follow(&late).await;
        let fields = [("email", "ada@example.org"), ("password", PASSWORD)];
        let form = browser.follow(&browser.submit(&page, "/auth/sign-in", &fields).await).await;
        assert!(form.hosted(200).contains("value=\"My key\""), "{form:?}");
        let done = browser.submit(&form, "act=rename", &[("name", "My key")]).await;
        assert!(browser.follow(&done).await.hosted(200).contains("<bdi>My key</bdi>"));
    }

    with(|b| b.pages().verification_by_code())
    async fn adding_and_removing_ask_for_a_recent_sign_in(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        add(&app, &browser, &ready(&browser).await).await;
        app.clock.advance(minutes(11));
        let page = browser.get(PATH).await;

        for act in ["act=begin", "act=remove"] {
            let done = browser.submit(&page, act, &[]).await;
            assert!(done.header("location").unwrap().starts_with("/auth/account/confirm?"), "{done:?}");
        }

        let page = browser.follow(&browser.submit(&page, "act=begin", &[]).await).await;
        let page = browser.get(&link(&page, "kind=password").unwrap()).await;
        let back = browser.submit(&page, "kind=password", &[("password", PASSWORD)]).await;
        assert!(browser.follow(&back).await.hosted(200).contains("data-passkey=\"create\""));
    }

    with(|b| b.pages().verification_by_code())
    async fn malformed_credential_and_foreign_ceremony_add_nothing(app) {
        let _ada = app.user("ada").await;
        let _grace = app.user("grace").await;
        let (browser, other) = (signed_in(&app).await, signed_in(&app).await);
        let page = ready(&browser).await;
        let foreign = ceremony(&ready(&other).await);
        let credential = app.phone().create(&foreign.options).to_json().to_string();

        let malformed = browser.submit(&page, "act=add", &[("credential", "{}")]).await;
        let swapped = [("credential", credential.as_str()), ("ceremony_id", foreign.id.as_str())];
        let swapped = browser.submit(&page, "act=add", &swapped).await;

        assert_eq!((malformed.status, swapped.status), (400, 400), "{malformed:?} {swapped:?}");
        assert!(!browser.get(PATH).await.hosted(200).contains("act=remove"));
    }
}
