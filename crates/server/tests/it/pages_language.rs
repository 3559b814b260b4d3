//! The choice of a language at the foot of the hosted pages, and the language of their error pages.

use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Browser, PASSWORD, both_stores, json, minutes};

use crate::pages_account::signed_in;
use crate::pages_calls::{CHALLENGE, enter, from_app, in_language, target_of};
use crate::pages_enroll::{shown_authenticator, shown_codes};

const ADA: &str = "ada@example.org";
const ERROR: &str = "/auth/error?cause=bad_flow";

/// Chooses French at the foot of a page.
async fn in_french(browser: &Browser, page: &Answer) -> Answer {
    let french = browser.get(&in_language(page, "fr")).await;
    assert!(french.text().contains("<html lang=\"fr\""), "{french:?}");
    french
}

fn heading(page: &str) -> &str {
    page.split_once("<h1>").and_then(|(_, rest)| rest.split("</h1>").next()).unwrap()
}

both_stores! {
    with(|b| b.pages())
    async fn page_whose_state_is_in_the_query_is_the_same_in_another_language(app) {
        let browser = app.browser();
        for (path, status) in [
            ("/auth/verified?service_status=success&service_type=verify_email", 200),
            ("/auth/verified?service_status=error&service_type=verify_email", 400),
            ("/auth/reset?done=1", 200),
            ("/auth/reset?service_status=error&service_type=reset_password", 400),
            ("/auth/error?cause=stale_form", 403),
            ("/auth/error?cause=bad_target", 400),
            ("/auth/no-such-page?a=1", 404),
            ("/auth/sign-in?redirect_uri=https://evil.example/&code_challenge=short", 400),
            ("/auth/sign-in?flow=nonsense", 400),
        ] {
            let page = browser.get(path).await;
            page.hosted(status);

            let french = in_french(&browser, &page).await;

            french.hosted(status);
            let back = in_language(&french, "en");
            let again = browser.get(&back).await;
            assert_eq!(heading(again.hosted(status)), heading(page.text()), "{path}");
        }
    }

    with(|b| b.pages())
    async fn choice_of_a_language_stays_on_the_own_path_whatever_the_query_has(app) {
        let browser = app.browser();
        let query = "cause=bad_flow&a=%22%3E%3Cx%3E&%2F%2Fevil.example=%26locale%3Dde&b=%FF&b=2&locale=es&stay=1&c";

        let page = browser.get(&format!("/auth/error?{query}")).await;

        let text = page.hosted(400);
        assert!(!text.contains("<x>") && text.contains("action=\"/auth/error\""), "{text}");
        let href = in_language(&page, "fr");
        assert!(href.starts_with("/auth/error?cause=bad_flow&a=%22%3E%3Cx%3E&%2F%2Fevil.example=%26locale%3Dde&"), "{href}");
        assert_eq!(href.matches("locale=").count() + href.matches("stay=").count(), 1, "{href}");
        in_french(&browser, &page).await.hosted(400);
    }

    with(|b| b.pages())
    async fn way_back_that_was_shown_is_the_same_in_another_language_and_the_first_has_no_choice(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;
        let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;

        let first = browser.follow(&done).await;
        assert!(first.hosted(200).contains("data-continue") && !first.text().contains("name=\"locale\""), "{first:?}");
        let again = browser.get(done.header("location").unwrap()).await;

        let french = in_french(&browser, &again).await;

        assert_eq!(target_of(&french), target_of(&again));
        french.hosted(200);
    }

    with(|b| b.pages())
    async fn app_stays_in_the_flow_and_its_request_leaves_the_address(app) {
        let browser = app.browser();
        let page = browser.get(&from_app("/auth/sign-in")).await;

        let href = in_language(&page, "fr");
        assert!(!href.contains("redirect_uri") && !href.contains(CHALLENGE), "{href}");
        let stay = link(&page, "&stay=1").unwrap();
        assert!(!stay.contains("redirect_uri") && stay.starts_with("/auth/sign-in?flow="), "{stay}");

        assert!(in_french(&browser, &page).await.hosted(200).contains("localhost"));
    }

    with(|b| b.pages().verification_by_code())
    async fn recovery_codes_are_shown_in_another_language_too(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get("/auth/account/two-step").await;
        let page = browser.follow(&browser.submit(&page, "act=begin", &[]).await).await;
        let code = shown_authenticator(&app, &page).code();
        let page = browser.follow(&browser.submit(&page, "act=code", &[("code", &code)]).await).await;
        assert_eq!(shown_codes(&page).len(), 10);

        let french = in_french(&browser, &page).await;

        assert_eq!(shown_codes(&french), shown_codes(&page));
    }

    with(|b| b.pages())
    async fn what_was_typed_and_the_confirmation_stay_in_another_language(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        app.clock.advance(minutes(11));
        let page = browser.get("/auth/account/email").await;
        let fields = [("email", "eve@example.org")];

        let confirm = browser.follow(&browser.submit(&page, "/auth/account/email", &fields).await).await;
        let french = in_french(&browser, &confirm).await;
        assert!(french.hosted(200).contains("name=\"password\""), "{french:?}");
        let fields = [("password", PASSWORD)];
        let back = browser.follow(&browser.submit(&french, "/auth/account/confirm", &fields).await).await;

        let french = in_french(&browser, &back).await;
        assert!(french.hosted(200).contains("value=\"eve@example.org\""), "{french:?}");
    }

    with(|b| b.pages().verification_by_code())
    async fn language_that_was_chosen_stays_on_the_pages_of_the_account(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let overview = browser.get("/auth/account").await;
        assert!(!link(&overview, "/auth/account/profile").unwrap().contains("locale="), "{overview:?}");

        let french = in_french(&browser, &overview).await;

        for path in ["profile", "email", "password", "passkeys", "two-step", "activity", "data"] {
            let page = browser.get(&link(&french, &format!("/auth/account/{path}")).unwrap()).await;
            assert!(page.hosted(200).contains("<html lang=\"fr\""), "{path}: {page:?}");
            let back = browser.get(&link(&page, "/auth/account?").unwrap()).await;
            assert!(back.hosted(200).contains("<html lang=\"fr\""), "{path}: {back:?}");
        }
        let out = browser.get(&link(&french, "/auth/sign-out").unwrap()).await;
        let out = browser.follow(&browser.submit(&out, "/auth/sign-out", &[]).await).await;
        assert!(out.hosted(200).contains("<html lang=\"fr\"") && link(&out, "/auth/sign-in?locale=fr").is_some(), "{out:?}");
    }

    with(|b| b.pages())
    async fn farewell_is_said_in_another_language_too(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get("/auth/account/data").await;
        let farewell = browser.follow(&browser.submit(&page, "act=delete", &[]).await).await;

        assert!(in_french(&browser, &farewell).await.hosted(200).contains("act=keep"));
    }

    with(|b| b.pages())
    async fn error_page_has_the_language_of_the_flow(app) {
        let browser = app.browser().with_header("accept-language", "en");
        let page = browser.get(&format!("{}&locale=fr", from_app("/auth/sign-in"))).await;

        let stale = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("form_token", "x")]).await;
        assert!(stale.hosted(403).contains("<html lang=\"fr\""), "{stale:?}");
        let flow = link(&page, "&stay=1").unwrap();
        let (_, query) = flow.split_once('?').unwrap();
        for path in [format!("{ERROR}&{query}"), format!("/auth/no-such-page?{query}")] {
            let page = browser.get(&path).await;
            assert!(page.text().contains("<html lang=\"fr\""), "{page:?}");
        }
    }

    with(|b| b.pages())
    async fn error_page_has_the_language_of_the_account_unless_another_is_chosen(app) {
        let ada = app.user("ada").await;
        ada.patch("/api/auth/account", json!({"locale": "de"})).send().await.expect(200);
        let browser = app.browser().with_header("accept-language", "en");
        enter(&browser, "/auth/sign-in", ADA, PASSWORD).await;

        for (path, language) in [
            (ERROR.to_owned(), "de"),
            (format!("{ERROR}&locale=es"), "es"),
            ("/auth/no-such-page".to_owned(), "de"),
            ("/auth/sign-in?flow=nonsense".to_owned(), "de"),
            ("/auth/account/activity?before=nonsense".to_owned(), "de"),
        ] {
            let page = browser.get(&path).await;
            assert!(page.text().contains(&format!("<html lang=\"{language}\"")), "{path}: {page:?}");
        }
        let stranger = app.browser().with_header("accept-language", "fr").get(ERROR).await;
        assert!(stranger.hosted(400).contains("<html lang=\"fr\""), "{stranger:?}");
    }
    with(|b| b.pages())
    async fn language_that_is_no_tag_stands_in_no_address(app) {
        let _ada = app.user("ada").await;
        let long = "a".repeat(36);
        for locale in ["", "%0A", "fr%26ticket=x", "fr%23x", long.as_str()] {
            let browser = app.browser();
            let page = browser.get(&format!("{}&locale={locale}", from_app("/auth/sign-in"))).await;

            let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;

            let target = done.header("location").unwrap();
            assert!(target.starts_with("/auth/continue?ticket=") && !target.contains("locale="), "{done:?}");
            browser.follow(&done).await.hosted(200);
        }
    }

    with(|b| b.pages())
    async fn mail_has_the_language_of_the_page(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get("/auth/forgot?locale=de-CH").await;
        browser.submit(&page, "/auth/forgot", &[("email", ADA)]).await;
        assert_eq!(app.mail_to(ADA).await.subject, "Ihr Code zum Zurücksetzen des Passworts für Latchkey");

        let browser = signed_in(&app).await;
        let page = browser.get("/auth/account/password?locale=de").await;
        let fields = [("current_password", PASSWORD), ("new_password", "a staple of the battery")];
        browser.submit(&page, "/auth/account/password", &fields).await;
        let mail = app.mail_to(ADA).await;
        assert!(mail.subject.contains("Passwort"), "{}", mail.subject);
    }

    with(|b| b.pages())
    async fn language_that_was_chosen_stays_over_the_sign_in(app) {
        let _ada = app.user("ada").await;
        for path in ["/auth/account", "/auth/account/email"] {
            let browser = app.browser();
            let wanted = format!("{path}?locale=fr");
            let page = browser.follow(&browser.get(&wanted).await).await;

            let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;

            assert_eq!(done.header("location"), Some(wanted.as_str()), "{done:?}");
        }
    }
}
