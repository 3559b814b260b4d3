//! Tests of sign-in with Microsoft. Anyone can create a directory there, so its email addresses do not prove ownership
//! (nOAuth attack).

use latchkey_testkit::provider::{Document, PROVIDER_CLIENT_ID, PROVIDER_CLIENT_SECRET};
use latchkey_testkit::{LyingProvider, Session, TestApp, both_stores, json};
use url::Url;

use crate::oauth_calls::{
    APP, CHALLENGE, VERIFIER, acme, auth_url_of, code_of, come_back, error_of, exchange, session,
};

const HOME: &str = "11111111-2222-4333-8444-555555555555";
const FOREIGN: &str = "99999999-2222-4333-8444-555555555555";

/// Fake of Microsoft's endpoints, with a user of this directory.
async fn microsoft(app: &mut TestApp) -> LyingProvider {
    let provider = LyingProvider::start(&app.clock).await;
    let base = provider.issuer().parse().unwrap();
    app.restart_with(|b| b.oauth(|oauth| oauth.stand_in = Some(base))).await;
    let credentials = json!({
        "provider": "microsoft", "clientId": PROVIDER_CLIENT_ID, "clientSecret": PROVIDER_CLIENT_SECRET,
    });
    app.admin().post("/api/auth/oauth/configs", credentials).send().await.expect(200);
    provider.says(Document::Discovery, json!({"issuer": issuer(&provider, "{tenantid}")}));
    provider
}

fn issuer(provider: &LyingProvider, tenant: &str) -> String {
    format!("{}/login.microsoftonline.com/{tenant}/v2.0", provider.issuer())
}

/// Sets the user's object id, directory and address.
fn is_of(provider: &LyingProvider, tenant: &str, oid: &str, email: &str) {
    provider.person(json!({
        "sub": format!("{oid}-of-{tenant}"), "oid": oid, "tid": tenant, "name": "Somebody",
        "email": email, "email_verified": true,
    }));
    provider.says(Document::IdToken, json!({"iss": issuer(provider, tenant)}));
}

async fn consent(app: &TestApp, provider: &LyingProvider) -> Url {
    let start = app.anon().get("/api/auth/oauth/microsoft").query("redirect_uri", APP);
    let auth_url = auth_url_of(&start.query("code_challenge", CHALLENGE).send().await);
    come_back(&app.anon(), &answered_by(&provider.consent(&auth_url), &issuer(provider, HOME))).await
}

/// Callback URL with this issuer in its `iss` parameter.
fn answered_by(callback: &Url, issuer: &str) -> Url {
    let mut answered = callback.clone();
    let pairs = callback.query_pairs().filter(|(name, _)| name != "iss");
    answered.query_pairs_mut().clear().extend_pairs(pairs).append_pair("iss", issuer);
    answered
}

async fn signed_in(app: &TestApp, provider: &LyingProvider) -> Session {
    let code = code_of(&consent(app, provider).await);
    Session::of(&exchange(&app.anon(), &code, VERIFIER).send().await)
}

both_stores! {
    async fn no_auth_address_that_a_directory_claims_opens_no_account(mut app) {
        let microsoft = microsoft(&mut app).await;
        let victim = session(&app, &acme(&app).await, "acme").await;
        is_of(&microsoft, FOREIGN, "attacker", "ada@example.org");

        let error = error_of(&consent(&app, &microsoft).await);

        assert!(error.contains("sign in to link this provider"), "{error}");
        assert_eq!(crate::oauth_calls::identities(&app.with_session(&victim)).await, ["acme"]);
    }

    async fn same_user_of_another_directory_is_another_user(mut app) {
        let microsoft = microsoft(&mut app).await;
        is_of(&microsoft, HOME, "ada", "ada@example.org");
        let ada = signed_in(&app, &microsoft).await;

        is_of(&microsoft, FOREIGN, "ada", "mallory@example.org");

        assert_ne!(signed_in(&app, &microsoft).await.user_id, ada.user_id);
    }

    async fn identity_of_before_takes_the_issuer_of_its_directory_at_the_next_sign_in(mut app) {
        let microsoft = microsoft(&mut app).await;
        is_of(&microsoft, HOME, "ada", "ada@example.org");
        let ada = signed_in(&app, &microsoft).await;
        crate::oauth_issuers::forget_issuers(&app);
        app.restart().await;
        is_of(&microsoft, HOME, "ada", "another@example.org");

        assert_eq!(signed_in(&app, &microsoft).await.user_id, ada.user_id);
        assert_eq!(signed_in(&app, &microsoft).await.user_id, ada.user_id);
    }

    async fn token_of_a_directory_that_did_not_issue_it_is_refused(mut app) {
        let microsoft = microsoft(&mut app).await;
        is_of(&microsoft, HOME, "ada", "ada@example.org");
        for iss in [issuer(&microsoft, FOREIGN), issuer(&microsoft, "{tenantid}"), issuer(&microsoft, "evil")] {
            microsoft.says(Document::IdToken, json!({"iss": iss}));

            error_of(&consent(&app, &microsoft).await);
        }
    }
}
