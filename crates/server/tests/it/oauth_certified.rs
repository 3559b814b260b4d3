//! End-to-end tests over HTTP with a third-party provider: the npm package `oidc-provider` in `../oidc`.
//! `boot/oauth.rs` does the same in a browser.

use latchkey_testkit::{Session, TestApp, both_stores, json};
use url::Url;

use crate::certified::CertifiedProvider;
use crate::oauth_calls::{
    VERIFIER, auth_url, auth_url_of, code_of, come_back, configure, error_of, exchange, identities, link,
};

async fn acme(app: &TestApp) -> CertifiedProvider {
    let callback = format!("{}/api/auth/oauth/custom/acme/callback", app.public_url());
    let now = app.service().now().as_millis();
    let provider = CertifiedProvider::start(&callback, Some(now)).await;
    configure(app, &provider.custom("acme")).await;
    provider
}

async fn returned(app: &TestApp, callback: &str) -> Url {
    come_back(&app.anon(), &callback.parse().unwrap()).await
}

both_stores! {
    async fn visitor_signs_in_and_is_known_again(app) {
        let acme = acme(&app).await;
        let mut ids = Vec::new();
        for _ in 0..2 {
            let callback = acme.allow(&auth_url(&app.anon(), "acme").await, "ada").await;
            let code = code_of(&returned(&app, &callback).await);

            let answer = exchange(&app.anon(), &code, VERIFIER).send().await;

            let body = answer.expect(200);
            assert_eq!((&body["user"]["email"], &body["user"]["emailVerified"]), (&json!("ada@example.org"), &json!(true)));
            assert_eq!(body["user"]["profile"]["name"], "Ada of the provider");
            assert_eq!(body["user"]["profile"]["avatar_url"], "https://pictures.example.org/ada.png");
            ids.push(Session::of(&answer).user_id);
        }
        assert_eq!(ids[0], ids[1]);
    }

    async fn visitor_who_denies_consent_returns_with_an_error(app) {
        let acme = acme(&app).await;

        let callback = acme.deny(&auth_url(&app.anon(), "acme").await, "ada").await;

        error_of(&returned(&app, &callback).await);
    }

    async fn visitor_with_an_unverified_address_does_not_open_another_users_account(app) {
        let acme = acme(&app).await;
        app.anon().sign_up("unverified-ada@example.org", latchkey_testkit::PASSWORD).send().await.expect(200);

        let callback = acme.allow(&auth_url(&app.anon(), "acme").await, "unverified-ada").await;

        let error = error_of(&returned(&app, &callback).await);
        assert!(error.contains("sign in to link this provider"), "{error}");
    }

    async fn signed_in_user_links_the_identity(app) {
        let (acme, bob) = (acme(&app).await, app.user("bob").await);
        let auth_url = auth_url_of(&link(&bob, "acme").send().await);

        let callback = acme.allow(&auth_url, "robert").await;
        let code = code_of(&returned(&app, &callback).await);
        exchange(&bob, &code, VERIFIER).send().await.expect(200);

        assert_eq!(identities(&bob).await, ["acme"]);
    }
}
