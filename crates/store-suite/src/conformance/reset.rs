//! Cases of the password reset: codes are exchanged for tokens, and a new password uses a token up.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;

use super::acts::known;
use super::fixtures::{HOUR, MINUTE, World, at, key, mac, password};
use latchkey_domain::mail_kind::MailKind;
use latchkey_store::{
    BeginReset, Entered, ExchangeOutcome, LinkStatus, ListMails, NewToken, OpenedLink, ResetOutcome,
    ResetPassword, SignInOutcome,
};

use Purpose::{ResetPassword as Reset, VerifyEmail};

pub(super) async fn a_reset_code_is_exchanged_for_a_token(world: World) {
    let user = world.verified("Ada", at(0)).await;
    world.send_code(&key("ada"), Reset, mac(1), at(0)).await;
    assert_eq!(world.mails(at(0)).await[0].kind, MailKind::Reset);

    let token = world.exchange(&key("ada"), mac(1), at(1)).await.unwrap();

    let BeginReset::Good(subject) = world.begin_reset(token, &[], at(2)).await.unwrap().unwrap() else {
        panic!("refused")
    };
    assert_eq!((subject.user_id, subject.email.as_typed()), (user.id, "Ada@example.org"));
    assert!(world.can_reset(token, at(3)).await, "looking does not use it up");
}

pub(super) async fn a_reset_code_is_exchanged_once(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Reset, mac(1), at(0)).await;

    assert!(world.exchange(&key("ada"), mac(1), at(1)).await.is_some());
    assert!(world.exchange(&key("ada"), mac(1), at(2)).await.is_none());
}

pub(super) async fn a_refused_exchange_makes_no_token(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Reset, mac(1), at(0)).await;
    let token = NewToken { hash: world.token(), expires_at: at(HOUR) };

    let outcome =
        world.exchange_reset_code(world.attempt(&key("ada"), mac(2), at(1)), token).await.unwrap().unwrap();

    assert_eq!(outcome, ExchangeOutcome::Refused);
    assert!(!world.can_reset(token.hash, at(1)).await);
}

pub(super) async fn an_expired_reset_code_is_refused(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Reset, mac(1), at(0)).await;

    assert!(world.exchange(&key("ada"), mac(1), at(10 * MINUTE)).await.is_none());
}

pub(super) async fn a_replaced_reset_code_is_refused(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Reset, mac(1), at(0)).await;
    world.send_code(&key("ada"), Reset, mac(2), at(1)).await;

    assert!(world.exchange(&key("ada"), mac(1), at(2)).await.is_none());
    assert!(world.exchange(&key("ada"), mac(2), at(2)).await.is_some());
}

pub(super) async fn a_reset_code_has_five_attempts_and_an_hour_ten(world: World) {
    world.verified("ada", at(0)).await;
    for code in [1, 2] {
        world.send_code(&key("ada"), Reset, mac(code), at(0)).await;
        for _ in 0..5 {
            assert!(world.exchange(&key("ada"), mac(99), at(1)).await.is_none());
        }
        assert!(
            world.exchange(&key("ada"), mac(code), at(2)).await.is_none(),
            "code {code} has no attempt left"
        );
    }

    world.send_code(&key("ada"), Reset, mac(3), at(3)).await;
    assert!(world.exchange(&key("ada"), mac(3), at(4)).await.is_none(), "the hour has no attempt left");
    world.send_code(&key("ada"), Reset, mac(4), at(2 * HOUR)).await;
    assert!(world.exchange(&key("ada"), mac(4), at(2 * HOUR)).await.is_some());
}

pub(super) async fn addresses_without_a_claim_get_no_reset(world: World) {
    let banned = world.verified("banned", at(0)).await;
    world.ban(banned.id, at(0)).await;
    for name in ["nobody", "banned"] {
        world.send_code(&key(name), Reset, mac(1), at(1)).await;
        assert!(world.exchange(&key(name), mac(1), at(2)).await.is_none(), "{name}");

        let link = world.send_link(&key(name), Reset, at(3)).await;

        assert!(!world.can_reset(link, at(4)).await, "{name}");
        assert_eq!(world.reset(link, "evil", at(4)).await, None, "{name}");
    }
    assert!(world.mails(at(5)).await.is_empty());
    assert!(world.list_mails(&ListMails::newest(None, 10)).await.unwrap().mails.is_empty());
}

pub(super) async fn an_exchange_ends_the_reset_tokens_before_it(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Reset, mac(1), at(0)).await;
    let old = world.exchange(&key("ada"), mac(1), at(1)).await.unwrap();
    world.send_code(&key("ada"), Reset, mac(2), at(2)).await;
    let new = world.exchange(&key("ada"), mac(2), at(3)).await.unwrap();

    assert!(!world.can_reset(old, at(4)).await);
    assert_eq!(world.reset(old, "evil", at(4)).await, None);
    assert!(world.can_reset(new, at(4)).await);
}

