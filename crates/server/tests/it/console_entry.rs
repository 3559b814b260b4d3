//! `/console/sign-in`, `/console/confirm` and `/console/sign-out`: how an operator gets in, and what gets nobody in.

use latchkey_domain::operator::{Party, Role};
use latchkey_testkit::browser::{ceremony, link};
use latchkey_testkit::{
    Answer, Browser, PASSWORD, TestApp, TestAppBuilder, TwoStepUser, both_stores, json, minutes, seconds,
};

use crate::audit::last;
use crate::console_calls::operator;
use crate::operators::grant;

const SIGN_IN: &str = "/console/sign-in";
const CONFIRM: &str = "/console/confirm";
const OPERATORS: &str = "/console/operators";
const COOKIE: &str = "latchkey_console";

/// The console without passkeys, so that each page before the sign-in has one form.
pub(crate) fn console(builder: TestAppBuilder) -> TestAppBuilder {
    builder.console().verification_by_code().settings(|settings| settings.passkeys_enabled = false)
}

/// Fills the form of the sign-in in.
pub(crate) async fn enter(browser: &Browser, path: &str, email: &str, password: &str) -> Answer {
    let page = browser.get(path).await;
    page.hosted(200);
    browser.submit(&page, SIGN_IN, &[("email", email), ("password", password)]).await
}

/// Signs in up to the page that asks for the second factor.
async fn challenged(browser: &Browser, path: &str, ada: &TwoStepUser) -> Answer {
    let page = browser.follow(&enter(browser, path, &ada.email, PASSWORD).await).await;
    assert!(page.hosted(200).contains("inputmode=\"numeric\""), "{page:?}");
    assert_eq!(browser.cookie(COOKIE), None);
    page
}

/// Signs an operator in; returns the response that opens the session. The next code of the app is good afterwards.
async fn sign_in(app: &TestApp, browser: &Browser, path: &str, ada: &TwoStepUser) -> Answer {
    let page = challenged(browser, path, ada).await;
    let done = browser.submit(&page, CONFIRM, &[("code", &ada.authenticator.code())]).await;
    assert_eq!(done.status, 303, "{done:?}");
    app.clock.advance(seconds(30));
    done
}

/// True if the browser is signed in to the console.
async fn is_in(browser: &Browser) -> bool {
    let page = browser.get("/console").await;
    if page.status == 200 {
        return page.hosted(200).contains("Sign out");
    }
    assert_eq!((page.status, page.header("location")), (303, Some(SIGN_IN)), "{page:?}");
    false
}

/// True if the user stands in the list of operators.
async fn is_listed(browser: &Browser, user: &TwoStepUser) -> bool {
    let page = browser.get(OPERATORS).await;
    page.hosted(200).contains(&format!("/console/users/{}", user.id))
}

/// The page without what differs between any two: the typed address.
fn without(page: &Answer, email: &str) -> (u16, Vec<String>, String) {
    let names = ["content-type", "cache-control", "retry-after", "set-cookie", "content-security-policy"];
    let headers = names.iter().map(|name| format!("{:?}", page.header(name)));
    (page.status, headers.collect(), page.text().replace(email, "ADDRESS"))
}

