//! Cases of sign-up while verification is required: pending and contested accounts, and mails to owners.

use latchkey_domain::codes::Purpose;
use latchkey_domain::user::User;

use super::acts::known;
use super::fixtures::{World, at, email, key, mac, password, salted};
use latchkey_domain::mail_kind::MailKind;
use latchkey_store::{
    BeginSignUp, LinkStatus, ListMails, NewAccount, PendingSignUp, SignUpOutcome, UserPosition,
};

async fn begin(world: &World, name: &str) -> BeginSignUp {
    world.begin_sign_up(&key(name), &[], at(5)).await.unwrap().unwrap()
}

async fn stored(world: &World, name: &str) -> User {
    world.find_user_by_email(&key(name)).await.unwrap().unwrap()
}

pub(super) async fn the_state_of_an_address_is_returned(world: World) {
    world.verified("verified", at(0)).await;
    world.unverified("unverified", at(0)).await;
    world.pending("pending", at(0)).await;
    let banned = world.verified("banned", at(0)).await;
    world.ban(banned.id, at(1)).await;

    assert_eq!(begin(&world, "nobody").await, BeginSignUp::Free);
    assert_eq!(begin(&world, "PENDING").await, BeginSignUp::Pending(Some(password("secret"))));
    for taken in ["verified", "unverified", "banned"] {
        assert_eq!(begin(&world, taken).await, BeginSignUp::Taken(Some(password("secret"))), "{taken}");
    }
}

pub(super) async fn a_free_address_becomes_a_pending_account(world: World) {
    let sign_up = world.sign_up("Ada", password("secret"), mac(1), at(0));
    let (id, event, mail) = (sign_up.account.id, sign_up.account.event.id, sign_up.mail.clone());

    let outcome = world.sign_up_pending(sign_up).await.unwrap();

    assert_eq!(outcome, SignUpOutcome::Created);
    let user = world.user(id).await;
    assert_eq!((user.is_pending, user.is_contested, user.email_verified), (true, false, false));
    assert!(user.has_password && user.profile.is_some());
    assert!(world.list_sessions(id, at(1)).await.unwrap().is_empty());
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(id));
    let [claimed] = &world.mails(at(1)).await[..] else { panic!("one mail expected") };
    assert_eq!((claimed.id, claimed.kind, &claimed.sealed), (mail.id, MailKind::Verify, &mail.sealed));
    assert_eq!((claimed.recipient.user_id, &claimed.recipient.email), (Some(id), &email("Ada")));
}

pub(super) async fn a_pending_account_is_verified_by_its_code(world: World) {
    let user = world.pending("ada", at(0)).await;

    assert!(world.verifies(&key("ada"), mac(1), at(1)).await);

    let verified = world.user(user.id).await;
    assert_eq!((verified.email_verified, verified.is_pending, verified.has_password), (true, false, true));
    assert_eq!(verified.profile, user.profile);
}

pub(super) async fn a_repeated_sign_up_renews_the_code(world: World) {
    let user = world.pending("ada", at(0)).await;
    world.mails(at(0)).await;
    let again = world.sign_up("ADA", password("secret"), mac(2), at(1));
    let (event, mail) = (again.account.event.id, again.mail.id);

    assert_eq!(world.sign_up_pending(again).await.unwrap(), SignUpOutcome::Renewed);

    let claimed = world.mails(at(1)).await;
    assert_eq!(
        claimed.iter().map(|mail| (mail.id, mail.kind)).collect::<Vec<_>>(),
        [(mail, MailKind::Verify)]
    );
    assert!(!claimed[0].recipient.is_contested);
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(user.id));
    let now = stored(&world, "ada").await;
    assert_eq!((now.id, now.is_pending, now.is_contested, now.profile), (user.id, true, false, user.profile));
    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await, "the old code must die");
    assert!(world.verifies(&key("ada"), mac(2), at(2)).await);
}

pub(super) async fn a_repeated_sign_up_supersedes_the_link(world: World) {
    let (first, old) = world.email_link(at(0));
    let (second, new) = world.email_link(at(1));
    let sign_up =
        PendingSignUp { email_code: first, ..world.sign_up("ada", password("secret"), mac(1), at(0)) };
    let again =
        PendingSignUp { email_code: second, ..world.sign_up("ada", password("secret"), mac(1), at(1)) };

    assert_eq!(world.sign_up_pending(sign_up).await.unwrap(), SignUpOutcome::Created);
    assert_eq!(world.sign_up_pending(again).await.unwrap(), SignUpOutcome::Renewed);

    assert_eq!(world.open_link(old, at(2)).await, known(LinkStatus::Superseded));
    assert!(!stored(&world, "ada").await.email_verified);
    assert_eq!(world.open_link(new, at(2)).await, known(LinkStatus::Good));
}

pub(super) async fn another_password_makes_the_address_contested(world: World) {
    let user = world.pending("ada", at(0)).await;
    world.mails(at(0)).await;
    let other = world.sign_up("ada", password("other"), mac(2), at(1));

    assert_eq!(world.sign_up_pending(other).await.unwrap(), SignUpOutcome::Contested);

    let now = stored(&world, "ada").await;
    assert_eq!((now.id, now.is_pending, now.is_contested), (user.id, true, true));
    let claimed = world.mails(at(1)).await;
    assert_eq!(
        (claimed.len(), claimed[0].kind, claimed[0].recipient.is_contested),
        (1, MailKind::Verify, true)
    );
    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await, "the old code must die");
    assert!(world.verifies(&key("ada"), mac(2), at(2)).await);
}

