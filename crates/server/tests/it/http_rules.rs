//! Tests of the rules of every route: response headers, methods, sizes, content types, request ids. Bodies and queries
//! are in `json_rules.rs` and `query_rules.rs`, raw sockets in `raw_http.rs`.

use std::collections::BTreeSet;

use latchkey_testkit::{Answer, PASSWORD, TestApp, both_stores, json, minutes};

use crate::routes::{ROUTES, Takes, with_body};

both_stores! {
    async fn unknown_path_and_wrong_method_have_the_shape_of_every_error(app) {
        let unknown = app.anon().get("/api/nothing").send().await;
        let wrong = app.anon().post("/api/profiles/search", json!({})).send().await;

        unknown.refused(404, "NOT_FOUND");
        wrong.refused(405, "METHOD_NOT_ALLOWED");
    }

    async fn unknown_path_is_not_found_under_any_method(app) {
        for path in
            ["/api", "/api/", "/api/profiles/me/", "/API/profiles/me", "//api/profiles/me", "/api/auth"]
        {
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
                let answer = app.anon().request(method, path).send().await;

                answer.refused(404, "NOT_FOUND");
            }
        }
    }

    async fn wrong_method_is_refused_with_the_list_of_the_right_ones(app) {
        for path in ROUTES.iter().map(|route| route.path).collect::<BTreeSet<_>>() {
            let right = methods_of(path);
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
                if right.contains(method) {
                    continue;
                }
                let answer = app.anon().request(method, &path.replace(['{', '}'], "")).send().await;

                answer.refused(405, "METHOD_NOT_ALLOWED");
                let allow: BTreeSet<_> =
                    answer.header("allow").unwrap_or_default().split(',').map(str::trim).collect();
                assert_eq!(allow, right, "{answer:?}");
            }
        }
    }

    async fn head_answers_as_get_without_a_body(app) {
        let ada = app.user("ada").await;
        for route in ROUTES.iter().filter(|route| route.method == "GET") {
            let get = route.request(&app, &ada).send().await;
            let path = route.path_of_an_unknown_id();

            let head = match route.who {
                crate::routes::Who::Anybody => app.anon().request("HEAD", &path).send().await,
                crate::routes::Who::User => ada.request("HEAD", &path).send().await,
                crate::routes::Who::Admin => app.admin().request("HEAD", &path).send().await,
            };

            assert_eq!((head.status, head.body.len()), (get.status, 0), "{head:?}");
            // An export shows the one before among the events.
            let length = if route.path.ends_with("/export") { "content-type" } else { "content-length" };
            for name in ["content-type", length, "etag", "x-total-count", "cache-control"] {
                assert_eq!(head.header(name), get.header(name), "{name} of {get:?}{head:?}");
            }
        }
    }

    async fn options_that_is_no_preflight_is_a_wrong_method(app) {
        let answer = app.anon().request("OPTIONS", "/api/profiles/me").send().await;

        answer.refused(405, "METHOD_NOT_ALLOWED");
        assert_eq!(answer.header("allow"), Some("GET,HEAD,PATCH"));
    }

    with(|b| b.limits())
    async fn every_kind_of_response_carries_the_headers_of_the_policy(app) {
        for answer in kinds_of_responses(&app).await {
            answer.assert_secure();
            let policy = answer.header("content-security-policy").unwrap();
            let is_page = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
            assert!(
                policy.contains("default-src 'none'") && policy.contains("frame-ancestors"),
                "{answer:?}"
            );
            assert!(is_page || policy == "default-src 'none'; frame-ancestors 'none'", "{answer:?}");
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer:?}");
            for banner in ["server", "x-powered-by", "via"] {
                assert_eq!(answer.header(banner), None, "{answer:?}");
            }
        }
    }

    with(|b| b.limits().mode_production())
    async fn every_kind_of_response_has_hsts_with_an_https_public_url(app) {
        for answer in kinds_of_responses(&app).await {
            answer.assert_secure();
            assert!(
                answer.header("strict-transport-security").unwrap().starts_with("max-age=31536000"),
                "{answer:?}"
            );
        }
    }

    with(|b| b.mode_production())
    async fn production_has_no_inbox_and_its_cookie_is_secure(app) {
        for path in ["/", "/dev/mail", "/dev/mail/1", "/dev/mail/1/html"] {
            let answer = app.anon().get(path).header("host", "localhost").send().await;

            answer.refused(404, "NOT_FOUND");
        }
        let session = app.user("ada").await.session;
        assert!(session.cookie.is_some_and(|cookie| cookie.starts_with("__Secure-latchkey_refresh=")));
    }

    async fn json_ends_in_a_line_feed_that_its_length_counts(app) {
        let ada = app.user("ada").await;
        for answer in [
            app.anon().get("/openapi.json").send().await,
            app.anon().get("/.well-known/jwks.json").send().await,
            app.anon().get("/health/ready").send().await,
            app.anon().get("/api/nothing").send().await,
            app.anon().search("ada").send().await,
            ada.get("/api/profiles/me").send().await,
            ada.get(&format!("/api/auth/profiles/{}", ada.id)).send().await,
        ] {
            answer.expect(answer.status);
            assert!(answer.body.ends_with(b"\n") && !answer.body.ends_with(b"\n\n"), "{answer:?}");
            assert_eq!(answer.number("content-length"), answer.body.len() as u64, "{answer:?}");
        }
    }

    async fn every_refusal_carries_the_id_of_its_request(app) {
        let ids: BTreeSet<_> = refusals(&app).await.iter().map(|(answer, status)| {
            assert_eq!(answer.status, *status, "{answer:?}");
            answer.refused(*status, &answer.error_code())["requestId"].as_str().unwrap().to_owned()
        }).collect();

        assert_eq!(ids.len(), refusals(&app).await.len(), "ids are new for every request");
    }

    async fn key_set_is_cacheable(app) {
        let answer = app.anon().get("/.well-known/jwks.json").send().await;

        answer.expect(200);
        assert_eq!(answer.header("cache-control"), Some("public, max-age=60"));
    }

    with(|b| b.http(|http| http.trusted_proxies.clear()))
    async fn request_id_is_new_for_every_request_and_never_the_clients_own(app) {
        let mine = "11111111-1111-4111-8111-111111111111";

        let one = app.anon().get("/health/live").header("x-request-id", mine).send().await;
        let other = app.anon().get("/health/live").header("x-request-id", mine).send().await;

        let ids = [one.header("x-request-id").unwrap(), other.header("x-request-id").unwrap()];
        assert!(ids[0] != ids[1] && !ids.contains(&mine), "{ids:?}");
    }

    async fn request_id_of_a_trusted_proxy_is_answered_unless_it_is_no_id(app) {
        let sent = async |id: &str| {
            let answer = app.anon().get("/nowhere").header("x-request-id", id).send().await;
            answer.header("x-request-id").unwrap().to_owned()
        };

        assert_eq!(sent("edge-0af7651916cd43dd").await, "edge-0af7651916cd43dd");
        for id in ["two words", "<b>", &"a".repeat(129)] {
            assert_ne!(sent(id).await, id);
        }
    }

    async fn body_over_64_kib_is_refused_and_at_64_kib_is_read(app) {
        let ada = app.user("ada").await;
        for route in with_body().filter(|route| matches!(route.takes, Takes::Json(_))) {
            let over = route.request(&app, &ada).raw("application/json", body_of(64 * 1024 + 1)).send().await;
            let at = route.request(&app, &ada).raw("application/json", body_of(64 * 1024)).send().await;

            over.refused(413, "PAYLOAD_TOO_LARGE");
            assert_ne!(at.status, 413, "{at:?}");
        }
    }

    async fn body_of_a_profile_may_have_256_kib(app) {
        let ada = app.user("ada").await;
        for route in with_body().filter(|route| matches!(route.takes, Takes::Profile(_))) {
            let over =
                route.request(&app, &ada).raw("application/json", body_of(256 * 1024 + 1)).send().await;
            let at = route.request(&app, &ada).raw("application/json", body_of(256 * 1024)).send().await;

            over.refused(413, "PAYLOAD_TOO_LARGE");
            assert_ne!(at.status, 413, "{at:?}");
        }
    }

    async fn body_that_is_not_declared_as_json_is_refused(app) {
        let ada = app.user("ada").await;
        for route in with_body() {
            for kind in [
                "text/plain",
                "application/x-www-form-urlencoded",
                "multipart/form-data; boundary=x",
                "application/jsonx",
                "text/json",
                "application/json; charset=iso-8859-1",
                "application/json, text/plain",
                "*/*",
                "",
            ] {
                if route.takes_form && kind == "application/x-www-form-urlencoded" {
                    continue;
                }
                let answer = route.request(&app, &ada).raw(kind, "{}").send().await;

                answer.refused(415, "UNSUPPORTED_MEDIA_TYPE");
            }
        }
    }

    async fn body_without_a_content_type_is_refused(app) {
        let answer =
            app.anon().sign_in("ada@example.org", PASSWORD).without_header("content-type").send().await;

        answer.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }

    async fn compressed_body_is_refused(app) {
        let answer =
            app.anon().sign_in("ada@example.org", PASSWORD).header("content-encoding", "gzip").send().await;

        answer.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }

    async fn json_may_be_declared_in_any_case_and_with_its_charset(app) {
        app.user("ada").await;
        for kind in ["application/json", "Application/JSON; Charset=\"UTF-8\"", "application/vnd.api+json"] {
            let body = json!({"email": "ada@example.org", "password": PASSWORD}).to_string();

            let answer = app.anon().request("POST", "/api/auth/sessions").raw(kind, body).send().await;

            answer.expect(200);
        }
    }

    async fn empty_body_needs_no_content_type(app) {
        let ada = app.user("ada").await;
        for route in with_body() {
            let answer = route.request(&app, &ada).send().await;

            assert!(!matches!(answer.status, 415 | 500..), "{answer:?}");
        }
        app.anon().request("POST", "/api/auth/logout").send().await.expect(200);
    }

    async fn address_that_is_too_long_is_refused(app) {
        let q = "a".repeat(9000);

        for path in [format!("/api/profiles/search?q={q}"), format!("/{q}"), format!("/api/profiles/{q}")] {
            app.anon().get(&path).send().await.refused(414, "URI_TOO_LONG");
        }
    }

    async fn headers_that_are_too_many_or_too_large_are_refused(app) {
        let many =
            (0..120).fold(app.anon().get("/health/live"), |ask, n| ask.header(&format!("x-many-{n}"), "1"));
        let large = app.anon().get("/health/live").header("x-large", &"a".repeat(40_000));

        many.send().await.refused(431, "HEADERS_TOO_LARGE");
        large.send().await.refused(431, "HEADERS_TOO_LARGE");
    }

    with(|b| b.config(|config| config.hashing.memory_kib = 1 << 18).http(|http| http.request_timeout = minutes(0)))
    async fn request_beyond_the_timeout_gets_retry_after(app) {
        let answer = app.anon().sign_in("ada@example.org", PASSWORD).send().await;

        answer.refused(503, "SERVICE_BUSY");
        assert!(answer.number("retry-after") >= 1);
    }
}

