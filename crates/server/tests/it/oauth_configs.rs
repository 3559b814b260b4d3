//! Tests of the configuration of identity providers by an admin.

use latchkey_testkit::{LyingProvider, TestApp, Value, both_stores, json};

use crate::described::assert_successes_are_described;
use crate::oauth_calls::{self, acme, configure, start};

const GOOGLE: &str = "/api/auth/oauth/google/config";
const ACME: &str = "/api/auth/oauth/custom/acme/config";
const SECRET: &str = "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gain";

fn google() -> Value {
    json!({"provider": "google", "clientId": "1234.apps.googleusercontent.com", "clientSecret": SECRET})
}

fn custom(key: &str) -> Value {
    let endpoint = "https://id.acme.example/.well-known/openid-configuration";
    json!({"key": key, "name": "Acme", "discoveryEndpoint": endpoint, "clientId": "c", "clientSecret": SECRET})
}

async fn create_google(app: &TestApp) -> Value {
    app.admin().post("/api/auth/oauth/configs", google()).send().await.expect(200)
}

async fn is_refused(app: &TestApp, path: &str, body: Value, field: &str) {
    let refusal = app.admin().post(path, body.clone()).send().await.refused(400, "VALIDATION_ERROR");
    assert!(refusal["message"].as_str().unwrap().contains(field), "{body}: {refusal}");
}

