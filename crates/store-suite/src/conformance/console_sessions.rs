//! Cases of console sessions: who gets one, who finds it, and what ends it.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::operator::{Protection, Role};
use latchkey_domain::page_session::NewPageSession;
use latchkey_domain::session::{NewSession, NewSessionKind, SessionKind};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    ActivateOperator, ActivatedOperator, EndedSession, Entry, FoundConsoleSession, PageSessionUse,
    RenewedActivation, SignIn, UpdateUserOutcome,
};

use super::factor_acts::TwoStep;
use super::fixtures::{MINUTE, World, at, client};

/// A console session to be opened, and the browser that it is for.
struct AtConsole {
    session: NewSession,
    browser: TokenHash,
}

impl World {
    fn console_session(&self, kind: impl Fn(NewPageSession) -> NewSessionKind, now: Timestamp) -> AtConsole {
        let (token, browser) = (self.token(), self.token());
        let kind = kind(NewPageSession { browser, replaces: None });
        let methods = latchkey_domain::session::AuthMethods::from_stored("pwd otp mfa").unwrap();
        let level = methods.level();
        let session = NewSession { kind, family: token, refresh: token, methods, level, ..self.session(now) };
        AtConsole { session, browser }
    }

    /// Signs in with the password `secret` and both factors, and opens the session if the grant permits it.
    async fn enter_console(&self, of: &TwoStep, at_console: &AtConsole) {
        let now = at_console.session.created_at;
        let sign_in = self.right(of.user.id, "secret", None, now);
        let entry = Entry { session: at_console.session.clone(), ..sign_in.entry.clone() };
        self.sign_in(SignIn { entry, ..sign_in }).await.unwrap().unwrap();
    }

    /// Makes an operator who is in the console.
    async fn in_console(&self, name: &str, role: Role) -> (TwoStep, AtConsole) {
        let of = self.operator(name, role, at(0)).await;
        let at_console = self.console_session(NewSessionKind::Console, at(1));
        self.enter_console(&of, &at_console).await;
        (of, at_console)
    }

    async fn at_console(&self, of: &AtConsole, now: Timestamp) -> Option<FoundConsoleSession> {
        self.find_console_session(of.session.family, of.browser, now).await.unwrap()
    }
}

pub(super) async fn a_console_session_is_found_with_its_role_in_its_browser_alone(world: World) {
    let (ada, console) = world.in_console("ada", Role::Support).await;

    let found = world.at_console(&console, at(2)).await.unwrap();

    assert_eq!((found.live.user.id, found.role), (ada.user.id, Role::Support));
    assert_eq!((found.live.session.id, found.live.session.kind), (console.session.id, SessionKind::Console));
    let token = console.session.family;
    assert_eq!(world.find_console_session(token, world.token(), at(2)).await.unwrap(), None);
    assert_eq!(world.find_console_session(world.token(), console.browser, at(2)).await.unwrap(), None);
    assert_eq!(world.find_page_session(token, console.browser, at(2)).await.unwrap(), None);
    let app = ada.session.family;
    assert_eq!(world.find_console_session(app, console.browser, at(2)).await.unwrap(), None);
    assert_eq!(world.at_console(&console, console.session.idle_expires_at).await, None);
}

pub(super) async fn no_console_session_opens_without_an_active_grant(world: World) {
    let bob = world.two_step("bob", at(0)).await;
    let console = world.console_session(NewSessionKind::Console, at(1));

    world.enter_console(&bob, &console).await;
    world.make_operator(&bob, Role::Owner, at(2)).await;

    assert_eq!(world.at_console(&console, at(3)).await, None, "it does not wake up with the grant");
}

pub(super) async fn the_session_of_an_activation_opens_nothing_before_it(world: World) {
    let ada = world.two_step("ada", at(0)).await;
    let grant = world.grant(ada.user.id, Role::Owner, at(1));
    let token = grant.activation.hash;
    world.grant_operator(grant).await.unwrap().unwrap();
    let console = world.console_session(NewSessionKind::Activation, at(2));
    world.enter_console(&ada, &console).await;
    assert_eq!(world.at_console(&console, at(3)).await, None);

    let session_id = console.session.id;
    let activate = ActivateOperator { session_id, ..world.activate(&ada, token, at(3)) };
    assert_eq!(world.activate_operator(activate).await.unwrap(), ActivatedOperator::Activated);

    assert_eq!(world.at_console(&console, at(4)).await.unwrap().role, Role::Owner);
}

