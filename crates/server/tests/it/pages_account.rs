//! `/auth/account`: the overview of the own account, and the end of one of its sessions.

use latchkey_testkit::browser::link;
use latchkey_testkit::{Browser, PASSWORD, TestApp, both_stores, hours, json};

use crate::pages_calls::{enter, exchange, from_app, target_of};

const ADA: &str = "ada@example.org";
const PATH: &str = "/auth/account";

/// Returns a browser that is signed in as Ada.
pub(crate) async fn signed_in(app: &TestApp) -> Browser {
    let browser = app.browser();
    let page = browser.get("/auth/sign-in").await;
    let done = browser.submit(&page, "/auth/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;
    assert_eq!(done.header("location"), Some(PATH), "{done:?}");
    browser
}

both_stores! {
    with(|b| b.pages())
    async fn overview_needs_a_sign_in(app) {
        let answer = app.browser().get(PATH).await;

        assert_eq!(answer.status, 303, "{answer:?}");
        assert_eq!(answer.header("location"), Some("/auth/sign-in"), "{answer:?}");
    }

    with(|b| b.pages())
    async fn overview_shows_the_account_and_leads_to_existing_pages_alone(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;

        let page = browser.get(PATH).await;

        let text = page.hosted(200);
        assert!(text.contains(ADA) && text.contains("/auth/sign-out"), "{text}");
        assert!(text.contains("aria-hidden=\"true\">A</span>"), "{text}");
        for page in ["profile", "password", "passkeys", "two-step", "activity", "data"] {
            assert!(text.contains(&format!("href=\"{PATH}/{page}")), "no way to {page}: {text}");
        }
        for link in text.split("href=\"/auth/").skip(1) {
            let path = format!("/auth/{}", link.split(['"', '?']).next().unwrap());
            assert_ne!(browser.get(&path).await.status, 404, "{path}");
        }
    }

    with(|b| b.pages())
    async fn form_ends_one_session(app) {
        let _ada = app.user("ada").await;
        let (browser, other) = (signed_in(&app).await, signed_in(&app).await);
        let page = browser.get(PATH).await;
        let (_, rest) = page.hosted(200).split_once("id=\"e-").unwrap();
        let before = page.text().matches("id=\"e-").count();
        let id = rest.split('"').next().unwrap();

        let done = browser.submit(&page, PATH, &[("id", id)]).await;

        assert_eq!(browser.follow(&done).await.hosted(200).matches("id=\"e-").count(), before - 1);
        let again = browser.submit(&page, PATH, &[("id", id)]).await;
        assert_eq!(again.status, 303, "{again:?}");
        browser.submit(&page, PATH, &[("id", "nonsense")]).await.hosted(404);
        let _ = other.get(PATH).await;
        browser.get(PATH).await.hosted(200);
    }

    with(|b| b.pages())
    async fn end_of_the_session_is_announced(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;
        assert!(page.hosted(200).contains("data-ends=\"43200\""), "{page:?}");
        app.clock.advance(hours(11));

        let page = browser.get(PATH).await;

        let text = page.hosted(200);
        assert!(text.contains("data-ends=\"3600\"") && !text.contains("Stay on this page"), "{text}");
    }

    with(|b| b.pages())
    async fn end_that_a_use_postpones_offers_to_stay(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;
        let fields = [("email", ADA), ("password", PASSWORD), ("keep", "yes")];
        browser.submit(&page, "/auth/sign-in", &fields).await;

        let page = browser.get(PATH).await;

        let text = page.hosted(200);
        assert!(text.contains("data-ends=\"86400\"") && text.contains("Stay on this page"), "{text}");
    }

    with(|b| b.pages())
    async fn form_without_its_token_ends_nothing(app) {
        let _ada = app.user("ada").await;
        let (browser, other) = (signed_in(&app).await, signed_in(&app).await);
        let page = browser.get(PATH).await;
        let (_, rest) = page.hosted(200).split_once("id=\"e-").unwrap();
        let id = rest.split('"').next().unwrap();

        browser.submit(&page, PATH, &[("id", id), ("form_token", "nonsense")]).await.hosted(403);

        other.get(PATH).await.hosted(200);
    }

    with(|b| b.pages())
    async fn pages_speak_the_language_of_the_account_unless_another_is_chosen(app) {
        let ada = app.user("ada").await;
        ada.patch("/api/auth/account", json!({"locale": "de"})).send().await.expect(200);
        let browser = signed_in(&app).await.with_header("accept-language", "fr");

        let own = browser.get(PATH).await;
        let chosen = browser.get("/auth/account?locale=es").await;

        assert!(own.hosted(200).contains("<html lang=\"de\""), "{own:?}");
        assert!(chosen.hosted(200).contains("<html lang=\"es\""), "{chosen:?}");
        let stranger = app.browser().with_header("accept-language", "fr").get("/auth/sign-in").await;
        assert!(stranger.hosted(200).contains("<html lang=\"fr\""), "{stranger:?}");
    }

    with(|b| b.pages())
    async fn unverified_address_is_marked_and_can_be_verified(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let overview = browser.get(PATH).await;
        assert!(overview.hosted(200).contains("Not verified"), "{overview:?}");

        let page = browser.get(&link(&overview, "/auth/verify?").unwrap()).await;
        let sent = browser.submit(&page, "act=send", &[]).await;
        let page = browser.follow(&sent).await;
        let code = app.mail_to(ADA).await.code();
        let done = browser.submit(&page, "/auth/verify", &[("code", &code)]).await;

        let overview = browser.follow(&done).await;
        let text = overview.hosted(200);
        assert!(text.contains("Your address is verified.") && !text.contains("Not verified"), "{text}");
    }

    with(|b| b.pages())
    async fn verification_of_the_own_address_keeps_the_browser_signed_in(app) {
        for (tick, is_lasting) in [(&[("keep", "yes")][..], true), (&[], false)] {
            let name = if is_lasting { "ada" } else { "bob" };
            let user = app.user(name).await;
            let browser = app.browser();
            let page = browser.get("/auth/sign-in").await;
            let fields = [&[("email", user.email.as_str()), ("password", PASSWORD)], tick].concat();
            browser.submit(&page, "/auth/sign-in", &fields).await;
            let overview = browser.get(PATH).await;
            let page = browser.get(&link(&overview, "/auth/verify?").unwrap()).await;
            let page = browser.follow(&browser.submit(&page, "act=send", &[]).await).await;
            let code = app.mail_to(&user.email).await.code();

            let done = browser.submit(&page, "/auth/verify", &[("code", &code)]).await;

            let cookie = done.set_cookies().into_iter().find(|line| line.contains("latchkey_pages")).unwrap();
            assert_eq!(cookie.contains("Max-Age="), is_lasting, "{cookie}");
        }
    }

    with(|b| b.pages())
    async fn sign_in_of_another_account_says_whose_session_ended(app) {
        let (_ada, bob) = (app.user("ada").await, app.user("bob").await);
        let browser = signed_in(&app).await;
        let again = browser.get("/auth/sign-in?prompt=login").await;

        let fields = [("email", bob.email.as_str()), ("password", PASSWORD)];
        let overview = browser.follow(&browser.submit(&again, "/auth/sign-in", &fields).await).await;

        let text = overview.hosted(200);
        assert!(text.contains(&format!("The session of <bdi>{ADA}</bdi> in this browser has ended.")), "{text}");
        assert!(text.contains(&bob.email), "{text}");
        let fields = [("email", bob.email.as_str()), ("password", PASSWORD)];
        let same = browser.follow(&browser.submit(&again, "/auth/sign-in", &fields).await).await;
        assert!(!same.text().contains("in this browser has ended"), "{same:?}");
    }

    with(|b| b.pages())
    async fn way_to_an_app_waits_for_a_press_where_another_session_ended(app) {
        let (_ada, bob) = (app.user("ada").await, app.user("bob").await);
        let browser = signed_in(&app).await;
        let path = format!("{}&prompt=login", from_app("/auth/sign-in"));

        let page = enter(&browser, &path, &bob.email, PASSWORD).await;

        let text = page.hosted(200);
        assert!(text.contains(&format!("<bdi>{ADA}</bdi>")) && !text.contains("data-continue"), "{text}");
        assert!(!text.contains("http-equiv"), "{text}");
        exchange(&app, &target_of(&page)).await.expect(200);
    }
}
