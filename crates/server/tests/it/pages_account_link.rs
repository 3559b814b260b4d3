//! `/auth/account/providers`: linking an identity provider to the own account on the pages.

use latchkey_testkit::browser::link;
use latchkey_testkit::{Browser, PASSWORD, both_stores, json, minutes};

use crate::oauth_calls::{acme, identities, person};
use crate::pages_account::signed_in;
use crate::pages_provider::{landing, leave};

const PATH: &str = "/auth/account/providers";
const RETURN: &str = "/auth/provider/return";
const ADA: &str = "ada@example.org";

/// Goes to the provider from the page of the linked providers, and agrees there; returns the address of the way back.
async fn consented(browser: &Browser, acme: &latchkey_testkit::LyingProvider) -> String {
    let url = leave(browser, &browser.get(PATH).await).await;
    landing(browser, &acme.consent(&url)).await
}

both_stores! {
    with(|b| b.pages())
    async fn link_of_the_page_adds_a_way_to_sign_in(app) {
        let (acme, ada) = (acme(&app).await, app.user("ada").await);
        let browser = signed_in(&app).await;

        let done = browser.get(&consented(&browser, &acme).await).await;

        let name = acme.custom("acme")["name"].as_str().unwrap().to_owned();
        let page = browser.follow(&done).await;
        assert!(page.hosted(200).contains(&format!("<bdi>{name}</bdi> is linked.")), "{page:?}");
        assert_eq!(identities(&ada).await, ["acme"]);
        let other = app.browser();
        let url = leave(&other, &other.get("/auth/sign-in").await).await;
        let entered = other.get(&landing(&other, &acme.consent(&url)).await).await;
        assert!(other.follow(&entered).await.hosted(200).contains(ADA));
    }

    with(|b| b.pages())
    async fn linking_needs_a_recent_sign_in_and_shows_the_way_to_one(app) {
        let (acme, ada) = (acme(&app).await, app.user("ada").await);
        let browser = signed_in(&app).await;
        let stale = browser.get(PATH).await;
        app.clock.advance(minutes(11));

        let late = browser.get(&link(&stale, "/auth/provider/acme").unwrap()).await;
        assert_eq!((late.status, late.header("location")), (303, Some(PATH)), "{late:?}");
        let page = browser.follow(&late).await;
        assert_eq!(link(&page, "/auth/provider/acme"), None, "{page:?}");
        let challenge = browser.follow(&browser.submit(&page, "act=confirm", &[]).await).await;
        let done = browser.submit(&challenge, "kind=password", &[("password", PASSWORD)]).await;
        let page = browser.follow(&done).await;

        assert!(page.hosted(200).contains("Confirmed") || link(&page, "/auth/provider/acme").is_some(), "{page:?}");
        let url = leave(&browser, &page).await;
        let done = browser.get(&landing(&browser, &acme.consent(&url)).await).await;
        browser.follow(&done).await.hosted(200);
        assert_eq!(identities(&ada).await, ["acme"]);
    }

    with(|b| b.pages())
    async fn identity_of_another_account_is_not_linked(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        acme.person(person("somebody", ADA));
        let other = app.browser();
        let url = leave(&other, &other.get("/auth/sign-in").await).await;
        other.follow(&other.get(&landing(&other, &acme.consent(&url)).await).await).await.hosted(200);
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;
        let fields = [("email", bob.email.as_str()), ("password", PASSWORD)];
        browser.submit(&page, "/auth/sign-in", &fields).await;

        let back = browser.get(&consented(&browser, &acme).await).await;

        let page = browser.follow(&back).await;
        assert!(page.hosted(409).contains("another account"), "{page:?}");
        assert!(identities(&bob).await.is_empty());
    }

    with(|b| b.pages())
    async fn link_works_only_in_the_session_that_began_it(app) {
        let (acme, ada, bob) = (acme(&app).await, app.user("ada").await, app.user("bob").await);
        let browser = signed_in(&app).await;
        let back = consented(&browser, &acme).await;
        let page = browser.get("/auth/sign-in?prompt=login").await;
        browser.submit(&page, "/auth/sign-in", &[("email", bob.email.as_str()), ("password", PASSWORD)]).await;

        let answer = browser.get(&back).await;

        assert_eq!((answer.status, answer.header("location")), (303, Some(PATH)), "{answer:?}");
        assert!(identities(&bob).await.is_empty() && identities(&ada).await.is_empty());
        let stranger = app.browser();
        stranger.get("/auth/sign-in").await;
        stranger.get(&back).await.hosted(400);
        assert!(identities(&ada).await.is_empty());
    }

    with(|b| b.pages())
    async fn denial_leads_back_to_the_linked_providers(app) {
        let (acme, ada) = (acme(&app).await, app.user("ada").await);
        let browser = signed_in(&app).await;
        let url = leave(&browser, &browser.get(PATH).await).await;

        let denied = browser.get(&landing(&browser, &acme.deny(&url)).await).await;

        assert!(denied.hosted(400).contains("<h1>Sign-in was cancelled</h1>"), "{denied:?}");
        assert_eq!(link(&denied, PATH).as_deref(), Some(PATH), "{denied:?}");
        assert!(link(&denied, "/auth/provider/acme").is_some(), "{denied:?}");
        assert!(identities(&ada).await.is_empty());
    }

    with(|b| b.pages())
    async fn address_without_a_flow_of_the_page_links_nothing(app) {
        let (acme, ada) = (acme(&app).await, app.user("ada").await);
        acme.person(json!({"sub": "other", "email": "other@example.org", "email_verified": true, "name": "Other"}));
        let browser = signed_in(&app).await;

        let answer = browser.get("/auth/provider/acme?links=1").await;
        let back = landing(&browser, &acme.consent(answer.header("location").unwrap())).await;
        assert!(back.starts_with(RETURN), "{back}");
        browser.get(&back).await;

        assert!(identities(&ada).await.is_empty());
    }
}
