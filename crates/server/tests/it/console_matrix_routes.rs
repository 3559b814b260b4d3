//! The matrix of roles and routes of the console: what a role may open or send works, and everything else is 403 and audited.
//! Acts of features that do not exist yet get a row with their page: invitations, webhooks, hooks, API keys.

use std::collections::BTreeSet;

use latchkey_domain::operator::{Act, Role};
use latchkey_hosted::page_routes;
use latchkey_testkit::{Answer, Request, TestApp, both_stores, json};

use crate::audit_filters::found;
use crate::console_calls::operator;
use crate::console_entry::console;
use crate::console_user_calls::{Desk, desk};
use crate::forged_console::{of_owner, settle};
use crate::imports::import_lines;
use crate::routes::NOBODY;

/// Routes that ask for no role: the sign-in and the sign-out.
const OF_GUESTS: [&str; 7] = [
    "/console/activate",
    "/console/confirm",
    "/console/passkey-options",
    "/console/provider/return",
    "/console/provider/{key}",
    "/console/sign-in",
    "/console/sign-out",
];

/// The page whose forms have a matrix of their own.
const OF_A_USER: &str = "/console/users/{id}";

/// Pages, each with a query and the permission.
const PAGES: [(&str, &str, Act); 25] = [
    ("/console", "", Act::ReadNumbers),
    ("/console/audit", "", Act::ReadAudit),
    ("/console/audit/export", "", Act::ReadAudit),
    ("/console/export", "", Act::ExportAll),
    ("/console/import", "", Act::Import),
    ("/console/import/new", "", Act::Import),
    ("/console/import/{id}", "", Act::Import),
    ("/console/import/{id}/report", "", Act::Import),
    ("/console/import/{id}/undo", "", Act::Import),
    ("/console/mails", "", Act::ReadDeliveries),
    ("/console/operators", "", Act::ManageOperators),
    ("/console/operators/revoke", "user={user}", Act::ManageOperators),
    ("/console/providers", "", Act::ManageProviders),
    ("/console/sessions", "", Act::ReadSessions),
    ("/console/settings", "", Act::ChangeSettings),
    ("/console/settings/change", "key=passwords.min_length", Act::ChangeSettings),
    ("/console/settings/theme", "", Act::ChangeSettings),
    ("/console/signing", "", Act::RotateKeys),
    ("/console/signing/rotate", "", Act::RotateKeys),
    ("/console/system", "", Act::ReadNumbers),
    ("/console/users", "", Act::ReadUsers),
    ("/console/users/chosen", "act=ban&ids={user}", Act::Ban),
    ("/console/users/done", "", Act::ReadUsers),
    ("/console/users/new", "", Act::CreateUsers),
    (OF_A_USER, "", Act::ReadUsers),
];

/// Pages that take a form, each with the permission.
const FORMS: [(&str, Act); 13] = [
    ("/console/export", Act::ExportAll),
    ("/console/import/new", Act::Import),
    ("/console/import/{id}/undo", Act::Import),
    ("/console/mails", Act::ResendMails),
    ("/console/operators", Act::ManageOperators),
    ("/console/operators/revoke", Act::ManageOperators),
    ("/console/providers", Act::ManageProviders),
    ("/console/sessions", Act::EndSessions),
    ("/console/settings/change", Act::ChangeSettings),
    ("/console/signing/rotate", Act::RotateKeys),
    ("/console/users/chosen", Act::Ban),
    ("/console/users/csv", Act::ExportLists),
    ("/console/users/new", Act::CreateUsers),
];

/// Names and values of a form's fields.
type Pairs = &'static [(&'static str, &'static str)];

/// Further forms of these pages: path, query and fields. Accounts are ticked in the list, and confirmed on the page after it.
const BESIDE: [(&str, &str, Pairs, Act); 10] = [
    ("/console/export", "", &[("content", "secrets")], Act::ExportAll),
    ("/console/operators", "act=change", &[("user", NOBODY), ("role", "owner")], Act::ManageOperators),
    ("/console/operators", "act=reactivate", &[("user", NOBODY)], Act::ManageOperators),
    ("/console/operators", "act=revoke", &[("user", NOBODY)], Act::ManageOperators),
    ("/console/users/chosen", "", &[("act", "end_sessions"), (NOBODY, "on")], Act::EndSessions),
    ("/console/users/chosen", "", &[("act", "ban"), (NOBODY, "on")], Act::Ban),
    ("/console/users/chosen", "", &[("act", "delete"), (NOBODY, "on")], Act::DeleteUsers),
    ("/console/users/chosen", "", &[("act", "end_sessions"), ("ids", NOBODY)], Act::EndSessions),
    ("/console/users/chosen", "", &[("act", "ban"), ("ids", NOBODY)], Act::Ban),
    ("/console/users/chosen", "", &[("act", "delete"), ("ids", NOBODY)], Act::DeleteUsers),
];