both_stores! {
    async fn responses_about_providers_match_the_document(app) {
        let (acme, ada) = (acme(&app).await, app.user("ada").await);
        let (anon, admin) = (app.anon(), app.admin());
        let (one, all) = (ACME, "/api/auth/oauth/custom/configs");
        let (google, built_in) = (GOOGLE, "/api/auth/oauth/configs");
        let credentials = json!({"provider": "google", "clientId": "c", "clientSecret": "s"});
        let callback = acme.consent(&oauth_calls::auth_url(&anon, "acme").await);
        let code = oauth_calls::link_code(&ada, &acme, "acme").await;
        let linked = oauth_calls::exchange(&ada, &code, oauth_calls::VERIFIER);
        let code = oauth_calls::code(&app, &acme, "acme").await;

        let requests = [
            ("POST /api/auth/oauth/exchange", linked),
            ("POST /api/auth/oauth/exchange", oauth_calls::exchange(&anon, &code, oauth_calls::VERIFIER)),
            ("GET /api/auth/oauth/custom/{key}", start(&anon, "acme")),
            ("GET /api/auth/oauth/custom/{key}/callback", anon.get(callback.as_str())),
            ("GET /api/auth/identities", ada.get("/api/auth/identities")),
            ("POST /api/auth/identities/{provider}/link", oauth_calls::link(&ada, "acme")),
            ("GET /api/auth/oauth/custom/configs", admin.get(all)),
            ("GET /api/auth/oauth/custom/{key}/config", admin.get(one)),
            ("PUT /api/auth/oauth/custom/{key}/config", admin.put(one, json!({"name": "Acme 2"}))),
            ("DELETE /api/auth/oauth/custom/{key}/config", admin.delete(one)),
            ("POST /api/auth/oauth/configs", admin.post(built_in, credentials)),
            ("GET /api/auth/oauth/configs", admin.get(built_in)),
            ("GET /api/auth/oauth/{provider}/config", admin.get(google)),
            ("PUT /api/auth/oauth/{provider}/config", admin.put(google, json!({"scopes": ["openid"]}))),
            ("DELETE /api/auth/oauth/{provider}/config", admin.delete(google)),
        ];

        assert_successes_are_described(&app, requests).await;
    }

    async fn built_in_provider_needs_credentials_alone(app) {
        let created = create_google(&app).await;

        assert_eq!(created, json!({
            "provider": "google",
            "name": "Google",
            "clientId": "1234.apps.googleusercontent.com",
            "hasClientSecret": true,
            "scopes": null,
            "nativeClientIds": [],
            "linkByEmail": true,
            "enabled": true,
            "pinned": false,
            "redirectUri": format!("{}/api/auth/oauth/google/callback", app.public_url()),
            "createdAt": "2026-03-02T10:00:00.000Z",
            "updatedAt": "2026-03-02T10:00:00.000Z",
            "tenant": null,
            "teamId": null,
            "keyId": null,
        }));
        assert_eq!(app.admin().get(GOOGLE).send().await.expect(200), created);
        let list = app.admin().get("/api/auth/oauth/configs").send().await.expect(200);
        assert_eq!(list, json!({"data": [created], "count": 1}));
    }

    async fn custom_provider_is_described_by_its_discovery_document(app) {
        let body = custom("acme");

        let created = app.admin().post("/api/auth/oauth/custom/configs", body).send().await.expect(200);

        assert_eq!((&created["key"], &created["name"]), (&json!("acme"), &json!("Acme")));
        assert_eq!(created["discoveryEndpoint"], "https://id.acme.example/.well-known/openid-configuration");
        assert_eq!(created["hasClientSecret"], true);
        let redirect_uri = format!("{}/api/auth/oauth/custom/acme/callback", app.public_url());
        assert_eq!(created["redirectUri"], redirect_uri);
        assert_eq!(app.admin().get(ACME).send().await.expect(200), created);
        let list = app.admin().get("/api/auth/oauth/custom/configs").send().await.expect(200);
        assert_eq!(list["data"], json!([created]));
    }

    async fn secret_is_written_and_never_read_back(app) {
        create_google(&app).await;
        app.admin().put(GOOGLE, json!({"clientSecret": format!("{SECRET}-2")})).send().await.expect(200);

        for path in [GOOGLE, "/api/auth/oauth/configs", "/api/auth/config", "/api/auth/audit", "/api/auth/public-config"] {
            let answer = app.admin().get(path).send().await;
            assert!(!answer.text().contains("GOCSPX"), "{answer:?}");
        }
        let folder = std::fs::read_dir(app.folder()).unwrap();
        for file in folder {
            let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
            let is_there = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
            assert!(!is_there, "the secret stands in the database in the clear");
        }
    }

    async fn change_is_partial(app) {
        let provider = LyingProvider::start(&app.clock).await;
        configure(&app, &provider.custom("acme")).await;

        let changed = app.admin().put(ACME, json!({"scopes": ["openid", "email"]})).send().await.expect(200);

        assert_eq!((&changed["scopes"], &changed["name"]), (&json!(["openid", "email"]), &json!("Acme")));
        crate::oauth_calls::session(&app, &provider, "acme").await;
        let changed = app.admin().put(ACME, json!({"scopes": null})).send().await.expect(200);
        assert_eq!(changed["scopes"], json!(null));
    }

    async fn disabled_provider_opens_no_session_and_is_not_listed(app) {
        let acme = acme(&app).await;
        app.admin().put(ACME, json!({"enabled": false})).send().await.expect(200);

        start(&app.anon(), "acme").send().await.refused(400, "PROVIDER_NOT_CONFIGURED");

        let public = app.anon().get("/api/auth/public-config").send().await.expect(200);
        assert_eq!(public["customOAuthProviders"], json!([]));
        app.admin().put(ACME, json!({"enabled": true})).send().await.expect(200);
        crate::oauth_calls::session(&app, &acme, "acme").await;
    }

    async fn removed_provider_is_gone(app) {
        create_google(&app).await;

        app.admin().delete(GOOGLE).send().await.expect(200);

        app.admin().get(GOOGLE).send().await.refused(404, "NOT_FOUND");
        app.admin().delete(GOOGLE).send().await.refused(404, "NOT_FOUND");
        let list = app.admin().get("/api/auth/oauth/configs").send().await.expect(200);
        assert_eq!(list, json!({"data": [], "count": 0}));
        create_google(&app).await;
    }

    async fn key_in_use_is_refused(app) {
        create_google(&app).await;
        let _acme = acme(&app).await;

        let again = app.admin().post("/api/auth/oauth/configs", google()).send().await;
        again.refused(409, "PROVIDER_EXISTS");
        for key in ["acme", "google", "github"] {
            let again = app.admin().post("/api/auth/oauth/custom/configs", custom(key)).send().await;
            again.refused(409, "PROVIDER_EXISTS");
        }
    }

    async fn unknown_built_in_provider_is_refused(app) {
        for provider in ["acme", "custom-one"] {
            let mut body = google();
            body["provider"] = json!(provider);
            let answer = app.admin().post("/api/auth/oauth/configs", body).send().await;
            answer.refused(400, "UNSUPPORTED_PROVIDER");
        }
    }

    async fn description_that_cannot_be_used_names_its_field(app) {
        let (built_in, all_custom) = ("/api/auth/oauth/configs", "/api/auth/oauth/custom/configs");
        let with = |mut body: Value, field: &str, value: Value| {
            body[field] = value;
            body
        };
        for (field, value) in [
            ("clientId", json!("")),
            ("clientId", json!("has space")),
            ("clientSecret", json!("")),
            ("clientSecret", json!(null)),
            ("scopes", json!(["has space"])),
            ("scopes", json!("openid")),
            ("nativeClientIds", json!([""])),
            ("tenant", json!("common")),
            ("provider", json!("Google")),
        ] {
            is_refused(&app, built_in, with(google(), field, value), field).await;
        }
        for (field, value) in [
            ("key", json!("Acme")),
            ("key", json!("")),
            ("key", json!("a".repeat(65))),
            ("key", json!("email")),
            ("name", json!("")),
            ("discoveryEndpoint", json!("ftp://acme.example/")),
            ("discoveryEndpoint", json!("https://user:password@acme.example/")),
            ("discoveryEndpoint", json!("no address")),
            ("discoveryEndpoint", json!(null)),
        ] {
            is_refused(&app, all_custom, with(custom("acme"), field, value), field).await;
        }
    }

    async fn every_built_in_provider_can_be_configured(app) {
        let keys = [
            "apple", "bitbucket", "discord", "facebook", "figma", "github", "gitlab", "google", "instagram", "linkedin",
            "microsoft", "notion", "slack", "spotify", "tiktok", "twitch", "x", "zoom",
        ];
        for key in keys {
            let mut body = google();
            body["provider"] = json!(key);
            app.admin().post("/api/auth/oauth/configs", body).send().await.expect(200);
        }
        let public = app.anon().get("/api/auth/public-config").send().await.expect(200);
        assert_eq!(public["oAuthProviders"], json!(keys));
    }

    async fn key_in_place_of_a_secret_is_apples_alone(app) {
        let mut body = google();
        for (field, value) in [("teamId", "TEAM"), ("keyId", "KEY"), ("privateKey", "no key")] {
            body[field] = json!(value);
        }
        is_refused(&app, "/api/auth/oauth/configs", body, "clientSecret").await;
        let mut body = google();
        body["provider"] = json!("apple");
        body["privateKey"] = json!("no key");
        body.as_object_mut().unwrap().remove("clientSecret");
        is_refused(&app, "/api/auth/oauth/configs", body, "privateKey").await;
    }

    async fn only_an_admin_configures(app) {
        let bob = app.user("bob").await;
        for (method, path) in [
            ("GET", "/api/auth/oauth/configs"),
            ("POST", "/api/auth/oauth/configs"),
            ("GET", GOOGLE),
            ("PUT", GOOGLE),
            ("DELETE", GOOGLE),
            ("GET", "/api/auth/oauth/custom/configs"),
            ("POST", "/api/auth/oauth/custom/configs"),
            ("GET", ACME),
            ("PUT", ACME),
            ("DELETE", ACME),
        ] {
            app.anon().request(method, path).json(&google()).send().await.refused(401, "ADMIN_UNAUTHORIZED");
            bob.request(method, path).json(&google()).send().await.refused(403, "FORBIDDEN");
        }
    }

    async fn other_instances_know_within_a_second(app) {
        let beside = app.beside().await;
        let acme = acme(&app).await;

        // The start of a sign-in sees the new provider at once; lists show it after the next synchronisation.
        start(&beside.anon(), "acme").send().await.expect(200);
        beside.run_jobs().await;
        let public = beside.anon().get("/api/auth/public-config").send().await.expect(200);

        assert_eq!(public["customOAuthProviders"], json!(["acme"]));
        app.admin().delete(ACME).send().await.expect(200);
        beside.run_jobs().await;
        start(&beside.anon(), "acme").send().await.refused(400, "UNSUPPORTED_PROVIDER");
        drop(acme);
    }

    async fn providers_outlive_a_restart(mut app) {
        let acme = acme(&app).await;
        app.restart().await;

        crate::oauth_calls::session(&app, &acme, "acme").await;
    }

    async fn provider_of_the_settings_file_is_pinned(mut app) {
        let provider = LyingProvider::start(&app.clock).await;
        let pinned = provider.pinned("acme");
        app.restart_with(|b| b.oauth(|oauth| oauth.configured.push(pinned))).await;

        let shown = app.admin().get(ACME).send().await.expect(200);

        assert_eq!((&shown["pinned"], &shown["hasClientSecret"]), (&json!(true), &json!(true)));
        app.admin().put(ACME, json!({"enabled": false})).send().await.refused(409, "SETTING_PINNED");
        app.admin().delete(ACME).send().await.refused(409, "SETTING_PINNED");
        let again = app.admin().post("/api/auth/oauth/custom/configs", custom("acme")).send().await;
        again.refused(409, "PROVIDER_EXISTS");
        crate::oauth_calls::session(&app, &provider, "acme").await;
    }

    // A change of the address must repeat the secret. Otherwise whoever has the admin key could have the stored secret
    // sent to a server of their own.
    async fn secret_is_not_sent_to_a_new_address(app) {
        let (acme, other) = (acme(&app).await, LyingProvider::start(&app.clock).await);
        let moved = json!({"discoveryEndpoint": other.custom("acme")["discoveryEndpoint"]});

        let refusal = app.admin().put(ACME, moved.clone()).send().await.refused(400, "VALIDATION_ERROR");

        assert!(refusal["message"].as_str().unwrap().contains("clientSecret"), "{refusal}");
        let same = json!({"discoveryEndpoint": acme.custom("acme")["discoveryEndpoint"], "name": "Acme again"});
        app.admin().put(ACME, same).send().await.expect(200);
        crate::oauth_calls::session(&app, &acme, "acme").await;
        let mut with_secret = moved;
        with_secret["clientSecret"] = other.custom("acme")["clientSecret"].clone();
        app.admin().put(ACME, with_secret).send().await.expect(200);
        crate::oauth_calls::session(&app, &other, "acme").await;
    }

    async fn forbidden_provider_address_is_refused(app) {
        let _acme = acme(&app).await;
        for endpoint in [
            "http://idp.example.com",
            "https://10.0.0.5",
            "https://169.254.169.254/.well-known/openid-configuration",
            "https://[fd00:ec2::254]",
            "https://[::ffff:192.168.0.1]",
        ] {
            let mut body = custom("inside");
            body["discoveryEndpoint"] = json!(endpoint);
            is_refused(&app, "/api/auth/oauth/custom/configs", body, "discoveryEndpoint").await;
            let change = json!({"discoveryEndpoint": endpoint, "clientSecret": SECRET});
            let refusal = app.admin().put(ACME, change).send().await.refused(400, "VALIDATION_ERROR");
            assert!(refusal["message"].as_str().unwrap().contains("discoveryEndpoint"), "{refusal}");
        }
    }

    parallel async fn changes_of_several_admins_lose_nothing(app) {
        let (_acme, beside) = (acme(&app).await, app.beside().await);
        let changes = [
            ("name", json!("Another name")),
            ("scopes", json!(["openid", "email"])),
            ("nativeClientIds", json!(["native"])),
            ("linkByEmail", json!(false)),
            ("enabled", json!(false)),
        ];
        let racers = changes.clone().into_iter().enumerate().map(|(number, (field, value))| {
            let admin = if number % 2 == 0 { app.admin() } else { beside.admin() };
            let mut change = json!({});
            change[field] = value;
            tokio::spawn(async move { admin.put(ACME, change).send().await.expect(200) })
        });
        for racer in racers.collect::<Vec<_>>() {
            racer.await.unwrap();
        }

        app.run_jobs().await;
        let shown = app.admin().get(ACME).send().await.expect(200);
        for (field, value) in changes {
            assert_eq!(shown[field], value, "{shown}");
        }
    }
}