pub(super) async fn a_change_of_the_grant_ends_its_console_sessions_alone(world: World) {
    let (owner, of_owner) = world.in_console("owner", Role::Owner).await;
    let (ada, first) = world.in_console("ada", Role::Admin).await;
    world.grant_operator(world.grant(ada.user.id, Role::Viewer, at(2))).await.unwrap().unwrap();
    assert_eq!(world.at_console(&first, at(3)).await, None, "another role");

    let second = world.console_session(NewSessionKind::Console, at(3));
    world.enter_console(&ada, &second).await;
    assert_eq!(world.at_console(&second, at(3)).await.unwrap().role, Role::Viewer);
    let renewed = world.renew_activation(world.renewal(ada.user.id, at(4))).await.unwrap();
    assert_eq!(renewed, Ok(RenewedActivation::Renewed));
    assert_eq!(world.at_console(&second, at(4)).await, None, "a new link");

    assert!(world.lives(ada.session.id, at(5)).await, "the session of an app goes on");
    assert!(world.at_console(&of_owner, at(5)).await.is_some());
    assert!(world.is_active(owner.user.id).await);
}

pub(super) async fn a_console_session_does_not_outlive_what_it_stands_on(world: World) {
    let (_, of_owner) = world.in_console("owner", Role::Owner).await;
    let (ada, of_ada) = world.in_console("ada", Role::Admin).await;
    let (eve, of_eve) = world.in_console("eve", Role::Admin).await;
    let (bob, of_bob) = world.in_console("bob", Role::Admin).await;

    assert_eq!(world.reset_all_factors(ada.user.id, Protection::LastOwner).await, Ok(true));
    let banned = world.try_ban(eve.user.id, Protection::LastOwner).await;
    assert!(matches!(banned, UpdateUserOutcome::Updated(_)));
    let event = world.event(AuditKind::SignedOut, at(MINUTE));
    let ended = EndedSession::OthersOf(bob.user.id, bob.session.id);
    world.end_sessions(ended, event, at(MINUTE)).await.unwrap();

    for gone in [&of_ada, &of_eve, &of_bob] {
        assert_eq!(world.at_console(gone, at(MINUTE)).await, None);
    }
    assert!(world.at_console(&of_owner, at(MINUTE)).await.is_some());
}

pub(super) async fn a_use_extends_a_console_session(world: World) {
    let (ada, console) = world.in_console("ada", Role::Owner).await;
    let idle = console.session.idle_expires_at;
    let used = PageSessionUse {
        id: console.session.id,
        user_id: ada.user.id,
        at: at(MINUTE),
        idle_expires_at: idle.plus(std::time::Duration::from_mins(1)),
        client: client(1),
        seen: None,
    };

    world.store_page_session_use(used).await.unwrap();

    assert!(world.at_console(&console, idle).await.is_some());
}

pub(super) async fn an_operator_is_found_by_the_account(world: World) {
    let ada = world.operator("ada", Role::Admin, at(0)).await;
    let bob = world.two_step("bob", at(0)).await;

    assert_eq!(world.find_operator(ada.user.id).await.unwrap().unwrap().grant.role, Role::Admin);
    assert_eq!(world.find_operator(bob.user.id).await.unwrap(), None);
}

pub(super) async fn a_link_is_valid_for_its_own_account_until_it_expires(world: World) {
    let (ada, eve) = (world.two_step("ada", at(0)).await, world.two_step("eve", at(0)).await);
    let grant = world.grant(ada.user.id, Role::Owner, at(0));
    let token = grant.activation.hash;
    world.grant_operator(grant).await.unwrap().unwrap();
    let is_valid = async |user_id, token, now| world.is_activation_valid(user_id, token, now).await.unwrap();

    assert!(is_valid(ada.user.id, token, at(1)).await);
    assert!(!is_valid(ada.user.id, world.token(), at(1)).await);
    assert!(!is_valid(eve.user.id, token, at(1)).await);
    assert!(!is_valid(ada.user.id, token, at(30 * MINUTE)).await);
}
