//! Cases of the audit log: order, pages, and retention after the user's deletion.

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::ids::EventId;
use latchkey_store::ListEvents;
use serde_json::json;

use super::fixtures::{DAY, World, at, days, object};

/// Request for a page of all events.
fn newest(before: Option<EventId>, limit: u32) -> ListEvents {
    ListEvents { before, limit, ..ListEvents::default() }
}

async fn record(world: &World, count: i64) -> Vec<EventId> {
    let mut ids = Vec::new();
    for seconds in 0..count {
        let event = world.event(AuditKind::AdminRefused, at(seconds));
        ids.insert(0, event.id);
        world.record_event(event).await.unwrap();
    }
    ids
}

pub(super) async fn an_event_is_stored_as_given(world: World) {
    let event = AuditEvent {
        actor: Actor::Admin,
        user_id: Some(world.user_id(at(0))),
        session_id: Some(world.session_id(at(0))),
        client: Some(Client::new(ClientAddress::new("2001:db8::7".parse().unwrap()), Some("Ünï \"agent\""))),
        details: object(json!({"keys": ["a", "b"], "n": 1})),
        ..world.event(AuditKind::SettingsChanged, at(1))
    };
    let bare = AuditEvent { client: None, actor: Actor::System, ..world.event(AuditKind::KeyRotated, at(2)) };

    world.record_event(event.clone()).await.unwrap();
    let by_operator = Actor::Operator(world.user_id(at(3)));
    let acted = AuditEvent { actor: by_operator, ..world.event(AuditKind::UserBanned, at(3)) };
    world.record_event(bare.clone()).await.unwrap();
    world.record_event(acted.clone()).await.unwrap();

    assert_eq!(world.events().await, [acted, bare, event]);
}

pub(super) async fn every_kind_of_event_is_stored(world: World) {
    for (second, kind) in (0..).zip(AuditKind::ALL) {
        world.record_event(world.event(*kind, at(second))).await.unwrap();
    }

    let kinds: Vec<_> = world.events().await.into_iter().rev().map(|event| event.kind).collect();

    assert_eq!(kinds, AuditKind::ALL);
}

pub(super) async fn events_come_newest_first_in_pages(world: World) {
    let ids = record(&world, 7).await;
    let (mut before, mut walked, mut pages) = (None, Vec::new(), 0);

    loop {
        let page = world.list_events(newest(before, 3)).await.unwrap();
        walked.extend(page.events.iter().map(|event| event.id));
        pages += 1;
        before = page.next;
        if before.is_none() {
            break;
        }
    }

    assert_eq!(walked, ids);
    assert_eq!(pages, 3);
}

pub(super) async fn a_last_full_page_is_the_last(world: World) {
    let ids = record(&world, 4).await;

    let first = world.list_events(newest(None, 2)).await.unwrap();
    let last = world.list_events(newest(first.next, 2)).await.unwrap();

    assert_eq!(last.events.iter().map(|event| event.id).collect::<Vec<_>>(), ids[2..]);
    assert_eq!(last.next, None);
    let none = world.list_events(newest(Some(ids[3]), 2)).await.unwrap();
    assert_eq!((none.events.len(), none.next), (0, None));
}

pub(super) async fn an_event_that_comes_in_moves_no_page(world: World) {
    let ids = record(&world, 4).await;
    let first = world.list_events(newest(None, 2)).await.unwrap();

    world.record_event(world.event(AuditKind::AdminRefused, at(9))).await.unwrap();

    let second = world.list_events(newest(first.next, 2)).await.unwrap();
    assert_eq!(second.events.iter().map(|event| event.id).collect::<Vec<_>>(), ids[2..]);
}

pub(super) async fn events_outlive_their_user(world: World) {
    let account = world.account("ada", at(0));
    let signed_up = account.event.id;
    let user = world.create(account).await;
    let deleted = world.event(AuditKind::UserDeleted, at(1));

    world.delete(&[user.id], vec![deleted.clone()]).await;

    assert_eq!(world.event_of(signed_up).await.unwrap().user_id, Some(user.id));
    assert_eq!(world.event_of(deleted.id).await.unwrap().user_id, Some(user.id));
}

pub(super) async fn an_event_is_purged_after_its_retention(world: World) {
    let user = world.verified("ada", at(0)).await;
    let about = |event| AuditEvent { user_id: Some(user.id), ..event };
    let old = about(world.event(AuditKind::SignInFailed, at(DAY)));
    let kept = about(world.event(AuditKind::SignInFailed, at(DAY + 1)));
    world.record_event(old.clone()).await.unwrap();
    world.record_event(kept.clone()).await.unwrap();

    let purged = world.purge_events(days(400), at(401 * DAY)).await.unwrap();

    assert_eq!(purged, 2, "the sign-up and the old one");
    assert_eq!(world.events().await, [kept]);
    assert_eq!(world.purge_events(days(400), at(401 * DAY)).await.unwrap(), 0);
}

pub(super) async fn a_failure_without_an_account_is_purged_after_thirty_days(world: World) {
    let settings = world.event(AuditKind::SettingsChanged, at(0));
    world.record_event(settings.clone()).await.unwrap();
    for kind in AuditKind::FAILURES {
        world.record_event(world.event(kind, at(0))).await.unwrap();
    }

    assert_eq!(world.purge_events(days(400), at(30 * DAY - 1)).await.unwrap(), 0);
    assert_eq!(world.purge_events(days(400), at(30 * DAY)).await.unwrap(), 3);

    assert_eq!(world.events().await, [settings]);
}
