//! Cases of the audit events of an account that its owner can list.

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::ids::{EventId, UserId};
use latchkey_store::{EventPage, ListOwnEvents};

use super::fixtures::{DAY, World, at, days};

/// Filter for all events of a user in the 90 days before a number of seconds.
fn list(user_id: UserId, seconds: i64) -> ListOwnEvents {
    ListOwnEvents { user_id, only: None, since: at(seconds).minus(days(90)), before: None, limit: 100 }
}

/// Records one event for each of these kinds, a second apart; returns their ids, newest first.
async fn record(world: &World, user: UserId, kinds: &[AuditKind]) -> Vec<EventId> {
    let mut ids = Vec::new();
    for (second, kind) in (1..).zip(kinds) {
        let event = AuditEvent { user_id: Some(user), ..world.event(*kind, at(second)) };
        ids.insert(0, event.id);
        world.record_event(event).await.unwrap();
    }
    ids
}

fn ids(page: &EventPage) -> Vec<EventId> {
    page.events.iter().map(|event| event.id).collect()
}

pub(super) async fn an_account_has_its_own_events_alone(world: World) {
    let (ada, eve) = (world.user_id(at(0)), world.user_id(at(0)));
    let own = record(&world, ada, &[AuditKind::SignedIn, AuditKind::SignedOut]).await;
    record(&world, eve, &[AuditKind::SignedIn]).await;
    world.record_event(world.event(AuditKind::SettingsChanged, at(2))).await.unwrap();

    let page = world.list_own_events(list(ada, 9)).await.unwrap().unwrap();

    assert_eq!((ids(&page), page.next), (own, None));
}

pub(super) async fn requests_of_others_are_not_shown_to_the_owner(world: World) {
    let ada = world.user_id(at(0));
    record(&world, ada, &AuditKind::HIDDEN_FROM_OWNER).await;
    let admin =
        AuditEvent { actor: Actor::Admin, user_id: Some(ada), ..world.event(AuditKind::UserUpdated, at(9)) };
    world.record_event(admin.clone()).await.unwrap();

    let page = world.list_own_events(list(ada, 9)).await.unwrap().unwrap();

    assert_eq!(page.events, [admin]);
}

pub(super) async fn own_events_come_newest_first_in_pages(world: World) {
    let ada = world.user_id(at(0));
    let own = record(&world, ada, &[AuditKind::SignedIn; 7]).await;
    let (mut before, mut walked, mut pages) = (None, Vec::new(), 0);

    loop {
        let page = world.list_own_events(ListOwnEvents { before, limit: 3, ..list(ada, 9) }).await.unwrap();
        let page = page.unwrap();
        walked.extend(ids(&page));
        pages += 1;
        before = page.next;
        if before.is_none() {
            break;
        }
    }

    assert_eq!((walked, pages), (own, 3));
}

pub(super) async fn own_events_of_one_millisecond_are_paged_by_id(world: World) {
    let ada = world.user_id(at(0));
    let mut own = Vec::new();
    for _ in 0..4 {
        let event = AuditEvent { user_id: Some(ada), ..world.event(AuditKind::SignedIn, at(1)) };
        own.insert(0, event.id);
        world.record_event(event).await.unwrap();
    }

    let first = world.list_own_events(ListOwnEvents { limit: 2, ..list(ada, 9) }).await.unwrap().unwrap();
    let next = ListOwnEvents { before: first.next, ..list(ada, 9) };
    let second = world.list_own_events(next).await.unwrap().unwrap();

    assert_eq!([ids(&first), ids(&second)].concat(), own);
}

pub(super) async fn own_events_are_listed_by_kind_and_time(world: World) {
    let ada = world.user_id(at(0));
    let own = record(&world, ada, &[AuditKind::SignedIn, AuditKind::SignInFailed, AuditKind::SignedIn]).await;

    let only = ListOwnEvents { only: Some(AuditKind::SignedIn), ..list(ada, 9) };
    let sign_ins = world.list_own_events(only).await.unwrap().unwrap();
    let late = world.list_own_events(list(ada, 90 * DAY + 2)).await.unwrap().unwrap();

    assert_eq!(ids(&sign_ins), [own[0], own[2]]);
    assert_eq!(ids(&late), [own[0]], "the others are 90 days old");
}

pub(super) async fn a_page_before_an_event_of_nobody_or_another_is_unknown(world: World) {
    let (ada, eve) = (world.user_id(at(0)), world.user_id(at(0)));
    record(&world, ada, &[AuditKind::SignedIn]).await;
    let others = record(&world, eve, &[AuditKind::SignedIn]).await;

    for before in [others[0], world.event_id(at(5))] {
        let list = ListOwnEvents { before: Some(before), ..list(ada, 9) };
        assert_eq!(world.list_own_events(list).await.unwrap(), None);
    }
}
