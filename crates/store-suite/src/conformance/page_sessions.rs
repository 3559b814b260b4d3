//! Cases of page sessions.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::UserId;
use latchkey_domain::page_session::{NewPageSession, ReplacedPageSession};
use latchkey_domain::session::{NewSession, NewSessionKind, SessionKind};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    ChangePassword, EndedSession, Entered, FoundPageSession, NewPageCode, PageSessionUse, PasswordChange,
    RefreshOutcome, SignIn, SignInOutcome,
};

use super::email_change_acts::Mover;
use super::fixtures::{MINUTE, STRANGER, World, at, client, days, password};
use super::refresh::present;

impl World {
    /// Page session of a browser, which replaces another one if given.
    fn page_session(
        &self,
        browser: TokenHash,
        before: Option<(&NewSession, UserId)>,
        now: Timestamp,
    ) -> NewSession {
        let token = self.token();
        let replaces = before.map(|(session, user_id)| {
            let event = self.event(AuditKind::SignedOut, now);
            Box::new(ReplacedPageSession { id: session.id, user_id, event })
        });
        let kind = NewSessionKind::Pages(NewPageSession { browser, replaces });
        NewSession { kind, family: token, refresh: token, ..self.session(now) }
    }

    /// Signs in with the password `secret` and opens this session.
    async fn open(&self, user: UserId, session: NewSession) -> NewSession {
        let sign_in = self.right(user, "secret", None, session.created_at);
        let entry = latchkey_store::Entry { session: session.clone(), ..sign_in.entry.clone() };
        let outcome = self.sign_in(SignIn { entry, ..sign_in }).await.unwrap().unwrap();
        assert!(matches!(outcome, SignInOutcome::Entered(Entered::Session(_))));
        session
    }

    /// Issues a code for an app.
    async fn page_code(&self, page: &NewSession, now: Timestamp) -> TokenHash {
        let code = self.token();
        let new = NewPageCode {
            code,
            code_challenge: self.token(),
            session_id: page.id,
            redirect_to: "https://app.example.org/".to_owned(),
            created_at: now,
            expires_at: now.plus(std::time::Duration::from_mins(1)),
        };
        assert!(self.save_page_code(new).await.unwrap());
        code
    }

    /// Opens an app session from a page session.
    async fn open_app(&self, user: UserId, page: &NewSession, now: Timestamp) -> NewSession {
        let kind = NewSessionKind::App { opened_from: Some(page.id) };
        self.open(user, NewSession { kind, ..self.session(now) }).await
    }
}

pub(super) async fn a_page_session_is_found_in_its_browser_alone(world: World) {
    let user = world.verified("ada", at(0)).await;
    let browser = world.token();
    let page = world.open(user.id, world.page_session(browser, None, at(0))).await;
    let app = world.open_session(user.id, at(0)).await;

    let FoundPageSession { live: found, locale } =
        world.find_page_session(page.family, browser, at(1)).await.unwrap().unwrap();

    assert_eq!(locale, None);
    assert_eq!((found.user.id, found.session.id, found.session.kind), (user.id, page.id, SessionKind::Pages));
    assert_eq!(world.find_page_session(page.family, world.token(), at(1)).await.unwrap(), None);
    assert_eq!(world.find_page_session(world.token(), browser, at(1)).await.unwrap(), None);
    assert_eq!(world.find_page_session(app.family, browser, at(1)).await.unwrap(), None);
    world.ban(user.id, at(2)).await;
    assert_eq!(world.find_page_session(page.family, browser, at(3)).await.unwrap(), None);
}

pub(super) async fn a_page_session_refreshes_nothing(world: World) {
    let user = world.verified("ada", at(0)).await;
    let page = world.open(user.id, world.page_session(world.token(), None, at(0))).await;

    for presented in [page.refresh, world.token()] {
        assert_eq!(present(&world, &page, presented, at(MINUTE)).await.0, RefreshOutcome::Refused);
    }

    assert!(world.lives(page.id, at(MINUTE)).await);
}

pub(super) async fn a_use_extends_a_live_page_session_and_never_goes_back(world: World) {
    let user = world.verified("ada", at(0)).await;
    let page = world.open(user.id, world.page_session(world.token(), None, at(0))).await;
    let usage = |second| PageSessionUse {
        id: page.id,
        user_id: user.id,
        at: at(second),
        idle_expires_at: at(second).plus(days(1)),
        client: client(STRANGER),
        seen: None,
    };

    world.store_page_session_use(usage(20)).await.unwrap();
    world.store_page_session_use(usage(10)).await.unwrap();

    let session = world.find_live_session(page.id, at(21)).await.unwrap().unwrap().session;
    assert_eq!((session.last_seen_at, session.idle_expires_at), (at(20), at(20).plus(days(1))));
    assert_eq!(session.client, client(STRANGER));
    world.ban(user.id, at(22)).await;
    world.store_page_session_use(usage(30)).await.unwrap();
    assert!(!world.lives(page.id, at(31)).await);
}

