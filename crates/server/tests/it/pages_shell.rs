//! Hosted pages: headers, error pages, the check of `Host`, languages, and the files that pages load.

use std::collections::BTreeSet;

use latchkey_testkit::{Answer, TestApp, both_stores};

use crate::forged_calls::all_routes;

/// Paths of pages, and of files that they load.
const PATHS: [&str; 4] = ["/", "/auth", "/auth/no-such-page", "/assets/0123456789abcdef/theme.css"];

both_stores! {
    with(|b| b.pages())
    async fn start_page_of_development_leads_on(app) {
        let page = app.browser().get("/").await;

        let text = page.hosted(200);
        assert!(text.contains("Latchkey is running"), "{text}");
        assert!(text.contains("href=\"/dev/mail\"") && text.contains("href=\"/openapi.json\""), "{text}");
        assert!(text.contains("http://localhost:8700/api/auth/users"), "{text}");
    }

    with(|b| b.pages().mode_production())
    async fn production_has_no_start_page(app) {
        app.browser().get("/").await.refused(404, "NOT_FOUND");
    }

    with(|b| b.pages())
    async fn unknown_path_below_auth_is_a_page_with_the_id_of_its_request(app) {
        for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS"] {
            for path in ["/auth", "/auth/", "/auth/no-such-page", "/auth/a/b"] {
                let answer = app.browser().send(app.anon().request(method, path)).await;

                let text = answer.hosted(404);
                assert!(text.contains("Nothing is here"), "{text}");
                assert!(text.contains(answer.header("x-request-id").unwrap()), "{text}");
            }
        }
        for path in ["/api/auth/no-such-call", "/no-such-path", "/authentic"] {
            app.anon().get(path).send().await.refused(404, "NOT_FOUND");
        }
    }

    with(|b| b.pages())
    async fn page_of_errors_says_what_happened_what_to_do_and_the_id_of_the_request(app) {
        let causes = [
            ("", 400, "This request cannot be read"),
            ("?cause=nonsense", 400, "This request cannot be read"),
            ("?cause=bad_target", 400, "The app&#39;s request is not valid"),
            ("?cause=bad_flow", 400, "Start again in the app"),
            ("?cause=stale_form", 403, "Load the page again"),
            ("?cause=forbidden", 403, "This is not allowed"),
        ];
        for (query, status, title) in causes {
            let page = app.browser().get(&format!("/auth/error{query}")).await;

            let text = page.hosted(status);
            assert!(text.contains(&format!("<h1>{title}</h1>")), "{text}");
            assert!(text.contains(page.header("x-request-id").unwrap()), "{text}");
            assert!(text.contains("href=\"/auth/sign-in\""), "{text}");
        }
    }

    with(|b| b.pages().mode_production())
    async fn other_host_gets_a_page_of_its_own(app) {
        for host in ["evil.example", "accounts.example.org:8443", "localhost", "127.0.0.1"] {
            let answer = app.anon().get("/auth").header("host", host).send().await;

            assert!(answer.hosted(421).contains("This service has another address"), "{answer:?}");
        }
        app.browser().get("/auth").await.hosted(404);
        app.anon().get("/health/live").header("host", "evil.example").send().await.expect(200);
    }

    with(|b| b.pages())
    async fn this_machine_is_a_host_in_development(app) {
        for host in ["localhost", "localhost:3000", "127.0.0.1:8700", "[::1]:8700"] {
            app.anon().get("/").header("host", host).send().await.hosted(200);
        }
        for host in ["192.0.2.1:8700", "127.0.0.2:8700", "127.1:8700", "0x7f.1", "2130706433:8700", "[0:0:0:0:0:0:0:1]:8700"] {
            app.anon().get("/").header("host", host).send().await.hosted(421);
        }
        app.anon().get("/").header("host", "localhost").and_header("host", "x").send().await.hosted(421);
    }

    with(|b| b.pages().cors_origins(&["https://app.example"]))
    async fn no_page_answers_cors(app) {
        for path in PATHS {
            let answer = app.anon().get(path).header("host", "localhost").header("origin", "https://app.example").send().await;

            assert_eq!(answer.header("access-control-allow-origin"), None, "{answer:?}");
            let preflight = app.anon().request("OPTIONS", path).header("host", "localhost")
                .header("origin", "https://app.example").header("access-control-request-method", "GET").send().await;
            assert!(preflight.status >= 404, "{preflight:?}");
            assert_eq!(preflight.header("access-control-allow-origin"), None, "{preflight:?}");
        }
    }

    with(|b| b.pages())
    async fn head_has_the_headers_of_get_and_no_body(app) {
        let browser = app.browser();
        for path in ["/", "/auth/no-such-page", &asset(&browser.get("/").await, "theme.css")] {
            let get = browser.get(path).await;
            let head = browser.send(app.anon().request("HEAD", path).header("host", "localhost:8700")).await;

            assert_eq!((head.status, head.body.len()), (get.status, 0), "{head:?}");
            assert_eq!(head.header("content-length"), Some(get.body.len().to_string().as_str()), "{head:?}");
            assert_eq!(head.header("content-type"), get.header("content-type"), "{head:?}");
        }
    }

    with(|b| b.pages())
    async fn wrong_method_and_refusals_of_the_middleware_are_pages(app) {
        let browser = app.browser();
        let wrong = browser.send(app.anon().request("POST", "/").header("host", "localhost")).await;
        assert!(wrong.hosted(405).contains("<main"), "{wrong:?}");
        assert_eq!(wrong.header("allow"), Some("GET,HEAD"));

        let long = format!("/auth/{}", "a".repeat(9_000));
        browser.get(&long).await.hosted(414);
        let many = format!("/auth?{}", "a=1&".repeat(70));
        browser.get(&many).await.hosted(400);
    }

    with(|b| b.pages())
    async fn language_is_the_wish_of_the_request(app) {
        let language = async |locale: &str, header: &str| {
            let answer = app.browser().with_header("accept-language", header).get(&format!("/{locale}")).await;
            let text = answer.hosted(200).to_owned();
            text.split("lang=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
        };

        assert_eq!(language("", "de-AT, en;q=0.5").await, "de");
        assert_eq!(language("?locale=fr", "de").await, "fr");
        assert_eq!(language("?locale=nonsense", "xx, ja;q=0.1").await, "ja");
        assert_eq!(language("?locale=qps", "").await, "qps");
        assert_eq!(language("", "xx").await, "en");
    }

    with(|b| b.pages().settings(|settings| settings.default_locale = "it".to_owned()))
    async fn language_of_the_settings_is_the_last_choice(app) {
        let answer = app.browser().get("/auth/no-such-page").await;

        assert!(answer.hosted(404).contains("<html lang=\"it\""), "{answer:?}");
    }

    with(|b| b.pages())
    async fn files_of_pages_are_kept_for_a_year(app) {
        let page = app.browser().get("/").await;
        let types = [
            ("theme.css", "text/css; charset=utf-8"),
            ("pages.js", "text/javascript; charset=utf-8"),
            ("favicon.svg", "image/svg+xml"),
        ];
        for (name, content_type) in types {
            let path = asset(&page, name);
            let file = app.browser().get(&path).await;

            assert_eq!(file.status, 200, "{file:?}");
            assert_eq!(file.header("content-type"), Some(content_type));
            assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
            assert_eq!(file.header("cross-origin-resource-policy"), Some("same-origin"));
            assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
            let tag = file.header("etag").unwrap();
            for known in [tag.to_owned(), format!("W/{tag}"), format!("\"other\", W/{tag}"), "*".to_owned()] {
                let again = app.browser().with_header("if-none-match", &known).get(&path).await;
                assert_eq!((again.status, again.body.len()), (304, 0), "{known}: {again:?}");
            }
            for other in ["\"other\"", "W/\"other\"", tag.trim_matches('"'), ""] {
                let again = app.browser().with_header("if-none-match", other).get(&path).await;
                assert_eq!(again.status, 200, "{other}: {again:?}");
            }
        }
        let icon = app.browser().get(&asset(&page, "favicon.svg")).await;
        assert!(icon.header("content-security-policy").unwrap().ends_with("sandbox"), "{icon:?}");
        app.browser().get("/assets/0123456789abcdef/theme.css").await.hosted(404);
        app.browser().get(&asset(&page, "theme.css").replace("theme.css", "missing.css")).await.hosted(404);
    }

    async fn without_pages_their_paths_do_not_exist(app) {
        for path in PATHS {
            app.anon().get(path).send().await.refused(404, "NOT_FOUND");
        }
        app.anon().get("/auth").header("host", "evil.example").send().await.refused(404, "NOT_FOUND");
        assert_absent(&app, &all_paths()).await;
    }

    with(|b| b.console())
    async fn console_brings_no_page_with_it(app) {
        let pages: Vec<_> = all_paths().into_iter().filter(|path| path.starts_with("/auth") || path == "/").collect();
        assert!(pages.len() > 20, "{pages:?}");

        assert_absent(&app, &pages).await;
    }

    with(|b| b.pages())
    async fn pages_bring_no_console_with_them(app) {
        let console: Vec<_> = all_paths().into_iter().filter(|path| path.starts_with("/console")).collect();
        assert!(console.len() > 20, "{console:?}");

        assert_absent(&app, &console).await;
    }

    with(|b| b.pages().console())
    async fn page_without_a_form_takes_none(app) {
        let mut counts = [0, 0];
        for path in all_paths() {
            let takes_forms = all_routes().contains(&(path.clone(), "POST"));
            counts[usize::from(takes_forms)] += 1;

            let answer = app.anon().request("POST", &path).header("host", "localhost:8700").send().await;

            assert_eq!(answer.status == 405, !takes_forms, "{answer:?}");
        }
        assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
    }
}

/// Paths of all routes of pages and console.
fn all_paths() -> BTreeSet<String> {
    all_routes().into_iter().map(|(path, _)| path).collect()
}

/// Asserts that these paths do not exist, whatever they are asked.
async fn assert_absent(app: &TestApp, paths: impl IntoIterator<Item = &String>) {
    for path in paths {
        for method in ["GET", "POST"] {
            let request = app.anon().request(method, path).header("host", "localhost:8700");
            request.send().await.refused(404, "NOT_FOUND");
        }
    }
}

/// Address of a file that a page loads.
fn asset(page: &Answer, name: &str) -> String {
    latchkey_testkit::browser::link(page, name)
        .or_else(|| {
            let (_, rest) = page.text().split_once("src=\"")?;
            rest.split('"').next().map(str::to_owned)
        })
        .unwrap_or_else(|| panic!("no {name}: {page:?}"))
}
