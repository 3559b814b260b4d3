//! Cases of sign-in and password change without guess limits: correct passwords, and concurrent changes.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::ids::{SessionId, UserId};

use super::fixtures::{World, at, key, mac, password, salted};
use latchkey_store::{
    BeginPasswordChange, ChangePassword, Entered, FailedSignIn, NewAccount, PasswordChange, SignIn,
    SignInCandidate, SignInOutcome, VerifyOutcome,
};

fn change(world: &World, user_id: UserId, checked: &str, keep: SessionId) -> ChangePassword {
    ChangePassword {
        user_id,
        checked: password(checked),
        password: password("fresh"),
        keep,
        page_token: None,
        guard: None,
        event: world.event(AuditKind::PasswordChanged, at(5)),
        mail: None,
        now: at(5),
    }
}

pub(super) async fn the_account_at_an_address_is_found_with_its_password(world: World) {
    let user = world.verified("ada", at(0)).await;
    world.verified("eve", at(0)).await;

    let candidate = world.candidate("ADA", at(1)).await.unwrap();

    assert_eq!((candidate.user, candidate.password), (user, Some(password("secret"))));
    assert_eq!(world.candidate("nobody", at(1)).await, None);
}

pub(super) async fn a_right_password_opens_the_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let sign_in = world.right(user.id, "secret", None, at(1));
    let (session, event) = (sign_in.entry.session.clone(), sign_in.event.id);

    let outcome = world.sign_in(sign_in).await.unwrap().unwrap();

    assert_eq!(outcome, SignInOutcome::Entered(Entered::Session(Box::new(world.user(user.id).await))));
    let live = world.find_live_session(session.id, at(1)).await.unwrap().unwrap().session;
    assert_eq!((live.user_id, live.created_at, live.last_seen_at), (user.id, at(1), at(1)));
    assert_eq!((live.methods, &live.client), (session.methods, &session.client));
    assert_eq!(live.idle_expires_at, session.idle_expires_at);
    assert_eq!(live.absolute_expires_at, session.absolute_expires_at);
    let event = world.event_of(event).await.unwrap();
    assert_eq!((event.user_id, event.session_id), (Some(user.id), Some(session.id)));
}

pub(super) async fn a_signed_in_account_is_pending_no_more(world: World) {
    let user = world.pending("ada", at(0)).await;

    world.open_session(user.id, at(1)).await;

    assert!(!world.user(user.id).await.is_pending);
}

pub(super) async fn a_sign_in_stores_the_hash_under_new_parameters(world: World) {
    let user = world.verified("ada", at(0)).await;
    let rehashed = salted("bmV3", "secret");
    let sign_in = SignIn { rehashed: Some(rehashed.clone()), ..world.right(user.id, "secret", None, at(1)) };

    assert!(matches!(
        world.sign_in(sign_in).await.unwrap().unwrap(),
        SignInOutcome::Entered(Entered::Session(_))
    ));

    assert_eq!(world.candidate("ada", at(2)).await.unwrap().password, Some(rehashed));
}

pub(super) async fn a_password_that_changed_meanwhile_opens_nothing(world: World) {
    let user = world.verified("ada", at(0)).await;
    let stale = SignIn { rehashed: Some(password("evil")), ..world.right(user.id, "former", None, at(1)) };
    let session = stale.entry.session.id;

    assert_eq!(world.sign_in(stale).await.unwrap().unwrap(), SignInOutcome::Gone);

    assert!(!world.lives(session, at(1)).await);
    assert_eq!(world.candidate("ada", at(2)).await.unwrap().password, Some(password("secret")));
}

pub(super) async fn an_account_without_a_password_opens_nothing(world: World) {
    let user = world.create(NewAccount { password: None, ..world.account("ada", at(0)) }).await;

    let outcome = world.sign_in(world.right(user.id, "secret", None, at(1))).await.unwrap().unwrap();

    assert_eq!(outcome, SignInOutcome::Gone);
    assert!(world.list_sessions(user.id, at(1)).await.unwrap().is_empty());
}

pub(super) async fn an_account_banned_or_deleted_meanwhile_opens_nothing(world: World) {
    let banned = world.verified("ada", at(0)).await;
    let deleted = world.verified("eve", at(0)).await;
    world.ban(banned.id, at(1)).await;
    world.delete(&[deleted.id], vec![world.event(AuditKind::UserDeleted, at(1))]).await;

    for user in [banned.id, deleted.id] {
        let sign_in = world.right(user, "secret", None, at(2));
        let session = sign_in.entry.session.id;
        assert_eq!(world.sign_in(sign_in).await.unwrap().unwrap(), SignInOutcome::Gone);
        assert!(!world.lives(session, at(2)).await);
    }
    assert!(world.candidate("ada", at(2)).await.unwrap().user.is_banned());
}

