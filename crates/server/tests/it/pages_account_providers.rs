//! `/auth/account/providers`: the linked identity providers of the own account, and unlinking.

use latchkey_service::oauth::exchange::Exchanged;
use latchkey_service::sessions::Credential;
use latchkey_testkit::{EmailSignIn, LyingProvider, TestApp, User, both_stores, minutes};

use crate::oauth_calls::{VERIFIER, acme, code, exchange, identities, link_code, person};
use crate::page_session_calls::PageBrowser;
use crate::pages_account::signed_in;

const PATH: &str = "/auth/account/providers";
const ADA: &str = "ada@example.org";

/// Links an identity of the provider to the user's account.
async fn link(user: &User, provider: &LyingProvider) {
    let code = link_code(user, provider, "acme").await;
    exchange(user, &code, VERIFIER).send().await.expect(200);
}

/// A browser on the pages that signed in through the provider.
async fn signed_in_by<'a>(app: &'a TestApp, provider: &LyingProvider) -> PageBrowser<'a> {
    let code = code(app, provider, "acme").await;
    let mut browser = PageBrowser::new(app);
    let from = browser.asks().await;
    let exchanged = app.service().oauth.exchange(&code, VERIFIER, Credential::Bearer(None), &from).await;
    let Ok(Exchanged::Entered(entrance)) = exchanged else { panic!("no entrance") };
    browser.take(entrance);
    browser
}

both_stores! {
    with(|b| b.pages())
    async fn linked_provider_is_shown_by_its_name_and_unlinked_by_the_form(app) {
        let (acme, ada) = (acme(&app).await, app.user("ada").await);
        let browser = signed_in(&app).await;
        assert!(browser.get(PATH).await.hosted(200).contains("No provider is linked."));
        link(&ada, &acme).await;
        let page = browser.get(PATH).await;
        let name = acme.custom("acme")["name"].as_str().unwrap().to_owned();
        assert!(page.hosted(200).contains(&format!("<bdi>{name}</bdi>")), "{page:?}");
        assert!(page.text().contains(ADA), "{page:?}");

        let done = browser.submit(&page, PATH, &[]).await;

        let after = browser.follow(&done).await;
        assert!(after.hosted(200).contains(&format!("<bdi>{name}</bdi> is unlinked.")), "{after:?}");
        assert!(identities(&ada).await.is_empty());
        let again = browser.submit(&page, PATH, &[]).await;
        assert_eq!(again.status, 303, "{again:?}");
    }

    with(|b| b.pages())
    async fn only_the_named_identity_is_unlinked(app) {
        let (acme, ada) = (acme(&app).await, app.user("ada").await);
        acme.person(person("ada at work", ADA));
        link(&ada, &acme).await;
        acme.person(person("ada at home", ADA));
        link(&ada, &acme).await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;

        browser.submit(&page, PATH, &[("subject", "ada at home")]).await;

        let body = ada.get("/api/auth/identities").send().await.expect(200);
        let left = body["identities"].as_array().unwrap();
        assert_eq!((left.len(), left[0]["subject"].as_str()), (1, Some("ada at work")));
    }

    with(|b| b.pages().email_sign_in(EmailSignIn::Off))
    async fn last_way_to_sign_in_stays(app) {
        let acme = acme(&app).await;
        acme.person(person("ada at home", ADA));
        let page_browser = signed_in_by(&app, &acme).await;
        let browser = page_browser.on_pages();
        let page = browser.get(PATH).await;

        let refused = browser.submit(&page, PATH, &[]).await;

        assert!(refused.hosted(409).contains("your last way to sign in"), "{refused:?}");
        assert!(page_browser.page().await.is_some());
    }

    with(|b| b.pages())
    async fn unlinking_needs_a_recent_sign_in(app) {
        let (acme, ada) = (acme(&app).await, app.user("ada").await);
        link(&ada, &acme).await;
        let browser = signed_in(&app).await;
        app.clock.advance(minutes(11));
        let page = browser.get(PATH).await;

        let done = browser.submit(&page, PATH, &[]).await;

        assert!(done.header("location").unwrap().starts_with("/auth/account/confirm?"), "{done:?}");
        assert!(browser.get(PATH).await.hosted(200).contains(ADA));
    }

    with(|b| b.pages())
    async fn form_with_a_bad_token_or_provider_unlinks_nothing(app) {
        let (acme, ada) = (acme(&app).await, app.user("ada").await);
        link(&ada, &acme).await;
        let browser = signed_in(&app).await;
        let page = browser.get(PATH).await;

        browser.submit(&page, PATH, &[("form_token", "nonsense")]).await.hosted(403);
        browser.submit(&page, PATH, &[("provider", "<b>")]).await.hosted(404);
        browser.submit(&page, PATH, &[("subject", "")]).await;

        assert_eq!(identities(&ada).await, ["acme"]);
    }
}
