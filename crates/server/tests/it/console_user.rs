//! Tests of the page of one user in the console.

use latchkey_domain::operator::{Party, Role};
use latchkey_service::admin::HelpMail;
use latchkey_testkit::{Answer, EmailSignIn, PASSWORD, TestApp, both_stores, json, minutes};

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

/// Opens the page of an account that waits for its verification, which has its mail.
async fn page_of_unverified(app: &TestApp) -> Answer {
    let viewer = desk(app, "vera", Role::Viewer).await;
    app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    app.run_jobs().await;
    let users = app.admin().get("/api/auth/users").query("search", "ada@").send().await.expect(200);
    viewer.browser.get(&format!("/console/users/{}", users["data"][0]["id"].as_str().unwrap())).await
}

/// Text of the section under a heading with this id.
fn section<'a>(page: &'a Answer, id: &str) -> &'a str {
    let text = page.hosted(200).split(&format!("<h2 id=\"{id}\"")).nth(1).unwrap_or_default();
    text.split("<h2").next().unwrap_or_default()
}

both_stores! {
    with(|b| verified(b).email_sign_in(EmailSignIn::Off).console())
    async fn page_says_why_a_user_cannot_sign_in(app) {
        let page = page_of_unverified(&app).await;

        let text = page.hosted(200);
        for part in ["ada@example.org", "Cannot sign in: address not verified since", "last mail delivered"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    with(|b| verified(b).email_sign_in(EmailSignIn::Off).console())
    async fn page_finds_the_last_verification_among_a_hundred_mails(app) {
        let viewer = desk(&app, "viewer", Role::Viewer).await;
        app.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
        app.run_jobs().await;
        let users = app.admin().get("/api/auth/users").query("search", "ada@").send().await.expect(200);
        let id = users["data"][0]["id"].as_str().unwrap();
        for _ in 0..60 {
            let send = app.service().admin.send_mail(id.parse().unwrap(), HelpMail::Reset, None, Party::System, None);
            send.await.unwrap();
            app.run_jobs().await;
        }

        let page = viewer.browser.get(&format!("/console/users/{id}")).await;

        assert!(page.hosted(200).contains("last mail delivered"), "{page:?}");
    }

    with(|b| verified(b).email_sign_in(EmailSignIn::Code).console())
    async fn page_says_that_a_sign_in_by_mail_gets_past_the_verification(app) {
        let page = page_of_unverified(&app).await;

        let text = page.hosted(200);
        for part in ["Can sign in by mail alone: address not verified since", "last mail delivered"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("Cannot sign in"), "{text}");
    }

    with(|b| verified(b).console())
    async fn sign_ins_and_failures_stay_on_the_page_behind_acts_of_others(app) {
        let (viewer, ada) = (desk(&app, "viewer", Role::Viewer).await, app.user("ada").await);
        let path = format!("/api/auth/users/{}", ada.id);
        ada.sign_in_again().await;
        app.clock.advance(minutes(1));
        app.anon().at("198.51.100.7").sign_in("ada@example.org", "a wrong lantern").send().await.refused(401, "INVALID_CREDENTIALS");
        for index in 0..21 {
            app.admin().patch(&path, json!({"metadata": {"index": index}})).send().await.expect(200);
        }

        let page = viewer.page(&ada).await;

        let listed = section(&page, "sign-ins");
        let failure = listed.find("Sign-in failed").expect("the failure");
        assert!(failure < listed.find("Signed in").expect("the sign-in"), "newest first: {listed}");
        for part in ["198.51.100.7", "<bdi>methods</bdi>: <bdi>pwd</bdi>"] {
            assert!(listed.contains(part), "{part} in {listed}");
        }
        assert!(!listed.contains("Account changed") && !section(&page, "events").contains("Sign-in failed"));
        for event in ["sign_in", "sign_in_failed"] {
            let href = format!("/console/audit?user={}&event={event}", ada.id);
            assert!(listed.contains(&format!("href=\"{}\"", href.replace('&', "&amp;"))), "{href} in {listed}");
            let all = viewer.browser.get(&href).await;
            assert!(all.hosted(200).contains("1 event, newest first"), "{event}: {all:?}");
        }

        for _ in 0..12 {
            app.clock.advance(minutes(1));
            app.anon().sign_in("ada@example.org", "a wrong lantern").send().await;
        }
        assert_eq!(section(&viewer.page(&ada).await, "sign-ins").matches("<th scope=\"row\">").count(), 10);
    }

    with(|b| verified(b).console())
    async fn more_mails_than_the_page_lists_are_a_link_away(app) {
        let (viewer, ada) = (desk(&app, "viewer", Role::Viewer).await, app.user("ada").await);
        let id = ada.id.parse().unwrap();
        let link = "href=\"/console/mails?to=ada%40example.org\"";
        let listed = async || {
            let page = viewer.page(&ada).await;
            let text = section(&page, "mails");
            (text.matches("<th scope=\"row\"").count(), text.contains(link))
        };
        let first = listed().await.0;
        for count in first..51 {
            assert_eq!(listed().await, (count, false));
            app.service().admin.send_mail(id, HelpMail::Reset, None, Party::System, None).await.unwrap();
            app.run_jobs().await;
        }

        assert_eq!(listed().await, (50, true));
        let all = viewer.browser.get("/console/mails?to=ada%40example.org").await;
        assert!(all.hosted(200).contains(">51 mails<"), "{all:?}");
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
