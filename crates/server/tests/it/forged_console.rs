//! Every form of the console is taken from our own page alone, in the browser and session that were shown it.

use latchkey_domain::operator::Role;
use latchkey_service::imports::ImportPosition;
use latchkey_testkit::{Browser, PASSWORD, TestApp, both_stores, json};

use crate::audit_filters::found;
use crate::console_calls::operator;
use crate::console_entry::{console, enter};
use crate::console_mails::dead_mail;
use crate::console_user_calls::{Desk, desk, desk_of, path_of};
use crate::forged_calls::{Sheet, Stranger, assert_stored, paths_of_forms, stored};
use crate::imports::{ended, import_lines};
use crate::oauth_calls::provider;
use crate::operators::grant;

const LENGTH: &str = "passwords.min_length";

/// A form of the page at this path. A page without a case here fails the fact.
async fn sheet(app: &TestApp, path: &'static str, name: &str) -> Sheet {
    match path {
        "/console/activate" => activate(app, app.browser(), name).await,
        "/console/sign-in" | "/console/confirm" => {
            let (browser, owner) = (app.browser(), operator(app, name, Role::Owner).await);
            if path == "/console/sign-in" {
                let page = browser.get(path).await;
                let sheet = Sheet::new(browser, page, path).with("email", &owner.email);
                return sheet.with("password", PASSWORD);
            }
            let entered = enter(&browser, "/console/sign-in", &owner.email, PASSWORD).await;
            let page = browser.follow(&entered).await;
            Sheet::new(browser, page, path).with("code", owner.authenticator.code())
        }
        _ => {
            let owner = desk(app, name, Role::Owner).await;
            of_owner(app, path, &owner, &format!("{name}-target")).await
        }
    }
}

/// Signs in at the activation of a grant.
async fn activate(app: &TestApp, browser: Browser, name: &str) -> Sheet {
    let user = app.user(name).await;
    let token = grant(app, &user, Role::Admin).await;
    let opened = browser.get(&format!("/console/activate?token={token}")).await;
    let page = browser.follow(&opened).await;
    Sheet::new(browser, page, "act=password").with("email", &user.email).with("password", PASSWORD)
}

/// Fills in a form that an owner who is signed in is shown.
pub(crate) async fn of_owner(app: &TestApp, path: &'static str, owner: &Desk<'_>, name: &str) -> Sheet {
    let shown = async |address: &str, action: &str| shown(app, owner, address, action).await;
    match path {
        "/console/sign-out" => shown("/console", path).await,
        "/console/mails" => {
            dead_mail(app, &format!("{name}@example.org")).await;
            shown("/console/mails?fate=dead", "act=retry").await
        }
        "/console/operators" => {
            let email = app.user(name).await.email.clone();
            shown(path, "act=grant").await.with("email", email).with("role", "viewer")
        }
        "/console/operators/revoke" => {
            let other = operator(app, name, Role::Owner).await;
            let sheet = shown(&format!("{path}?user={}", other.id), path).await;
            sheet.with("confirmation", &other.email)
        }
        "/console/signing/rotate" => shown(path, path).await.with("confirmation", "Latchkey"),
        "/console/providers" => {
            let _provider = provider(app, name).await;
            shown(path, &format!("test={name}")).await
        }
        "/console/settings" => {
            let saved =
                owner.forces_at("/console/settings/change", "", &[("key", LENGTH), ("value", "9")]).await;
            assert_eq!(saved.status, 303, "{saved:?}");
            shown(path, &format!("reset={LENGTH}")).await
        }
        "/console/settings/change" => {
            let least = app.service().settings().values.password_min_length + 1;
            shown(&format!("{path}?key={LENGTH}&value={least}"), path).await
        }
        "/console/export" => shown(path, path).await.with("content", "bare"),
        "/console/import/new" => {
            let sheet = shown(path, path).await.with("from", "latchkey").with("mode", "import");
            Sheet { file: Some("{\"email\": \"new@example.net\"}"), ..sheet.with("conflict", "skip") }
        }
        "/console/import/{id}/undo" => {
            let line = json!({"email": format!("{name}@example.net")}).to_string();
            let job = import_lines(app, "", &line).await;
            let address = format!("/console/import/{}/undo", job["id"].as_str().unwrap());
            shown(&address, &address).await.with("confirmation", "Latchkey")
        }
        _ => of_users(app, path, owner, name).await,
    }
}

