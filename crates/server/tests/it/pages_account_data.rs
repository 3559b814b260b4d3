//! `/auth/account/data`: the copy of the own data and the deletion of the account on the pages.

use latchkey_domain::operator::Role;
use latchkey_testkit::{PASSWORD, both_stores, minutes};

use crate::deletion_calls::at_once;
use crate::operators::grant;
use crate::pages_account::signed_in;

const PATH: &str = "/auth/account/data";
const ADA: &str = "ada@example.org";

both_stores! {
    with(|b| b.pages())
    async fn copy_is_a_file_as_that_of_the_api(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;

        let file = browser.submit(&page, "act=export", &[]).await;

        assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"account.json\""));
        assert_eq!(file.header("cache-control"), Some("no-store"));
        assert_eq!(file.status, 200);
        let body = file.json();
        assert_eq!((&body["account"]["user"]["id"], &body["account"]["user"]["email"]), (&ada.id.as_str().into(), &ADA.into()));
        assert_eq!(body["sessions"].as_array().unwrap().len(), 2);
        assert!(!file.text().contains(&browser.cookie("latchkey_pages").unwrap()), "{file:?}");
    }

    with(|b| b.pages().limits())
    async fn copies_are_limited(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;
        for _ in 0..5 {
            assert_eq!(browser.submit(&page, "act=export", &[]).await.status, 200);
        }

        let refused = browser.submit(&page, "act=export", &[]).await;

        assert!(refused.hosted(429).contains("Too many attempts."), "{refused:?}");
        assert!(refused.number("retry-after") > 0);
    }

    with(|b| b.pages())
    async fn late_copy_and_deletion_ask_who_it_is(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        app.clock.advance(minutes(11));
        let page = browser.get(PATH).await;

        for act in ["act=export", "act=delete"] {
            let asked = browser.submit(&page, act, &[]).await;
            assert!(asked.header("location").unwrap().starts_with("/auth/account/confirm?"), "{asked:?}");
        }
        browser.get(PATH).await.hosted(200);
    }

    with(|b| b.pages())
    async fn deletion_says_until_when_the_account_can_be_kept(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;
        assert!(page.hosted(200).contains("Within 14 days"), "{page:?}");

        let done = browser.submit(&page, "act=delete", &[]).await;

        assert_eq!(browser.cookie("latchkey_pages"), None);
        let farewell = browser.follow(&done).await;
        assert!(farewell.hosted(200).contains("16 March 2026") && farewell.text().contains("in 14 days"), "{farewell:?}");
        assert!(!farewell.text().contains("/auth/sign-out"), "{farewell:?}");
        ada.get("/api/auth/sessions/current").send().await.refused(401, "AUTH_UNAUTHORIZED");
        let kept = browser.submit(&farewell, "act=keep", &[]).await;
        let sign_in = browser.follow(&kept).await;
        assert!(sign_in.hosted(200).contains(&format!("value=\"{ADA}\"")), "{sign_in:?}");
        let fields = [("email", ADA), ("password", PASSWORD)];
        let challenged = browser.submit(&sign_in, "/auth/sign-in", &fields).await;
        assert!(challenged.header("location").unwrap().starts_with("/auth/challenge?"), "{challenged:?}");
        app.clock.advance(minutes(31));
        assert_eq!(browser.get(done.header("location").unwrap()).await.status, 303);
    }

    with(|b| b.pages().verification_by_code())
    async fn last_owner_of_the_console_is_told_who_must_be_named_first(app) {
        let ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let _ = grant(&app, &ada, Role::Owner).await;
        let page = browser.get(PATH).await;

        let refused = browser.submit(&page, "act=delete", &[]).await;

        assert!(refused.hosted(409).contains("Name another owner first"), "{refused:?}");
        ada.get("/api/auth/sessions/current").send().await.expect(200);
    }

    with(|b| b.pages().config(|config| config.lifetimes.deletion.grace = std::time::Duration::from_mins(90)))
    async fn short_grace_is_told_in_minutes(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;

        let farewell = browser.follow(&browser.submit(&page, "act=delete", &[]).await).await;

        assert!(page.hosted(200).contains("Within 90 minutes you can still sign in"), "{page:?}");
        assert!(farewell.hosted(200).contains("act=keep"), "{farewell:?}");
    }

    with(|b| at_once(b.pages()))
    async fn deletion_without_grace_is_for_good(app) {
        let _ada = app.user("ada").await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;
        assert!(page.hosted(200).contains("gone for good at once"), "{page:?}");

        let farewell = browser.follow(&browser.submit(&page, "act=delete", &[]).await).await;

        let text = farewell.hosted(200);
        assert!(text.contains("Your account is deleted") && !text.contains("act=keep"), "{text}");
        app.anon().sign_in(ADA, PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    }
}
