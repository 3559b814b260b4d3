//! Grants for addresses without an account: the activation link makes the account.

use latchkey_domain::operator::Role;
use latchkey_testkit::browser::link;
use latchkey_testkit::{
    Answer, Browser, PASSWORD, TestApp, TestAppBuilder, Value, both_stores, json, minutes, seconds,
};

use crate::audit::{events, last};
use crate::console_user_calls::{Desk, desk};
use crate::pages_enroll::shown_authenticator;

const ACTIVATE: &str = "/console/activate";
const OPERATORS: &str = "/console/operators";
const NEW: &str = "new@example.org";
const COOKIE: &str = "latchkey_console_8700";

/// The console without passkeys, so that each step has one form.
fn console(builder: TestAppBuilder) -> TestAppBuilder {
    builder.console().verification_by_code().settings(|settings| settings.passkeys_enabled = false)
}

/// Path and query of the activation link on a page.
fn shown_link(page: &Answer) -> String {
    let text = page.hosted(200);
    let url = text.split("class=\"url\">").nth(1).unwrap_or_else(|| panic!("no link: {text}"));
    let url = url.split('<').next().unwrap();
    url.split_once("localhost:8700").unwrap().1.to_owned()
}

/// Gives an address a role; returns path and query of the link.
async fn granted(owner: &Desk<'_>, email: &str, role: &str) -> String {
    let page = owner.browser.get(OPERATORS).await;
    let done = owner.browser.submit(&page, "act=grant", &[("email", email), ("role", role)]).await;
    shown_link(&owner.browser.follow(&done).await)
}

/// Opens an activation link, up to its first page.
async fn opened(browser: &Browser, path: &str) -> Answer {
    browser.follow(&browser.get(path).await).await
}

/// Sends the form of a step; returns the page of the next one.
async fn step(browser: &Browser, page: &Answer, act: &str, fields: &[(&str, &str)]) -> Answer {
    let done = browser.submit(page, act, fields).await;
    assert_eq!((done.status, done.header("location")), (303, Some(ACTIVATE)), "{done:?}");
    browser.follow(&done).await
}

/// Makes the account, up to the page that asks for the mailed code.
async fn created(browser: &Browser, path: &str) -> Answer {
    let page = opened(browser, path).await;
    assert!(page.hosted(200).contains("Choose a password for the new account."), "{page:?}");
    step(browser, &page, "act=create", &[("password", PASSWORD)]).await
}

/// Adds an authenticator app, up to the overview.
async fn enrolled(app: &TestApp, browser: &Browser, page: &Answer) -> Answer {
    let page = step(browser, page, "act=totp", &[]).await;
    let code = shown_authenticator(app, &page).code();
    let page = step(browser, &page, "act=code", &[("code", &code)]).await;
    let done = browser.submit(&page, "act=noted", &[]).await;
    browser.follow(&done).await
}

async fn user(app: &TestApp, email: &str) -> Option<Value> {
    let found = app.admin().get("/api/auth/users").query("search", email).send().await.expect(200);
    found["data"].as_array().unwrap().first().cloned()
}

