//! Cases of the first password of an account without one.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::time::Timestamp;
use tokio::task::JoinSet;

use super::fixtures::{RACERS, World, at, key, mac, password};
use super::oauth_acts::google;
use latchkey_store::{NewAccount, PasswordSet, SetPassword};

impl World {
    /// Makes a request to set the first password of an account, in the session `keep`.
    fn first_password(&self, user_id: UserId, keep: SessionId, secret: &str, now: Timestamp) -> SetPassword {
        SetPassword {
            user_id,
            password: password(secret),
            keep,
            page_token: None,
            event: self.event(AuditKind::PasswordSet, now),
            mail: Some(self.mail(now)),
            now,
        }
    }

    /// Creates an account without a password, with a session.
    async fn passwordless(&self, name: &str, email_verified: bool) -> (UserId, SessionId) {
        let account = NewAccount { password: None, email_verified, ..self.account(name, at(0)) };
        let session = self.session(at(0));
        let id = session.id;
        (self.create_in(account, session).await.id, id)
    }
}

pub(super) async fn an_account_without_password_gets_one_once(world: World) {
    let (user, session) = world.passwordless("ada", true).await;
    let set = world.first_password(user, session, "secret", at(1));
    let event = set.event.id;

    assert_eq!(world.set_password(set).await.unwrap(), PasswordSet::Set);

    assert!(world.user(user).await.has_password);
    world.open_session(user, at(2)).await;
    let event = world.event_of(event).await.unwrap();
    assert_eq!((event.user_id, event.session_id), (Some(user), Some(session)));
    let told = world.mails(at(2)).await;
    assert_eq!(told.iter().map(|mail| mail.kind).collect::<Vec<_>>(), [MailKind::PasswordSet]);
    let again = world.first_password(user, session, "other", at(3));
    assert_eq!(world.set_password(again).await.unwrap(), PasswordSet::HasPassword);
    world.open_session(user, at(4)).await;
}

pub(super) async fn a_first_password_ends_other_sessions_codes_and_tokens(world: World) {
    let (user, session) = world.passwordless("ada", true).await;
    world.enter(google("1", "ada"), at(0)).await;
    let all = world.list_sessions(user, at(0)).await.unwrap();
    let other = all.iter().find(|one| one.id != session).unwrap().id;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(0)).await;

    world.set_password(world.first_password(user, session, "secret", at(1))).await.unwrap();

    assert!(world.lives(session, at(1)).await && !world.lives(other, at(1)).await);
    assert!(world.exchange(&key("ada"), mac(1), at(1)).await.is_none());
}

pub(super) async fn only_a_live_session_of_the_account_sets_its_password(world: World) {
    let (user, _) = world.passwordless("ada", true).await;
    let (_, foreign) = world.passwordless("eve", true).await;

    for session in [foreign, world.session(at(0)).id] {
        let set = world.first_password(user, session, "secret", at(1));
        assert_eq!(world.set_password(set).await.unwrap(), PasswordSet::NoSession);
    }

    assert!(!world.user(user).await.has_password);
}

pub(super) async fn the_password_of_an_unverified_address_tells_nobody(world: World) {
    let (user, session) = world.passwordless("ada", false).await;

    world.set_password(world.first_password(user, session, "secret", at(1))).await.unwrap();

    assert!(world.mails(at(1)).await.is_empty());
}

pub(super) async fn of_concurrent_first_passwords_one_is_set(world: World) {
    let (user, session) = world.passwordless("ada", true).await;
    let mut racers = JoinSet::new();
    for number in 0..RACERS {
        let world = world.clone();
        racers.spawn(async move {
            let set = world.first_password(user, session, &format!("secret{number}"), at(1));
            world.set_password(set).await.unwrap()
        });
    }

    let outcomes = racers.join_all().await;

    assert_eq!(outcomes.iter().filter(|outcome| **outcome == PasswordSet::Set).count(), 1);
    assert!(outcomes.iter().all(|outcome| *outcome != PasswordSet::NoSession));
}
