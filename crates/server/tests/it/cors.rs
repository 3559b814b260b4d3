//! Tests of CORS: which origins may read responses.

use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, json};

const EXPOSED: &str = "X-Total-Count, X-Page, X-Page-Size, ETag, Retry-After, X-Request-Id";

const ALLOWED: &str = "authorization, content-type, x-csrf-token, if-match, x-api-key, traceparent, tracestate, \
                       baggage, sentry-trace";

both_stores! {
    with(|b| b.mode_production().cors_origins(&["https://app.example"]))
    async fn known_origin_is_echoed_with_credentials(app) {
        for origin in ["https://app.example", "https://accounts.example.org"] {
            let answer = read_from(&app, origin).await;

            assert_eq!(allowed(&answer), Some(origin));
            assert_eq!(answer.header("access-control-allow-credentials"), Some("true"));
            assert_eq!(answer.header("access-control-expose-headers"), Some(EXPOSED));
            assert!(varies_by_origin(&answer), "{answer:?}");
        }
    }

    with(|b| b.mode_production().cors_origins(&["https://app.example"]))
    async fn unknown_origin_is_answered_but_not_echoed(app) {
        for origin in [
            "https://evil.example",
            "null",
            "http://app.example",
            "https://app.example:444",
            "https://app.example.evil.example",
            "https://app.example/",
            "HTTPS://APP.EXAMPLE",
            "http://localhost:3000",
            "*",
        ] {
            let answer = read_from(&app, origin).await;

            answer.expect(200);
            assert_eq!(allowed(&answer), None, "{origin}");
            assert_eq!(answer.header("access-control-allow-credentials"), None, "{origin}");
            assert!(varies_by_origin(&answer), "{origin}");
        }
    }

    async fn response_to_a_call_without_an_origin_varies_by_origin_too(app) {
        let answer = app.anon().get("/api/auth/public-config").send().await;

        assert!(varies_by_origin(&answer), "{answer:?}");
        assert_eq!(allowed(&answer), None);
    }

    with(|b| b.mode_production().redirects(&[
        "https://one.example/done", "https://two.example:8443/a?b=c", "https://wild.example/**",
        "https://*.three.example/done", "myapp://callback",
    ]))
    async fn redirect_list_makes_its_web_origins_known_where_they_have_no_wildcard(app) {
        for origin in ["https://one.example", "https://two.example:8443"] {
            assert_eq!(allowed(&read_from(&app, origin).await), Some(origin));
        }
        for origin in ["https://two.example", "https://wild.example", "https://a.three.example", "myapp://callback"] {
            assert_eq!(allowed(&read_from(&app, origin).await), None, "{origin}");
        }
    }

    with(|b| b.mode_production())
    async fn origin_is_known_as_soon_as_an_admin_lists_it(app) {
        let list = |urls| json!({"allowedRedirectUrls": urls});
        assert_eq!(allowed(&read_from(&app, "https://app.example").await), None);

        let listed = list(vec!["https://app.example/done"]);
        app.admin().put("/api/auth/config", listed).send().await.expect(200);
        let now = read_from(&app, "https://app.example").await;
        app.admin().put("/api/auth/config", list(Vec::new())).send().await.expect(200);
        let later = read_from(&app, "https://app.example").await;

        assert_eq!((allowed(&now), allowed(&later)), (Some("https://app.example"), None));
    }

    async fn development_knows_every_port_of_localhost(app) {
        for origin in ["http://localhost:3000", "http://127.0.0.1:5173", "http://localhost", "http://localhost:8700"] {
            assert_eq!(allowed(&read_from(&app, origin).await), Some(origin));
        }
        for origin in [
            "https://localhost:3000",
            "http://localhost.evil.example",
            "http://localhost:3000.evil.example",
            "http://127.0.0.2:3000",
            "null",
        ] {
            assert_eq!(allowed(&read_from(&app, origin).await), None, "{origin}");
        }
    }

    with(|b| b.mode_production().cors_origins(&["https://app.example"]))
    async fn preflight_of_a_known_origin_is_allowed_without_credentials_of_its_own(app) {
        let answer = preflight(&app, "/api/profiles/me", "https://app.example").await;

        assert_eq!(answer.expect(204), latchkey_testkit::Value::Null);
        assert_eq!(allowed(&answer), Some("https://app.example"));
        assert_eq!(answer.header("access-control-allow-credentials"), Some("true"));
        let headers = answer.header("access-control-allow-headers").unwrap();
        assert_eq!(headers, ALLOWED);
        assert_eq!(answer.header("access-control-max-age"), Some("7200"));
        let methods = answer.header("access-control-allow-methods").unwrap();
        for method in ["GET", "POST", "PATCH", "PUT", "DELETE"] {
            assert!(methods.split(", ").any(|allowed| allowed == method), "{methods}");
        }
        assert!(varies_by_origin(&answer));
    }

    with(|b| b.mode_production().cors_origins(&["https://app.example"]).http(|http| {
        http.cors_headers = vec!["x-tenant".to_owned(), "x-version".to_owned()];
    }))
    async fn headers_of_the_settings_are_allowed_besides(app) {
        let answer = preflight(&app, "/api/profiles/me", "https://app.example").await;

        let wanted = format!("{ALLOWED}, x-tenant, x-version");
        assert_eq!(answer.header("access-control-allow-headers"), Some(wanted.as_str()));
    }

    with(|b| b.mode_production().cors_origins(&WEB_VIEWS))
    async fn web_views_and_extensions_call_with_their_cookie(app) {
        let ada = app.user("ada").await;

        for origin in WEB_VIEWS {
            assert_eq!(allowed(&read_from(&app, origin).await), Some(origin));
            preflight(&app, "/api/auth/refresh", origin).await.expect(204);
            let refresh = app.anon().refresh(&ada.session).header("origin", origin);
            let answer = refresh.header("sec-fetch-site", "cross-site").send().await;
            answer.expect(200);
            assert_eq!(allowed(&answer), Some(origin));
        }
        for origin in ["capacitor://evil", "capacitor://localhost:81", "ionic://localhost", "Tauri://localhost", "null"] {
            assert_eq!(allowed(&read_from(&app, origin).await), None, "{origin}");
            let refresh = app.anon().refresh(&ada.session).header("origin", origin);
            refresh.send().await.refused(403, "FORBIDDEN");
        }
    }

    async fn pages_of_development_are_read_by_no_other_page(app) {
        for path in ["/dev/mail", "/dev/mail/1", "/dev/mail/1/html"] {
            for origin in ["http://localhost:3000", "http://localhost:8700"] {
                let answer = app.anon().get(path).header("origin", origin).send().await;
                assert_eq!(allowed(&answer), None, "{answer:?}");
                assert_eq!(answer.header("access-control-allow-credentials"), None);
                preflight(&app, path, origin).await.refused(403, "FORBIDDEN");
            }
        }
    }

    with(|b| b.mode_production().cors_origins(&["https://app.example"]))
    async fn preflight_of_an_unknown_origin_allows_nothing(app) {
        for origin in ["https://evil.example", "null"] {
            let answer = preflight(&app, "/api/auth/sessions", origin).await;

            answer.refused(403, "FORBIDDEN");
            assert_eq!(allowed(&answer), None);
            assert_eq!(answer.header("access-control-allow-methods"), None);
        }
    }

    with(|b| b.mode_production().cors_origins(&["https://app.example"]))
    async fn refusals_can_be_read_by_known_origins(app) {
        let from = |path: &str| app.anon().get(path).header("origin", "https://app.example");

        let unauthorized = from("/api/profiles/me").send().await;
        let unknown = from("/api/nothing").send().await;
        let malformed = app.anon().request("POST", "/api/auth/users").header("origin", "https://app.example");
        let malformed = malformed.raw("application/json", "{").send().await;

        for (answer, status) in [(unauthorized, 401), (unknown, 404), (malformed, 400)] {
            assert_eq!((answer.status, allowed(&answer)), (status, Some("https://app.example")));
        }
    }

    with(|b| b.mode_production())
    async fn unknown_origin_may_send_what_carries_no_cookie(app) {
        let request = app.anon().sign_up("ada@example.org", PASSWORD).header("origin", "https://evil.example");

        let answer = request.send().await;

        answer.expect(200);
        assert_eq!(allowed(&answer), None);
    }
}

const WEB_VIEWS: [&str; 4] = [
    "capacitor://localhost",
    "tauri://localhost",
    "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
    "safari-web-extension://0B2D3F3A-9C1E-4B6F-8D55-2F9A1C3E5D7F",
];

async fn read_from(app: &TestApp, origin: &str) -> Answer {
    app.anon().get("/api/auth/public-config").header("origin", origin).send().await
}

async fn preflight(app: &TestApp, path: &str, origin: &str) -> Answer {
    let request = app.anon().request("OPTIONS", path).header("origin", origin);
    let request = request.header("access-control-request-method", "PATCH");
    request.header("access-control-request-headers", "authorization,content-type").send().await
}

fn allowed(answer: &Answer) -> Option<&str> {
    answer.header("access-control-allow-origin")
}

fn varies_by_origin(answer: &Answer) -> bool {
    let lines = answer.headers.get_all("vary").iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|name| name.trim().eq_ignore_ascii_case("origin"))
}
