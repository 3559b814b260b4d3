//! `/auth/sign-in` by passkey, and the new options for a page that stays open.

use latchkey_testkit::browser::{ceremony, link};
use latchkey_testkit::{Answer, Browser, Ceremony, Passkey, both_stores, json, minutes};

use crate::pages_calls::{assert_in_account, exchange, from_app, target_of};
use crate::two_step_calls::claims;

/// Sends what the passkey answers to the options of a page.
async fn send(browser: &Browser, page: &Answer, passkey: &Passkey, begun: &Ceremony) -> Answer {
    let credential = passkey.clone().sign(&begun.options).to_json().to_string();
    browser.submit(page, "act=passkey", &[("ceremony_id", &begun.id), ("credential", &credential)]).await
}

both_stores! {
    with(|b| b.pages())
    async fn passkey_signs_in_for_an_app_at_level_two(app) {
        let ada = app.passkey_user("ada").await;
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;
        assert!(page.hosted(200).contains("autocomplete=\"username webauthn\""), "{page:?}");

        let done = send(&browser, &page, &ada.passkey, &ceremony(&page)).await;

        let session = exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        assert_eq!(claims(session["accessToken"].as_str().unwrap())["aal"], json!(2));
    }

    with(|b| b.pages())
    async fn passkey_opens_a_page_session_of_level_two_in_this_browser_alone(app) {
        let ada = app.passkey_user("ada").await;
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;

        let done = send(&browser, &page, &ada.passkey, &ceremony(&page)).await;

        assert_in_account(&browser, &done, "ada@example.org").await;
        let passkeys = browser.get("/auth/account/passkeys").await;
        assert!(passkeys.hosted(200).contains("data-passkey"), "no recent sign-in: {passkeys:?}");
        let thief = app.browser().with_cookie("latchkey_pages_8700", browser.cookie("latchkey_pages").unwrap());
        thief.get("/auth/sign-in").await;
        assert_eq!(thief.get("/auth/account").await.status, 303);
        let again = send(&browser, &page, &ada.passkey, &ceremony(&page)).await;
        assert_ne!(again.status, 303, "an answer was taken twice: {again:?}");
    }

    with(|b| b.pages())
    async fn wrong_and_unknown_passkeys_are_told_with_new_options(app) {
        let ada = app.passkey_user("ada").await;
        let stranger = app.phone().create(&ada.begin_passkey().await.options).passkey;
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;

        let unknown = send(&browser, &page, &stranger, &ceremony(&page)).await;
        assert!(unknown.hosted(401).contains("role=\"alert\""), "{unknown:?}");
        assert_ne!(ceremony(&unknown).id, ceremony(&page).id);
        let fields = [("credential", "nonsense")];
        let malformed = browser.submit(&page, "act=passkey", &fields).await;
        assert!(malformed.hosted(400).contains("role=\"alert\""), "{malformed:?}");
        let begun = ceremony(&page);
        let done = send(&browser, &page, &ada.passkey, &begun).await;
        assert_eq!(done.status, 303, "{done:?}");
        send(&browser, &page, &ada.passkey, &begun).await.hosted(401);
    }

    with(|b| b.pages().verification_by_code())
    async fn refused_passkey_leaves_the_address_of_the_app(app) {
        let ada = app.passkey_user("ada").await;
        let browser = app.browser();
        let page = browser.get(&format!("{}&login_hint=ada%40example.org", from_app("/auth/sign-in"))).await;
        let fields = [("credential", "nonsense")];
        let refused = browser.submit(&page, "act=passkey", &fields).await;
        assert!(refused.hosted(400).contains("value=\"ada@example.org\""), "{refused:?}");
        let path = format!("/api/auth/users/{}", ada.id);
        app.admin().patch(&path, json!({"emailVerified": false})).send().await.expect(200);

        let refused = send(&browser, &refused, &ada.passkey, &ceremony(&refused)).await;

        let verify = link(&refused, "/auth/verify").unwrap_or_else(|| panic!("no way on: {refused:?}"));
        let page = browser.get(&verify).await;
        assert!(page.hosted(200).contains("<bdi>ada@example.org</bdi>"), "{page:?}");
    }

    with(|b| b.pages())
    async fn page_that_stays_open_gets_new_options(app) {
        let ada = app.passkey_user("ada").await;
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;
        app.clock.advance(minutes(11));
        send(&browser, &page, &ada.passkey, &ceremony(&page)).await.hosted(401);

        let options = browser.get("/auth/passkey-options").await;
        assert_eq!(options.header("cache-control"), Some("no-store"), "{options:?}");
        assert_eq!(options.status, 200, "{options:?}");
        let begun = Ceremony::of(&options.json());
        let done = send(&browser, &page, &ada.passkey, &begun).await;

        assert_eq!(done.header("location"), Some("/auth/account"), "{done:?}");
    }

    with(|b| b.pages().settings(|settings| settings.passkeys_enabled = false))
    async fn form_is_missing_while_passkeys_are_off(app) {
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;

        let text = page.hosted(200);
        assert!(!text.contains("data-passkey") && !text.contains("webauthn"), "{text}");
        browser.get("/auth/passkey-options").await.hosted(403);
    }
}
