//! Cases of links: opened in browsers and by mail scanners, redeemed over the API, and inspected.

use latchkey_domain::codes::Purpose;

use super::acts::known;
use super::fixtures::{DAY, World, at, key, mac};
use super::numbered::entry;
use latchkey_domain::mail_kind::MailKind;
use latchkey_store::{
    Entered, LinkState, LinkStatus, NewEmailCode, NewToken, OpenLink, OpenedLink, TokenAttempt, UpdateUser,
    VerifyOutcome,
};

use Purpose::{ResetPassword, VerifyEmail};

/// True if the link is valid.
fn is_good(opened: &OpenedLink) -> bool {
    matches!(opened, OpenedLink::Known(LinkState { status: LinkStatus::Good, .. }))
}

pub(super) async fn an_opened_link_verifies_without_signing_in(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;
    assert_eq!(world.mails(at(0)).await[0].kind, MailKind::Verify);

    assert_eq!(world.open_link(link, at(1)).await, known(LinkStatus::Good));

    let now = world.user(user.id).await;
    assert_eq!((now.email_verified, now.is_pending), (true, false));
    assert!(world.list_sessions(user.id, at(1)).await.unwrap().is_empty());
}

pub(super) async fn an_opened_link_is_audited_with_its_user(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;
    let event = world.event(latchkey_domain::audit::AuditKind::EmailVerified, at(1));

    world
        .open_verify_link(OpenLink { event: event.clone(), ..world.link_opening(link, at(1)) })
        .await
        .unwrap()
        .unwrap();

    assert_eq!(world.event_of(event.id).await.unwrap().user_id, Some(user.id));
}

pub(super) async fn a_link_opened_again_is_good_until_it_expires(world: World) {
    world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;

    for seconds in [1, 2, DAY - 1] {
        assert_eq!(world.open_link(link, at(seconds)).await, known(LinkStatus::Good), "after {seconds} s");
        assert_eq!(
            world.look(link, VerifyEmail, at(seconds)).await,
            known(LinkStatus::Good),
            "after {seconds} s"
        );
    }
    assert_eq!(world.open_link(link, at(DAY)).await, known(LinkStatus::Expired));
}

pub(super) async fn an_expired_link_verifies_nobody(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;

    assert_eq!(world.open_link(link, at(DAY)).await, known(LinkStatus::Expired));
    assert_eq!(world.verify_token(link, at(DAY)).await, VerifyOutcome::Refused);

    assert!(!world.user(user.id).await.email_verified);
}

pub(super) async fn a_superseded_link_verifies_nobody(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let old = world.send_link(&key("ada"), VerifyEmail, at(0)).await;
    let new = world.send_link(&key("ada"), VerifyEmail, at(1)).await;

    assert_eq!(world.open_link(old, at(2)).await, known(LinkStatus::Superseded));
    assert_eq!(world.verify_token(old, at(2)).await, VerifyOutcome::Refused);

    assert!(!world.user(user.id).await.email_verified);
    assert_eq!(world.open_link(new, at(2)).await, known(LinkStatus::Good));
}

pub(super) async fn an_unknown_link_is_unknown(world: World) {
    let user = world.unverified("ada", at(0)).await;
    world.send_link(&key("ada"), VerifyEmail, at(0)).await;
    let unknown = world.token();

    assert_eq!(world.open_link(unknown, at(1)).await, OpenedLink::Unknown);
    assert_eq!(world.look(unknown, VerifyEmail, at(1)).await, OpenedLink::Unknown);
    assert_eq!(world.look(unknown, ResetPassword, at(1)).await, OpenedLink::Unknown);
    assert_eq!(world.verify_token(unknown, at(1)).await, VerifyOutcome::Refused);
    assert!(!world.user(user.id).await.email_verified);
}

pub(super) async fn a_link_of_an_address_without_an_account_is_unknown(world: World) {
    let verify = world.send_link(&key("nobody"), VerifyEmail, at(0)).await;
    let reset = world.send_link(&key("nobody"), ResetPassword, at(0)).await;

    assert_eq!(world.open_link(verify, at(1)).await, OpenedLink::Unknown);
    assert_eq!(world.look(verify, VerifyEmail, at(1)).await, OpenedLink::Unknown);
    assert_eq!(world.look(reset, ResetPassword, at(1)).await, OpenedLink::Unknown);
    assert!(!world.can_reset(reset, at(1)).await);
    assert!(world.mails(at(1)).await.is_empty());
}

pub(super) async fn inspecting_a_link_changes_nothing(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;

    for _ in 0..3 {
        assert_eq!(world.look(link, VerifyEmail, at(1)).await, known(LinkStatus::Good));
    }

    assert_eq!(world.user(user.id).await, user);
    assert!(matches!(world.verify_token(link, at(2)).await, VerifyOutcome::Entered(Entered::Session(_))));
}

pub(super) async fn a_link_can_be_without_a_redirect(world: World) {
    world.unverified("ada", at(0)).await;
    let token = NewToken { hash: world.token(), expires_at: at(DAY) };
    let email_code = NewEmailCode::Link { token, redirect_to: None };
    let request = world.request(&key("ada"), VerifyEmail, email_code, at(0));

    world.request_email_code(request).await.unwrap().unwrap();

    let good = LinkState { status: LinkStatus::Good, redirect_to: None };
    assert_eq!(world.open_link(token.hash, at(1)).await, OpenedLink::Known(good));
}

