//! Tests of operators: the protection of their accounts, the activation of a grant, and its sleep.

use latchkey_domain::client::{Client as ClientOfRequest, ClientAddress};
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{Party, Role};
use latchkey_service::operators::Granting;
use latchkey_service::sessions::Credential;
use latchkey_service::{Error, Refusal};
use latchkey_testkit::{Client, Request, Session, TestApp, User, Value, both_stores, json, minutes};

use crate::audit::last;
use crate::two_step_calls::stepped_up;

const USERS: &str = "/api/auth/users";

fn user_id(user: &User) -> UserId {
    user.id.parse().unwrap()
}

/// Gives a user a role; returns the token of the activation link.
pub(crate) async fn grant(app: &TestApp, user: &User, role: Role) -> String {
    let Granting::Asleep(link) =
        app.service().operators.grant(user_id(user), role, Party::System, None).await.unwrap()
    else {
        panic!("no link");
    };
    let (page, token) = link.expose().split_once("?token=").unwrap();
    assert_eq!(page, format!("{}/console/activate", app.public_url()));
    token.to_owned()
}

/// Puts the grant of a user to sleep; returns the token of the new activation link.
pub(crate) async fn reactivated(app: &TestApp, user: &User) -> String {
    let granting = app.service().operators.reactivate(user_id(user), Party::System, None).await.unwrap();
    let Granting::Asleep(link) = granting else { panic!("no link") };
    link.expose().split_once("?token=").unwrap().1.to_owned()
}

/// Activates the grant of the user to whom this access token belongs.
pub(crate) async fn activate(app: &TestApp, access_token: &str, token: &str) -> Result<(), &'static Refusal> {
    let refusal = |error| match error {
        Error::Refused(refusal) => refusal,
        error => panic!("{error:?}"),
    };
    let caller =
        app.service().sessions.fresh(Credential::Bearer(Some(access_token))).await.map_err(refusal)?;
    let client = ClientOfRequest::new(ClientAddress::new([203, 0, 113, 7].into()), None);
    app.service().operators.activate(&caller, token, &client).await.map_err(refusal)
}

#[track_caller]
fn refused(outcome: Result<(), &'static Refusal>, code: &str) {
    assert_eq!(outcome.expect_err("a refusal").name, code);
}

/// True if the user has a role that is active.
pub(crate) async fn is_active(app: &TestApp, user: &User) -> bool {
    let operators = app.service().operators.list().await.unwrap();
    operators
        .iter()
        .any(|operator| operator.user.id == user_id(user) && operator.grant.activated_at.is_some())
}

/// Makes the user an operator whose grant is active.
pub(crate) async fn make_operator(app: &TestApp, user: &User, role: Role) {
    let token = grant(app, user, role).await;
    activate(app, &user.session.access_token, &token).await.unwrap();
    assert!(is_active(app, user).await);
}

fn change(admin: &Client, user: &User, body: Value) -> Request {
    admin.patch(&format!("{USERS}/{}", user.id), body)
}

fn delete(admin: &Client, users: &[&User]) -> Request {
    let ids: Vec<_> = users.iter().map(|user| &user.id).collect();
    admin.delete(USERS).json(&json!({"userIds": ids}))
}

/// All calls by which an admin key changes an account or takes it away, and removes its factors.
fn changes(admin: &Client, user: &User, passkey: &str) -> Vec<Request> {
    let path = format!("{USERS}/{}", user.id);
    vec![
        change(admin, user, json!({"email": "eve@example.org"})),
        change(admin, user, json!({"emailVerified": false})),
        change(admin, user, json!({"metadata": {"plan": "pro"}})),
        change(admin, user, json!({"banned": true})),
        admin.delete(&format!("{path}/factors")),
        admin.delete(&format!("{path}/factors?passkeys=true")),
        admin.delete(&format!("{path}/passkeys/{passkey}")),
        delete(admin, &[user]),
    ]
}

