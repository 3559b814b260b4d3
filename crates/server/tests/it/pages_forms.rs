//! Rules of all forms of the hosted pages: form token, origin, browser, flow, and what a form is.

use latchkey_testkit::{Answer, Browser, TestApp, both_stores, json, minutes};

use crate::pages_calls::in_language;

const FORM: &str = "application/x-www-form-urlencoded";
const ADA: &str = "ada@example.org";

/// Opens a page with a form.
async fn forgot(browser: &Browser) -> Answer {
    let page = browser.get("/auth/forgot").await;
    page.hosted(200);
    page
}

/// Asserts that the form was refused as not being ours, and that no mail was sent.
async fn assert_stale(app: &TestApp, answer: &Answer) {
    let text = answer.hosted(403);
    assert!(text.contains("Load the page again"), "{text}");
    app.run_jobs().await;
    assert_eq!(app.mail().total(), 0, "{answer:?}");
}

both_stores! {
    with(|b| b.pages())
    async fn own_form_is_taken_and_ends_in_a_redirect(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();

        let answer = browser.submit(&forgot(&browser).await, "/auth/forgot", &[("email", ADA)]).await;

        assert_eq!(answer.status, 303, "{answer:?}");
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
        assert!(answer.header("location").unwrap().starts_with("/auth/reset?flow="), "{answer:?}");
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 1);
    }

    with(|b| b.pages())
    async fn form_without_its_token_or_with_another_one_does_nothing(app) {
        let _ada = app.user("ada").await;
        let (browser, other) = (app.browser(), app.browser());
        let (page, foreign) = (forgot(&browser).await, forgot(&other).await);
        let token = |page: &Answer| {
            let (_, rest) = page.text().split_once("name=\"form_token\" value=\"").unwrap();
            rest.split('"').next().unwrap().to_owned()
        };

        for wrong in ["", "nonsense", &token(&foreign)] {
            let fields = [("email", ADA), ("form_token", wrong)];
            assert_stale(&app, &browser.submit(&page, "/auth/forgot", &fields).await).await;
        }
        let action = page.text().split("action=\"").nth(1).unwrap().split('"').next().unwrap();
        let bare = app.anon().request("POST", action).raw(FORM, format!("email={ADA}"))
            .header("host", "localhost:8700").header("origin", "http://localhost:8700");
        assert_stale(&app, &browser.send(bare).await).await;
    }

    with(|b| b.pages().console())
    async fn field_in_the_address_is_none(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = forgot(&browser).await;
        let (_, token) = page.text().split_once("name=\"form_token\" value=\"").unwrap();
        let token = token.split('"').next().unwrap();
        let action = page.text().split("action=\"").nth(1).unwrap().split('"').next().unwrap();
        let send = |path: String, body: String| {
            let request = app.anon().request("POST", &path).raw(FORM, body);
            browser.send(request.header("host", "localhost:8700").header("origin", "http://localhost:8700"))
        };

        assert_stale(&app, &send(format!("{action}&form_token={token}"), format!("email={ADA}")).await).await;
        let empty = send(format!("{action}&email={ADA}"), format!("form_token={token}")).await;
        assert!(empty.hosted(400).contains("Fill in this field"), "{empty:?}");
        let both = send(format!("{action}&email=eve@example.org"), format!("form_token={token}&email={ADA}")).await;
        assert_eq!(both.status, 303, "{both:?}");

        let page = browser.get("/console/sign-in").await;
        let (_, token) = page.text().split_once("name=\"form_token\" value=\"").unwrap();
        let token = token.split('"').next().unwrap();
        let path = format!("/console/sign-in?form_token={token}");
        assert_eq!(send(path, format!("email={ADA}&password=x")).await.status, 403);
    }

    with(|b| b.pages())
    async fn form_from_another_origin_does_nothing(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = forgot(&browser).await;
        let form = || browser.form(&page, "/auth/forgot", &[("email", ADA)]);

        for origin in ["https://evil.example", "null", "http://localhost:8701", "https://localhost:8700"] {
            assert_stale(&app, &browser.send(form().header("origin", origin)).await).await;
        }
        let two = form().and_header("origin", "https://evil.example");
        assert_stale(&app, &browser.send(two).await).await;
        for site in ["cross-site", "same-site", "none"] {
            let answer = browser.send(form().without_header("origin").header("sec-fetch-site", site)).await;
            assert_stale(&app, &answer).await;
        }
        let neither = form().without_header("origin").without_header("sec-fetch-site");
        assert_stale(&app, &browser.send(neither).await).await;
        let own = browser.send(form().without_header("origin")).await;
        assert_eq!(own.status, 303, "{own:?}");
    }

    with(|b| b.pages())
    async fn form_without_the_browser_cookie_does_nothing(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = forgot(&browser).await;

        browser.forget("latchkey_browser");
        let answer = browser.submit(&page, "/auth/forgot", &[("email", ADA)]).await;

        assert!(answer.hosted(400).contains("Start again in the app"), "{answer:?}");
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);
    }

    with(|b| b.pages())
    async fn flow_of_another_browser_or_a_late_one_is_refused(app) {
        let browser = app.browser();
        let page = forgot(&browser).await;
        let here = latchkey_testkit::browser::link(&page, "/auth/forgot?flow=").unwrap();

        let elsewhere = app.browser();
        elsewhere.get(&here).await.hosted(400);
        browser.get("/auth/forgot?flow=nonsense").await.hosted(400);
        browser.get(&here).await.hosted(200);
        app.clock.advance(minutes(31));
        let late = browser.submit(&page, "/auth/forgot", &[("email", ADA)]).await;
        assert!(late.hosted(400).contains("This page has expired"), "{late:?}");
    }

    with(|b| b.pages())
    async fn flow_can_be_prolonged_before_it_ends(app) {
        let browser = app.browser();
        let page = forgot(&browser).await;
        let stay = latchkey_testkit::browser::link(&page, "&stay=1").unwrap();

        app.clock.advance(minutes(29));
        let longer = browser.get(&stay).await;
        app.clock.advance(minutes(29));

        let answer = browser.submit(&longer, "/auth/forgot", &[("email", ADA)]).await;
        assert_eq!(answer.status, 303, "{answer:?}");
    }

    with(|b| b.pages())
    async fn chosen_language_stays_in_the_flow(app) {
        let browser = app.browser().with_header("accept-language", "en");
        let page = forgot(&browser).await;

        let page = browser.get(&in_language(&page, "de")).await;
        assert!(page.hosted(200).contains("lang=\"de\""), "{page:?}");
        let wrong = browser.submit(&page, "/auth/forgot", &[("email", "ada")]).await;
        assert!(wrong.hosted(400).contains("<html lang=\"de\""), "{wrong:?}");
        let sent = browser.submit(&page, "/auth/forgot", &[("email", ADA)]).await;
        assert!(browser.follow(&sent).await.hosted(200).contains("<html lang=\"de\""));
    }

    with(|b| b.pages())
    async fn form_is_small_declared_and_has_each_field_once(app) {
        let browser = app.browser();
        let page = forgot(&browser).await;
        let form = |fields: &[(&str, &str)]| browser.form(&page, "/auth/forgot", fields);

        browser.send(form(&[("email", ADA), ("email", ADA)])).await.hosted(400);
        browser.send(form(&[("email", ADA), ("colour", "red"), ("colour", "red")])).await.hosted(400);
        browser.send(form(&[("email", &"a".repeat(70_000))])).await.hosted(413);
        browser.send(form(&[]).raw("application/json", "{}")).await.hosted(415);
        let unknown = browser.send(form(&[("email", ADA), ("colour", "red")])).await;
        assert_eq!(unknown.status, 303, "{unknown:?}");
    }

    with(|b| b.pages())
    async fn refused_field_is_shown_with_what_was_typed(app) {
        let browser = app.browser();
        let page = forgot(&browser).await;

        let answer = browser.submit(&page, "/auth/forgot", &[("email", "ada <at> example")]).await;

        let text = answer.hosted(400);
        assert!(text.contains("Enter a whole email address"), "{text}");
        assert!(text.contains("value=\"ada &lt;at&gt; example\""), "{text}");
        assert!(text.contains("aria-invalid=\"true\""), "{text}");
    }

    with(|b| b.pages())
    async fn head_and_get_change_nothing(app) {
        let _ada = app.user("ada").await;
        let browser = app.browser();
        let page = forgot(&browser).await;
        let action = page.text().split("action=\"").nth(1).unwrap().split('"').next().unwrap();

        let query = format!("{action}&email={ADA}");
        browser.get(&query).await.hosted(200);
        let head = browser.send(app.anon().request("HEAD", &query).header("host", "localhost:8700")).await;

        assert_eq!((head.status, head.body.len()), (200, 0), "{head:?}");
        app.run_jobs().await;
        assert_eq!(app.mail().total(), 0);
    }

    with(|b| b.pages().mode_production())
    async fn browser_cookie_is_for_this_host_alone(app) {
        let browser = app.browser();
        let page = forgot(&browser).await;

        let cookies = page.set_cookies();
        assert_eq!(cookies.len(), 1, "{page:?}");
        assert!(cookies[0].starts_with("__Host-latchkey_browser="), "{cookies:?}");
        assert!(cookies[0].ends_with("; Path=/; HttpOnly; Secure; SameSite=Lax"), "{cookies:?}");
        assert_eq!(forgot(&browser).await.set_cookies(), Vec::<&str>::new());
    }

    with(|b| b.pages().limits())
    async fn used_up_limit_is_told_at_the_form_with_the_time_to_wait(app) {
        let browser = app.browser();
        let first = browser.submit(&forgot(&browser).await, "/auth/forgot", &[("email", ADA)]).await;
        assert_eq!(first.status, 303, "{first:?}");

        let second = browser.submit(&forgot(&browser).await, "/auth/forgot", &[("email", ADA)]).await;

        assert!(second.hosted(429).contains("Too many attempts"), "{second:?}");
        assert!(second.number("retry-after") > 0);
        let by_api = app.anon().post("/api/auth/email/send-reset-password", json!({"email": ADA})).send().await;
        by_api.refused(429, "TOO_MANY_REQUESTS");
    }
}