/// The form at a part of an address, on a page in the browser of the operator.
async fn shown(app: &TestApp, desk: &Desk<'_>, address: &str, action: &str) -> Sheet {
    let Desk { browser, session_id: session, .. } = desk.on(app);
    let page = browser.get(address).await;
    Sheet { session, ..Sheet::new(browser, page, action) }
}

/// Fills in a form about users.
async fn of_users(app: &TestApp, path: &'static str, owner: &Desk<'_>, name: &str) -> Sheet {
    let user = app.user(name).await;
    let (address, action, fields) = match path {
        "/console/users/csv" => ("/console/users".to_owned(), path, vec![]),
        "/console/users/new" => {
            let fields =
                vec![("email", format!("new-{}", user.email)), ("new_password", PASSWORD.to_owned())];
            (path.to_owned(), path, fields)
        }
        "/console/users/chosen" => (format!("{path}?act=ban&ids={}", user.id), path, vec![]),
        "/console/users/{id}" => (path_of(&user), "act=ban", vec![]),
        "/console/sessions" => (format!("{path}?user={}", user.id), "/console/sessions?user", vec![]),
        _ => panic!("POST {path} has no form here: add the case"),
    };
    Sheet { fields, ..shown(app, owner, &address, action).await }
}

/// Waits for the import that runs beside the requests, if there is one.
pub(crate) async fn settle(app: &TestApp) {
    let newest = app.service().imports.list(ImportPosition::First, 1).await.unwrap().jobs;
    let Some(job) = newest.first() else { return };
    ended(app, &json!({"id": job.id.to_string()})).await;
}

both_stores! {
    with(console)
    async fn forged_form_of_the_console_does_nothing(app) {
        let eve = desk_of(&app, &operator(&app, "eve", Role::Owner).await).await;
        let secret = eve.browser.cookie("latchkey_browser").expect("a browser");
        let eve = Stranger { secret, scope: eve.session_id };

        for (count, path) in paths_of_forms("/console/").into_iter().enumerate() {
            let sheet = sheet(&app, path, &format!("ada{count}")).await;
            sheet.check(&app, path, &eve).await;
            settle(&app).await;
        }
    }

    with(console)
    async fn forged_form_is_not_even_audited_where_the_operator_may_not_send_it(app) {
        let (owner, viewer) = (desk(&app, "owner", Role::Owner).await, desk(&app, "viewer", Role::Viewer).await);

        let paths = ["/console/operators", "/console/export", "/console/import/new", "/console/mails"];
        for (count, path) in paths.into_iter().enumerate() {
            let sheet = of_owner(&app, path, &owner, &format!("ada{count}")).await;
            let before = stored(&app);
            let refused = viewer.browser.send(sheet.of(&viewer).header("origin", "https://evil.example")).await;

            assert!(refused.hosted(403).contains("Load the page again"), "{path}: {refused:?}");
            assert_stored(&app, &before, path);
        }
    }

    with(console)
    async fn act_that_a_role_lacks_is_audited_whatever_the_token(app) {
        let (viewer, user) = (desk(&app, "viewer", Role::Viewer).await, app.user("ada").await);
        for (path, query, act) in [
            (path_of(&user), "act=ban", "ban"),
            ("/console/operators".to_owned(), "act=grant", "manage_operators"),
            ("/console/users/new".to_owned(), "", "create_users"),
        ] {
            for token in ["", "wrong"] {
                let before = found(&app, "event=operator_refused").await.len();
                let refused = viewer.browser.send(viewer.form(&path, query, token, &[])).await;

                assert!(refused.hosted(403).contains("Your role does not allow this"), "{path}: {refused:?}");
                let events = found(&app, "event=operator_refused").await;
                assert_eq!(events.len(), before + 1, "{path}");
                assert_eq!(events[0]["details"]["act"], act, "{path}");
            }
        }
    }
}
