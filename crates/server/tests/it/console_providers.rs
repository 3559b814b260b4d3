//! `/console/provider/{key}` and `/console/provider/return`: sign-in to the console through a provider of
//! `console.providers`.

use latchkey_domain::operator::Role;
use latchkey_testkit::browser::link;
use latchkey_testkit::{
    Answer, Browser, LyingProvider, TestApp, TestAppBuilder, TwoStepUser, User, both_stores, json,
};
use url::Url;

use crate::console_calls::operator;
use crate::oauth_calls::{VERIFIER, acme, exchange, identities, link_code, person, provider, user_count};
use crate::operators::grant;

const SIGN_IN: &str = "/console/sign-in";
const ACME: &str = "/console/provider/acme";
const COOKIE: &str = "latchkey_console_";

/// The console with the provider `acme`, and without passkeys, so that the sign-in has one form.
fn console(builder: TestAppBuilder) -> TestAppBuilder {
    builder
        .console_providers(&["acme"])
        .verification_by_code()
        .settings(|settings| settings.passkeys_enabled = false)
}

/// Links the identity that the provider asserts now to the account of a user.
async fn linked(user: &User, acme: &LyingProvider) {
    let code = link_code(user, acme, "acme").await;
    exchange(user, &code, VERIFIER).send().await.expect(200);
}

fn path_of(url: &Url) -> String {
    format!("{}?{}", url.path(), url.query().unwrap_or_default())
}

/// Goes from a page of the sign-in to the provider; returns its address.
async fn leave(browser: &Browser, path: &str) -> String {
    let page = browser.get(path).await;
    page.hosted(200);
    let answer = browser.get(&link(&page, ACME).unwrap_or_else(|| panic!("no link: {page:?}"))).await;
    assert_eq!(answer.status, 302, "{answer:?}");
    answer.header("location").unwrap().to_owned()
}

/// Comes back from the provider by its callback; returns the address of the console.
async fn landing(browser: &Browser, callback: &Url) -> String {
    let back = path_of(&browser.get(&path_of(callback)).await.redirected());
    assert!(back.starts_with("/console/provider/return?"), "{back}");
    back
}

/// Signs in through the provider, up to the response of the page that it leads back to.
async fn enter(browser: &Browser, acme: &LyingProvider, path: &str) -> Answer {
    let url = leave(browser, path).await;
    browser.get(&landing(browser, &acme.consent(&url)).await).await
}

/// An operator whose account has the identity `sub`.
async fn operator_with_identity(app: &TestApp, acme: &LyingProvider, name: &str, role: Role) -> TwoStepUser {
    let user = operator(app, name, role).await;
    acme.person(person(name, &user.email));
    linked(&user, acme).await;
    user
}

/// The page without the typed address.
fn shown(page: &Answer) -> (u16, Vec<String>, String) {
    let names = ["content-type", "cache-control", "retry-after", "content-security-policy"];
    (
        page.status,
        names.iter().map(|name| format!("{:?}", page.header(name))).collect(),
        page.text().to_owned(),
    )
}

