//! Tests of the operator's settings of passkeys: off, the relying party id, and the origins.

use latchkey_domain::passkey::RpId;
use latchkey_service::passkeys::RelyingParty;
use latchkey_testkit::{Device, Passkey, TestAppBuilder, User, both_stores, json};

use crate::described::assert_successes_are_described;
use crate::passkey_calls::{enable, passkeys, providers, remove, sign_in};
use crate::two_step_calls::account;

const WELL_KNOWN: &str = "/.well-known/webauthn";

/// Changes the relying party.
fn party(builder: TestAppBuilder, change: impl FnOnce(&mut RelyingParty)) -> TestAppBuilder {
    builder.config(|config| change(&mut config.relying_party))
}

fn origins(list: &[&str]) -> Vec<String> {
    list.iter().map(|&origin| origin.to_owned()).collect()
}

/// Registers a passkey at a page of this origin; the status of the answer, and the passkey.
async fn register_at(user: &User, origin: &str) -> (u16, Passkey) {
    let begun = user.begin_passkey().await;
    let creation = Device::at(origin).create(&begun.options);
    let answer = user.register_passkey(&begun.id, &creation.to_json()).send().await;
    (answer.status, creation.passkey)
}

both_stores! {
    async fn public_config_says_whether_there_are_passkeys(app) {
        let shown = async || app.anon().get("/api/auth/public-config").send().await.expect(200);
        assert_eq!(shown().await["passkeys"], true);

        enable(&app, false).await;

        assert_eq!(shown().await["passkeys"], false);
        let config = app.admin().get("/api/auth/config").send().await.expect(200);
        assert_eq!(config["passkeys"], false);
    }

    async fn off_stops_registration_and_sign_in(app) {
        let ada = app.passkey_user("ada").await;
        let (registration, entry) = (ada.begin_passkey().await, app.anon().begin_passkey_sign_in().await);
        enable(&app, false).await;

        let creation = app.phone().create(&registration.options).to_json();
        let assertion = ada.passkey.clone().sign(&entry.options).to_json();
        for request in [
            ada.creation_options(),
            ada.register_passkey(&registration.id, &creation),
            app.anon().request_options(),
            app.anon().end_passkey_sign_in(&entry.id, &assertion),
        ] {
            request.send().await.refused(403, "FEATURE_DISABLED");
        }
    }

    async fn off_leaves_list_rename_and_removal(app) {
        let ada = app.passkey_user("ada").await;
        enable(&app, false).await;

        let list = passkeys(&ada).await;
        assert_eq!(list["passkeys"][0]["id"], json!(ada.passkey_id));
        let path = format!("/api/auth/passkeys/{}", ada.passkey_id);
        ada.patch(&path, json!({"name": "Old phone"})).send().await.expect(200);
        assert_eq!(account(&ada).await["passkeyCount"], 1);
        remove(&ada, &ada.passkey_id).send().await.expect(200);
    }

    async fn on_again_everything_is_as_before(app) {
        let ada = app.passkey_user("ada").await;
        enable(&app, false).await;

        enable(&app, true).await;

        sign_in(&app.anon(), &mut ada.passkey.clone()).await.expect(200);
        ada.add_passkey(&app.phone()).await;
    }

    with(|b| b.verification_by_code().settings(|settings| {
        settings.second_factor = latchkey_domain::challenge::SecondFactorPolicy::Off;
    }))
    async fn second_factors_off_leaves_passkeys_on(app) {
        let ada = app.passkey_user("ada").await;

        sign_in(&app.anon(), &mut ada.passkey.clone()).await.expect(200);
    }

    with(|b| party(b, |party| party.id = None))
    async fn there_are_no_passkeys_without_a_domain(app) {
        let ada = app.user("ada").await;

        ada.creation_options().send().await.refused(403, "FEATURE_DISABLED");
        app.anon().request_options().send().await.refused(403, "FEATURE_DISABLED");
        let shown = app.anon().get("/api/auth/public-config").send().await.expect(200);
        assert_eq!(shown["passkeys"], false);
        let list = ada.get("/api/auth/passkeys").send().await.expect(200);
        assert_eq!((&list["passkeys"], &list["rpId"]), (&json!([]), &json!(null)));
    }

    async fn passkey_of_another_domain_is_kept_but_unusable(mut app) {
        let ada = app.passkey_user("ada").await;
        app.restart_with(|b| party(b, |party| party.id = Some(RpId::new("example.org")))).await;

        let list = passkeys(&ada).await;
        let mut new_domain = ada.passkey.clone();
        "example.org".clone_into(&mut new_domain.rp_id);

        assert_eq!((&list["passkeys"][0]["usable"], &list["rpId"]), (&json!(false), &json!("example.org")));
        assert_eq!(list["acceptedCredentialIds"], json!([]));
        assert_eq!(providers(&ada).await, json!(["email"]));
        for mut passkey in [ada.passkey.clone(), new_domain] {
            sign_in(&app.anon(), &mut passkey).await.refused(401, "UNKNOWN_PASSKEY");
        }
        let challenge = ada.reauthenticate().send().await.expect(200);
        assert_eq!(challenge["challenge"]["kinds"], json!(["password"]));
        app.restart_with(|b| party(b, |party| party.id = Some(RpId::new("localhost")))).await;
        sign_in(&app.anon(), &mut ada.passkey.clone()).await.expect(200);
        assert_eq!(passkeys(&ada).await["passkeys"][0]["usable"], true);
        assert_eq!(providers(&ada).await, json!(["email", "passkey"]));
    }

    with(|b| b.verification_by_code())
    async fn unusable_passkey_is_no_second_factor(mut app) {
        let ada = app.two_step_user("ada").await;
        ada.add_passkey(&app.phone()).await;
        app.restart_with(|b| party(b, |party| party.id = Some(RpId::new("example.org")))).await;

        let answer = app.anon().sign_in(&ada.email, &ada.password).send().await;

        assert_eq!(answer.json()["challenge"]["kinds"], json!(["totp", "recovery_code"]));
        let totp = format!("/api/auth/factors/totp/{}", ada.factor_id);
        ada.delete(&totp).send().await.refused(409, "LAST_SECOND_FACTOR");
    }

    // It is neither a second factor nor a way in, so it is never the last one.
    with(|b| b.verification_by_code())
    async fn unusable_passkey_can_always_be_removed(mut app) {
        let ada = app.two_step_user("ada").await;
        let (_, id) = ada.add_passkey(&app.phone()).await;
        ada.delete(&format!("/api/auth/factors/totp/{}", ada.factor_id)).send().await.expect(200);
        app.restart_with(|b| party(b, |party| party.id = Some(RpId::new("example.org")))).await;

        remove(&ada, &id).send().await.expect(200);

        assert_eq!(account(&ada).await["passkeyCount"], 0);
    }

    async fn unusable_passkey_is_no_last_way_in(mut app) {
        let client = app.with_session(&crate::passkey_calls::passwordless(&app).await);
        let (_, id) = client.add_passkey(&app.phone()).await;
        client.delete("/api/auth/identities/acme").send().await.expect(200);
        app.restart_with(|b| party(b, |party| party.id = Some(RpId::new("example.org")))).await;

        remove(&client, &id).send().await.expect(200);
    }

    // A ceremony names the domain of its time.
    async fn ceremony_does_not_outlive_its_domain(mut app) {
        let ada = app.user("ada").await;
        let begun = ada.begin_passkey().await;
        app.restart_with(|b| party(b, |party| party.id = Some(RpId::new("example.org")))).await;

        let creation = app.phone().create(&begun.options);

        let answer = ada.register_passkey(&begun.id, &creation.to_json()).send().await;
        answer.refused(400, "VALIDATION_ERROR");
    }

    with(|b| party(b.cors_origins(&["https://known.example.org"]), |party| {
        party.origins = origins(&["https://app.example.org", "android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck"]);
    }))
    async fn configured_origins_are_the_only_ones(app) {
        let ada = app.user("ada").await;

        for (origin, status) in [
            ("https://app.example.org", 200),
            ("android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck", 200),
            ("android:apk-key-hash:qNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck", 400),
            ("https://known.example.org", 400),
            ("https://app.example.org:8443", 400),
            ("https://App.example.org", 400),
            ("http://app.example.org", 400),
            ("http://localhost:3000", 400),
            ("http://localhost:8700", 400),
        ] {
            assert_eq!(register_at(&ada, origin).await.0, status, "{origin}");
        }
    }

    with(|b| {
        let apps = b.cors_origins(&["https://app.example.com", "http://plain.example.com"]);
        apps.mode_production().redirects(&["https://shop.example.net/done", "https://*.example.net/"])
    })
    async fn origins_known_to_cors_stand_in_for_missing_ones(app) {
        let ada = app.user("ada").await;

        for (origin, status) in [
            ("https://accounts.example.org", 200),
            ("https://app.example.com", 200),
            ("https://shop.example.net", 200),
            ("https://other.example.net", 400),
            ("http://plain.example.com", 400),
            ("https://other.example.com", 400),
            ("http://localhost:3000", 400),
        ] {
            assert_eq!(register_at(&ada, origin).await.0, status, "{origin}");
        }
    }

    async fn development_takes_every_port_of_localhost(app) {
        let ada = app.user("ada").await;

        for (origin, status) in [
            ("http://localhost:5173", 200),
            ("http://localhost", 200),
            ("http://localhost.evil.example", 400),
            ("http://127.0.0.1:5173", 400),
            ("https://evil.example", 400),
        ] {
            assert_eq!(register_at(&ada, origin).await.0, status, "{origin}");
        }
    }

    with(|b| party(b.mode_production(), |party| {
        party.id = Some(RpId::new("example.org"));
        party.origins = origins(&[
            "https://example.org", "https://app.example.org", "https://example.com", "https://shop.example.net:8443",
            "android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck", "https://notexample.org",
        ]);
    }))
    async fn related_origins_are_published(app) {
        let answer = app.anon().get(WELL_KNOWN).send().await;

        let body = answer.json();
        let expected =
            json!({"origins": ["https://example.com", "https://notexample.org", "https://shop.example.net:8443"]});
        assert_eq!((answer.status, sorted(&body)), (200, expected));
        assert!(answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json")), "{answer:?}");
        assert!(answer.header("cache-control").is_some_and(|value| value.contains("max-age=3600")), "{answer:?}");
    }

    with(|b| b.mode_production().redirects(&["https://shop.example.net/done", "https://accounts.example.org/done"]))
    async fn origins_known_to_cors_are_published_too(app) {
        let answer = app.anon().get(WELL_KNOWN).send().await;

        assert_eq!(answer.expect(200), json!({"origins": ["https://shop.example.net"]}));
        assert_successes_are_described(&app, [("GET /.well-known/webauthn", app.anon().get(WELL_KNOWN))]).await;
    }

    async fn nothing_is_published_where_no_origin_is_related(app) {
        app.anon().get(WELL_KNOWN).send().await.refused(404, "NOT_FOUND");
    }

    with(|b| party(b.mode_production(), |party| party.origins = origins(&["https://example.com"])))
    async fn related_origin_registers_and_signs_in(app) {
        let ada = app.user("ada").await;

        let (status, mut passkey) = register_at(&ada, "https://example.com").await;

        assert_eq!(status, 200);
        sign_in(&app.anon(), &mut passkey).await.expect(200);
    }
}

/// The body with its origins in order, which browsers do not need.
fn sorted(body: &latchkey_testkit::Value) -> latchkey_testkit::Value {
    let mut list: Vec<_> =
        body["origins"].as_array().unwrap().iter().map(|origin| origin.as_str().unwrap()).collect();
    list.sort_unstable();
    json!({"origins": list})
}