pub(super) async fn an_exchanged_token_is_no_link(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Reset, mac(1), at(0)).await;
    let token = world.exchange(&key("ada"), mac(1), at(1)).await.unwrap();

    assert_eq!(world.look(token, Reset, at(2)).await, OpenedLink::Unknown);
    assert_eq!(world.look(token, VerifyEmail, at(2)).await, OpenedLink::Unknown);
    assert_eq!(world.open_link(token, at(2)).await, OpenedLink::Unknown);
}

pub(super) async fn an_expired_reset_token_is_refused(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Reset, mac(1), at(0)).await;
    let token = world.exchange(&key("ada"), mac(1), at(0)).await.unwrap();

    assert!(world.can_reset(token, at(15 * MINUTE - 1)).await);
    assert!(!world.can_reset(token, at(15 * MINUTE)).await);
    assert_eq!(world.reset(token, "late", at(15 * MINUTE)).await, None);
    assert_eq!(world.candidate("ada", at(HOUR)).await.unwrap().password, Some(password("secret")));
}

pub(super) async fn a_reset_sets_the_password_once(world: World) {
    let user = world.verified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), Reset, at(0)).await;

    let done = world.reset(link, "fresh", at(1)).await;

    assert_eq!(done, Some(world.user(user.id).await));
    assert_eq!(world.reset(link, "again", at(2)).await, None);
    assert!(!world.can_reset(link, at(2)).await);
    assert_eq!(world.candidate("ada", at(3)).await.unwrap().password, Some(password("fresh")));
    let stale = world.sign_in(world.right(user.id, "secret", None, at(3))).await.unwrap().unwrap();
    assert_eq!(stale, SignInOutcome::Gone);
}

pub(super) async fn a_reset_ends_every_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let other = world.verified("eve", at(0)).await;
    let sessions = [world.open_session(user.id, at(0)).await, world.open_session(user.id, at(1)).await];
    let foreign = world.open_session(other.id, at(1)).await;
    let link = world.send_link(&key("ada"), Reset, at(2)).await;

    assert!(world.reset(link, "fresh", at(3)).await.is_some());

    for session in sessions {
        assert!(!world.lives(session.id, at(3)).await);
    }
    assert!(world.lives(foreign.id, at(3)).await);
}

pub(super) async fn a_reset_deletes_what_is_outstanding(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    world.send_code(&key("ada"), Reset, mac(2), at(0)).await;
    let exchanged = world.exchange(&key("ada"), mac(2), at(0)).await.unwrap();
    let link = world.send_link(&key("ada"), Reset, at(1)).await;

    assert!(world.reset(link, "fresh", at(2)).await.is_some());

    assert!(!world.can_reset(exchanged, at(3)).await);
    assert_eq!(world.reset(exchanged, "evil", at(3)).await, None);
    assert!(!world.verifies(&key("ada"), mac(1), at(3)).await);
    assert_eq!(world.look(link, Reset, at(3)).await, known(LinkStatus::Used));
}

pub(super) async fn a_reset_deletes_an_outstanding_code(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Reset, mac(1), at(0)).await;
    let token = world.exchange(&key("ada"), mac(1), at(1)).await.unwrap();
    world.send_code(&key("ada"), Reset, mac(2), at(2)).await;
    // The newer code may have invalidated the token. If the token is still valid, its use must invalidate the code.
    let was_reset = world.reset(token, "fresh", at(3)).await.is_some();

    let exchanged = world.exchange(&key("ada"), mac(2), at(4)).await;

    assert_eq!(exchanged.is_some(), !was_reset);
}

pub(super) async fn a_reset_is_audited_with_its_user(world: World) {
    let user = world.verified("ada", at(0)).await;
    let token = world.send_link(&key("ada"), Reset, at(0)).await;
    let (event, secret) = (world.event(AuditKind::PasswordReset, at(1)), password("fresh"));
    let reset = ResetPassword {
        token,
        password: secret,
        event: event.clone(),
        mail: None,
        cleared: None,
        now: at(1),
    };

    assert!(matches!(world.reset_password(reset).await.unwrap(), ResetOutcome::Reset(_)));

    let written = world.event_of(event.id).await.unwrap();
    assert_eq!((written.kind, written.user_id), (AuditKind::PasswordReset, Some(user.id)));
}

pub(super) async fn an_account_without_a_password_gets_one_by_reset(world: World) {
    let account = latchkey_store::NewAccount { password: None, ..world.account("ada", at(0)) };
    let user = world.create(account).await;
    let link = world.send_link(&key("ada"), Reset, at(0)).await;

    let done = world.reset(link, "first", at(1)).await.unwrap();

    assert!(done.has_password);
    assert!(matches!(
        world.sign_in(world.right(user.id, "first", None, at(2))).await.unwrap().unwrap(),
        SignInOutcome::Entered(Entered::Session(_))
    ));
}

pub(super) async fn a_ban_ends_the_reset(world: World) {
    let user = world.verified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), Reset, at(0)).await;
    world.ban(user.id, at(1)).await;

    assert!(!world.can_reset(link, at(2)).await);
    assert_eq!(world.reset(link, "fresh", at(2)).await, None);
}
