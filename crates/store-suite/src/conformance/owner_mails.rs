//! Cases of security notifications to the owner.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::identity::LegacyIdentities;
use latchkey_domain::ids::UserId;
use latchkey_domain::session::NewSession;
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::time::Timestamp;

use super::fixtures::{World, at, email, key, mac, password};
use super::oauth_acts::{google, identity, provider};
use super::refresh::refresh;
use latchkey_domain::mail_kind::MailKind;
use latchkey_store::{
    ChangePassword, LinkIdentity, NewAccount, RefreshOutcome, RefreshSession, ResetPassword,
    SignInWithIdentity, UnlinkIdentity, Unlinker, UpdateUser,
};

/// Kinds and recipients of the waiting mails, without those that contain a code.
async fn told(world: &World, now: Timestamp) -> Vec<(MailKind, String)> {
    let mails = world.mails(now).await.into_iter();
    let told = mails.filter(|mail| !matches!(mail.kind, MailKind::Verify | MailKind::Reset));
    told.map(|mail| (mail.kind, mail.recipient.email.as_typed().to_owned())).collect()
}

async fn link(world: &World, user_id: UserId, session: &NewSession) {
    let link = LinkIdentity {
        user_id,
        session_id: session.id,
        identity: identity("github", "7", Some("other"), true),
        earlier: LegacyIdentities::Apart,
        event: world.event(AuditKind::IdentityLinked, at(1)),
        mail: Some(world.mail(at(1))),
        now: at(1),
    };
    world.link_identity(link).await.unwrap();
}

async fn change_password(world: &World, user_id: UserId, keep: &NewSession) {
    let change = ChangePassword {
        user_id,
        checked: password("secret"),
        password: password("new"),
        keep: keep.id,
        page_token: None,
        guard: None,
        event: world.event(AuditKind::PasswordChanged, at(1)),
        mail: Some(world.mail(at(1))),
        now: at(1),
    };
    world.change_password(change).await.unwrap().unwrap();
}

async fn move_to(world: &World, id: UserId, name: &str) {
    let mail = Some(world.mail(at(1)));
    world
        .update_user(UpdateUser { email: Some(email(name)), mail, ..world.change(id, at(1)) })
        .await
        .unwrap();
}

async fn enter(world: &World, subject: &str) {
    let mail = Some(world.mail(at(1)));
    let sign_in = SignInWithIdentity { mail, ..world.with_identity(google(subject, "ada"), at(1)) };
    world.sign_in_with_identity(sign_in).await.unwrap();
}

async fn reset(world: &World, name: &str) {
    world.send_code(&key(name), Purpose::ResetPassword, mac(9), at(1)).await;
    let token = world.exchange(&key(name), mac(9), at(1)).await.unwrap();
    let event = world.event(AuditKind::PasswordReset, at(1));
    let mail = Some(world.mail(at(1)));
    world
        .reset_password(ResetPassword {
            token,
            password: password("new"),
            event,
            mail,
            cleared: None,
            now: at(1),
        })
        .await
        .unwrap();
}

pub(super) async fn a_new_link_is_notified_and_an_existing_one_is_not(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;

    link(&world, user.id, &session).await;
    link(&world, user.id, &session).await;

    assert_eq!(told(&world, at(1)).await, [(MailKind::IdentityLinked, "ada@example.org".to_owned())]);
}

pub(super) async fn an_unlink_is_notified(world: World) {
    let user = world.verified("ada", at(0)).await;
    world.enter(google("1", "ada"), at(0)).await;

    let unlink = || UnlinkIdentity {
        user_id: user.id,
        provider: provider("google"),
        subject: None,
        offer: SignInOffer::default(),
        by: Unlinker::Owner(world.session_id(at(1))),
        event: world.event(AuditKind::IdentityUnlinked, at(1)),
        mail: Some(world.mail(at(1))),
        now: at(1),
    };
    world.unlink_identity(unlink()).await.unwrap();
    world.unlink_identity(unlink()).await.unwrap();

    assert_eq!(told(&world, at(1)).await, [(MailKind::IdentityUnlinked, "ada@example.org".to_owned())]);
}

pub(super) async fn an_identity_that_joins_an_account_is_notified_and_one_that_creates_it_is_not(
    world: World,
) {
    enter(&world, "maker").await;
    enter(&world, "maker").await;
    assert_eq!(told(&world, at(1)).await, []);

    enter(&world, "joiner").await;

    assert_eq!(told(&world, at(1)).await, [(MailKind::IdentityLinked, "ada@example.org".to_owned())]);
}

pub(super) async fn a_changed_password_is_notified(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;

    change_password(&world, user.id, &session).await;

    assert_eq!(told(&world, at(1)).await, [(MailKind::PasswordChanged, "ada@example.org".to_owned())]);
}

pub(super) async fn a_reset_password_is_notified(world: World) {
    world.verified("ada", at(0)).await;

    reset(&world, "ada").await;

    assert_eq!(told(&world, at(1)).await, [(MailKind::PasswordWasReset, "ada@example.org".to_owned())]);
}

pub(super) async fn a_changed_address_is_notified_to_the_old_one(world: World) {
    let user = world.verified("ada", at(0)).await;

    move_to(&world, user.id, "ADA").await;
    assert_eq!(told(&world, at(1)).await, [], "another spelling is no other address");
    move_to(&world, user.id, "countess").await;

    assert_eq!(told(&world, at(1)).await, [(MailKind::EmailChanged, "ADA@example.org".to_owned())]);
    move_to(&world, user.id, "lovelace").await;
    assert_eq!(told(&world, at(1)).await, [], "the address between was never proven");
}

pub(super) async fn a_session_ended_for_safety_is_notified_once(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let present = async |presented, now| {
        let refresh = refresh(&world, &session, presented, now);
        let refresh = RefreshSession { mail: Some(world.mail(now)), ..refresh };
        let successor = refresh.successor;
        (world.refresh_session(refresh).await.unwrap(), successor)
    };
    let (_, second) = present(session.refresh, at(1)).await;
    present(second, at(2)).await;
    assert_eq!(told(&world, at(2)).await, []);

    assert_eq!(present(session.refresh, at(100)).await.0, RefreshOutcome::Revoked);
    present(session.refresh, at(101)).await;

    let expected = [(MailKind::SessionEndedForSafety, "ada@example.org".to_owned())];
    assert_eq!(told(&world, at(101)).await, expected);
}

pub(super) async fn an_unproven_address_gets_no_notification(world: World) {
    let account = NewAccount { email_verified: false, ..world.account("ada", at(0)) };
    let id = account.id;
    world.create_account(account).await.unwrap();
    let session = world.open_session(id, at(0)).await;

    link(&world, id, &session).await;
    change_password(&world, id, &session).await;
    move_to(&world, id, "countess").await;
    move_to(&world, id, "ada").await;
    enter(&world, "taking over").await;

    assert_eq!(told(&world, at(1)).await, []);
}