pub(super) async fn a_token_opens_nothing_for_another_address(world: World) {
    world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;
    let event = world.event(latchkey_domain::audit::AuditKind::EmailVerified, at(1));

    let attempt =
        TokenAttempt { token: link, email: Some(key("eve")), caller: None, takes: Vec::new(), event };
    let refused = world.verify_by_token(attempt, entry(world.session(at(1)))).await.unwrap().unwrap();

    assert_eq!(refused, VerifyOutcome::Refused);
    assert!(matches!(world.verify_token(link, at(2)).await, VerifyOutcome::Entered(Entered::Session(_))));
}

pub(super) async fn a_token_signs_in_where_it_verifies(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;
    let (session, event) =
        (world.session(at(1)), world.event(latchkey_domain::audit::AuditKind::EmailVerified, at(1)));
    let event_id = event.id;

    let attempt =
        TokenAttempt { token: link, email: Some(key("ada")), caller: None, takes: Vec::new(), event };
    let outcome = world.verify_by_token(attempt, entry(session.clone())).await.unwrap().unwrap();

    let VerifyOutcome::Entered(Entered::Session(verified)) = outcome else { panic!("{outcome:?}") };
    assert_eq!((verified.id, verified.email_verified), (user.id, true));
    assert_eq!(world.find_session_owner(session.id, at(1)).await.unwrap(), Some(user.id));
    let event = world.event_of(event_id).await.unwrap();
    assert_eq!((event.user_id, event.session_id), (Some(user.id), Some(session.id)));
}

pub(super) async fn a_token_signs_in_once(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;

    assert!(matches!(world.verify_token(link, at(1)).await, VerifyOutcome::Entered(Entered::Session(_))));
    assert_eq!(world.verify_token(link, at(2)).await, VerifyOutcome::Refused);

    assert_eq!(world.list_sessions(user.id, at(2)).await.unwrap().len(), 1);
    assert_eq!(world.open_link(link, at(3)).await, known(LinkStatus::Good), "a browser may still open it");
}

pub(super) async fn a_token_signs_nobody_in_after_a_browser_verified(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;

    assert_eq!(world.open_link(link, at(1)).await, known(LinkStatus::Good));
    assert_eq!(world.verify_token(link, at(2)).await, VerifyOutcome::Refused);

    assert!(world.list_sessions(user.id, at(2)).await.unwrap().is_empty());
}

pub(super) async fn a_used_token_signs_nobody_in_after_the_address_was_unverified(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;
    assert!(matches!(world.verify_token(link, at(1)).await, VerifyOutcome::Entered(Entered::Session(_))));
    let unverify = UpdateUser { email_verified: Some(false), ..world.change(user.id, at(2)) };
    world.update_user(unverify).await.unwrap();

    assert_eq!(world.verify_token(link, at(3)).await, VerifyOutcome::Refused);

    assert!(!world.user(user.id).await.email_verified);
}

pub(super) async fn a_verification_consumes_the_other_code_or_link(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(1)).await;
    assert!(world.verifies(&key("ada"), mac(1), at(2)).await);

    assert_eq!(world.verify_token(link, at(3)).await, VerifyOutcome::Refused);
    assert!(!is_good(&world.open_link(link, at(3)).await));
    assert_eq!(world.list_sessions(user.id, at(3)).await.unwrap().len(), 1);
}

pub(super) async fn a_link_is_superseded_with_the_address_it_proved(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let opened = world.send_link(&key("ada"), VerifyEmail, at(0)).await;
    assert_eq!(world.open_link(opened, at(1)).await, known(LinkStatus::Good));

    world.move_to(user.id, "countess", at(2)).await;

    assert!(!is_good(&world.open_link(opened, at(3)).await));
    assert_eq!(world.verify_token(opened, at(3)).await, VerifyOutcome::Refused);
    assert!(!world.user(user.id).await.email_verified);
}

pub(super) async fn a_reset_link_is_good_any_number_of_times(world: World) {
    world.verified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), ResetPassword, at(0)).await;
    assert_eq!(world.mails(at(0)).await[0].kind, MailKind::Reset);

    for seconds in [1, 2, DAY - 1] {
        assert_eq!(world.look(link, ResetPassword, at(seconds)).await, known(LinkStatus::Good));
        assert!(world.can_reset(link, at(seconds)).await);
    }

    assert_eq!(world.look(link, ResetPassword, at(DAY)).await, known(LinkStatus::Expired));
    assert!(!world.can_reset(link, at(DAY)).await);
}

pub(super) async fn a_newer_reset_link_replaces_the_older(world: World) {
    world.verified("ada", at(0)).await;
    let old = world.send_link(&key("ada"), ResetPassword, at(0)).await;
    let new = world.send_link(&key("ada"), ResetPassword, at(1)).await;

    assert_eq!(world.look(old, ResetPassword, at(2)).await, known(LinkStatus::Superseded));
    assert!(!world.can_reset(old, at(2)).await);
    assert_eq!(world.reset(old, "evil", at(2)).await, None);
    assert!(world.can_reset(new, at(2)).await);
}

pub(super) async fn a_used_reset_link_has_the_status_used(world: World) {
    world.verified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), ResetPassword, at(0)).await;

    assert!(world.reset(link, "fresh", at(1)).await.is_some());

    assert_eq!(world.look(link, ResetPassword, at(2)).await, known(LinkStatus::Used));
    assert!(!world.can_reset(link, at(2)).await);
}