/// Acts that this operator was refused, as the audit log names them.
async fn refusals(app: &TestApp, desk: &Desk<'_>) -> Vec<String> {
    let events = found(app, "event=operator_refused").await;
    let own = events.iter().filter(|event| event["operatorId"] == desk.id.as_str());
    let mut acts: Vec<_> = own.map(|event| event["details"]["act"].as_str().unwrap().to_owned()).collect();
    acts.sort();
    acts
}

/// Sends a request for an act in the browser of an operator of this role. The role decides on the response; a refusal is
/// audited.
async fn asked(app: &TestApp, desk: &Desk<'_>, (role, act): (Role, Act), request: Request) -> Answer {
    let mut expected = refusals(app, desk).await;
    let answer = desk.browser.send(request).await;
    if role.may(act) {
        assert_ne!(answer.status, 403, "{role}: {answer:?}");
    } else {
        assert!(answer.hosted(403).contains("Your role does not allow this"), "{role}: {answer:?}");
        expected.push(act.as_str().to_owned());
        expected.sort();
    }
    assert_eq!(refusals(app, desk).await, expected, "{role}: {answer:?}");
    answer
}

/// Routes of the console that ask for a role.
fn routes(method: &str) -> BTreeSet<&'static str> {
    let all = page_routes().filter(|(path, of)| *of == method && path.starts_with("/console"));
    all.map(|(path, _)| path).filter(|path| !OF_GUESTS.contains(path)).collect()
}

#[test]
fn every_route_of_the_console_has_a_row() {
    let pages: BTreeSet<_> = PAGES.iter().map(|(path, ..)| *path).collect();
    let forms: BTreeSet<_> = FORMS.iter().map(|(path, _)| *path).chain([OF_A_USER]).collect();

    assert_eq!(routes("GET"), pages);
    assert_eq!(routes("POST"), forms);
}

both_stores! {
    with(console)
    async fn pages_are_read_by_the_roles_that_may(app) {
        let user = operator(&app, "target", Role::Viewer).await.id.clone();
        let import = import_lines(&app, "", &json!({"email": "ada@example.net"}).to_string()).await;
        let import = import["id"].as_str().unwrap();
        for role in Role::ALL {
            let desk = desk(&app, role.as_str(), *role).await;
            for (path, query, act) in PAGES {
                let id = if path == OF_A_USER { user.as_str() } else { import };
                let address = format!("{path}?{query}").replace("{id}", id).replace("{user}", &user);
                let request = app.anon().get(&address).header("host", "localhost:8700");
                let page = asked(&app, &desk, (*role, act), request).await;

                // The page of outcomes leads to the list, since there are none.
                let opened = if path == "/console/users/done" { 303 } else { 200 };
                assert!(!role.may(act) || page.status == opened, "{role}: {page:?}");
            }
        }
    }

    with(console)
    async fn forms_are_taken_from_the_roles_that_may(app) {
        for role in Role::ALL {
            let (owner, desk) =
                (desk(&app, &format!("owner-{role}"), Role::Owner).await, desk(&app, role.as_str(), *role).await);
            for (count, (path, act)) in FORMS.into_iter().enumerate() {
                let sheet = of_owner(&app, path, &owner, &format!("{role}-{count}")).await;
                let mut done = asked(&app, &desk, (*role, act), sheet.of(&desk)).await;

                if !role.may(act) {
                    // Nothing was done: the form still does it.
                    done = sheet.send().await;
                }
                assert!([200, 303].contains(&done.status), "{role} {path}: {done:?}");
                settle(&app).await;
            }
        }
    }

    with(console)
    async fn further_forms_of_a_page_are_taken_from_the_roles_that_may(app) {
        for role in Role::ALL {
            let desk = desk(&app, role.as_str(), *role).await;
            for (path, query, fields, act) in BESIDE {
                asked(&app, &desk, (*role, act), desk.forced(path, query, fields)).await;
            }
        }
    }
}
