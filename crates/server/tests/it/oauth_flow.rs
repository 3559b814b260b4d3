//! Tests of signInWithOAuth: start, callback, exchange. Errors are in the other `oauth_` files.

use latchkey_testkit::answer::parameter;
use latchkey_testkit::{Session, both_stores, json};
use url::Url;

use crate::oauth_calls::{
    APP, CHALLENGE, VERIFIER, acme, auth_url, auth_url_of, code, code_of, come_back, consent, exchange,
    identities, person, provider, session, sign_in, start,
};

both_stores! {
    async fn start_answers_with_an_address_at_the_provider(app) {
        let acme = acme(&app).await;

        let url = Url::parse(&auth_url(&app.anon(), "acme").await).unwrap();

        assert!(url.as_str().starts_with(&format!("{}/authorize?", acme.issuer())), "{url}");
        let of = |name: &str| parameter(&url, name).unwrap_or_default();
        assert_eq!(of("redirect_uri"), format!("{}/api/auth/oauth/custom/acme/callback", app.public_url()));
        assert_eq!((of("response_type"), of("code_challenge_method")), ("code".into(), "S256".into()));
        assert!(of("state").len() >= 43 && of("nonce").len() >= 43, "256 random bits each: {url}");
        assert_ne!(of("code_challenge"), CHALLENGE, "the provider's challenge is our own");
        assert_eq!(of("scope"), "openid email profile");
    }

    async fn start_of_a_built_in_provider_sends_no_request(app) {
        for (key, endpoint) in [
            ("apple", "https://appleid.apple.com/auth/authorize"),
            ("gitlab", "https://gitlab.com/oauth/authorize"),
            ("google", "https://accounts.google.com/o/oauth2/v2/auth"),
            ("microsoft", "https://login.microsoftonline.com/common/oauth2/v2.0/authorize"),
            ("slack", "https://slack.com/openid/connect/authorize"),
            ("twitch", "https://id.twitch.tv/oauth2/authorize"),
        ] {
            let credentials = json!({"provider": key, "clientId": "client", "clientSecret": "secret"});
            app.admin().post("/api/auth/oauth/configs", credentials).send().await.expect(200);
            let start = app.anon().get(&format!("/api/auth/oauth/{key}")).query("redirect_uri", APP);

            let auth_url = auth_url_of(&start.query("code_challenge", CHALLENGE).send().await);

            assert_eq!(auth_url.split('?').next(), Some(endpoint));
        }
    }

    async fn no_two_starts_are_alike(app) {
        let _acme = acme(&app).await;

        let one = Url::parse(&auth_url(&app.anon(), "acme").await).unwrap();
        let other = Url::parse(&auth_url(&app.anon(), "acme").await).unwrap();

        for name in ["state", "nonce", "code_challenge"] {
            assert_ne!(parameter(&one, name), parameter(&other, name), "{name}");
        }
    }

    async fn start_demands_a_challenge_of_43_characters(app) {
        let _acme = acme(&app).await;
        let start = |challenge: &str| {
            let start = app.anon().get("/api/auth/oauth/custom/acme").query("redirect_uri", APP);
            if challenge.is_empty() { start } else { start.query("code_challenge", challenge) }
        };

        for challenge in ["", "short", &CHALLENGE[1..], &format!("{CHALLENGE}A"), &CHALLENGE.replace('-', "+")] {
            let refusal = start(challenge).send().await.refused(400, "VALIDATION_ERROR");

            assert!(refusal["message"].as_str().unwrap().contains("code_challenge"), "{refusal}");
        }
    }

    with(|b| b.redirects(&["https://app.example/**"]).default_redirect("https://app.example/home"))
    async fn default_redirect_replaces_a_missing_one(app) {
        let acme = acme(&app).await;
        let start = app.anon().get("/api/auth/oauth/custom/acme").query("code_challenge", CHALLENGE);

        let auth_url = auth_url_of(&start.send().await);

        let target = come_back(&app.anon(), &acme.consent(&auth_url)).await;
        assert_eq!((target.host_str(), target.path()), (Some("app.example"), "/home"));
        code_of(&target);
    }

    async fn start_without_any_redirect_is_refused(app) {
        let _acme = acme(&app).await;
        let start = app.anon().get("/api/auth/oauth/custom/acme").query("code_challenge", CHALLENGE);

        let refusal = start.send().await.refused(400, "VALIDATION_ERROR");

        assert!(refusal["message"].as_str().unwrap().contains("redirect_uri"), "{refusal}");
    }

    with(|b| b.redirects(&["https://app.example/**"]))
    async fn start_with_a_redirect_off_the_list_is_refused(app) {
        let acme = acme(&app).await;

        for target in ["https://evil.example/", "https://app.example@evil.example/", "javascript:alert(1)"] {
            let start = app.anon().get("/api/auth/oauth/custom/acme").query("code_challenge", CHALLENGE);
            start.query("redirect_uri", target).send().await.refused(400, "REDIRECT_NOT_ALLOWED");
        }

        assert_eq!(acme.asked(latchkey_testkit::provider::Endpoint::Token), 0);
    }

    async fn unknown_and_unconfigured_providers_have_different_errors(app) {
        for (path, code) in [
            ("/api/auth/oauth/no-such-provider", "UNSUPPORTED_PROVIDER"),
            ("/api/auth/oauth/google", "PROVIDER_NOT_CONFIGURED"),
            ("/api/auth/oauth/custom/no-such-provider", "UNSUPPORTED_PROVIDER"),
            ("/api/auth/oauth/custom/google", "UNSUPPORTED_PROVIDER"),
            ("/api/auth/oauth/GOOGLE", "UNSUPPORTED_PROVIDER"),
        ] {
            let start = app.anon().get(path).query("redirect_uri", APP).query("code_challenge", CHALLENGE);

            start.send().await.refused(400, code);
        }
    }

    async fn hints_reach_the_provider_and_reserved_fields_do_not(app) {
        let acme = acme(&app).await;
        let reserved = [
            "client_id", "state", "nonce", "scope", "response_type", "response_mode", "code_challenge_method",
            "request", "request_uri", "registration", "claims",
        ];
        let start = start(&app.anon(), "acme").query("login_hint", "ada+x@example.org").query("prompt", "login");
        let start = reserved.iter().fold(start, |start, name| start.query(name, "evil"));

        let auth_url = auth_url_of(&start.send().await);

        let url = Url::parse(&auth_url).unwrap();
        assert_eq!(parameter(&url, "login_hint").as_deref(), Some("ada+x@example.org"));
        assert_eq!(parameter(&url, "prompt").as_deref(), Some("login"));
        assert!(!auth_url.contains("evil") && !auth_url.contains("localhost%3A3000"), "{auth_url}");
        code_of(&come_back(&app.anon(), &acme.consent(&auth_url)).await);
    }

    async fn callback_redirects_to_the_app_with_only_a_code(app) {
        let acme = acme(&app).await;

        let target = consent(&app, &acme, "acme").await;

        let code = code_of(&target);
        assert!(code.len() >= 43, "256 random bits: {code}");
        assert_eq!(target.as_str(), format!("http://localhost:3000/welcome?from=acme&service_code={code}#top"));
    }

    with(|b| b.config(|config| config.site.redirect_param_prefix = "lk".to_owned()))
    async fn prefix_of_the_parameter_is_a_setting(app) {
        let acme = acme(&app).await;

        let target = consent(&app, &acme, "acme").await;

        assert!(parameter(&target, "lk_code").is_some(), "{target}");
        assert_eq!(parameter(&target, "service_code"), None);
    }

    async fn provider_may_return_by_a_form(app) {
        let acme = acme(&app).await;
        let mut callback = acme.consent(&auth_url(&app.anon(), "acme").await);
        let form = callback.query().unwrap().to_owned();
        callback.set_query(None);

        // Headers that a browser sends when a page of the provider submits a form.
        let browser = app.anon().with_header("origin", &acme.issuer()).with_header("sec-fetch-site", "cross-site");
        let request = browser.request("POST", callback.as_str());
        let target = request.raw("application/x-www-form-urlencoded", form).send().await.redirected();

        exchange(&app.anon(), &code_of(&target), VERIFIER).send().await.expect(200);
    }

    async fn exchange_responds_like_a_sign_in(app) {
        let acme = acme(&app).await;

        let body = sign_in(&app, &acme, "acme").await.expect(200);

        let mut keys: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["accessToken", "csrfToken", "user"]);
        assert_eq!(body["user"]["email"], "ada@example.org");
        assert_eq!(body["user"]["emailVerified"], true);
        assert_eq!(body["user"]["providers"], json!(["acme"]));
        assert_eq!(body["user"]["metadata"], json!({}));
    }

    async fn session_of_an_exchange_lives_like_any_other(app) {
        let acme = acme(&app).await;
        let web = session(&app, &acme, "acme").await;
        let code = code(&app, &acme, "acme").await;
        let exchange = exchange(&app.anon(), &code, VERIFIER).client_type("server");
        let server = Session::of(&exchange.send().await);
        assert!(web.cookie.is_some() && server.refresh_token.is_some() && server.cookie.is_none());

        for session in [&web, &server] {
            let refreshed = Session::of(&app.anon().refresh(session).send().await);
            app.with_session(&refreshed).get("/api/auth/sessions/current").send().await.expect(200);
        }
        app.anon().sign_out(&server).send().await.expect(200);
        let current = app.with_session(&server).get("/api/auth/sessions/current").send().await;
        current.refused(401, "AUTH_UNAUTHORIZED");
    }

    async fn first_sign_in_takes_name_and_picture_and_later_ones_do_not(app) {
        let acme = acme(&app).await;
        let first = session(&app, &acme, "acme").await;
        let ada = app.with_session(&first);
        let profile = ada.get("/api/profiles/me").send().await.expect(200);
        assert_eq!(profile["name"], "Ada of the provider");
        assert_eq!(profile["avatar_url"], "https://pictures.example.org/ada.png");

        ada.patch("/api/profiles/me", json!({"name": "Ada", "avatar_url": null})).send().await.expect(200);
        let again = session(&app, &acme, "acme").await;

        assert_eq!(again.user_id, first.user_id);
        let profile = app.with_session(&again).get("/api/profiles/me").send().await.expect(200);
        assert_eq!((&profile["name"], &profile["avatar_url"]), (&json!("Ada"), &json!(null)));
    }

    async fn long_name_is_cut_and_an_invalid_picture_is_dropped(app) {
        let acme = acme(&app).await;
        let mut claims = person("ada", "ada@example.org");
        claims["name"] = json!(format!(" Ada\u{0}\n{}", "ä".repeat(150)));
        claims["picture"] = json!("javascript:alert(1)");
        acme.person(claims);

        let ada = session(&app, &acme, "acme").await;

        let profile = app.with_session(&ada).get("/api/profiles/me").send().await.expect(200);
        let name = profile["name"].as_str().unwrap();
        assert!(name.starts_with("Ada") && name.chars().count() == 100, "{name}");
        assert_eq!(profile["avatar_url"], json!(null));
    }

    async fn userinfo_gives_what_the_id_token_leaves_out(app) {
        use latchkey_testkit::provider::Document::IdToken;
        let acme = acme(&app).await;
        acme.says(IdToken, json!({"email": null, "email_verified": null, "name": null, "picture": null}));

        let body = sign_in(&app, &acme, "acme").await.expect(200);

        assert_eq!(body["user"]["email"], "ada@example.org");
        assert_eq!(body["user"]["emailVerified"], true);
        assert_eq!(body["user"]["profile"]["name"], "Ada of the provider");
    }

    async fn same_subject_at_another_provider_is_another_user(app) {
        let (acme, other) = (acme(&app).await, provider(&app, "other").await);
        acme.person(person("1", "ada@example.org"));
        other.person(person("1", "bob@example.org"));

        let (ada, bob) = (session(&app, &acme, "acme").await, session(&app, &other, "other").await);

        assert_ne!(ada.user_id, bob.user_id);
        assert_eq!(identities(&app.with_session(&bob)).await, ["other"]);
    }

    async fn public_settings_list_the_providers(app) {
        let _acme = acme(&app).await;
        let google = json!({"provider": "google", "clientId": "client", "clientSecret": "secret"});
        app.admin().post("/api/auth/oauth/configs", google).send().await.expect(200);

        let body = app.anon().get("/api/auth/public-config").send().await.expect(200);

        assert_eq!(body["oAuthProviders"], json!(["google"]));
        assert_eq!(body["customOAuthProviders"], json!(["acme"]));
    }

    async fn head_of_the_callback_uses_nothing_up(app) {
        let acme = acme(&app).await;
        let callback = acme.consent(&auth_url(&app.anon(), "acme").await);

        app.anon().request("HEAD", callback.as_str()).send().await;

        code_of(&come_back(&app.anon(), &callback).await);
    }

    async fn flow_that_one_instance_began_ends_on_another(app) {
        let acme = acme(&app).await;
        let beside = app.beside().await;

        let auth_url = auth_url(&app.anon(), "acme").await;
        let target = come_back(&beside.anon(), &acme.consent(&auth_url)).await;

        let session = Session::of(&exchange(&app.anon(), &code_of(&target), VERIFIER).send().await);
        beside.with_session(&session).get("/api/profiles/me").send().await.expect(200);
    }
}