both_stores! {
    with(console)
    async fn password_and_code_open_the_page_that_was_wanted(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let browser = app.browser();
        let wanted = browser.get("/console?a=b%20c").await;
        assert_eq!(wanted.status, 303, "{wanted:?}");
        let sign_in_page = wanted.header("location").unwrap().to_owned();

        let done = sign_in(&app, &browser, &sign_in_page, &ada).await;

        assert_eq!(done.header("location"), Some("/console?a=b%20c"), "{done:?}");
        let page = browser.follow(&done).await;
        let text = page.hosted(200);
        assert!(text.contains("class=\"role\">Owner<") && text.contains("<h1>Overview</h1>"), "{text}");
        assert!(text.contains("a warning of the tests"), "{text}");
        assert!(text.contains(&format!("/console/users/{}", ada.id)), "no event of the sign-in: {text}");
        assert_eq!(browser.get(SIGN_IN).await.header("location"), Some("/console"));
    }

    with(console)
    async fn sign_in_leads_to_pages_of_the_console_alone(app) {
        let ada = operator(&app, "ada", Role::Viewer).await;
        for next in ["//evil.example", "https%3A%2F%2Fevil.example", "%2Fauth%2Faccount", "%2Fconsole%5C..", "%2Fconsolex", "%2Fconsole%2F..%2Fauth", "%2Fconsole%2F%252E%252e%2Fauth"] {
            let browser = app.browser();
            let done = sign_in(&app, &browser, &format!("{SIGN_IN}?next={next}"), &ada).await;

            assert_eq!(done.header("location"), Some("/console"), "{next}");
        }
    }

    with(console)
    async fn recovery_code_is_another_way(app) {
        let ada = operator(&app, "ada", Role::Support).await;
        let browser = app.browser();
        let page = challenged(&browser, SIGN_IN, &ada).await;
        let page = browser.follow(&browser.submit(&page, "kind=recovery_code", &[]).await).await;
        assert!(page.hosted(200).contains("inputmode=\"text\""), "{page:?}");

        let wrong = browser.submit(&page, "kind=recovery_code", &[("code", "aaaa-bbbb-cccc-dddd")]).await;
        assert!(wrong.hosted(401).contains("id=\"code-fault\""), "{wrong:?}");
        let done = browser.submit(&page, "kind=recovery_code", &[("code", &ada.recovery_codes[0])]).await;

        assert_eq!(done.status, 303, "{done:?}");
        assert!(is_in(&browser).await);
    }

    with(|b| b.console().verification_by_code())
    async fn passkey_opens_the_console_at_once(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let (mut passkey, _) = ada.add_passkey(&app.phone()).await;
        let browser = app.browser();
        let page = browser.get(SIGN_IN).await;
        let begun = ceremony(&page);

        let credential = passkey.sign(&begun.options).to_json().to_string();
        let fields = [("ceremony_id", begun.id.as_str()), ("credential", &credential)];
        let done = browser.submit(&page, "act=passkey", &fields).await;

        assert_eq!((done.status, done.header("location")), (303, Some("/console")), "{done:?}");
        assert!(is_in(&browser).await);
    }

    with(console)
    async fn nobody_learns_who_is_an_operator(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let (bob, eve) = (app.two_step_user("bob").await, app.two_step_user("eve").await);
        let _asleep = grant(&app, &eve, Role::Owner).await;
        let browser = app.browser();

        let tries = [
            (ada.email.as_str(), "another password"),
            (&bob.email, PASSWORD),
            (&eve.email, PASSWORD),
            ("nobody@example.org", PASSWORD),
        ];
        let mut pages = Vec::new();
        for (email, password) in tries {
            let _ = browser.get(SIGN_IN).await;
            let page = enter(&browser, SIGN_IN, email, password).await;
            assert!(page.hosted(401).contains("role=\"alert\""), "{page:?}");
            pages.push(without(&page, email));
        }

        assert!(pages.iter().all(|page| *page == pages[0]), "{pages:#?}");
        assert!(!is_in(&browser).await);
    }

    with(console)
    async fn cookie_of_development_is_strict_and_ends_with_the_browser(app) {
        let ada = operator(&app, "ada", Role::Owner).await;

        let done = sign_in(&app, &app.browser(), SIGN_IN, &ada).await;

        let cookies = done.set_cookies();
        let cookie = cookies.iter().find(|line| line.starts_with("latchkey_console_8700=")).expect("a cookie");
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    }

    with(|b| console(b).mode_production())
    async fn cookie_of_production_is_bound_to_the_host(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let browser = app.browser();

        let done = sign_in(&app, &browser, SIGN_IN, &ada).await;

        let cookies = done.set_cookies();
        let cookie = cookies.iter().find(|line| line.starts_with("__Host-latchkey_console=")).expect("a cookie");
        assert!(cookie.ends_with("; Path=/; HttpOnly; Secure; SameSite=Strict"), "{cookie}");
        assert!(is_in(&browser).await);
    }

    with(console)
    async fn session_works_in_its_browser_alone(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let browser = app.browser();
        sign_in(&app, &browser, SIGN_IN, &ada).await;
        let token = browser.cookie(COOKIE).unwrap();

        let other = app.browser();
        other.get(SIGN_IN).await.hosted(200);
        let other = other.with_cookie("latchkey_console_8700", token);
        assert!(!is_in(&other).await);
        assert!(is_in(&browser).await);
        browser.forget("latchkey_browser");
        assert!(!is_in(&browser).await);
    }

    with(console)
    async fn session_ends_after_half_an_hour_without_a_request_and_after_eight_hours(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let (idle, busy) = (app.browser(), app.browser());
        sign_in(&app, &idle, SIGN_IN, &ada).await;
        sign_in(&app, &busy, SIGN_IN, &ada).await;

        app.clock.advance(minutes(20));
        assert!(is_in(&busy).await);
        app.clock.advance(minutes(11));
        assert!(!is_in(&idle).await);
        assert!(is_in(&busy).await);
        for _ in 0..22 {
            app.clock.advance(minutes(20));
            assert!(is_in(&busy).await);
        }
        app.clock.advance(minutes(20));
        assert!(!is_in(&busy).await);
    }

    with(console)
    async fn withdrawal_and_change_of_a_role_act_on_the_next_request_of_every_instance(app) {
        let (ada, bob) = (operator(&app, "ada", Role::Owner).await, operator(&app, "bob", Role::Admin).await);
        let (first, second) = (app.browser(), app.browser());
        sign_in(&app, &first, SIGN_IN, &ada).await;
        sign_in(&app, &second, SIGN_IN, &bob).await;
        let beside = app.beside().await;
        let there = |browser: &Browser| {
            let known = beside.browser();
            ["latchkey_console_8700", "latchkey_browser_8700"]
                .into_iter()
                .fold(known, |known, name| known.with_cookie(name, browser.cookie(name).unwrap()))
        };
        let (first_there, second_there) = (there(&first), there(&second));
        assert!(is_in(&first_there).await && is_in(&second_there).await);

        let operators = &app.service().operators;
        operators.revoke(bob.id.parse().unwrap(), false, Party::System, None).await.unwrap();
        assert!(!is_in(&second_there).await && !is_in(&second).await);
        let _cleo = operator(&app, "cleo", Role::Owner).await;
        operators.grant(ada.id.parse().unwrap(), Role::Viewer, Party::System, None).await.unwrap();
        assert!(!is_in(&first_there).await && !is_in(&first).await);
        first.forget(COOKIE);
        sign_in(&app, &first, SIGN_IN, &ada).await;
        let page = first.get("/console").await;
        assert!(page.hosted(200).contains("class=\"role\">Viewer<"), "{page:?}");
    }

    with(console)
    async fn signing_out_ends_the_session_and_not_only_its_cookie(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let browser = app.browser();
        sign_in(&app, &browser, SIGN_IN, &ada).await;
        let token = browser.cookie(COOKIE).unwrap();
        let page = browser.get("/console").await;

        for origin in ["https://evil.example", "null"] {
            let form = browser.form(&page, "/console/sign-out", &[]).without_header("origin").header("origin", origin);
            assert!(browser.send(form).await.hosted(403).contains("Load the page again"), "{origin}");
            let form = browser.form(&page, "/console/sign-out", &[("form_token", "nonsense")]);
            browser.send(form).await.hosted(403);
        }
        browser.get("/console/sign-out").await.hosted(405);
        assert!(is_in(&browser).await);
        let done = browser.submit(&page, "/console/sign-out", &[]).await;

        assert_eq!(done.header("location"), Some(SIGN_IN), "{done:?}");
        assert_eq!(browser.cookie(COOKIE), None);
        let thief = browser.with_cookie("latchkey_console_8700", token);
        assert!(!is_in(&thief).await);
    }

    with(console)
    async fn foreign_forms_sign_nobody_in(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let (browser, other) = (app.browser(), app.browser());
        let (page, foreign) = (browser.get(SIGN_IN).await, other.get(SIGN_IN).await);
        let fields = [("email", ada.email.as_str()), ("password", PASSWORD)];
        let token = |page: &Answer| {
            let (_, rest) = page.text().split_once("name=\"form_token\" value=\"").unwrap();
            rest.split('"').next().unwrap().to_owned()
        };

        for wrong in ["", "nonsense", &token(&foreign)] {
            let fields = [fields[0], fields[1], ("form_token", wrong)];
            browser.submit(&page, SIGN_IN, &fields).await.hosted(403);
        }
        for (name, value) in [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")] {
            let form = browser.form(&page, SIGN_IN, &fields).without_header("origin").without_header("sec-fetch-site");
            browser.send(form.header(name, value)).await.hosted(403);
        }
        assert_eq!(browser.cookie(COOKIE), None);
        assert_eq!(browser.submit(&page, SIGN_IN, &fields).await.status, 303);
    }

    with(|b| console(b).pages())
    async fn sessions_of_console_pages_and_apps_are_no_use_to_each_other(app) {
        let ada = operator(&app, "ada", Role::Owner).await;
        let browser = app.browser();
        sign_in(&app, &browser, SIGN_IN, &ada).await;
        let token = browser.cookie(COOKIE).unwrap();

        let cookie = format!("latchkey_console_8700={token}");
        app.anon().get("/api/auth/sessions").cookie(&cookie).send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.bearing(&token).get("/api/auth/sessions").send().await.refused(401, "AUTH_UNAUTHORIZED");
        app.bearing(&token).get("/api/auth/users").send().await.refused(401, "ADMIN_UNAUTHORIZED");
        let as_page = app.browser()
            .with_cookie("latchkey_browser_8700", browser.cookie("latchkey_browser").unwrap())
            .with_cookie("latchkey_pages_8700", token);
        let account = as_page.get("/auth/account").await;
        assert_eq!(account.status, 303, "{account:?}");

        let reader = app.browser();
        let page = reader.get("/auth/sign-in").await;
        let page = reader.follow(&reader.submit(&page, "/auth/sign-in", &[("email", &ada.email), ("password", PASSWORD)]).await).await;
        let asked = link(&page, "flow=").unwrap();
        let flow = asked.split("flow=").nth(1).unwrap().split('&').next().unwrap();
        let reader = reader.with_cookie("latchkey_operator_asked_8700", flow.to_owned());
        let opened = reader.get(CONFIRM).await;
        assert_eq!(opened.header("location"), Some(SIGN_IN), "{opened:?}");
        let done = reader.submit(&page, "/auth/challenge", &[("code", &ada.authenticator.code())]).await;
        assert_eq!(done.status, 303, "{done:?}");
        assert!(!is_in(&reader).await);
        let pages_token = reader.cookie("latchkey_pages").unwrap();
        assert!(!is_in(&reader.with_cookie("latchkey_console_8700", pages_token)).await);
    }

    with(console)
    async fn form_that_needs_a_recent_proof_is_kept_over_it(app) {
        let (ada, bob) = (operator(&app, "ada", Role::Owner).await, app.two_step_user("bob").await);
        let browser = app.browser();
        sign_in(&app, &browser, SIGN_IN, &ada).await;
        app.clock.advance(minutes(11));
        let page = browser.get(OPERATORS).await;

        let asked = browser.submit(&page, "act=grant", &[("email", &bob.email), ("role", "support")]).await;
        assert!(asked.hosted(403).contains("name=\"kept\""), "{asked:?}");
        assert!(!is_listed(&browser, &bob).await);
        let before = browser.cookie(COOKIE).unwrap();
        let wrong = browser.submit(&asked, CONFIRM, &[("code", &ada.authenticator.wrong_code(1))]).await;
        assert!(wrong.hosted(401).contains("id=\"code-fault\""), "{wrong:?}");
        let done = browser.submit(&wrong, CONFIRM, &[("code", &ada.authenticator.code())]).await;

        assert!(browser.follow(&done).await.hosted(200).contains(&bob.email), "{done:?}");
        assert!(is_listed(&browser, &bob).await);
        assert_ne!(browser.cookie(COOKIE).unwrap(), before);
        let thief = app.browser()
            .with_cookie("latchkey_browser_8700", browser.cookie("latchkey_browser").unwrap())
            .with_cookie("latchkey_console_8700", before);
        assert!(!is_in(&thief).await);
    }

    with(console)
    async fn kept_form_is_of_its_browser_alone(app) {
        let (ada, bob) = (operator(&app, "ada", Role::Owner).await, operator(&app, "bob", Role::Owner).await);
        let eve = app.two_step_user("eve").await;
        let (first, second) = (app.browser(), app.browser());
        sign_in(&app, &first, SIGN_IN, &ada).await;
        sign_in(&app, &second, SIGN_IN, &bob).await;
        app.clock.advance(minutes(11));
        let fields = [("email", eve.email.as_str()), ("role", "owner")];
        let asked = async |browser: &Browser| {
            let asked = browser.submit(&browser.get(OPERATORS).await, "act=grant", &fields).await;
            asked.hosted(403);
            asked
        };
        let (of_ada, of_bob) = (asked(&first).await, asked(&second).await);
        let (_, kept) = of_ada.text().split_once("name=\"kept\" value=\"").unwrap();
        let kept = kept.split('"').next().unwrap();

        let code = bob.authenticator.code();
        second.submit(&of_bob, CONFIRM, &[("kept", kept), ("code", &code)]).await.hosted(403);

        assert!(!is_listed(&second, &eve).await);
    }

    with(console)
    async fn page_that_a_role_may_not_read_is_refused_and_audited(app) {
        let ada = operator(&app, "ada", Role::Admin).await;
        let browser = app.browser();
        sign_in(&app, &browser, SIGN_IN, &ada).await;
        assert!(!browser.get("/console").await.hosted(200).contains(OPERATORS));

        let page = browser.get(OPERATORS).await;

        assert!(page.hosted(403).contains("Your role does not allow this"), "{page:?}");
        assert!(page.text().contains("Sign out"), "{page:?}");
        let event = last(&app, "operator_refused").await;
        assert_eq!((&event["actor"], &event["operatorId"]), (&json!("operator"), &json!(ada.id)), "{event}");
        assert_eq!(event["details"], json!({"act": "manage_operators"}));
    }
}
