//! `/auth/provider/{key}` and `/auth/provider/return`: sign-in through an identity provider on the pages.

use latchkey_pages::views::ProviderLink;
use latchkey_testkit::browser::link;
use latchkey_testkit::{Answer, Browser, LyingProvider, both_stores, json, minutes};
use url::Url;

use crate::oauth_calls::{acme, user_count};
use crate::pages_calls::{assert_in_account, exchange, from_app, target_of};

const ACME: &str = "/auth/provider/acme";
const ADA: &str = "ada@example.org";

/// Goes from a page to the provider; returns its address.
pub(crate) async fn leave(browser: &Browser, page: &Answer) -> String {
    let answer = browser.get(&link(page, ACME).unwrap_or_else(|| panic!("no link: {page:?}"))).await;
    assert_eq!(answer.status, 302, "{answer:?}");
    answer.header("location").unwrap().to_owned()
}

/// Path and query of an address of the service.
fn path_of(url: &Url) -> String {
    format!("{}?{}", url.path(), url.query().unwrap_or_default())
}

/// Comes back from the provider; returns the address of the pages.
pub(crate) async fn landing(browser: &Browser, callback: &Url) -> String {
    path_of(&browser.get(&path_of(callback)).await.redirected())
}

/// Signs in through the provider, up to the response of the page that it leads back to.
async fn sign_in(browser: &Browser, acme: &LyingProvider, path: &str) -> Answer {
    let url = leave(browser, &browser.get(path).await).await;
    let back = landing(browser, &acme.consent(&url)).await;
    assert!(back.starts_with("/auth/provider/return?flow="), "{back}");
    browser.get(&back).await
}

#[test]
fn every_built_in_provider_has_a_mark() {
    for (key, name) in latchkey_oauth::providers::names() {
        assert!(ProviderLink::new(key, name, String::new()).mark.is_some(), "{key}");
    }
}

