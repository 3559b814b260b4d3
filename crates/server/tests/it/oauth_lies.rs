//! Tests with a malicious provider, in its `id_token`, keys, metadata and userinfo. The app gets an error, and no
//! account is created.

use latchkey_testkit::provider::{Document, Endpoint, PROVIDER_CLIENT_ID, Signature};
use latchkey_testkit::{LyingProvider, TestApp, Value, both_stores, days, json};

use crate::oauth_calls::{
    acme, auth_url, code_of, consent, error_of, person, provider, session, sign_in, start, user_count,
};

/// Asserts that a sign-in is refused while the provider misbehaves in this way.
async fn is_not_believed(app: &TestApp, tell: impl FnOnce(&LyingProvider)) {
    let acme = acme(app).await;
    tell(&acme);

    error_of(&consent(app, &acme, "acme").await);

    assert_eq!(user_count(app).await, 0);
    acme.is_honest();
    app.clock.advance(days(1)); // the cached documents expire
    session(app, &acme, "acme").await;
}

/// Asserts that a sign-in is refused with each of these changes to the claims.
async fn claims_are_refused(app: &TestApp, patches: impl IntoIterator<Item = Value>) {
    let acme = acme(app).await;
    for patch in patches {
        acme.is_honest();
        acme.says(Document::IdToken, patch.clone());

        let target = consent(app, &acme, "acme").await;

        assert!(target.as_str().contains("error="), "{patch} was believed: {target}");
        error_of(&target);
    }
    assert_eq!(user_count(app).await, 0);
}

/// Asserts that a sign-in succeeds with each of these changes to the claims.
async fn claims_are_accepted(app: &TestApp, patches: impl IntoIterator<Item = Value>) {
    let acme = acme(app).await;
    for patch in patches {
        acme.is_honest();
        acme.says(Document::IdToken, patch.clone());

        let target = consent(app, &acme, "acme").await;

        assert!(target.as_str().contains("service_code="), "{patch} was refused: {target}");
    }
}

fn now(app: &TestApp) -> i64 {
    app.service().now().as_millis() / 1000
}