pub(super) async fn a_sign_in_ends_the_page_session_of_another_user(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.verified("eve", at(0)).await);
    let browser = world.token();
    let first = world.open(ada.id, world.page_session(browser, None, at(0))).await;
    let app = world.open_app(ada.id, &first, at(1)).await;
    let second = world.page_session(browser, Some((&first, ada.id)), at(2));
    let event = second.kind.pages().unwrap().replaces.as_ref().unwrap().event.id;

    let second = world.open(eve.id, second).await;

    assert!(!world.lives(first.id, at(2)).await);
    assert!(world.lives(second.id, at(2)).await && world.lives(app.id, at(2)).await);
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(ada.id));
}

pub(super) async fn a_sign_in_of_the_same_user_takes_over_the_app_sessions(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.verified("eve", at(0)).await);
    let browser = world.token();
    let first = world.open(ada.id, world.page_session(browser, None, at(0))).await;
    let (app, own) = (world.open_app(ada.id, &first, at(1)).await, world.open_session(ada.id, at(1)).await);
    let foreign = world.open_session(eve.id, at(1)).await;

    let second = world.open(ada.id, world.page_session(browser, Some((&first, ada.id)), at(2))).await;
    assert!(!world.lives(first.id, at(2)).await && world.lives(app.id, at(2)).await);

    let (which, event) =
        (EndedSession::WithOpenedFrom(ada.id, second.id), world.event(AuditKind::SignedOut, at(3)));
    assert_eq!(world.end_sessions(which, event.clone(), at(3)).await.unwrap(), 2);
    assert!(!world.lives(second.id, at(3)).await && !world.lives(app.id, at(3)).await);
    assert!(world.lives(own.id, at(3)).await && world.lives(foreign.id, at(3)).await);
    assert_eq!(world.event_of(event.id).await.unwrap().session_id, Some(second.id));
    assert_eq!(world.end_sessions(which, event, at(4)).await.unwrap(), 0);
}

pub(super) async fn a_refused_sign_in_ends_no_page_session(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.verified("eve", at(0)).await);
    let browser = world.token();
    let first = world.open(ada.id, world.page_session(browser, None, at(0))).await;
    let second = world.page_session(browser, Some((&first, ada.id)), at(1));
    let wrong = world.right(eve.id, "wrong", None, at(1));

    let entry = latchkey_store::Entry { session: second, ..wrong.entry.clone() };
    let outcome = world.sign_in(SignIn { entry, ..wrong }).await.unwrap().unwrap();

    assert_eq!(outcome, SignInOutcome::Gone);
    assert!(world.lives(first.id, at(1)).await);
}

pub(super) async fn a_change_of_password_or_address_ends_the_codes_for_apps(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.verified("eve", at(0)).await);
    let (browser, other) = (world.token(), world.token());
    let page = world.open(ada.id, world.page_session(browser, None, at(0))).await;
    let foreign = world.open(eve.id, world.page_session(other, None, at(0))).await;
    let of_eve = world.page_code(&foreign, at(1)).await;

    let code = world.page_code(&page, at(1)).await;
    assert!(world.find_page_code(code, at(2)).await.unwrap().is_some());
    let change = ChangePassword {
        user_id: ada.id,
        checked: password("secret"),
        password: password("changed"),
        keep: page.id,
        page_token: None,
        guard: None,
        event: world.event(AuditKind::PasswordChanged, at(2)),
        mail: None,
        now: at(2),
    };
    assert_eq!(world.change_password(change).await.unwrap().unwrap(), PasswordChange::Changed);
    assert!(world.find_page_code(code, at(3)).await.unwrap().is_none());

    let code = world.page_code(&page, at(3)).await;
    world.moved(Mover { user: ada.id, session: page.id, name: "ada" }, "new", at(4)).await;
    assert!(world.find_page_code(code, at(5)).await.unwrap().is_none());

    assert!(world.lives(page.id, at(5)).await);
    assert!(world.find_page_code(of_eve, at(5)).await.unwrap().is_some());
}