both_stores! {
    with(console)
    async fn link_makes_the_account_whose_address_a_mailed_code_verifies(app) {
        let owner = desk(&app, "owner", Role::Owner).await;
        let path = granted(&owner, "New@Example.org", "support").await;
        let page = owner.browser.get(OPERATORS).await;
        assert!(page.hosted(200).contains("Without an account yet") && page.text().contains("New@Example.org"));
        assert_eq!(user(&app, NEW).await, None, "nobody has signed up");
        app.admin().put("/api/auth/config", json!({"disableSignup": true})).send().await.expect(200);
        let browser = app.browser();

        let page = created(&browser, &path).await;
        assert_eq!(user(&app, NEW).await.unwrap()["emailVerified"], json!(false));
        let wrong = browser.submit(&page, "act=verify", &[("code", "000000")]).await;
        assert!(wrong.hosted(400).contains("id=\"code-fault\""), "{wrong:?}");
        let code = app.mail_to("New@Example.org").await.code();
        let page = step(&browser, &wrong, "act=verify", &[("code", &code)]).await;
        assert!(page.hosted(200).contains("Operators need a second factor."), "{page:?}");
        assert_eq!(browser.get("/console").await.status, 303, "the grant sleeps");
        let overview = enrolled(&app, &browser, &page).await;

        assert!(overview.hosted(200).contains("class=\"role\">Support<"), "{overview:?}");
        let user = user(&app, NEW).await.unwrap();
        assert_eq!(user["emailVerified"], json!(true), "{user}");
        assert_eq!(last(&app, "operator_activated").await["userId"], user["id"]);
        let all = events(&app).await;
        let given: Vec<_> = all.iter().filter(|event| event["event"] == "operator_granted").collect();
        assert_eq!((&given[0]["userId"], &given[1]["userId"]), (&user["id"], &json!(null)), "newest first");
        assert_eq!(given[0]["details"]["grant"], given[1]["details"]["grant"]);
        assert_eq!(given[1]["operatorId"], json!(owner.id));
        let page = owner.browser.get(OPERATORS).await;
        assert!(!page.hosted(200).contains("Without an account yet") && page.text().contains("New@Example.org"));
        let dead = opened(&app.browser(), &path).await;
        assert!(dead.hosted(200).contains("Sign in with the account that got the grant."), "{dead:?}");
    }

    with(console)
    async fn link_alone_is_no_proof_of_the_address(app) {
        let owner = desk(&app, "owner", Role::Owner).await;
        let path = granted(&owner, NEW, "owner").await;
        let browser = app.browser();
        let _asked = created(&browser, &path).await;

        // The password of the new account opens nothing before the address is verified.
        let page = browser.get(&format!("{ACTIVATE}?at=sign-in")).await;
        let fields = [("email", NEW), ("password", PASSWORD)];
        let refused = browser.submit(&page, "act=password", &fields).await;

        assert_eq!(refused.status, 401, "{refused:?}");
        assert_eq!(browser.cookie(COOKIE), None);
        assert!(app.service().operators.list_addresses().await.unwrap().iter().any(|one| one.email.as_typed() == NEW));
    }

    with(console)
    async fn link_does_not_tell_whether_the_address_has_an_account_by_now(app) {
        let owner = desk(&app, "owner", Role::Owner).await;
        let (free, taken) = (granted(&owner, "free@example.org", "viewer").await, granted(&owner, "taken@example.org", "viewer").await);
        let taker = app.user("taken").await;
        assert_eq!(taker.email, "taken@example.org");

        let mut pages = Vec::new();
        for (path, email) in [(&free, "free@example.org"), (&taken, "taken@example.org")] {
            let browser = app.browser();
            let first = opened(&browser, path).await;
            let second = step(&browser, &first, "act=create", &[("password", PASSWORD)]).await;
            let third = browser.submit(&second, "act=verify", &[("code", "000000")]).await;
            pages.push([first, second, third].map(|page| {
                let text = page.text().replace(email, "ADDRESS");
                let token = text.split("name=\"form_token\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
                let tokens: Vec<_> = token.collect();
                (page.status, tokens.iter().fold(text, |text, token| text.replace(token, "TOKEN")))
            }));
        }

        assert_eq!(pages[0], pages[1]);
    }

    with(console)
    async fn account_that_has_the_address_by_now_signs_in_to_get_the_grant(app) {
        let owner = desk(&app, "owner", Role::Owner).await;
        let path = granted(&owner, "ada@example.org", "admin").await;
        let ada = app.two_step_user("ada").await;
        let browser = app.browser();
        opened(&browser, &path).await.hosted(200);

        let page = browser.get(&format!("{ACTIVATE}?at=sign-in")).await;
        let page = step(&browser, &page, "act=password", &[("email", &ada.email), ("password", PASSWORD)]).await;
        let done = browser.submit(&page, "act=answer", &[("code", &ada.authenticator.code())]).await;
        app.clock.advance(seconds(30));

        assert!(browser.follow(&done).await.hosted(200).contains("class=\"role\">Admin<"), "{done:?}");
        assert!(app.service().operators.list_addresses().await.unwrap().is_empty());
    }

    with(console)
    async fn sign_up_that_was_never_verified_is_no_account(app) {
        let owner = desk(&app, "owner", Role::Owner).await;
        app.anon().sign_up(NEW, "a stranger's password 7").send().await.expect(200);
        let path = granted(&owner, NEW, "viewer").await;
        let browser = app.browser();
        app.clock.advance(minutes(2));

        let page = created(&browser, &path).await;
        let code = app.mail_to(NEW).await.code();
        let page = step(&browser, &page, "act=verify", &[("code", &code)]).await;

        assert!(enrolled(&app, &browser, &page).await.hosted(200).contains("class=\"role\">Viewer<"));
        app.anon().sign_in(NEW, "a stranger's password 7").send().await.refused(401, "INVALID_CREDENTIALS");
    }

    with(console)
    async fn new_link_and_revocation_end_the_link_before(app) {
        let owner = desk(&app, "owner", Role::Owner).await;
        let first = granted(&owner, NEW, "viewer").await;
        let page = owner.browser.get(OPERATORS).await;

        let done = owner.browser.submit(&page, "act=reactivate", &[("id", ""), ("address", NEW)]).await;
        let second = shown_link(&owner.browser.follow(&done).await);
        let is_alive = async |path: &str| opened(&app.browser(), path).await.text().contains("Choose a password");
        assert!(!is_alive(&first).await && is_alive(&second).await);
        assert_eq!(last(&app, "operator_link_made").await["operatorId"], json!(owner.id));
        let done = owner.browser.submit(&page, "act=revoke", &[("id", ""), ("address", NEW)]).await;

        assert!(owner.browser.follow(&done).await.hosted(200).contains("The grant is revoked."), "{done:?}");
        assert!(!is_alive(&second).await);
        assert_eq!(last(&app, "operator_revoked").await["details"]["role"], json!("viewer"));
    }

    with(console)
    async fn link_of_an_address_expires(app) {
        let owner = desk(&app, "owner", Role::Owner).await;
        let path = granted(&owner, NEW, "viewer").await;
        let browser = app.browser();
        let page = created(&browser, &path).await;
        let code = app.mail_to(NEW).await.code();
        app.clock.advance(minutes(9));
        browser.get(ACTIVATE).await.hosted(200);
        app.clock.advance(minutes(21));

        let refused = browser.submit(&page, "act=verify", &[("code", &code)]).await;

        assert_eq!(browser.cookie(COOKIE), None);
        assert!(refused.hosted(400).contains("This link does not work"), "{refused:?}");
        assert!(link(&opened(&app.browser(), &path).await, "at=sign-in").is_none());
    }

    with(|b| b.console().no_mail_transport().settings(|settings| settings.passkeys_enabled = false))
    async fn without_mails_the_page_says_why_no_account_is_made(app) {
        let operators = &app.service().operators;
        let email = latchkey_domain::email::Email::parse(NEW).unwrap();
        let party = latchkey_domain::operator::Party::System;
        let granting = operators.grant_to(&email, Role::Owner, party, None).await.unwrap();
        let latchkey_service::operators::Granting::Asleep(made) = granting else { panic!("no link") };
        let path = made.expose().split_once("localhost:8700").unwrap().1;
        let browser = app.browser();
        let page = opened(&browser, path).await;

        let refused = browser.submit(&page, "act=create", &[("password", PASSWORD)]).await;

        assert!(refused.hosted(400).contains("No mail transport is configured."), "{refused:?}");
    }
}