both_stores! {
    with(console)
    async fn provider_and_second_factor_open_the_page_that_was_wanted(app) {
        let acme = acme(&app).await;
        let ada = operator_with_identity(&app, &acme, "ada", Role::Owner).await;
        let browser = app.browser();

        let done = enter(&browser, &acme, &format!("{SIGN_IN}?next=%2Fconsole%2Faudit%3Factor%3Duser")).await;
        assert_eq!((done.status, done.header("location")), (303, Some("/console/confirm")), "{done:?}");
        assert_eq!(browser.cookie(COOKIE), None, "the second factor is asked for");
        let page = browser.follow(&done).await;
        let done = browser.submit(&page, "/console/confirm", &[("code", &ada.authenticator.code())]).await;

        assert_eq!(done.header("location"), Some("/console/audit?actor=user"), "{done:?}");
        assert!(browser.follow(&done).await.hosted(200).contains("class=\"role\">Owner<"));
        assert_eq!(browser.cookie("departed"), None);
        assert_eq!(browser.cookie("asked"), None);
    }

    with(console)
    async fn identity_that_is_no_operators_gets_the_answer_of_wrong_credentials(app) {
        let acme = acme(&app).await;
        let ada = operator(&app, "ada", Role::Owner).await;
        let (bob, eve) = (app.two_step_user("bob").await, app.two_step_user("eve").await);
        let _asleep = grant(&app, &eve, Role::Owner).await;
        for user in [&bob, &eve] {
            acme.person(person(&user.id, &user.email));
            linked(user, &acme).await;
        }
        let revoked = operator_with_identity(&app, &acme, "revoked", Role::Viewer).await;
        let operators = &app.service().operators;
        operators.revoke(revoked.id.parse().unwrap(), false, latchkey_domain::operator::Party::System, None).await.unwrap();
        let count = user_count(&app).await;
        let browser = app.browser();
        let page = browser.get(SIGN_IN).await;
        let fields = [("email", ada.email.as_str()), ("password", "another password")];
        let wrong = browser.submit(&page, SIGN_IN, &fields).await;
        let alert = |page: &Answer| page.text().split("role=\"alert\"").nth(1).map(|rest| rest[..120].to_owned());

        let mut pages = Vec::new();
        for (sub, email) in [
            (bob.id.as_str(), bob.email.as_str()),
            (&eve.id, &eve.email),
            ("revoked", &revoked.email),
            // Not linked to any account: the address alone opens nothing, and makes no account.
            ("another", &ada.email),
            ("nobody", "nobody@example.org"),
        ] {
            acme.person(person(sub, email));
            let page = enter(&browser, &acme, SIGN_IN).await;
            assert_eq!(page.status, 401, "{sub}: {page:?}");
            assert_eq!(alert(&page), alert(&wrong), "{sub}");
            pages.push(shown(&page));
        }

        assert!(pages.iter().all(|page| *page == pages[0]), "{pages:#?}");
        assert_eq!(browser.cookie(COOKIE), None);
        assert_eq!(user_count(&app).await, count);
        assert_eq!(identities(&ada).await, [""; 0]);
    }

    with(console)
    async fn denial_lateness_and_silence_are_told(app) {
        let mut acme = acme(&app).await;
        let _ada = operator_with_identity(&app, &acme, "ada", Role::Owner).await;
        let browser = app.browser();

        let url = leave(&browser, SIGN_IN).await;
        let denied = browser.get(&landing(&browser, &acme.deny(&url)).await).await;
        assert!(denied.hosted(400).contains("The sign-in was cancelled at the provider."), "{denied:?}");
        assert!(link(&denied, ACME).is_some(), "{denied:?}");

        let url = leave(&browser, SIGN_IN).await;
        let back = landing(&browser, &acme.consent(&url)).await;
        app.clock.advance(latchkey_testkit::minutes(2));
        let late = browser.get(&back).await;
        assert!(late.hosted(400).contains("took too long"), "{late:?}");

        let url = leave(&browser, SIGN_IN).await;
        let callback = acme.consent(&url);
        acme.goes_down().await;
        let down = browser.get(&landing(&browser, &callback).await).await;
        assert!(down.hosted(503).contains("The provider does not respond."), "{down:?}");
        assert_eq!(browser.cookie(COOKIE), None);
    }

    with(console)
    async fn way_back_works_once_in_the_browser_that_left(app) {
        let acme = acme(&app).await;
        let _ada = operator_with_identity(&app, &acme, "ada", Role::Owner).await;
        let browser = app.browser();
        let url = leave(&browser, SIGN_IN).await;
        assert!(!url.contains("console"), "the provider learns nothing of the console: {url}");
        let back = landing(&browser, &acme.consent(&url)).await;

        let other = app.browser();
        let _ = leave(&other, SIGN_IN).await;
        assert!(other.get(&back).await.hosted(400).contains("took too long"));
        assert!(app.browser().get(&back).await.hosted(400).contains("took too long"));
        let again = browser.get(&back).await;
        assert!(again.hosted(400).contains("took too long"), "a wrong verifier burnt the code: {again:?}");
    }

    with(console)
    async fn way_back_over_another_site_goes_on_in_two_steps(app) {
        let acme = acme(&app).await;
        let _ada = operator_with_identity(&app, &acme, "ada", Role::Owner).await;
        let browser = app.browser();
        let url = leave(&browser, SIGN_IN).await;
        let back = landing(&browser, &acme.consent(&url)).await;

        let crossing = app.browser().with_header("sec-fetch-site", "cross-site").get(&back).await;
        assert!(crossing.hosted(200).contains("http-equiv=\"refresh\""), "{crossing:?}");
        let done = browser.get(&back).await;

        assert_eq!(done.header("location"), Some("/console/confirm"), "{done:?}");
    }

    with(console)
    async fn prefetch_and_head_do_nothing(app) {
        let acme = acme(&app).await;
        let _ada = operator_with_identity(&app, &acme, "ada", Role::Owner).await;
        let browser = app.browser();
        let url = leave(&browser, SIGN_IN).await;
        let back = landing(&browser, &acme.consent(&url)).await;

        let prefetching = app.browser().with_header("sec-purpose", "prefetch;prerender");
        for path in [ACME, "/console/provider/unknown", back.as_str()] {
            prefetching.get(path).await.hosted(403);
        }
        let head = app.anon().request("HEAD", &back).header("host", "localhost:8700");
        assert_eq!(browser.send(head).await.status, 403);
        assert_eq!(browser.get(&back).await.status, 303);
    }

    with(console)
    async fn other_providers_are_no_way_in(app) {
        let _acme = acme(&app).await;
        let _other = provider(&app, "other").await;
        let browser = app.browser();

        let page = browser.get(SIGN_IN).await;

        assert_eq!(link(&page, "/console/provider/other"), None, "{page:?}");
        for key in ["other", "google", "nobody"] {
            browser.get(&format!("/console/provider/{key}")).await.hosted(404);
        }
        let off = json!({"enabled": false});
        app.admin().put("/api/auth/oauth/custom/acme/config", off).send().await.expect(200);
        assert_eq!(link(&browser.get(SIGN_IN).await, ACME), None);
        browser.get(ACME).await.hosted(404);
    }

    with(|b| console(b).config(|config| config.operators.require_second_factor = false))
    async fn provider_alone_opens_the_console_in_development(app) {
        let acme = acme(&app).await;
        let ada = app.user("ada").await;
        let token = grant(&app, &ada, Role::Support).await;
        crate::operators::activate(&app, &ada.session.access_token, &token).await.unwrap();
        acme.person(person("ada", &ada.email));
        linked(&ada, &acme).await;
        let browser = app.browser();

        let done = enter(&browser, &acme, SIGN_IN).await;

        assert_eq!(done.header("location"), Some("/console"), "{done:?}");
        assert!(browser.follow(&done).await.hosted(200).contains("Sign out"));
    }
}
