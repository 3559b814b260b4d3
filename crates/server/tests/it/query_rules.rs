//! Tests of the rules of a query string: known parameters at most once, decodable, and not empty if required; unknown
//! ones are ignored.

use latchkey_testkit::{Client, TestApp, both_stores};

use crate::routes::{ROUTES, Route, Who};

/// Known query parameters, each with a valid value and the rest of the query that its route requires.
const PARAMETERS: &[(&str, &str, &str, &str, &str)] = &[
    ("GET", "/api/profiles/search", "q", "ada", ""),
    ("GET", "/api/profiles/search", "limit", "5", "&q=ada"),
    ("GET", "/api/profiles/search", "offset", "5", "&q=ada"),
    ("GET", "/api/auth/users", "limit", "5", ""),
    ("GET", "/api/auth/users", "offset", "5", ""),
    ("GET", "/api/auth/users", "search", "ada", ""),
    ("GET", "/api/auth/audit", "limit", "5", ""),
    ("DELETE", "/api/auth/sessions", "others", "true", ""),
    ("GET", "/api/auth/email/verify-link", "token", "0", ""),
    ("GET", "/api/auth/email/reset-password-link", "token", "0", ""),
    ("POST", "/api/auth/logout", "client_type", "web", ""),
    ("POST", "/api/auth/refresh", "client_type", "web", ""),
    ("POST", "/api/auth/users", "client_type", "web", ""),
    ("POST", "/api/auth/sessions", "client_type", "web", ""),
    ("POST", "/api/auth/email/verify", "client_type", "web", ""),
];

both_stores! {
    async fn known_parameter_given_twice_is_refused(app) {
        for (method, path, name, value, rest) in PARAMETERS {
            let first = name.chars().next().map(|letter| format!("%{:x}", u32::from(letter))).unwrap();
            let escaped = format!("{first}{}", &name[1..]);
            for again in [*name, &escaped] {
                let path = format!("{path}?{name}={value}&{again}={value}{rest}");

                let answer = caller(&app, path.as_str()).await.request(method, &path).send().await;

                answer.refused(400, "VALIDATION_ERROR");
            }
        }
    }

    async fn known_parameter_that_is_no_text_is_refused(app) {
        for (method, path, name, _, rest) in PARAMETERS {
            for value in ["%ff", "%", "%zz", "%c3", "%00", "%ed%a0%80"] {
                let path = format!("{path}?{name}={value}{rest}");

                let answer = caller(&app, path.as_str()).await.request(method, &path).send().await;

                answer.refused(400, "VALIDATION_ERROR");
            }
        }
    }

    async fn more_than_sixty_four_parameters_are_refused_before_any_work(app) {
        let most = (0..64).map(|number| format!("x{number}=1")).collect::<Vec<_>>().join("&");
        for path in [
            "/api/auth/public-config",
            "/api/profiles/search",
            "/api/auth/oauth/google",
            "/api/auth/email/verify-link",
            "/api/auth/users",
            "/health/ready",
            "/nothing",
        ] {
            let within = app.anon().get(&format!("{path}?&&{most}&")).send().await;
            assert!(!within.text().contains("64 parameters"), "{path}: {within:?}");

            let beyond = app.anon().get(&format!("{path}?{most}&y")).send().await;

            let refusal = beyond.refused(400, "VALIDATION_ERROR");
            assert_eq!(refusal["message"], "The query string has more than 64 parameters.", "{path}");
        }
    }

    async fn form_of_more_than_sixty_four_parameters_is_no_return(app) {
        let form = (0..65).map(|number| format!("x{number}=1")).collect::<Vec<_>>().join("&");
        let head = "POST /api/auth/oauth/google/callback HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
                    Content-Type: application/x-www-form-urlencoded\r\n";

        let answer = app.raw(format!("{head}Content-Length: {}\r\n\r\n{form}", form.len()).as_bytes()).await;

        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("text/html"), "{answer}");
    }

    async fn unknown_parameter_may_be_anything(app) {
        for query in ["?x=%ff&x=%", "?=&&&", "?%00=1&%00=2", "?", "?x[]=1&x[]=2"] {
            app.anon().get(&format!("/api/auth/public-config{query}")).send().await.expect(200);
        }
    }

    async fn limits_and_offsets_are_plain_integers(app) {
        for value in [
            "0x10",
            "1e3",
            "1.0",
            "-1",
            "+5",
            "%205",
            "5%20",
            "five",
            "%D9%A5",
            "NaN",
            "true",
            "%EF%BC%95",
            "1,000",
            "1_000",
            "''",
            "1;2",
        ] {
            for name in ["limit", "offset"] {
                for path in ["/api/profiles/search?q=ada&", "/api/auth/users?"] {
                    let answer = app.admin().get(&format!("{path}{name}={value}")).send().await;

                    let message = answer.refused(400, "VALIDATION_ERROR")["message"].to_string();
                    assert!(message.contains(name), "{value}: {message}");
                }
            }
        }
    }

    async fn limit_beyond_every_number_is_a_hundred(app) {
        for limit in
            ["101", "4294967296", "18446744073709551616", "99999999999999999999999999", "000000000101"]
        {
            let answer = app.anon().search("ada").query("limit", limit).send().await;

            answer.expect(200);
            assert_eq!(answer.number("x-page-size"), 100, "{limit}");
        }
    }

    async fn offset_beyond_every_row_is_an_empty_page(app) {
        app.user("ada").await;
        for offset in
            ["4294967296", "9223372036854775807", "18446744073709551616", "99999999999999999999999999"]
        {
            let answer = app.anon().search("ada").query("offset", offset).send().await;

            assert_eq!(answer.expect(200).as_array().map(Vec::len), Some(0), "{answer:?}");
            assert_eq!(answer.number("x-total-count"), 1);
        }
    }

    async fn parameter_of_a_path_that_is_no_text_is_not_found(app) {
        let ada = app.user("ada").await;
        // The parameter with the provider's name is tested in `oauth_flow`.
        let is_sign_in = |route: &&Route| route.path.starts_with("/api/auth/oauth") && route.who == Who::Anybody;
        for route in ROUTES
            .iter()
            .filter(|route| route.path.contains('{') && !route.takes_body() && !is_sign_in(route))
        {
            for value in ["%ff", "%c3%28", "%00", "%ed%a0%80", "..%2f..", "'%20OR%201=1--", "*", "%25"] {
                let names = ["{id}", "{userId}", "{provider}", "{key}"];
                let path = names.iter().fold(route.path.to_owned(), |path, name| path.replace(name, value));

                let answer = route.request_to(&path, &app, &ada).header("host", "localhost").send().await;

                assert_eq!(answer.status, 404, "{path}: {answer:?}");
                assert!(matches!(answer.error_code().as_str(), "USER_NOT_FOUND" | "NOT_FOUND"), "{answer:?}");
            }
        }
    }
}

/// Client with the credentials that this path requires.
async fn caller(app: &TestApp, path: &str) -> Client {
    if path.starts_with("/api/auth/sessions") {
        return app.bearing(&token(app).await);
    }
    if path.starts_with("/api/auth/audit") || path.starts_with("/api/auth/users?") {
        app.admin()
    } else {
        app.anon()
    }
}

/// Access token of the only user.
async fn token(app: &TestApp) -> String {
    let password = latchkey_testkit::PASSWORD;
    let _ = app.anon().sign_up("ada@example.org", password).send().await; // taken, from the second time on
    let signed_in = app.anon().sign_in("ada@example.org", password).send().await.expect(200);
    signed_in["accessToken"].as_str().unwrap().to_owned()
}
