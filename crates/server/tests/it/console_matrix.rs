//! The matrix of roles and acts on the page of a user: what a role may do works, and everything else is 403, audited, and
//! changes nothing. `console_matrix_routes.rs` has the other pages.

use latchkey_domain::operator::{Act, Party, Role};
use latchkey_testkit::{TestApp, User, Value, both_stores, json};

use crate::console_calls::{operator, verified};
use crate::console_user_calls::{Desk, audited, desk, desk_of, path_of};
use crate::operators::grant;

/// What an act on the account of an operator needs besides its own permission.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guarded {
    /// Nothing: mails go to operators like to others.
    Not,
    /// The right to end the sessions of operators.
    Sessions,
    /// The right to change the accounts of operators.
    Account,
}

/// Acts on a user: name in the address of the form, permission, and guard of operators' accounts. Each leaves the account in
/// a state in which the next one has an effect.
const ACTS: [(&str, Act, Guarded); 18] = [
    ("send-reset", Act::SendReset, Guarded::Not),
    ("send-verification", Act::ResendMails, Guarded::Not),
    ("retry-mail", Act::ResendMails, Guarded::Not),
    ("end-one-session", Act::EndSessions, Guarded::Sessions),
    ("end-sessions", Act::EndSessions, Guarded::Sessions),
    ("lift-limits", Act::LiftLimits, Guarded::Account),
    ("remove-profile-text", Act::RemoveProfileText, Guarded::Account),
    ("ban", Act::Ban, Guarded::Account),
    ("unban", Act::Ban, Guarded::Account),
    ("keep", Act::ChangeUsers, Guarded::Account),
    ("save-metadata", Act::ChangeMetadata, Guarded::Account),
    ("set-password", Act::SetPasswords, Guarded::Account),
    ("remove-passkey", Act::RemoveFactors, Guarded::Account),
    ("unlink", Act::RemoveFactors, Guarded::Account),
    ("remove-factors", Act::RemoveFactors, Guarded::Account),
    ("change-address", Act::ChangeAddresses, Guarded::Account),
    ("mark-verified", Act::ChangeAddresses, Guarded::Account),
    ("delete", Act::DeleteUsers, Guarded::Account),
];

struct Target {
    user: User,
    passkey: String,
}

async fn target(app: &TestApp, name: &str) -> Target {
    let user = app.user(name).await;
    let (_, passkey) = user.add_passkey(&app.phone()).await;
    Target { user, passkey }
}

fn permits(role: Role, act: Act, guarded: Guarded, is_operator: bool) -> bool {
    let guard = match guarded {
        Guarded::Not => None,
        Guarded::Sessions => Some(Act::EndSessionsOfOperators),
        Guarded::Account => Some(Act::ChangeOperatorAccounts),
    };
    role.may(act) && guard.filter(|_| is_operator).is_none_or(|guard| role.may(guard))
}

/// Everything that an act could change.
async fn state(app: &TestApp, target: &Target) -> Vec<Value> {
    let path = format!("/api/auth/users/{}", target.user.id);
    let mut state = Vec::new();
    for part in ["", "/factors", "/sessions", "/mails", "/limits"] {
        state.push(app.admin().get(&format!("{path}{part}")).send().await.expect(200));
    }
    state
}

