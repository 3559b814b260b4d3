//! Console over HTTP: where it is, who reaches it, its headers and its error pages.

use latchkey_domain::operator::Role;
use latchkey_testkit::{Answer, Listener, both_stores};

use crate::console_calls::verified;
use crate::console_users::signed_in;

const PATHS: [&str; 4] = ["/console", "/console/", "/console/users", "/console/a/b"];
const OTHER: &str = "https://console.example.org";

both_stores! {
    with(|b| verified(b).console())
    async fn unknown_path_is_a_page_in_the_frame_of_the_operator(app) {
        let browser = signed_in(&app, Role::Viewer).await;

        for path in ["/console/no-such-page", "/console/users/a/b"] {
            let page = browser.get(path).await;

            let text = page.hosted(404);
            assert!(text.contains("Nothing is here") && text.contains("id=\"find\""), "{text}");
            assert!(text.contains("class=\"places\"") && text.contains(env!("CARGO_PKG_VERSION")), "{text}");
        }
    }

    with(|b| b.pages())
    async fn console_that_is_off_does_not_exist(app) {
        for path in PATHS {
            for method in ["GET", "POST"] {
                let answer = app.anon().request(method, path).header("host", "localhost:8700").send().await;
                answer.refused(404, "NOT_FOUND");
            }
        }
    }

    with(|b| b.console())
    async fn unknown_path_below_console_is_a_page_with_the_id_of_its_request(app) {
        for path in ["/console/no-such-page", "/console/a/b"] {
            let answer = app.browser().get(path).await;

            let text = answer.hosted(404);
            assert!(text.contains("Nothing is here"), "{text}");
            assert!(text.contains(answer.header("x-request-id").unwrap()), "{text}");
        }
        app.anon().get("/consoles").header("host", "localhost:8700").send().await.refused(404, "NOT_FOUND");
    }

    with(|b| b.console())
    async fn console_needs_no_pages(app) {
        let page = app.browser().get("/console/no-such-page").await;

        for file in ["console.css", "console.js"] {
            assert_eq!(app.browser().get(&asset(&page, file)).await.status, 200, "{file}");
        }
        app.browser().get("/auth/sign-in").await.refused(404, "NOT_FOUND");
    }

    with(|b| b.console().pages())
    async fn start_page_leads_to_the_console(app) {
        let page = app.browser().get("/").await;

        assert!(page.hosted(200).contains("href=\"http://localhost:8700/console\""), "{page:?}");
        let file = asset(&app.browser().get("/console/no-such-page").await, "console.css");
        assert_eq!(app.browser().get(&file).await.status, 200);
    }

    with(|b| b.console_at(OTHER).pages().mode_production())
    async fn console_has_its_own_host(app) {
        for host in ["accounts.example.org", "evil.example", "localhost", "console.example.org:8443"] {
            let answer = app.anon().get("/console").header("host", host).send().await;
            assert!(answer.hosted(421).contains("This service has another address"), "{answer:?}");
        }
        let page = app.anon().get("/console/no-such-page").header("host", "console.example.org").send().await;
        page.hosted(404);
        let file = asset(&page, "console.css");
        let answer = app.anon().get(&file).header("host", "console.example.org").send().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        app.anon().get("/auth/sign-in").header("host", "console.example.org").send().await.hosted(421);
    }

    with(|b| b.console())
    async fn this_machine_is_a_host_of_the_console_in_development(app) {
        for host in ["localhost", "127.0.0.1:8700", "[::1]:3000"] {
            app.anon().get("/console/no-such-page").header("host", host).send().await.hosted(404);
        }
        app.anon().get("/console").header("host", "192.0.2.1:8700").send().await.hosted(421);
    }

    with(|b| b.console_for(&["192.0.2.0/24", "2001:db8::/32"]))
    async fn other_networks_find_nothing(app) {
        for address in ["192.0.2.7", "2001:db8::1"] {
            app.browser().at(address).get("/console/no-such-page").await.hosted(404);
        }
        for address in ["192.0.3.1", "198.51.100.1", "2001:db9::1"] {
            for path in PATHS {
                let answer = app.browser().at(address).get(path).await;
                answer.refused(404, "NOT_FOUND");
            }
        }
        app.browser().at("198.51.100.1").get("/health/live").await.expect(200);
    }

    with(|b| b.console_apart(Listener::Console).pages())
    async fn listener_of_the_console_answers_nothing_else(app) {
        let page = app.browser().get("/console/no-such-page").await;
        page.hosted(404);
        assert_eq!(app.browser().get(&asset(&page, "console.js")).await.status, 200);
        for path in ["/health/live", "/health/ready"] {
            app.browser().get(path).await.expect(200);
        }
        for path in ["/", "/auth/sign-in", "/api/auth/session", "/openapi.json", "/.well-known/jwks.json", "/dev/mail"] {
            app.browser().get(path).await.refused(404, "NOT_FOUND");
        }
    }

    with(|b| b.console_apart(Listener::Main).pages())
    async fn main_listener_has_no_console_beside_its_own(app) {
        for path in PATHS {
            app.browser().get(path).await.refused(404, "NOT_FOUND");
        }
        app.browser().get("/auth/sign-in").await.hosted(200);
    }

    with(|b| b.console())
    async fn link_of_another_site_leads_to_a_page_that_goes_on(app) {
        for path in ["/console", "/console/users?search=a%20b&x=%22"] {
            let page = app.browser().with_header("sec-fetch-site", "cross-site").get(path).await;

            let text = page.hosted(200);
            let escaped = path.replace('&', "&amp;");
            let refresh = format!("<meta http-equiv=\"refresh\" content=\"0;url={escaped}\">");
            assert!(text.contains(&refresh), "{text}");
            assert!(page.set_cookies().is_empty(), "{page:?}");
        }
        for site in ["same-origin", "same-site", "none"] {
            app.browser().with_header("sec-fetch-site", site).get("/console/no-such-page").await.hosted(404);
        }
    }

    with(|b| b.console().cors_origins(&["https://app.example"]))
    async fn console_answers_no_cors(app) {
        for path in PATHS {
            let answer = app.anon().get(path).header("host", "localhost").header("origin", "https://app.example").send().await;

            assert_eq!(answer.header("access-control-allow-origin"), None, "{answer:?}");
        }
    }
}

/// Address of a file that a page loads.
fn asset(page: &Answer, name: &str) -> String {
    let texts = page.text().split('"').filter(|text| text.starts_with("/assets/"));
    texts
        .filter(|text| text.ends_with(name))
        .map(str::to_owned)
        .next()
        .unwrap_or_else(|| panic!("no {name}: {page:?}"))
}
