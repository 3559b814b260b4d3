//! Every form of the pages below `/auth` is taken from our own page alone, in the browser and session that were shown it.

use latchkey_testkit::{Browser, PASSWORD, TestApp, TestAppBuilder, User, both_stores, minutes};

use crate::email_calls::NEW_PASSWORD;
use crate::forged_calls::{Sheet, Stranger, paths_of_forms};
use crate::oauth_calls::{VERIFIER, acme, exchange, link_code};
use crate::page_session_calls::PageBrowser;
use crate::pages_calls::enter;

fn pages(builder: TestAppBuilder) -> TestAppBuilder {
    builder.pages().verification_by_code()
}

/// A form of the page at this path. A page without a case here fails the fact.
async fn sheet(app: &TestApp, path: &'static str, name: &str) -> Sheet {
    let browser = app.browser();
    match path {
        "/auth/verify" => verify(app, browser, name).await,
        "/auth/challenge" => {
            let user = app.two_step_user(name).await;
            let page = enter(&browser, "/auth/sign-in", &user.email, PASSWORD).await;
            Sheet::new(browser, page, path).with("code", user.authenticator.code())
        }
        "/auth/sign-up" => {
            let page = browser.get(path).await;
            let sheet = Sheet::new(browser, page, path).with("email", format!("{name}@example.org"));
            sheet.with("password", PASSWORD)
        }
        "/auth/sign-in" | "/auth/forgot" | "/auth/mail-code" => {
            let (user, page) = (app.user(name).await, browser.get(path).await);
            let sheet = Sheet::new(browser, page, path).with("email", &user.email);
            if path == "/auth/sign-in" { sheet.with("password", PASSWORD) } else { sheet }
        }
        "/auth/reset" => reset(app, browser, &app.user(name).await).await,
        "/auth/account/confirm" => confirm(app, &app.user(name).await).await,
        _ => of_account(app, path, &app.user(name).await).await,
    }
}

/// Types the mailed code of a sign-up.
async fn verify(app: &TestApp, browser: Browser, name: &str) -> Sheet {
    let (page, email) = (browser.get("/auth/sign-up").await, format!("{name}@example.org"));
    let sent = browser.submit(&page, "/auth/sign-up", &[("email", &email), ("password", PASSWORD)]).await;
    let page = browser.follow(&sent).await;
    Sheet::new(browser, page, "/auth/verify").with("code", app.mail_to(&email).await.code())
}

/// Types the mailed code of a forgotten password.
async fn reset(app: &TestApp, browser: Browser, user: &User) -> Sheet {
    let page = browser.get("/auth/forgot").await;
    let sent = browser.submit(&page, "/auth/forgot", &[("email", &user.email)]).await;
    let page = browser.follow(&sent).await;
    Sheet::new(browser, page, "act=code").with("code", app.mail_to(&user.email).await.code())
}

/// Types the password that a late change asks for.
async fn confirm(app: &TestApp, user: &User) -> Sheet {
    let (browser, _) = signed_in(app, user).await;
    app.clock.advance(minutes(11));
    let page = browser.get("/auth/account/data").await;
    let page = browser.follow(&browser.submit(&page, "act=delete", &[]).await).await;
    Sheet::new(browser, page, "/auth/account/confirm").with("password", PASSWORD)
}

/// Fills a form of the own account in.
async fn of_account(app: &TestApp, path: &'static str, user: &User) -> Sheet {
    let (browser, _) = signed_in(app, user).await;
    let (action, fields) = match path {
        "/auth/sign-out" => (path, vec![]),
        "/auth/account" => (path, vec![("id", app_session(user).await)]),
        "/auth/account/sessions" => ("act=end-others", vec![]),
        "/auth/account/email" => (path, vec![("email", format!("new-{}", user.email))]),
        "/auth/account/password" => {
            (path, vec![("current_password", PASSWORD.to_owned()), ("new_password", NEW_PASSWORD.to_owned())])
        }
        "/auth/account/profile" => (path, vec![("name", "Countess".to_owned())]),
        "/auth/account/data" => ("act=delete", vec![]),
        "/auth/account/two-step" => ("act=begin", vec![]),
        "/auth/account/passkeys" => {
            user.add_passkey(&app.phone()).await;
            ("act=remove", vec![])
        }
        "/auth/account/providers" => {
            let code = link_code(user, &acme(app).await, "acme").await;
            exchange(user, &code, VERIFIER).send().await.expect(200);
            (path, vec![])
        }
        _ => panic!("POST {path} has no form here: add the case"),
    };
    let page = browser.get(path).await;
    Sheet { fields, ..Sheet::new(browser, page, action) }
}

/// A browser of the user with a page session, and what its form tokens are bound to.
async fn signed_in(app: &TestApp, user: &User) -> (Browser, Stranger) {
    let mut browser = PageBrowser::new(app);
    let session = browser.sign_in(user).await;
    let scope = format!("{}.{}", session.session().id, session.user().id);
    (browser.on_pages(), Stranger { secret: browser.secret.expose(), scope })
}

/// Id of the session in the user's app.
async fn app_session(user: &User) -> String {
    let listed = user.get("/api/auth/sessions").send().await.expect(200);
    let mut sessions = listed["sessions"].as_array().unwrap().iter();
    sessions.find(|session| session["current"] == true).unwrap()["id"].as_str().unwrap().to_owned()
}

both_stores! {
    with(pages)
    async fn forged_form_of_any_page_does_nothing(app) {
        let (_browser, eve) = signed_in(&app, &app.user("eve").await).await;

        for (count, path) in paths_of_forms("/auth/").into_iter().enumerate() {
            let sheet = sheet(&app, path, &format!("ada{count}")).await;
            sheet.check(&app, path, &eve).await;
        }
    }
}