both_stores! {
    with(|b| b.pages())
    async fn built_in_provider_is_shown_with_its_mark_and_a_custom_one_with_its_letter(app) {
        let _acme = acme(&app).await;
        let google = json!({"provider": "google", "clientId": "client", "clientSecret": "secret"});
        app.admin().post("/api/auth/oauth/configs", google).send().await.expect(200);

        for path in ["/auth/sign-in", "/auth/sign-up"] {
            let page = app.browser().get(path).await;

            let (text, button) = (page.hosted(200), |key: &str| format!("href=\"/auth/provider/{key}"));
            let mark_of = |key: &str| text.split_once(&button(key)).unwrap().1.split_once('>').unwrap().1;
            assert!(mark_of("google").starts_with("<svg class=\"mark\" aria-hidden=\"true\""), "{text}");
            assert!(mark_of("acme").starts_with("<span class=\"mark\" aria-hidden=\"true\">"), "{text}");
        }
    }

    with(|b| b.pages())
    async fn provider_signs_in_for_an_app(app) {
        let acme = acme(&app).await;
        let browser = app.browser();

        let done = sign_in(&browser, &acme, &from_app("/auth/sign-in")).await;

        let session = exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        assert_eq!((&session["user"]["email"], user_count(&app).await), (&json!(ADA), 1));
    }

    with(|b| b.pages())
    async fn sign_up_offers_the_providers_too_and_leads_to_the_account(app) {
        let acme = acme(&app).await;
        let browser = app.browser();

        let done = sign_in(&browser, &acme, "/auth/sign-up").await;

        assert_in_account(&browser, &done, ADA).await;
    }

    with(|b| b.pages())
    async fn link_to_a_provider_for_an_app_leads_to_the_page_that_shows_the_app(app) {
        let acme = acme(&app).await;
        let browser = app.browser();

        let asked = browser.get(&format!("{}&locale=de", from_app(ACME))).await;

        assert_eq!(asked.header("location"), Some(&*format!("{}&locale=de", from_app("/auth/sign-in"))), "{asked:?}");
        let page = browser.follow(&asked).await;
        assert!(page.hosted(200).contains("localhost") && page.text().contains("lang=\"de\""), "{page:?}");
        let back = landing(&browser, &acme.consent(&leave(&browser, &page).await)).await;
        let done = browser.get(&back).await;
        exchange(&app, &target_of(&browser.follow(&done).await)).await.expect(200);
        assert_eq!(app.browser().get(ACME).await.status, 302);
    }

    with(|b| b.pages().verification_by_code())
    async fn second_factor_is_asked_for_after_the_provider(app) {
        let ada = app.two_step_user("ada").await;
        let acme = acme(&app).await;
        let browser = app.browser();

        let page = browser.follow(&sign_in(&browser, &acme, "/auth/sign-in").await).await;
        assert!(page.hosted(200).contains("<h1>One more step</h1>"), "{page:?}");
        let fields = [("code", ada.authenticator.code())];
        let done = browser.submit(&page, "/auth/challenge", &fields.each_ref().map(|(name, code)| (*name, code.as_str()))).await;

        assert_in_account(&browser, &done, ADA).await;
    }

    with(|b| b.pages())
    async fn denial_unverified_address_and_silence_are_told(app) {
        let mut acme = acme(&app).await;
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = browser.get("/auth/sign-in").await;

        let back = landing(&browser, &acme.deny(&leave(&browser, &page).await)).await;
        let denied = browser.get(&back).await;
        assert!(denied.hosted(400).contains("<h1>Sign-in was cancelled</h1>"), "{denied:?}");
        assert!(link(&denied, ACME).is_some() && link(&denied, "/auth/sign-in").is_some(), "{denied:?}");

        acme.person(json!({"sub": "ada", "email": ADA, "email_verified": false, "name": "Ada"}));
        let unverified = sign_in(&browser, &acme, "/auth/sign-in").await;
        assert!(unverified.hosted(400).contains("Sign in to link it"), "{unverified:?}");

        let url = leave(&browser, &page).await;
        let callback = acme.consent(&url);
        acme.goes_down().await;
        let down = browser.get(&landing(&browser, &callback).await).await;
        assert!(down.hosted(503).contains("<h1>No response</h1>"), "{down:?}");
        assert_eq!(browser.cookie("latchkey_pages"), None);
    }

    with(|b| b.pages())
    async fn sign_in_to_link_leads_to_the_linked_providers(app) {
        let acme = acme(&app).await;
        let _ada = app.user("ada").await;
        let browser = app.browser();
        acme.person(json!({"sub": "ada", "email": ADA, "email_verified": false, "name": "Ada"}));
        let unverified = sign_in(&browser, &acme, &from_app("/auth/sign-in")).await;
        let (_, offer) = unverified.hosted(400).split_once("class=\"button primary\" href=\"").unwrap();
        let (address, offer) = offer.split_once('"').unwrap();
        assert!(offer.starts_with(">Sign in to link it"), "{unverified:?}");
        assert!(unverified.text().contains("Sign in another way"), "{unverified:?}");

        let page = browser.get(address).await;
        let fields = [("email", ADA), ("password", latchkey_testkit::PASSWORD)];
        let page = browser.follow(&browser.submit(&page, "/auth/sign-in", &fields).await).await;

        let url = leave(&browser, &page).await;
        let linked = browser.get(&landing(&browser, &acme.consent(&url)).await).await;
        assert_eq!(linked.header("location"), Some("/auth/account/providers?notice=provider_linked&provider=acme"));
    }

    with(|b| b.pages())
    async fn way_back_works_once_in_the_browser_that_left(app) {
        let acme = acme(&app).await;
        let browser = app.browser();
        let url = leave(&browser, &browser.get("/auth/sign-in").await).await;
        let callback = acme.consent(&url);
        let back = landing(&browser, &callback).await;

        let other = app.browser();
        other.get("/auth/sign-in").await;
        other.get(&back).await.hosted(400);
        assert_eq!(other.cookie("latchkey_pages"), None);
        assert_eq!(browser.get(&back).await.status, 303);
        let again = browser.get(&back).await;
        assert!(again.hosted(400).contains("<h1>This took too long</h1>"), "{again:?}");
        let replayed = browser.get(&landing(&browser, &callback).await).await;
        assert!(replayed.hosted(400).contains("<h1>This took too long</h1>"), "{replayed:?}");
    }

    with(|b| b.pages())
    async fn code_of_the_provider_expires(app) {
        let acme = acme(&app).await;
        let browser = app.browser();
        let url = leave(&browser, &browser.get("/auth/sign-in").await).await;
        let back = landing(&browser, &acme.consent(&url)).await;

        app.clock.advance(minutes(2));

        browser.get(&back).await.hosted(400);
        assert_eq!((browser.cookie("latchkey_pages"), user_count(&app).await), (None, 0));
    }

    with(|b| b.pages())
    async fn prefetch_and_head_do_nothing(app) {
        let acme = acme(&app).await;
        let browser = app.browser();
        let url = leave(&browser, &browser.get("/auth/sign-in").await).await;
        let back = landing(&browser, &acme.consent(&url)).await;

        let prefetching = app.browser().with_header("sec-purpose", "prefetch;prerender");
        for path in [ACME, "/auth/provider/unknown", back.as_str()] {
            prefetching.get(path).await.hosted(403);
        }
        let head = app.anon().request("HEAD", &back).header("host", "localhost:8700");
        assert_eq!(browser.send(head).await.status, 403);
        assert_eq!(browser.cookie("latchkey_pages"), None);
        app.browser().get("/auth/provider/unknown").await.hosted(404);
        assert_eq!(browser.get(&back).await.status, 303);
    }

    with(|b| b.pages())
    async fn provider_that_is_off_is_not_offered(app) {
        let _acme = acme(&app).await;
        let off = json!({"enabled": false});
        app.admin().put("/api/auth/oauth/custom/acme/config", off).send().await.expect(200);

        let page = app.browser().get("/auth/sign-in").await;

        assert_eq!(link(&page, ACME), None);
        app.browser().get(ACME).await.hosted(404);
    }
}
