//! Tests of the issuers of identities. Another issuer under the same provider key is another provider. Also: providers
//! that may not link by address.

use latchkey_testkit::provider::{Document, PROVIDER_CLIENT_SECRET};
use latchkey_testkit::{LyingProvider, PASSWORD, Session, TestApp, both_stores, json};

use crate::oauth_calls::{
    VERIFIER, acme, auth_url, code, code_of, come_back, configure, consent, error_of, exchange, identities,
    link_code, person, session,
};

const ADA: &str = "ada@example.org";
const CONFIG: &str = "/api/auth/oauth/custom/acme/config";

/// Changes the configuration of `acme` to this provider.
async fn point_at(app: &TestApp, provider: &LyingProvider) {
    let change = json!({"discoveryEndpoint": provider.issuer(), "clientSecret": PROVIDER_CLIENT_SECRET});
    app.admin().put(CONFIG, change).send().await.expect(200);
}

/// Starts another provider, at which Mallory has the same subject as Ada at the first one.
async fn namesake(app: &TestApp) -> LyingProvider {
    let other = LyingProvider::start(&app.clock).await;
    other.person(person("ada-at-the-provider", "mallory@example.org"));
    other
}

/// Runs a statement directly on the database.
fn run(app: &TestApp, sql: &str) {
    if let Some(database) = app.database() {
        database.run(sql);
    } else {
        let file = rusqlite::Connection::open(app.folder().join("latchkey.db")).unwrap();
        file.execute_batch(sql).unwrap();
    }
}

/// Clears the issuers of identities, as before they were stored.
pub(crate) fn forget_issuers(app: &TestApp) {
    run(app, "UPDATE identities SET issuer = '?'");
}

both_stores! {
    async fn key_pointed_at_another_issuer_opens_no_account(app) {
        let first = acme(&app).await;
        let ada = session(&app, &first, "acme").await;
        let other = namesake(&app).await;

        point_at(&app, &other).await;

        assert_ne!(session(&app, &other, "acme").await.user_id, ada.user_id);
        point_at(&app, &first).await;
        assert_eq!(session(&app, &first, "acme").await.user_id, ada.user_id, "and the first opens its own");
    }

    async fn key_reconfigured_for_another_issuer_opens_no_account(app) {
        let first = acme(&app).await;
        let ada = session(&app, &first, "acme").await;
        app.admin().delete(CONFIG).send().await.expect(200);
        let other = namesake(&app).await;

        configure(&app, &other.custom("acme")).await;

        assert_ne!(session(&app, &other, "acme").await.user_id, ada.user_id);
    }

    async fn id_token_of_another_issuer_opens_no_account(app) {
        let first = acme(&app).await;
        let ada = session(&app, &first, "acme").await;
        let other = namesake(&app).await;
        point_at(&app, &other).await;
        app.admin().put(CONFIG, json!({"nativeClientIds": ["native"]})).send().await.expect(200);
        other.says(Document::IdToken, json!({"aud": "native"}));

        let body = json!({"provider": "acme", "token": other.id_token(None)});
        let answer = app.anon().post("/api/auth/id-token", body).client_type("mobile").send().await;

        assert_ne!(Session::of(&answer).user_id, ada.user_id);
    }

    async fn code_is_of_the_issuer_that_the_browser_came_from(app) {
        let first = acme(&app).await;
        let ada = session(&app, &first, "acme").await;
        let code = code(&app, &first, "acme").await;

        point_at(&app, &namesake(&app).await).await;

        let answer = exchange(&app.anon(), &code, VERIFIER).send().await;
        assert_eq!(Session::of(&answer).user_id, ada.user_id);
    }

    async fn documents_may_name_the_issuer_with_a_slash_at_its_end(app) {
        let acme = acme(&app).await;
        let ada = session(&app, &acme, "acme").await;
        let slashed = format!("{}/", acme.issuer());
        acme.says(Document::Discovery, json!({"issuer": slashed}));
        acme.says(Document::IdToken, json!({"iss": slashed}));
        // A change of the configuration drops the cached documents of the provider.
        app.admin().put(CONFIG, json!({"name": "Acme Inc."})).send().await.expect(200);

        let auth_url = auth_url(&app.anon(), "acme").await;
        let mut callback = acme.consent(&auth_url);
        let pairs: Vec<_> = callback.query_pairs().into_owned().filter(|(name, _)| name != "iss").collect();
        callback.query_pairs_mut().clear().extend_pairs(pairs).append_pair("iss", &slashed);
        let target = come_back(&app.anon(), &callback).await;

        let answer = exchange(&app.anon(), &code_of(&target), VERIFIER).send().await;
        assert_eq!(Session::of(&answer).user_id, ada.user_id);
    }

    async fn identities_of_before_take_the_issuer_of_their_provider_at_the_start(mut app) {
        let first = acme(&app).await;
        let ada = session(&app, &first, "acme").await;
        first.person(person("ada-at-the-provider", "somebody@example.org"));
        forget_issuers(&app);

        app.restart().await;

        assert_eq!(session(&app, &first, "acme").await.user_id, ada.user_id);
        let other = namesake(&app).await;
        point_at(&app, &other).await;
        app.restart().await;
        assert_ne!(session(&app, &other, "acme").await.user_id, ada.user_id);
    }

    async fn provider_that_does_not_link_by_address_opens_no_account_of_another(app) {
        let acme = acme(&app).await;
        let changed = app.admin().put(CONFIG, json!({"linkByEmail": false})).send().await.expect(200);
        assert_eq!(changed["linkByEmail"], false);
        let ada = app.user("ada").await;

        let error = error_of(&consent(&app, &acme, "acme").await);

        assert!(error.contains("sign in to link this provider"), "{error}");
        assert_eq!(identities(&ada).await, Vec::<String>::new());
        app.anon().sign_in(ADA, PASSWORD).send().await.expect(200);

        let code = link_code(&ada, &acme, "acme").await;
        exchange(&ada, &code, VERIFIER).send().await.expect(200);
        assert_eq!(session(&app, &acme, "acme").await.user_id, ada.id, "what its owner linked opens it");
    }

    with(|b| b.verification_by_code())
    async fn verified_and_unverified_addresses_are_refused_alike_without_linking(app) {
        let acme = acme(&app).await;
        app.admin().put(CONFIG, json!({"linkByEmail": false})).send().await.expect(200);
        app.user("ada").await;
        app.anon().sign_up("eve@example.org", PASSWORD).send().await.expect(200);
        let mut errors = Vec::new();
        for (subject, email) in [("1", ADA), ("2", "eve@example.org")] {
            acme.person(person(subject, email));
            errors.push(error_of(&consent(&app, &acme, "acme").await));
        }
        assert_eq!(errors[0], errors[1]);

        acme.person(person("3", "new@example.org"));
        session(&app, &acme, "acme").await;
    }
}
