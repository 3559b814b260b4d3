//! Tests of the page of one user in the console.

use latchkey_domain::operator::Role;
use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, json, minutes};

use crate::audit::events;
use crate::console_calls::{ConsoleBrowser, operator, verified};
use crate::console_user_calls::desk;
use crate::routes::NOBODY;

/// Opens a page with the cookies of a browser at the console.
async fn open(app: &TestApp, browser: &ConsoleBrowser<'_>, path: &str) -> Answer {
    let token = browser.token.as_ref().map(|token| token.expose().clone()).unwrap_or_default();
    let cookies = format!("latchkey_browser_8700={}; latchkey_console_8700={token}", browser.secret.expose());
    app.anon().get(path).header("host", "localhost:8700").cookie(&cookies).send().await
}

async fn reads(app: &TestApp) -> usize {
    events(app).await.iter().filter(|event| event["event"] == "user_read").count()
}

both_stores! {
    with(|b| verified(b).console())
    async fn page_says_why_a_user_cannot_sign_in(app) {
        let viewer = operator(&app, "vera", Role::Viewer).await;
        let mut browser = ConsoleBrowser::new(&app);
        browser.sign_in(&viewer).await;
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        app.run_jobs().await;
        let users = app.admin().get("/api/auth/users").send().await.expect(200);
        let id = users["data"][0]["id"].as_str().unwrap().to_owned();

        let page = open(&app, &browser, &format!("/console/users/{id}")).await;

        let text = page.hosted(200);
        for part in ["ada@example.org", "Cannot sign in: address not verified since", "last mail delivered"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    with(|b| verified(b).console())
    async fn opening_the_page_is_noted_once_an_hour(app) {
        let viewer = operator(&app, "vera", Role::Viewer).await;
        let (mut browser, ada) = (ConsoleBrowser::new(&app), app.user("ada").await);
        browser.sign_in(&viewer).await;
        let path = format!("/console/users/{}", ada.id);

        for _ in 0..3 {
            open(&app, &browser, &path).await.hosted(200);
        }

        assert_eq!(reads(&app).await, 1);
        for _ in 0..3 {
            app.clock.advance(minutes(20));
            open(&app, &browser, "/console").await.hosted(200);
        }
        open(&app, &browser, &path).await.hosted(200);
        assert_eq!(reads(&app).await, 2);
    }

    with(|b| verified(b).console())
    async fn refused_form_that_shows_the_page_is_noted(app) {
        let (support, ada) = (desk(&app, "support", Role::Support).await, app.user("ada").await);

        support.forces(&ada, "send-verification", &[]).await.hosted(409);

        assert_eq!(reads(&app).await, 1);
    }

    with(|b| verified(b).console())
    async fn picture_is_a_link_that_tells_nothing_and_text_stays_text(app) {
        let viewer = operator(&app, "vera", Role::Viewer).await;
        let (mut browser, ada) = (ConsoleBrowser::new(&app), app.user("ada").await);
        browser.sign_in(&viewer).await;
        let profile = json!({"bio": "<script>alert(1)</script>", "avatar_url": "https://pictures.example/ada.png"});
        ada.patch("/api/profiles/me", profile).send().await.expect(200);

        let page = open(&app, &browser, &format!("/console/users/{}", ada.id)).await;

        let text = page.hosted(200);
        assert!(text.contains("rel=\"noreferrer noopener nofollow\""), "{text}");
        assert!(text.contains("pictures.example") && !text.contains("<img"), "{text}");
        assert!(!text.contains("<script>alert"), "{text}");
    }

    with(|b| verified(b).console())
    async fn page_is_for_operators_and_known_users(app) {
        let viewer = operator(&app, "vera", Role::Viewer).await;
        let (mut browser, ada) = (ConsoleBrowser::new(&app), app.user("ada").await);
        let path = format!("/console/users/{}", ada.id);

        let stranger = open(&app, &browser, &path).await;

        assert_eq!(stranger.status, 303, "{stranger:?}");
        browser.sign_in(&viewer).await;
        for unknown in [NOBODY, "none"] {
            open(&app, &browser, &format!("/console/users/{unknown}")).await.hosted(404);
        }
        assert_eq!(reads(&app).await, 0);
    }
}