pub(super) async fn a_contested_address_stays_contested(world: World) {
    world.contested("ada", at(0)).await;
    for (code, secret) in [(3, "secret"), (4, "other")] {
        let again = world.sign_up("ada", password(secret), mac(code), at(i64::from(code)));

        let outcome = world.sign_up_pending(again).await.unwrap();

        assert!(matches!(outcome, SignUpOutcome::Renewed | SignUpOutcome::Contested), "{outcome:?}");
        assert!(stored(&world, "ada").await.is_contested);
    }
}

pub(super) async fn a_hash_with_another_salt_must_be_rehashed(world: World) {
    let user = world.pending("ada", at(0)).await;
    world.mails(at(0)).await;
    let incomparable = world.sign_up("ada", salted("b3RoZXI", "secret"), mac(2), at(1));
    let event = incomparable.account.event.id;

    let outcome = world.sign_up_pending(incomparable).await.unwrap();

    assert_eq!(outcome, SignUpOutcome::Rehash(password("secret")));
    assert_eq!(stored(&world, "ada").await, user);
    assert!(world.mails(at(1)).await.is_empty());
    assert_eq!(world.event_of(event).await, None);
    assert!(world.verifies(&key("ada"), mac(1), at(2)).await, "nothing changed, so the old code is good");
}

pub(super) async fn the_owner_of_a_verified_address_gets_a_mail(world: World) {
    let owner = world.verified("Ada", at(0)).await;
    let session = world.open_session(owner.id, at(0)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(7), at(0)).await;
    world.mails(at(0)).await;
    let (user, profile) = (world.user(owner.id).await, world.find_profile(owner.id).await.unwrap());
    let attempt = world.sign_up("aDA", password("evil"), mac(2), at(1));
    let (event, mail, id) = (attempt.account.event.id, attempt.mail.id, attempt.account.id);

    assert_eq!(world.sign_up_pending(attempt).await.unwrap(), SignUpOutcome::OwnerTold);

    let claimed = world.mails(at(1)).await;
    assert_eq!((claimed.len(), claimed[0].id, claimed[0].kind), (1, mail, MailKind::SignUpAttempt));
    assert_eq!(
        (claimed[0].recipient.user_id, claimed[0].recipient.email.key()),
        (Some(owner.id), owner.email.key())
    );
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(owner.id));
    assert_eq!(world.find_user(id).await.unwrap(), None);
    assert_eq!((world.user(owner.id).await, world.find_profile(owner.id).await.unwrap()), (user, profile));
    assert_eq!(world.candidate("ada", at(1)).await.unwrap().password, Some(password("secret")));
    assert!(world.lives(session.id, at(1)).await);
    assert!(!world.verifies(&key("ada"), mac(2), at(2)).await, "no code was written for the owner");
    assert!(world.exchange(&key("ada"), mac(7), at(2)).await.is_some());
}

pub(super) async fn an_unverified_account_that_is_not_pending_never_changes(world: World) {
    let owner = world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(0)).await;
    let attempt = world.sign_up("ada", password("other"), mac(2), at(1));

    assert_eq!(world.sign_up_pending(attempt).await.unwrap(), SignUpOutcome::OwnerTold);

    assert_eq!(world.user(owner.id).await, owner);
    assert!(!world.verifies(&key("ada"), mac(2), at(2)).await);
    assert!(world.verifies(&key("ada"), mac(1), at(2)).await);
}

pub(super) async fn a_banned_owner_gets_no_mail(world: World) {
    let owner = world.verified("ada", at(0)).await;
    let waiting = world.pending("eve", at(0)).await;
    world.mails(at(0)).await;
    world.ban(owner.id, at(1)).await;
    world.ban(waiting.id, at(1)).await;
    let attempt = world.sign_up("ada", password("secret"), mac(2), at(2));
    let renewal = world.sign_up("eve", password("secret"), mac(2), at(2));

    assert_eq!(world.sign_up_pending(attempt).await.unwrap(), SignUpOutcome::OwnerTold);
    world.sign_up_pending(renewal).await.unwrap();

    let listed = world.list_mails(&ListMails::newest(None, 10)).await.unwrap().mails;
    assert!(world.mails(at(2)).await.is_empty());
    assert!(listed.iter().all(|mail| mail.created_at < at(2)));
    assert!(!world.verifies(&key("eve"), mac(2), at(3)).await);
}

pub(super) async fn a_sign_up_changes_no_other_account(world: World) {
    let other = world.pending("eve", at(0)).await;
    let account = NewAccount { email_verified: false, ..world.account("ada", at(1)) };
    let (email_code, _) = world.email_link(at(1));
    let sign_up = PendingSignUp { account, email_code, mail: world.mail(at(1)) };

    assert_eq!(world.sign_up_pending(sign_up).await.unwrap(), SignUpOutcome::Created);

    assert_eq!(world.user(other.id).await, other);
    assert_eq!(world.users("", UserPosition::Offset(0), 10).await.total, 2);
    assert!(world.verifies(&key("eve"), mac(1), at(2)).await);
}
