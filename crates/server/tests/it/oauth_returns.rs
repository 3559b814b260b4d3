//! Tests of invalid callback requests, and of changed provider metadata. The user gets an error page, or the app gets
//! an error.

use latchkey_testkit::provider::{Document, Endpoint};
use latchkey_testkit::{LyingProvider, TestApp, both_stores, json};
use url::Url;

use crate::oauth_calls::{
    APP, CHALLENGE, acme, auth_url, auth_url_of, come_back, configure, error_of, session, sign_in, start,
};

const CONFIG: &str = "/api/auth/oauth/custom/acme/config";

async fn callback(app: &TestApp, acme: &LyingProvider) -> Url {
    acme.consent(&auth_url(&app.anon(), "acme").await)
}

fn form(query: &str) -> String {
    format!("{query}&user=x")
}

both_stores! {
    async fn field_that_cannot_be_read_is_an_error_in_the_app_and_uses_the_state_up(app) {
        let acme = acme(&app).await;
        for more in ["code=another", "user=%FF", "user=%", "error=%00", "iss=a", "error=a&error=b"] {
            let callback = callback(&app, &acme).await;

            let target = app.anon().get(&format!("{callback}&{more}")).send().await.redirected();

            error_of(&target);
            error_of(&come_back(&app.anon(), &callback).await);
        }
        assert_eq!(acme.asked(Endpoint::Token), 0);
    }

    async fn state_that_cannot_be_read_shows_a_page_and_stays(app) {
        let acme = acme(&app).await;
        let callback = callback(&app, &acme).await;

        app.anon().get(&format!("{callback}&state=another")).send().await.page(400);
        app.anon().get("/api/auth/oauth/custom/acme/callback?code=c&state=%FF").send().await.page(400);

        crate::oauth_calls::code_of(&come_back(&app.anon(), &callback).await);
    }

    async fn callback_without_a_form_shows_a_page(app) {
        let acme = acme(&app).await;
        let callback = callback(&app, &acme).await;
        let query = callback.query().unwrap().to_owned();
        let mut path = callback.clone();
        path.set_query(None);
        let post = |content_type: &str, body: String| {
            app.anon().request("POST", path.as_str()).raw(content_type, body).send()
        };

        post("text/plain", form(&query)).await.page(400);
        post("application/json", "{}".to_owned()).await.page(400);
        post("application/x-www-form-urlencoded", "x".repeat(100_000)).await.page(400);
        let both = app.anon().request("POST", callback.as_str());
        both.raw("application/x-www-form-urlencoded", query.clone()).send().await.page(400);

        let good = post("application/x-www-form-urlencoded", form(&query)).await.redirected();
        crate::oauth_calls::code_of(&good);
    }

    async fn hint_of_the_body_replaces_that_of_the_query(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let body = json!({"redirect_uri": APP, "code_challenge": CHALLENGE, "additionalParams": {"prompt": "login"}});
        let link = bob.post("/api/auth/identities/acme/link", body);

        let url = auth_url_of(&link.query("prompt", "none").query("login_hint", "bob").send().await);

        let url: Url = url.parse().unwrap();
        let hints: Vec<_> = url.query_pairs().filter(|(name, _)| name == "prompt").collect();
        assert_eq!(hints.len(), 1, "{url}");
        assert_eq!(hints[0].1, "login");
        assert!(url.query().unwrap().contains("login_hint=bob"));
        drop(acme);
    }

    async fn fixed_provider_configuration_replaces_cached_documents(app) {
        let acme = acme(&app).await;
        acme.says(Document::Discovery, json!({"token_endpoint": format!("{}/nowhere", acme.issuer())}));
        error_of(&come_back(&app.anon(), &callback(&app, &acme).await).await);
        acme.is_honest();

        app.clock.advance(latchkey_testkit::seconds(1));
        app.admin().put(CONFIG, json!({"name": "Acme"})).send().await.expect(200);

        sign_in(&app, &acme, "acme").await.expect(200);
    }

    async fn provider_that_is_configured_again_is_asked_again(app) {
        let acme = acme(&app).await;
        let beside = app.beside().await;
        session(&app, &acme, "acme").await;
        start(&beside.anon(), "acme").send().await.expect(200);
        let (documents, keys) = (acme.asked(Endpoint::Discovery), acme.asked(Endpoint::Jwks));

        app.clock.advance(latchkey_testkit::seconds(1));
        app.admin().delete(CONFIG).send().await.expect(200);
        configure(&app, &acme.custom("acme")).await;
        session(&app, &acme, "acme").await;

        assert_eq!((acme.asked(Endpoint::Discovery), acme.asked(Endpoint::Jwks)), (documents + 1, keys + 1));
        beside.run_jobs().await;
        start(&beside.anon(), "acme").send().await.expect(200);
        assert_eq!(acme.asked(Endpoint::Discovery), documents + 2);
    }
}
