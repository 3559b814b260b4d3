//! Tests of page sessions: who has one, how long it lives, and what ends it.

use latchkey_service::page_sessions::PageSignOut;
use latchkey_service::sessions::{Entrance, KeepSignedIn, cookie_lifetime};
use latchkey_testkit::{Value, both_stores, days, hours, json, minutes, seconds};

use crate::page_session_calls::PageBrowser;
use crate::two_step_calls::set_policy;

both_stores! {
    async fn page_session_works_in_its_browser_alone(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        let page = browser.sign_in(&ada).await;
        assert_eq!(page.user().email.as_typed(), ada.email);

        let mut other = PageBrowser::new(&app);
        other.token.clone_from(&browser.token);
        assert!(other.page().await.is_none());
        assert!(browser.page().await.is_some());
        assert!(browser.page_on(&app.beside().await).await.is_some());
    }

    async fn page_session_ends_after_a_day_without_a_request_and_after_thirty_days(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        browser.sign_in(&ada).await;
        for _ in 0..31 {
            app.clock.advance(hours(23));
            assert!(browser.page().await.is_some());
        }
        app.clock.advance(hours(7));
        assert!(browser.page().await.is_none(), "720 hours have passed");

        browser.sign_in(&ada).await;
        app.clock.advance(hours(24));
        assert!(browser.page().await.is_none());
    }

    async fn page_session_that_is_not_kept_ends_after_twelve_hours(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser { keep: KeepSignedIn::No, ..PageBrowser::new(&app) };
        let page = browser.sign_in(&ada).await;
        assert_eq!(cookie_lifetime(page.session(), app.service().now()), None);

        app.clock.advance(hours(12) - seconds(1));
        assert!(browser.page().await.is_some());
        app.clock.advance(seconds(1));
        assert!(browser.page().await.is_none());

        browser.keep = KeepSignedIn::Yes;
        let page = browser.sign_in(&ada).await;
        assert_eq!(cookie_lifetime(page.session(), app.service().now()), Some(days(30)));
    }

    async fn page_session_is_listed_as_this_site(app) {
        let ada = app.user("ada").await;
        app.clock.advance(seconds(1));
        let mut browser = PageBrowser::new(&app);
        let id = browser.sign_in(&ada).await.session().id.to_string();

        let listed = ada.get("/api/auth/sessions?details=true").send().await.expect(200);
        assert_eq!((&listed["sessions"][0]["id"], &listed["sessions"][0]["name"]), (&json!(id), &json!("This site")));
        assert_eq!(listed["sessions"][0]["current"], false);
        assert_eq!(listed["sessions"][1]["name"], Value::Null);

        let path = format!("/api/auth/sessions/{id}");
        ada.patch(&path, json!({"name": "Desk"})).send().await.expect(200);
        let listed = ada.get("/api/auth/sessions?details=true").send().await.expect(200);
        assert_eq!(listed["sessions"][0]["name"], "Desk");
    }

    async fn page_session_is_ended_for_the_next_request(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        let page = browser.sign_in(&ada).await;
        ada.delete(&format!("/api/auth/sessions/{}", page.session().id)).send().await.expect(200);
        assert!(browser.page().await.is_none());

        browser.sign_in(&ada).await;
        ada.delete("/api/auth/sessions?others=true").send().await.expect(200);
        assert!(browser.page().await.is_none());

        browser.sign_in(&ada).await;
        browser.sign_out(PageSignOut::ThisSession).await;
        assert!(browser.page().await.is_none());
        ada.get("/api/auth/sessions/current").send().await.expect(200);

        browser.sign_in(&ada).await;
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), json!({"banned": true})).send().await.expect(200);
        assert!(browser.page().await.is_none());
        app.admin().patch(&format!("/api/auth/users/{}", ada.id), json!({"banned": false})).send().await.expect(200);
        assert!(browser.page().await.is_none());

        browser.sign_in(&ada).await;
        app.admin().delete("/api/auth/users").json(&json!({"userIds": [ada.id]})).send().await.expect(200);
        assert!(browser.page().await.is_none());
    }

    async fn requests_shortly_after_each_other_are_stored_once(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        let opened = browser.sign_in(&ada).await.session().last_seen_at;

        app.clock.advance(minutes(5) - seconds(1));
        assert_eq!(browser.live().await.session().last_seen_at, opened);
        app.clock.advance(seconds(1));
        let used = browser.live().await.session().clone();

        assert_eq!(used.last_seen_at, opened.plus(minutes(5)));
        app.clock.advance(seconds(1));
        assert_eq!(*browser.live().await.session(), used);
    }

    async fn sign_in_of_somebody_else_ends_the_page_session_first(app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        let mut browser = PageBrowser::new(&app);
        browser.sign_in(&ada).await;
        let hers = browser.token.clone();
        app.clock.advance(seconds(1));

        let page = browser.sign_in(&eve).await;

        assert_eq!(page.user().email.as_typed(), eve.email);
        browser.token = hers;
        assert!(browser.page().await.is_none());
        let events = ada.get("/api/auth/events").send().await.expect(200);
        assert_eq!(events["events"][0]["kind"], "sign_out", "{events}");
    }

    async fn each_sign_in_replaces_the_token(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        let first = browser.sign_in(&ada).await.session().id;
        let old = browser.token.clone();

        assert_ne!(browser.sign_in(&ada).await.session().id, first);

        browser.token = old;
        assert!(browser.page().await.is_none());
    }

    with(|b| b.verification_by_code())
    async fn page_session_of_one_factor_ends_where_two_are_required(app) {
        let ada = app.user("ada").await;
        let mut browser = PageBrowser::new(&app);
        browser.sign_in(&ada).await;
        set_policy(&app, "required").await;

        assert!(browser.page().await.is_none());
        set_policy(&app, "optional").await;
        assert!(browser.page().await.is_none(), "it has ended");
    }

    with(|b| b.verification_by_code())
    async fn challenged_sign_in_leaves_the_page_session_of_somebody_else(app) {
        let (ada, eve) = (app.two_step_user("ada").await, app.user("eve").await);
        let mut browser = PageBrowser::new(&app);
        browser.sign_in(&eve).await;

        let entrance = browser.enter(&ada.email, &ada.password).await;

        assert!(matches!(entrance, Entrance::Challenged(_)));
        assert_eq!(browser.live().await.user().email.as_typed(), eve.email);
    }
}