/// Error responses of every status that a malformed request can cause.
async fn refusals(app: &TestApp) -> Vec<(Answer, u16)> {
    let anon = app.anon();
    let sign_in = || anon.request("POST", "/api/auth/sessions");
    vec![
        (anon.get("/api/profiles/search").send().await, 400),
        (anon.get("/api/profiles/me").send().await, 401),
        (
            anon.request("OPTIONS", "/health/live")
                .header("origin", "null")
                .header("access-control-request-method", "GET")
                .send()
                .await,
            403,
        ),
        (anon.get("/nothing").send().await, 404),
        (anon.request("DELETE", "/health/live").send().await, 405),
        (sign_in().raw("application/json", body_of(70_000)).send().await, 413),
        (anon.get(&format!("/{}", "a".repeat(9000))).send().await, 414),
        (sign_in().raw("text/plain", "x").send().await, 415),
        (anon.get("/health/live").header("x-large", &"a".repeat(40_000)).send().await, 431),
    ]
}

/// Methods of a path, HEAD included.
fn methods_of(path: &str) -> BTreeSet<&'static str> {
    let methods: BTreeSet<_> =
        ROUTES.iter().filter(|route| route.path == path).map(|route| route.method).collect();
    if methods.contains("GET") { &methods | &BTreeSet::from(["HEAD"]) } else { methods }
}

