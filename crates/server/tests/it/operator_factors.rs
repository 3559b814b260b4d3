//! Second factors of operators: which ones activate a grant, and which new ones put it to sleep.

use latchkey_domain::operator::Role;
use latchkey_testkit::browser::ceremony;
use latchkey_testkit::{
    Answer, Browser, Client, PASSWORD, Passkey, Session, TestApp, TestAppBuilder, User, both_stores, json,
};

use crate::audit::last;
use crate::console_calls::{ConsoleBrowser, verified, without_factor};
use crate::operators::{grant, is_active, make_operator};
use crate::page_session_calls::refused;
use crate::pages_enroll::shown_authenticator;
use crate::two_step_calls::set_policy;

const ACTIVATE: &str = "/console/activate";

fn console(builder: TestAppBuilder) -> TestAppBuilder {
    verified(builder).console()
}

/// Sets the password of a user by the mailbox alone; returns the client of the session that it opens.
async fn by_mailbox(app: &TestApp, user: &User) -> Client {
    let call = |name: &str, body| app.anon().post(&format!("/api/auth/email/{name}"), body).send();
    call("send-reset-password", json!({"email": user.email})).await.expect(202);
    let code = app.mail_to(&user.email).await.code();
    let exchanged = call("exchange-reset-password-token", json!({"email": user.email, "code": code})).await;
    let otp = &exchanged.expect(200)["token"];
    call("reset-password", json!({"newPassword": "password of a thief", "otp": otp})).await.expect(200);
    let signed_in = app.anon().sign_in(&user.email, "password of a thief").send().await;
    app.with_session(&Session::of(&signed_in))
}

/// Adds an authenticator app, which turns two-step sign-in on.
async fn add_app(app: &TestApp, client: &Client) {
    let (authenticator, id) = app.begin_totp(client).await;
    client.confirm_totp(&id, &authenticator.code()).client_type("web").send().await.expect(200);
}

/// Fills a form of the page with an assertion by the passkey, and follows the answer.
async fn show(browser: &Browser, page: &Answer, action: &str, passkey: &mut Passkey) -> Answer {
    let begun = ceremony(page);
    let credential = passkey.sign(&begun.options).to_json().to_string();
    let fields = [("ceremony_id", begun.id.as_str()), ("credential", &credential)];
    browser.submit(page, action, &fields).await
}

/// Opens the activation link of a new grant.
async fn opened(app: &TestApp, browser: &Browser, user: &User) -> Answer {
    let token = grant(app, user, Role::Admin).await;
    browser.follow(&browser.get(&format!("{ACTIVATE}?token={token}")).await).await
}

/// Makes an operator whose only second factor is a passkey.
async fn operator_with_passkey(app: &TestApp, name: &str) -> (User, Passkey) {
    let user = app.user(name).await;
    let (mut passkey, _) = user.add_passkey(&app.phone()).await;
    let browser = app.browser();
    let page = opened(app, &browser, &user).await;
    show(&browser, &page, "act=passkey", &mut passkey).await;
    assert!(is_active(app, &user).await);
    (user, passkey)
}