pub(super) async fn a_failed_sign_in_is_audited_as_given(world: World) {
    let user = world.verified("ada", at(0)).await;
    let mut event = world.event(AuditKind::SignInFailed, at(1));
    event.user_id = Some(user.id);
    let unknown = world.event(AuditKind::SignInFailed, at(2));

    for event in [event.clone(), unknown.clone()] {
        let failed = FailedSignIn { guard: None, event, now: at(2) };
        assert_eq!(world.fail_sign_in(failed).await.unwrap(), Ok(()));
    }

    assert_eq!(world.event_of(event.id).await, Some(event));
    assert_eq!(world.event_of(unknown.id).await, Some(unknown));
}

pub(super) async fn a_changed_password_ends_the_other_sessions(world: World) {
    let user = world.verified("ada", at(0)).await;
    let (kept, other) = (world.open_session(user.id, at(1)).await, world.open_session(user.id, at(2)).await);
    let change = change(&world, user.id, "secret", kept.id);
    let event = change.event.id;

    let outcome = world.change_password(change).await.unwrap().unwrap();

    assert_eq!(outcome, PasswordChange::Changed);
    assert!(world.lives(kept.id, at(5)).await);
    assert!(!world.lives(other.id, at(5)).await);
    assert_eq!(world.candidate("ada", at(6)).await.unwrap().password, Some(password("fresh")));
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(user.id));
}

pub(super) async fn a_changed_password_deletes_what_is_outstanding(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let verify = world.send_link(&key("ada"), Purpose::VerifyEmail, at(1)).await;
    let reset = world.send_link(&key("ada"), Purpose::ResetPassword, at(1)).await;

    let outcome =
        world.change_password(change(&world, user.id, "secret", session.id)).await.unwrap().unwrap();

    assert_eq!(outcome, PasswordChange::Changed);
    assert!(!world.can_reset(reset, at(6)).await);
    assert_eq!(world.reset(reset, "evil", at(6)).await, None);
    assert_eq!(world.verify_token(verify, at(6)).await, VerifyOutcome::Refused);
}

pub(super) async fn a_changed_password_deletes_outstanding_codes(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(1)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(2), at(1)).await;

    world.change_password(change(&world, user.id, "secret", session.id)).await.unwrap().unwrap();

    assert!(!world.verifies(&key("ada"), mac(1), at(6)).await);
    assert!(world.exchange(&key("ada"), mac(2), at(6)).await.is_none());
}

pub(super) async fn a_change_from_a_stale_password_changes_nothing(world: World) {
    let user = world.verified("ada", at(0)).await;
    let (kept, other) = (world.open_session(user.id, at(1)).await, world.open_session(user.id, at(2)).await);
    let change = change(&world, user.id, "former", kept.id);
    let event = change.event.id;

    assert_eq!(world.change_password(change).await.unwrap().unwrap(), PasswordChange::Gone);

    assert!(world.lives(kept.id, at(5)).await && world.lives(other.id, at(5)).await);
    assert_eq!(world.candidate("ada", at(6)).await.unwrap().password, Some(password("secret")));
    assert_eq!(world.event_of(event).await, None);
}

pub(super) async fn a_banned_account_changes_no_password(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(1)).await;
    world.ban(user.id, at(2)).await;

    let outcome =
        world.change_password(change(&world, user.id, "secret", session.id)).await.unwrap().unwrap();

    assert_eq!(outcome, PasswordChange::Gone);
    assert_eq!(world.candidate("ada", at(6)).await.unwrap().password, Some(password("secret")));
}

async fn begin(world: &World, session: SessionId, name: &str) -> BeginPasswordChange {
    world.begin_password_change(session, &key(name), &[], None, at(5)).await.unwrap().unwrap()
}

pub(super) async fn a_password_change_begins_in_a_living_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(1)).await;
    let user = world.user(user.id).await;

    let begun = begin(&world, session.id, "ADA").await;

    let candidate =
        SignInCandidate { user: user.clone(), password: Some(password("secret")), last_sign_up: None };
    assert_eq!(begun, BeginPasswordChange::Candidate(Box::new(candidate)));
    world.ban(user.id, at(2)).await;
    assert_eq!(begin(&world, session.id, "ada").await, BeginPasswordChange::NoSession);
}

pub(super) async fn a_password_change_begins_for_the_address_that_the_account_has(world: World) {
    let user = world.verified("ada", at(0)).await;
    world.verified("eve", at(0)).await;
    let session = world.open_session(user.id, at(1)).await;

    for name in ["eve", "nobody"] {
        assert_eq!(
            begin(&world, session.id, name).await,
            BeginPasswordChange::OtherEmail(user.email.clone())
        );
    }
}