both_stores! {
    async fn id_token_without_a_signature_is_refused(app) {
        is_not_believed(&app, |acme| acme.signs(Signature::Missing)).await;
    }

    async fn id_token_without_a_signature_is_refused_even_if_the_provider_announces_it(app) {
        is_not_believed(&app, |acme| {
            acme.says(Document::Discovery, json!({"id_token_signing_alg_values_supported": ["none", "ES256"]}));
            acme.signs(Signature::Missing);
        })
        .await;
    }

    async fn public_key_is_no_shared_secret_for_hs256(app) {
        is_not_believed(&app, |acme| acme.signs(Signature::PublicKeyAsSecret)).await;
    }

    async fn symmetric_algorithm_is_refused_even_if_the_provider_announces_it(app) {
        let acme = acme(&app).await;
        let announced = json!({"id_token_signing_alg_values_supported": ["HS256", "ES256"]});
        acme.says(Document::Discovery, announced);
        for signature in [Signature::ClientSecret, Signature::PublicKeyAsSecret] {
            acme.signs(signature);

            error_of(&consent(&app, &acme, "acme").await);
        }
        assert_eq!(user_count(&app).await, 0);
    }

    async fn algorithm_that_the_provider_does_not_announce_is_refused(app) {
        is_not_believed(&app, |acme| {
            acme.says(Document::Discovery, json!({"id_token_signing_alg_values_supported": ["RS256"]}));
        })
        .await;
    }

    async fn id_token_of_another_key_is_refused(app) {
        is_not_believed(&app, |acme| acme.signs(Signature::AnotherKey)).await;
    }

    async fn id_token_with_another_signature_is_refused(app) {
        is_not_believed(&app, |acme| acme.signs(Signature::Broken)).await;
    }

    async fn id_token_under_an_unknown_key_is_refused(app) {
        is_not_believed(&app, |acme| acme.says(Document::IdTokenHeader, json!({"kid": "unknown"}))).await;
    }

    async fn token_of_another_kind_is_no_id_token(app) {
        is_not_believed(&app, |acme| acme.says(Document::IdTokenHeader, json!({"typ": "at+jwt"}))).await;
    }

    async fn header_that_demands_what_is_not_known_is_refused(app) {
        is_not_believed(&app, |acme| acme.says(Document::IdTokenHeader, json!({"crit": ["exp2"], "exp2": 1}))).await;
    }

    async fn key_that_is_not_for_signatures_is_refused(app) {
        let acme = acme(&app).await;
        acme.says(Document::Jwks, json!({"keys": []}));

        error_of(&consent(&app, &acme, "acme").await);
    }

    async fn response_without_an_id_token_is_refused(app) {
        is_not_believed(&app, |acme| acme.says(Document::TokenAnswer, json!({"id_token": null}))).await;
    }

    async fn malformed_id_token_is_refused(app) {
        let acme = acme(&app).await;
        for token in ["", "a.b.c", "e30.e30.e30", "not a token"] {
            acme.says(Document::TokenAnswer, json!({"id_token": token}));

            error_of(&consent(&app, &acme, "acme").await);
        }
        assert_eq!(user_count(&app).await, 0);
    }

    async fn issuer_must_be_the_provider_to_the_letter(app) {
        let issuers = ["https://evil.example", "http://127.0.0.1", ""].map(|issuer| json!({"iss": issuer}));
        claims_are_refused(&app, issuers.into_iter().chain([json!({"iss": null}), json!({"iss": ["x"]})])).await;
    }

    async fn audience_must_be_our_client(app) {
        let other = "another-client";
        claims_are_refused(&app, [
            json!({"aud": other}),
            json!({"aud": null}),
            json!({"aud": [other]}),
            json!({"aud": []}),
            json!({"aud": {"client": PROVIDER_CLIENT_ID}}),
            json!({"aud": PROVIDER_CLIENT_ID.to_uppercase()}),
        ])
        .await;
    }

    async fn audience_of_our_client_alone_may_be_a_list(app) {
        claims_are_accepted(&app, [json!({"aud": [PROVIDER_CLIENT_ID]})]).await;
    }

    async fn authorized_party_must_be_our_client(app) {
        let both = json!([PROVIDER_CLIENT_ID, "another-client"]);
        claims_are_refused(&app, [
            json!({"azp": "another-client"}),
            json!({"aud": both, "azp": "another-client"}),
            json!({"aud": both}),
            json!({"azp": [PROVIDER_CLIENT_ID]}),
        ])
        .await;
    }

    async fn audience_of_several_clients_needs_our_authorized_party(app) {
        let aud = json!([PROVIDER_CLIENT_ID, "another-client"]);
        claims_are_accepted(&app, [json!({"aud": aud, "azp": PROVIDER_CLIENT_ID}), json!({"azp": PROVIDER_CLIENT_ID})]).await;
    }

    async fn expired_id_token_is_refused(app) {
        let now = now(&app);
        claims_are_refused(&app, [json!({"exp": now - 1}), json!({"exp": now - 3600}), json!({"exp": null})]).await;
    }

    async fn id_token_that_is_not_valid_yet_is_refused(app) {
        let now = now(&app);
        claims_are_refused(&app, [json!({"nbf": now + 3600}), json!({"nbf": "soon"})]).await;
    }

    async fn id_token_from_the_future_is_refused(app) {
        let now = now(&app);
        claims_are_refused(&app, [61, 3600].map(|ahead| json!({"iat": now + ahead, "exp": now + 7200}))).await;
    }

    async fn id_token_of_more_than_ten_minutes_ago_is_refused(app) {
        let now = now(&app);
        claims_are_refused(&app, [json!({"iat": now - 601}), json!({"iat": 0}), json!({"iat": null})]).await;
    }

    async fn clocks_may_differ_a_little(app) {
        let now = now(&app);
        claims_are_accepted(&app, [json!({"iat": now + 60}), json!({"iat": now - 600}), json!({"nbf": now})]).await;
    }

    async fn dates_are_numbers(app) {
        let now = now(&app);
        let text = now.to_string();
        claims_are_refused(&app, [
            json!({"iat": text}),
            json!({"exp": (now + 300).to_string()}),
            json!({"exp": "2036-03-02T10:00:00Z"}),
            json!({"iat": true}),
            json!({"exp": [now + 300]}),
            json!({"nbf": text}),
        ])
        .await;
    }

    async fn nonce_must_be_that_of_the_start(app) {
        claims_are_refused(&app, [json!({"nonce": "another"}), json!({"nonce": null}), json!({"nonce": [""]})]).await;
    }

    async fn id_token_of_another_flow_is_refused(app) {
        let acme = acme(&app).await;
        // Uses the nonce of another sign-in.
        let url = auth_url(&app.anon(), "acme").await;
        let url: url::Url = url.parse().unwrap();
        let stolen = acme.id_token(latchkey_testkit::answer::parameter(&url, "nonce").as_deref());
        acme.says(Document::TokenAnswer, json!({"id_token": stolen}));

        error_of(&consent(&app, &acme, "acme").await);
    }

    async fn userinfo_about_another_user_is_refused(app) {
        is_not_believed(&app, |acme| {
            acme.says(Document::IdToken, json!({"email": null, "email_verified": null}));
            acme.says(Document::UserInfo, json!({"sub": "bob", "email": "bob@example.org"}));
        })
        .await;
    }

    async fn userinfo_without_a_subject_is_refused(app) {
        is_not_believed(&app, |acme| {
            acme.says(Document::IdToken, json!({"email": null, "email_verified": null}));
            acme.says(Document::UserInfo, json!({"sub": null}));
        })
        .await;
    }

    async fn verified_address_is_a_json_true(app) {
        let acme = acme(&app).await;
        for said in [json!("true"), json!(1), json!("1"), json!("yes"), json!([true]), json!({"value": true})] {
            let mut claims = person(&format!("sub-{said}"), &format!("ada{}@example.org", said.to_string().len()));
            claims["sub"] = json!(format!("{said}"));
            claims["email"] = json!(format!("ada{}@example.org", user_count(&app).await));
            claims["email_verified"] = said.clone();
            acme.person(claims);

            let body = sign_in(&app, &acme, "acme").await.expect(200);

            assert_eq!(body["user"]["emailVerified"], false, "{said}");
        }
    }

    // nOAuth attack: the attacker enters the victim's address in a directory of their own. The token does not claim
    // that the address is verified.
    async fn no_auth_address_of_a_foreign_directory_opens_no_account(app) {
        let acme = acme(&app).await;
        let victim = session(&app, &acme, "acme").await;
        let directory = provider(&app, "directory").await;
        directory.person(json!({"sub": "attacker", "email": "ada@example.org", "tid": "another-tenant", "name": "Ada"}));

        let error = error_of(&consent(&app, &directory, "directory").await);

        assert!(error.contains("sign in to link this provider"), "{error}");
        assert_eq!(crate::oauth_calls::identities(&app.with_session(&victim)).await, ["acme"]);
    }

    async fn discovery_of_another_issuer_is_refused(app) {
        let acme = acme(&app).await;
        acme.says(Document::Discovery, json!({"issuer": "https://evil.example"}));

        start(&app.anon(), "acme").send().await.refused(503, "SERVICE_BUSY");

        assert_eq!(acme.asked(Endpoint::Token), 0);
    }

    async fn metadata_that_names_a_dangerous_endpoint_is_refused(app) {
        let acme = acme(&app).await;
        for endpoint in ["javascript:alert(1)", "file:///etc/passwd", "ftp://x.example/", "", "//evil.example/"] {
            acme.is_honest();
            acme.says(Document::Discovery, json!({"authorization_endpoint": endpoint}));

            let answer = start(&app.anon(), "acme").send().await;

            assert_eq!(answer.status, 503, "{endpoint}: {answer:?}");
        }
    }

    async fn key_that_was_rotated_is_fetched(app) {
        let acme = acme(&app).await;
        session(&app, &acme, "acme").await;
        acme.rotates_its_key();

        session(&app, &acme, "acme").await;

        assert_eq!(acme.asked(Endpoint::Jwks), 2);
    }

    async fn metadata_and_keys_are_asked_for_once(app) {
        let acme = acme(&app).await;

        for _ in 0..5 {
            code_of(&consent(&app, &acme, "acme").await);
        }

        assert_eq!((acme.asked(Endpoint::Discovery), acme.asked(Endpoint::Jwks)), (1, 1));
        assert_eq!(acme.asked(Endpoint::Token), 5);
    }

    async fn unknown_keys_cause_limited_fetches(app) {
        let acme = acme(&app).await;
        session(&app, &acme, "acme").await;
        acme.says(Document::IdTokenHeader, json!({"kid": "unknown"}));

        for _ in 0..40 {
            error_of(&consent(&app, &acme, "acme").await);
        }

        assert!(acme.asked(Endpoint::Jwks) <= 21, "{}", acme.asked(Endpoint::Jwks));
    }
}
