//! Tests of the cookie that binds the OAuth state to the browser. It is set if the start has `client_type=web` and the
//! browser reports a page of the same site.

use latchkey_testkit::{Answer, Client, TestApp, both_stores};
use url::Url;

use crate::oauth_calls::{VERIFIER, acme, auth_url_of, code_of, error_of, exchange, start, user_count};

const COOKIE: &str = "latchkey_refresh_oauth_8700";

both_stores! {
    async fn browser_that_began_comes_back_with_its_cookie(app) {
        let acme = acme(&app).await;
        let begun = start_in_a_page(&app.anon()).await;
        let cookie = cookie_of(&begun);

        let target = opened(&app, &acme.consent(&auth_url_of(&begun)), Some(&cookie)).await;

        exchange(&app.anon(), &code_of(&target), VERIFIER).send().await.expect(200);
    }

    async fn cookie_is_http_only_and_lives_as_long_as_the_state(app) {
        let _acme = acme(&app).await;

        let begun = start_in_a_page(&app.anon()).await;

        let cookies = begun.set_cookies();
        assert_eq!(cookies.len(), 1, "{begun:?}");
        let (pair, attributes) = cookies[0].split_once("; ").unwrap();
        assert_eq!(attributes, "Path=/api/auth/oauth; Max-Age=600; HttpOnly; SameSite=Lax");
        assert_eq!(pair.len(), COOKIE.len() + 1 + 64, "{pair}");
    }

    with(|b| b.mode_production().redirects(&["http://localhost:3000/welcome"]).oauth(|oauth| {
        oauth.outbound.networks.loopback = true;
    }))
    async fn cookie_in_production_is_secure(app) {
        let _acme = acme(&app).await;

        let begun = start_in_a_page(&app.anon()).await;

        let cookie = begun.set_cookies()[0].to_owned();
        assert!(cookie.starts_with("__Secure-latchkey_refresh_oauth="), "{cookie}");
        assert!(cookie.ends_with("; HttpOnly; Secure; SameSite=Lax"), "{cookie}");
    }

    // Login CSRF: the attacker starts a sign-in, consents, and makes a victim open the callback.
    async fn callback_that_another_browser_opens_is_refused_before_the_provider_is_asked(app) {
        let acme = acme(&app).await;
        let other = cookie_of(&start_in_a_page(&app.anon()).await);
        let tampered = format!("{COOKIE}={}", "0".repeat(64));
        for cookie in [None, Some(other.as_str()), Some(tampered.as_str()), Some("latchkey_refresh_oauth=x")] {
            let begun = start_in_a_page(&app.anon()).await;

            let target = opened(&app, &acme.consent(&auth_url_of(&begun)), cookie).await;

            assert!(error_of(&target).contains("another browser"), "{target}");
        }
        assert_eq!(acme.asked(latchkey_testkit::provider::Endpoint::Token), 0);
        assert_eq!(user_count(&app).await, 0);
    }

    async fn refused_callback_uses_the_state_up(app) {
        let acme = acme(&app).await;
        let begun = start_in_a_page(&app.anon()).await;
        let callback = acme.consent(&auth_url_of(&begun));
        error_of(&opened(&app, &callback, None).await);

        let target = opened(&app, &callback, Some(&cookie_of(&begun))).await;

        error_of(&target);
    }

    async fn flows_of_one_browser_share_one_cookie(app) {
        let acme = acme(&app).await;
        let first = start_in_a_page(&app.anon()).await;
        let cookie = cookie_of(&first);
        let second = start_in_a_page(&app.anon().with_header("cookie", &cookie)).await;

        assert_eq!(cookie_of(&second), cookie);
        for begun in [&first, &second] {
            let target = opened(&app, &acme.consent(&auth_url_of(begun)), Some(&cookie)).await;
            code_of(&target);
        }
    }

    async fn foreign_cookie_is_replaced(app) {
        let _acme = acme(&app).await;
        for bad in ["", "x", "../..", &"g".repeat(64)] {
            let client = app.anon().with_header("cookie", &format!("{COOKIE}={bad}"));

            let cookie = cookie_of(&start_in_a_page(&client).await);

            assert_ne!(cookie, format!("{COOKIE}={bad}"));
        }
    }

    async fn starts_whose_cookie_would_not_come_back_are_not_bound(app) {
        let acme = acme(&app).await;
        let begin = || start(&app.anon(), "acme");
        for request in [
            begin(),
            begin().client_type("web"),
            begin().header("sec-fetch-site", "same-origin"),
            begin().client_type("web").header("sec-fetch-site", "cross-site"),
            begin().client_type("web").header("sec-fetch-site", "none"),
            begin().client_type("web").header("sec-fetch-site", "same-site").and_header("sec-fetch-site", "none"),
            begin().client_type("mobile").header("sec-fetch-site", "same-origin"),
            begin().client_type("tv").header("sec-fetch-site", "same-origin"),
        ] {
            let begun = request.send().await;

            assert!(begun.set_cookies().is_empty(), "{begun:?}");
            code_of(&opened(&app, &acme.consent(&auth_url_of(&begun)), None).await);
        }
    }

    async fn return_by_a_form_carries_no_cookie_and_is_taken(app) {
        let acme = acme(&app).await;
        let begun = start_in_a_page(&app.anon()).await;
        let mut callback = acme.consent(&auth_url_of(&begun));
        let form = callback.query().unwrap().to_owned();
        callback.set_query(None);

        let posted = app.anon().request("POST", callback.as_str());
        let answer = posted.raw("application/x-www-form-urlencoded", form).send().await;

        code_of(&answer.redirected());
    }
}

/// Starts a sign-in as a page of the same site.
async fn start_in_a_page(client: &Client) -> Answer {
    start(client, "acme").client_type("web").header("sec-fetch-site", "same-site").send().await
}

/// Opens the callback with this cookie; returns the redirect target.
async fn opened(app: &TestApp, callback: &Url, cookie: Option<&str>) -> Url {
    let request = app.anon().get(callback.as_str());
    let request = match cookie {
        Some(cookie) => request.cookie(cookie),
        None => request,
    };
    request.send().await.redirected()
}

#[track_caller]
fn cookie_of(begun: &Answer) -> String {
    begun.set_cookies().first().and_then(|cookie| cookie.split(';').next()).expect("a cookie").to_owned()
}