async fn shown(app: &TestApp, user: &User) -> [Value; 2] {
    let path = format!("{USERS}/{}", user.id);
    let factors = app.admin().get(&format!("{path}/factors")).send().await.expect(200);
    [app.admin().get(&path).send().await.expect(200), factors]
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn admin_key_changes_no_account_of_an_operator(app) {
        for role in [Role::Viewer, Role::Owner] {
            let ada = app.two_step_user(role.as_str()).await;
            let (_, passkey) = ada.add_passkey(&app.phone()).await;
            let _ = grant(&app, &ada, role).await;
            let before = shown(&app, &ada).await;

            for request in changes(&app.admin(), &ada, &passkey) {
                request.send().await.refused(403, "OPERATOR_PROTECTED");
            }

            assert_eq!(shown(&app, &ada).await, before, "{role}");
            ada.get("/api/profiles/me").send().await.expect(200);
        }
    }

    with(|b| b.verification_by_code())
    async fn admin_key_changes_the_account_once_the_role_is_withdrawn(app) {
        let ada = app.two_step_user("ada").await;
        let (_, passkey) = ada.add_passkey(&app.phone()).await;
        let _ = grant(&app, &ada, Role::Admin).await;
        app.service().operators.revoke(user_id(&ada), false, Party::System, None).await.unwrap();

        for request in changes(&app.admin(), &ada, &passkey) {
            // The passkey went with the other factors before.
            let status = request.send().await.status;
            assert!([200, 404].contains(&status), "{status}");
        }

        app.admin().get(&format!("{USERS}/{}", ada.id)).send().await.refused(404, "USER_NOT_FOUND");
    }

    with(|b| b.verification_by_code())
    async fn deletion_that_names_an_operator_deletes_nobody(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let _ = grant(&app, &ada, Role::Support).await;

        delete(&app.admin(), &[&bob, &ada]).send().await.refused(403, "OPERATOR_PROTECTED");

        bob.get("/api/profiles/me").send().await.expect(200);
        let deleted = delete(&app.admin(), &[&bob]).send().await.expect(200);
        assert_eq!(deleted["deletedCount"], 1);
    }

    with(|b| b.verification_by_code())
    async fn admin_key_reads_an_operator_and_ends_its_sessions(app) {
        let ada = app.user("ada").await;
        let _ = grant(&app, &ada, Role::Owner).await;

        let _ = shown(&app, &ada).await;
        app.admin().delete(&format!("{USERS}/{}/sessions", ada.id)).send().await.expect(200);

        ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
    }

    with(|b| b.verification_by_code().config(|config| config.operators.protect = false))
    async fn without_protection_the_last_owner_stays_all_the_same(app) {
        let (ada, bob) = (app.user("ada").await, app.user("bob").await);
        let (_, _) = (grant(&app, &ada, Role::Owner).await, grant(&app, &bob, Role::Admin).await);

        change(&app.admin(), &ada, json!({"metadata": {"plan": "pro"}})).send().await.expect(200);
        for closing in [
            json!({"banned": true}),
            json!({"emailVerified": false}),
            json!({"email": "moved@example.org"}),
        ] {
            change(&app.admin(), &ada, closing).send().await.refused(409, "LAST_OWNER");
        }
        change(&app.admin(), &ada, json!({"email": "ADA@example.org"})).send().await.expect(200);
        let verified = json!({"email": "moved@example.org", "emailVerified": true});
        change(&app.admin(), &ada, verified).send().await.expect(200);
        delete(&app.admin(), &[&ada]).send().await.refused(409, "LAST_OWNER");
        delete(&app.admin(), &[&bob, &ada]).send().await.refused(409, "LAST_OWNER");

        ada.get("/api/profiles/me").send().await.expect(200);
        change(&app.admin(), &bob, json!({"banned": true})).send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn last_owner_cannot_delete_the_own_account(app) {
        let (ada, bob, eve) = (app.user("ada").await, app.user("bob").await, app.user("eve").await);
        for (user, role) in [(&ada, Role::Owner), (&bob, Role::Admin)] {
            let _ = grant(&app, user, role).await;
        }

        ada.delete("/api/auth/account").send().await.refused(409, "LAST_OWNER");
        bob.delete("/api/auth/account").send().await.expect(200);

        ada.get("/api/profiles/me").send().await.expect(200);
        let _ = grant(&app, &eve, Role::Owner).await;
        ada.delete("/api/auth/account").send().await.expect(200);
    }

    with(|b| b.verification_by_code())
    async fn link_activates_the_grant_of_its_own_account_once(app) {
        let (ada, eve) = (app.two_step_user("ada").await, app.two_step_user("eve").await);
        let token = grant(&app, &ada, Role::Owner).await;
        let _ = grant(&app, &eve, Role::Owner).await;

        refused(activate(&app, &eve.session.access_token, &token).await, "INVALID_CODE");
        refused(activate(&app, &ada.session.access_token, "x").await, "INVALID_CODE");
        assert!(!is_active(&app, &ada).await && !is_active(&app, &eve).await);
        activate(&app, &ada.session.access_token, &token).await.unwrap();

        assert!(is_active(&app, &ada).await && !is_active(&app, &eve).await);
        refused(activate(&app, &ada.session.access_token, &token).await, "INVALID_CODE");
        let event = last(&app, "operator_activated").await;
        assert_eq!((&event["actor"], &event["userId"]), (&json!("user"), &json!(ada.id)));
        let event = last(&app, "operator_granted").await;
        assert_eq!((&event["actor"], &event["details"]), (&json!("system"), &json!({"role": "owner"})));
    }

    with(|b| b.verification_by_code())
    async fn activation_needs_two_step_sign_in_and_a_fresh_sign_in(app) {
        let (ada, bob) = (app.user("ada").await, app.two_step_user("bob").await);
        let (of_ada, of_bob) =
            (grant(&app, &ada, Role::Owner).await, grant(&app, &bob, Role::Owner).await);

        refused(activate(&app, &ada.session.access_token, &of_ada).await, "FORBIDDEN");
        app.clock.advance(minutes(11));
        refused(activate(&app, &bob.session.access_token, &of_bob).await, "REAUTHENTICATION_REQUIRED");
        let fresh = stepped_up(&app, &bob, &bob).await;
        activate(&app, &fresh, &of_bob).await.unwrap();

        assert!(!is_active(&app, &ada).await && is_active(&app, &bob).await);
    }

    with(|b| b.verification_by_code())
    async fn link_expires_after_thirty_minutes(app) {
        let ada = app.two_step_user("ada").await;
        let token = grant(&app, &ada, Role::Owner).await;
        app.clock.advance(minutes(30));
        let client = app.with_session(&Session::of(&ada.refreshed().await));
        let fresh = stepped_up(&app, &ada, &client).await;

        refused(activate(&app, &fresh, &token).await, "INVALID_CODE");

        assert!(!is_active(&app, &ada).await);
    }

    with(|b| b.verification_by_code())
    async fn grant_sleeps_when_its_owner_turns_two_step_sign_in_off(app) {
        let ada = app.two_step_user("ada").await;
        make_operator(&app, &ada, Role::Admin).await;

        ada.post("/api/auth/factors/two-step", json!({"enabled": false})).send().await.expect(200);

        assert!(!is_active(&app, &ada).await);
    }

    with(|b| b.verification_by_code().config(|config| config.operators.protect = false))
    async fn grant_sleeps_when_an_admin_removes_factors(app) {
        let (ada, bob) = (app.two_step_user("ada").await, app.two_step_user("bob").await);
        let (_, passkey) = bob.add_passkey(&app.phone()).await;
        make_operator(&app, &ada, Role::Owner).await;
        make_operator(&app, &bob, Role::Owner).await;
        let eve = app.two_step_user("eve").await;
        make_operator(&app, &eve, Role::Owner).await;

        app.admin().delete(&format!("{USERS}/{}/factors", ada.id)).send().await.expect(200);
        assert!(!is_active(&app, &ada).await && is_active(&app, &bob).await);
        app.admin().delete(&format!("{USERS}/{}/passkeys/{passkey}", bob.id)).send().await.expect(200);

        assert!(!is_active(&app, &bob).await);
    }

    with(|b| b.verification_by_code().config(|config| config.operators.protect = false))
    async fn admin_key_puts_the_last_owner_not_to_sleep(app) {
        let ada = app.two_step_user("ada").await;
        let (_, passkey) = ada.add_passkey(&app.phone()).await;
        make_operator(&app, &ada, Role::Owner).await;

        for path in ["factors".to_owned(), format!("passkeys/{passkey}")] {
            app.admin().delete(&format!("{USERS}/{}/{path}", ada.id)).send().await.refused(409, "LAST_OWNER");
        }

        assert!(is_active(&app, &ada).await);
    }

    with(|b| b.verification_by_code())
    async fn admin_key_deletes_no_profile_of_an_operator(app) {
        let ada = app.user("ada").await;
        let _ = grant(&app, &ada, Role::Viewer).await;

        let path = format!("{USERS}/{}/profile", ada.id);
        app.admin().delete(&path).send().await.refused(403, "OPERATOR_PROTECTED");

        ada.get("/api/profiles/me").send().await.expect(200);
    }
}