async fn check_acts(app: &TestApp, desk: &Desk<'_>, role: Role, target: &Target, is_operator: bool) {
    let email = target.user.email.clone();
    let mut address = email.clone();
    for (name, act, guarded) in ACTS {
        let what = format!("{role} {name}, on an operator: {is_operator}");
        let sessions = app.service().admin.list_sessions(target.user.id.parse().unwrap()).await.unwrap();
        let session = sessions.first().map(|session| session.id.to_string()).unwrap_or_default();
        let fields: &[(&str, &str)] = match name {
            "end-one-session" => &[("id", &session)],
            "remove-passkey" => &[("id", &target.passkey)],
            "save-metadata" => &[("metadata", "{\"plan\": \"pro\"}")],
            "set-password" => &[("new_password", "a wholly new lantern")],
            "change-address" => &[("email", "moved@example.org")],
            "delete" => &[("confirmation", &address)],
            _ => &[],
        };
        let before = state(app, target).await;
        let page = desk.page(&target.user).await;
        let is_shown = page.text().contains(&format!("act={name}\""));
        let identity = if name == "unlink" { "&provider=acme&subject=1" } else { "" };
        let query = format!("act={name}{identity}");
        let done = desk.forces_at(&path_of(&target.user), &query, fields).await;

        if permits(role, act, guarded, is_operator) {
            // A mail that does not exist, a verified address and an identity that is not there have nothing to do.
            let expected: &[u16] = match name {
                "send-verification" => &[409],
                "retry-mail" => &[404],
                _ => &[303],
            };
            assert!(expected.contains(&done.status), "{what}: {done:?}");
            if name == "change-address" {
                "moved@example.org".clone_into(&mut address);
            }
        } else {
            assert!(!is_shown, "{what}: a form is shown");
            done.hosted(403);
            assert_eq!(state(app, target).await, before, "{what}");
            let refused = audited(app, "operator_refused", desk, &target.user).await;
            assert_eq!(refused["details"]["act"], act.as_str(), "{what}");
        }
    }
}

both_stores! {
    with(|b| verified(b).console())
    async fn role_does_its_acts_and_no_others(app) {
        for role in Role::ALL {
            let desk = desk(&app, role.as_str(), *role).await;
            let ada = target(&app, &format!("ada-{role}")).await;

            check_acts(&app, &desk, *role, &ada, false).await;
        }
    }

    with(|b| verified(b).console())
    async fn accounts_of_operators_are_changed_by_owners_alone(app) {
        for role in Role::ALL {
            let desk = desk(&app, role.as_str(), *role).await;
            let eve = target(&app, &format!("eve-{role}")).await;
            let _ = grant(&app, &eve.user, Role::Viewer).await;

            check_acts(&app, &desk, *role, &eve, true).await;
        }
    }

    with(|b| verified(b).console())
    async fn nobody_but_an_owner_changes_the_own_account_in_the_console(app) {
        for role in [Role::Support, Role::Admin] {
            let user = operator(&app, role.as_str(), role).await;
            let desk = desk_of(&app, &user).await;
            for (act, fields) in [
                ("set-password", &[("new_password", "a wholly new lantern")][..]),
                ("change-address", &[("email", "moved@example.org")]),
                ("remove-factors", &[]),
                ("lift-limits", &[]),
            ] {
                desk.forces(&user, act, fields).await.hosted(403);
            }
            user.get("/api/profiles/me").send().await.expect(200);
        }
    }

    with(|b| verified(b).console())
    async fn last_owner_is_not_shut_out_not_even_by_itself(app) {
        let owner = operator(&app, "owner", Role::Owner).await;
        let desk = desk_of(&app, &owner).await;

        for (act, fields) in [
            ("ban", &[][..]),
            ("delete", &[("confirmation", "owner@example.org")]),
            ("change-address", &[("email", "moved@example.org")]),
            ("remove-factors", &[]),
        ] {
            let refused = desk.forces(&owner, act, fields).await;
            assert!(refused.hosted(409).contains("This is the last owner."), "{act}: {refused:?}");
        }

        desk.browser.get("/console").await.hosted(200);
    }

    with(|b| verified(b).console())
    async fn revocation_acts_on_the_next_act_at_another_instance(app) {
        let admin = operator(&app, "admin", Role::Admin).await;
        let (desk, ada) = (desk_of(&app, &admin).await, app.user("ada").await);
        let other = app.beside().await;
        let there = desk.on(&other);
        there.acts(&ada, "send-reset", &[]).await.hosted(200);

        app.service().operators.revoke(admin.id.parse().unwrap(), false, Party::System, None).await.unwrap();
        let refused = there.forces(&ada, "ban", &[]).await;

        assert!(refused.hosted(401).contains("Your session has ended."), "{refused:?}");
        assert_eq!(there.browser.get(&path_of(&ada)).await.status, 303);
        let shown = app.admin().get(&format!("/api/auth/users/{}", ada.id)).send().await.expect(200);
        assert_eq!(shown["banned"], json!(false));
    }
}