/// JSON object that is this many bytes long.
fn body_of(bytes: usize) -> String {
    format!(r#"{{"x":"{}"}}"#, "a".repeat(bytes - 8))
}

/// One response of each kind that must not be cached.
async fn kinds_of_responses(app: &TestApp) -> Vec<Answer> {
    let ada = app.user("ada").await;
    let reset = json!({"email": ada.email});
    let anon = app.anon();
    let preflight = anon.request("OPTIONS", "/api/profiles/me").header("origin", app.public_url());
    vec![
        anon.get("/health/ready").send().await,
        ada.get("/api/profiles/me").send().await,
        ada.request("HEAD", "/api/profiles/me").send().await,
        anon.search("ada").send().await,
        preflight.header("access-control-request-method", "PATCH").send().await,
        anon.request("OPTIONS", "/api/profiles/me").send().await,
        anon.post("/api/auth/email/send-reset-password", reset.clone()).send().await,
        anon.post("/api/auth/email/send-reset-password", reset).send().await, // 429
        anon.get("/api/auth/email/verify-link?token=x").send().await,
        anon.get("/dev/mail").header("host", "localhost").without_header("x-forwarded-for").send().await,
        anon.post("/api/auth/users", json!({})).send().await,
        anon.get("/api/profiles/me").send().await,
        anon.get("/api/auth/users").send().await,
        ada.get("/api/auth/users").send().await,
        anon.get("/nothing").send().await,
        anon.request("DELETE", "/health/ready").send().await,
        anon.sign_up("ada@example.org", PASSWORD).send().await,
        ada.patch("/api/profiles/me", json!({})).header("if-match", "\"other\"").send().await,
        anon.request("POST", "/api/auth/sessions").raw("application/json", body_of(70_000)).send().await,
        anon.request("POST", "/api/auth/sessions").raw("text/plain", "x").send().await,
        anon.get(&format!("/{}", "a".repeat(9000))).send().await,
        anon.get("/health/ready").header("x-large", &"a".repeat(40_000)).send().await,
    ]
}
