//! `/auth/account/activity`: the own security events on the pages.

use latchkey_testkit::browser::link;
use latchkey_testkit::{PASSWORD, both_stores, days};

use crate::pages_account::signed_in;

const PATH: &str = "/auth/account/activity";

both_stores! {
    with(|b| b.pages())
    async fn events_are_told_in_words_newest_first(app) {
        let ada = app.user("ada").await;
        let phone = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        let wrong = ada.sign_in(&ada.email, "not the one").without_header("authorization");
        wrong.header("user-agent", phone).send().await.refused(401, "INVALID_CREDENTIALS");
        let browser = signed_in(&app).await;

        let page = browser.get(PATH).await;

        let text = page.hosted(200);
        let places = ["Signed in", "This device", "Sign-in failed", "Firefox on Linux", "Account created"]
            .map(|word| text.find(word).unwrap_or_else(|| panic!("{word}: {text}")));
        assert!(places.is_sorted(), "{text}");
        assert!(!text.contains("Gecko"), "{text}");
    }

    with(|b| b.pages())
    async fn earlier_events_are_on_further_pages_and_each_is_told_once(app) {
        let ada = app.user("ada").await;
        for _ in 0..30 {
            ada.sign_in(&ada.email, PASSWORD).without_header("authorization").send().await.expect(200);
        }
        let browser = signed_in(&app).await;

        let first = browser.get(PATH).await;
        let second = browser.get(&link(&first, "before=").unwrap()).await;

        let count = |text: &str| text.matches("<p class=\"what\">").count();
        assert_eq!((count(first.hosted(200)), count(second.hosted(200))), (20, 12));
        assert!(first.text().contains("Show earlier activity") && !second.text().contains("Show earlier"), "{second:?}");
        let event = link(&first, "before=").unwrap();
        let other = app.user("eve").await;
        let page = browser.get("/auth/sign-in?prompt=login").await;
        let fields = [("email", other.email.as_str()), ("password", PASSWORD)];
        browser.submit(&page, "/auth/sign-in", &fields).await;
        browser.get(&event).await.hosted(400);
        browser.get("/auth/account/activity?before=nonsense").await.hosted(404);
    }

    with(|b| b.pages())
    async fn what_an_admin_did_has_no_device(app) {
        let ada = app.user("ada").await;
        let path = format!("/api/auth/users/{}", ada.id);
        let change = latchkey_testkit::json!({"metadata": {"plan": "paid"}});
        app.admin().patch(&path, change).header("user-agent", "Firefox").send().await.expect(200);
        app.clock.advance(days(1));
        let browser = signed_in(&app).await;

        let text = browser.get(PATH).await;

        let (_, rest) = text.hosted(200).split_once("Account changed").unwrap();
        assert!(rest.split("</li>").next().unwrap().contains("by "), "{rest}");
    }
}
