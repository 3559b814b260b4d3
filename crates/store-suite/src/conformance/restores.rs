//! Cases of restored databases: sessions and keys end, unless they are kept, and old mails are given up.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_store::{ListMails, MailState, NewSigningKey, SettleRestored, SettledRestored};

use super::fixtures::{HOUR, World, at, key, mac};
use super::signing_keys::new_key;

fn settle(world: &World, key: Option<NewSigningKey>, seconds: i64) -> SettleRestored {
    let event = world.event(AuditKind::DatabaseRestored, at(seconds));
    SettleRestored { key, mails_since: at(seconds - HOUR), event, now: at(seconds) }
}

pub(super) async fn all_sessions_of_a_restored_database_end(world: World) {
    let (ada, eve) = (world.verified("ada", at(0)).await, world.verified("eve", at(0)).await);
    let sessions = [world.open_session(ada.id, at(0)).await, world.open_session(eve.id, at(1)).await];
    let key = new_key(&world, at(2));

    let settled = world.settle_restored(settle(&world, Some(key), 2)).await.unwrap();

    assert_eq!(settled, SettledRestored { sessions: 2, mails: 0 });
    for session in sessions {
        assert!(!world.lives(session.id, at(2)).await);
    }
}

pub(super) async fn no_earlier_key_of_a_restored_database_is_accepted(world: World) {
    let (first, second) = (new_key(&world, at(0)), new_key(&world, at(1)));
    world.ensure_signing_key(first.clone()).await.unwrap();
    let event = world.event(AuditKind::KeyRotated, at(1));
    world.rotate_signing_key(second, first.id, at(HOUR), event).await.unwrap();
    let third = new_key(&world, at(2));
    let version = world.shared_version().await.unwrap();

    world.settle_restored(settle(&world, Some(third.clone()), 2)).await.unwrap();

    let listed: Vec<_> =
        world.list_signing_keys(at(2)).await.unwrap().into_iter().map(|key| key.id).collect();
    assert_eq!(listed, [third.id]);
    assert!(world.shared_version().await.unwrap() > version);
}

pub(super) async fn kept_sessions_and_keys_of_a_restored_database_go_on(world: World) {
    let key = new_key(&world, at(0));
    world.ensure_signing_key(key.clone()).await.unwrap();
    let ada = world.verified("ada", at(0)).await;
    let session = world.open_session(ada.id, at(0)).await;

    let settled = world.settle_restored(settle(&world, None, 2)).await.unwrap();

    assert_eq!(settled.sessions, 0);
    assert!(world.lives(session.id, at(2)).await);
    assert_eq!(world.list_signing_keys(at(2)).await.unwrap()[0].id, key.id);
}

pub(super) async fn old_mails_of_a_restored_database_are_dead(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(1)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(2), at(HOUR)).await;

    let settled = world.settle_restored(settle(&world, None, HOUR + 10)).await.unwrap();

    assert_eq!(settled.mails, 1);
    let mails = world.list_mails(&ListMails::newest(None, 10)).await.unwrap().mails;
    let states: Vec<_> = mails.iter().map(|mail| (mail.created_at, mail.state)).collect();
    assert_eq!(states, [(at(HOUR), MailState::Queued), (at(1), MailState::Dead)]);
    assert_eq!(mails[1].last_error.as_deref(), Some("restored from a backup"));
}