both_stores! {
    with(without_factor)
    async fn first_factor_puts_a_grant_to_sleep_that_was_activated_without_one(mut app) {
        let (ada, eve) = (app.user("ada").await, app.user("eve").await);
        for user in [&ada, &eve] {
            make_operator(&app, user, Role::Owner).await;
        }
        app.restart_with(|b| b.config(|config| config.operators.require_second_factor = true)).await;
        let browser = ConsoleBrowser::new(&app);
        refused(browser.enter(&ada.email, &ada.password).await, "INVALID_CREDENTIALS");

        add_app(&app, &by_mailbox(&app, &ada).await).await;
        let (mut passkey, _) = by_mailbox(&app, &eve).await.add_passkey(&app.phone()).await;

        assert!(!is_active(&app, &ada).await && !is_active(&app, &eve).await);
        refused(browser.enter(&ada.email, "password of a thief").await, "INVALID_CREDENTIALS");
        refused(browser.enter_by_passkey(&mut passkey).await, "INVALID_PASSKEY");
    }

    with(without_factor)
    async fn first_factor_leaves_a_grant_active_where_operators_need_none(app) {
        let ada = app.user("ada").await;
        make_operator(&app, &ada, Role::Owner).await;

        add_app(&app, &ada).await;

        assert!(is_active(&app, &ada).await);
    }

    with(console)
    async fn factor_that_the_passkey_of_the_account_did_not_vouch_for_puts_the_grant_to_sleep(app) {
        let (ada, _) = operator_with_passkey(&app, "ada").await;
        let (bob, _) = operator_with_passkey(&app, "bob").await;
        let (eve, _) = operator_with_passkey(&app, "eve").await;

        add_app(&app, &by_mailbox(&app, &ada).await).await;
        by_mailbox(&app, &bob).await.add_passkey(&app.phone()).await;
        let on = by_mailbox(&app, &eve).await.post("/api/auth/factors/two-step", json!({"enabled": true}));
        on.client_type("web").send().await.expect(200);

        for user in [&ada, &bob, &eve] {
            assert!(!is_active(&app, user).await, "{}", user.email);
        }
    }

    with(console)
    async fn factor_that_the_passkey_of_the_account_vouched_for_leaves_the_grant_active(app) {
        let (ada, mut passkey) = operator_with_passkey(&app, "ada").await;
        let signed_in = app.anon().sign_in_by_passkey(&mut passkey).await.client_type("web").send().await;

        add_app(&app, &app.with_session(&Session::of(&signed_in))).await;

        assert!(is_active(&app, &ada).await);
    }

    with(console)
    async fn passkey_activates_the_grant_of_an_account_without_two_step_sign_in(app) {
        let ada = app.user("ada").await;
        let (mut passkey, _) = ada.add_passkey(&app.phone()).await;
        let browser = app.browser();
        let page = opened(&app, &browser, &ada).await;

        let done = show(&browser, &page, "act=passkey", &mut passkey).await;

        assert_eq!((done.status, done.header("location")), (303, Some("/console")), "{done:?}");
        assert!(browser.follow(&done).await.hosted(200).contains("Sign out"));
        assert!(is_active(&app, &ada).await);
        assert_eq!(last(&app, "operator_activated").await["userId"], json!(ada.id));
    }

    with(console)
    async fn passkey_after_the_password_activates_the_grant(app) {
        let ada = app.user("ada").await;
        let (mut passkey, _) = ada.add_passkey(&app.phone()).await;
        let browser = app.browser();
        let page = opened(&app, &browser, &ada).await;
        let login = [("email", ada.email.as_str()), ("password", PASSWORD)];
        let page = browser.follow(&browser.submit(&page, "act=password", &login).await).await;

        let done = show(&browser, &page, "act=answer", &mut passkey).await;

        assert_eq!((done.status, done.header("location")), (303, Some("/console")), "{done:?}");
        assert!(is_active(&app, &ada).await);
    }

    with(|b| console(b).settings(|settings| settings.passkeys_enabled = false))
    async fn activation_enrols_an_app_where_users_may_have_no_second_factor(app) {
        let ada = app.user("ada").await;
        set_policy(&app, "off").await;
        let browser = app.browser();
        let page = opened(&app, &browser, &ada).await;
        let login = [("email", ada.email.as_str()), ("password", PASSWORD)];
        let page = browser.follow(&browser.submit(&page, "act=password", &login).await).await;
        let page = browser.follow(&browser.submit(&page, "act=totp", &[]).await).await;

        let code = shown_authenticator(&app, &page).code();
        let page = browser.follow(&browser.submit(&page, "act=code", &[("code", &code)]).await).await;

        assert!(page.hosted(200).contains("act=noted"), "{page:?}");
        assert!(is_active(&app, &ada).await);
    }
}
