//! Cases of the filters of the audit log.

use latchkey_domain::audit::{Actor, ActorKind, AuditEvent, AuditFilter, AuditKind};
use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::ids::EventId;
use latchkey_store::{EVENTS_INSPECTED, EventPage, EventTotal, ListEvents};

use super::fixtures::{World, at};

const KIND: AuditKind = AuditKind::SignedIn;
/// Number up to which events are counted here.
const COUNTED: u32 = 200;

fn address(text: &str) -> ClientAddress {
    ClientAddress::new(text.parse().unwrap())
}

async fn record(world: &World, event: AuditEvent) -> EventId {
    let id = event.id;
    world.record_event(event).await.unwrap();
    id
}

async fn found(world: &World, filter: AuditFilter) -> Vec<EventId> {
    let list = ListEvents { filter, before: None, after: None, limit: 100 };
    let EventPage { events, next } = world.list_events(list).await.unwrap();
    assert_eq!(next, None);
    let total = EventTotal::Exact(events.len() as u64);
    assert_eq!(world.count_events(filter, COUNTED).await.unwrap(), total, "{filter:?}");
    events.iter().map(|event| event.id).collect()
}

pub(super) async fn each_condition_selects_its_events(world: World) {
    let (ada, eve, operator) = (world.user_id(at(0)), world.user_id(at(0)), world.user_id(at(0)));
    let of = |user, second| AuditEvent { user_id: Some(user), ..world.event(KIND, at(second)) };
    let at_address = |text, event| AuditEvent { client: Some(Client::new(address(text), None)), ..event };
    let by = |actor, event| AuditEvent { actor, ..event };
    let first = record(&world, at_address("192.0.2.7", of(ada, 1))).await;
    let banned = AuditEvent { user_id: Some(ada), ..world.event(AuditKind::UserBanned, at(2)) };
    let second = record(&world, by(Actor::Operator(operator), banned)).await;
    let third = record(&world, at_address("2001:db8::7", of(eve, 3))).await;
    let fourth = record(&world, by(Actor::System, world.event(AuditKind::KeyRotated, at(4)))).await;
    let fifth = record(&world, by(Actor::Admin, of(eve, 5))).await;

    let all = AuditFilter::default();
    for (filter, wanted) in [
        (all, vec![fifth, fourth, third, second, first]),
        (AuditFilter { user_id: Some(ada), ..all }, vec![second, first]),
        (AuditFilter { user_id: Some(operator), ..all }, vec![]),
        (AuditFilter { kind: Some(KIND), ..all }, vec![fifth, third, first]),
        (AuditFilter { actor: Some(ActorKind::User), ..all }, vec![third, first]),
        (AuditFilter { actor: Some(ActorKind::System), ..all }, vec![fourth]),
        (AuditFilter { actor: Some(ActorKind::Operator), ..all }, vec![second]),
        (AuditFilter { operator: Some(operator), ..all }, vec![second]),
        (AuditFilter { operator: Some(ada), ..all }, vec![]),
        (AuditFilter { address: Some(address("192.0.2.7")), ..all }, vec![first]),
        (AuditFilter { address: Some(address("2001:db8:0::7")), ..all }, vec![third]),
        (AuditFilter { from: Some(at(2)), until: Some(at(4)), ..all }, vec![third, second]),
        (AuditFilter { user_id: Some(eve), kind: Some(KIND), until: Some(at(5)), ..all }, vec![third]),
        (AuditFilter { user_id: Some(ada), from: Some(at(2)), ..all }, vec![second]),
        (AuditFilter { user_id: Some(ada), operator: Some(operator), ..all }, vec![second]),
        (AuditFilter { user_id: Some(ada), address: Some(address("192.0.2.7")), ..all }, vec![first]),
        (AuditFilter { user_id: Some(ada), actor: Some(ActorKind::User), ..all }, vec![first]),
        (AuditFilter { operator: Some(operator), kind: Some(AuditKind::UserBanned), ..all }, vec![second]),
        (AuditFilter { operator: Some(operator), kind: Some(KIND), ..all }, vec![]),
        (AuditFilter { operator: Some(operator), address: Some(address("192.0.2.7")), ..all }, vec![]),
        (AuditFilter { kind: Some(KIND), actor: Some(ActorKind::Admin), ..all }, vec![fifth]),
        (
            AuditFilter { kind: Some(KIND), actor: Some(ActorKind::User), from: Some(at(2)), ..all },
            vec![third],
        ),
        (
            AuditFilter { address: Some(address("192.0.2.7")), kind: Some(AuditKind::SignedOut), ..all },
            vec![],
        ),
    ] {
        assert_eq!(found(&world, filter).await, wanted, "{filter:?}");
    }
}

pub(super) async fn filtered_events_come_in_pages(world: World) {
    let ada = world.user_id(at(0));
    let mut ids = Vec::new();
    for second in 0..14 {
        let (kind, user_id) = if second % 2 == 0 { (KIND, Some(ada)) } else { (AuditKind::SignedOut, None) };
        let id = record(&world, AuditEvent { user_id, ..world.event(kind, at(second)) }).await;
        if second % 2 == 0 {
            ids.insert(0, id);
        }
    }
    let kind = AuditFilter { kind: Some(KIND), ..AuditFilter::default() };
    let user = AuditFilter { user_id: Some(ada), ..AuditFilter::default() };
    let both = AuditFilter { kind: Some(KIND), ..user };
    for filter in [kind, user, both] {
        let (mut before, mut walked) = (None, Vec::new());
        loop {
            let page = world.list_events(ListEvents { filter, before, after: None, limit: 3 }).await.unwrap();
            walked.extend(page.events.iter().map(|event| event.id));
            before = page.next;
            if before.is_none() {
                break;
            }
            assert_eq!(walked.len() % 3, 0, "{filter:?}");
        }
        assert_eq!(walked, ids, "{filter:?}");
    }
}

pub(super) async fn pages_lead_back_to_later_events(world: World) {
    let ada = world.user_id(at(0));
    let mut ids = Vec::new();
    for second in 0..9 {
        let event = AuditEvent { user_id: Some(ada), ..world.event(KIND, at(second)) };
        ids.insert(0, record(&world, AuditEvent { actor: Actor::System, ..event }).await);
    }
    let all = AuditFilter::default();
    let user = AuditFilter { user_id: Some(ada), ..all };
    for filter in [
        all,
        user,
        AuditFilter { kind: Some(KIND), ..all },
        AuditFilter { actor: Some(ActorKind::System), ..all },
        AuditFilter { kind: Some(KIND), ..user },
    ] {
        let page = async |after: EventId, limit| {
            let list = ListEvents { filter, before: None, after: Some(after), limit };
            let page = world.list_events(list).await.unwrap();
            (page.events.iter().map(|event| event.id).collect::<Vec<_>>(), page.next)
        };
        assert_eq!(page(ids[8], 3).await, (ids[5..8].to_vec(), Some(ids[5])), "{filter:?}");
        assert_eq!(page(ids[5], 5).await, (ids[..5].to_vec(), None), "{filter:?}");
        assert_eq!(page(ids[0], 3).await, (vec![], None), "{filter:?}");
        let until = AuditFilter { until: Some(at(7)), ..filter };
        let list = ListEvents { filter: until, before: None, after: Some(ids[5]), limit: 9 };
        let found: Vec<_> =
            world.list_events(list).await.unwrap().events.iter().map(|event| event.id).collect();
        assert_eq!(found, ids[2..5], "{filter:?}");
    }
}

pub(super) async fn events_are_counted_up_to_a_limit(world: World) {
    let (ada, eve) = (world.user_id(at(0)), world.user_id(at(0)));
    let of = |user, kind, second| AuditEvent { user_id: Some(user), ..world.event(kind, at(second)) };
    for second in 0..3 {
        record(&world, of(eve, KIND, second)).await;
    }
    let many = i64::from(COUNTED) + 1;
    for from in (3..3 + many).step_by(256) {
        let some = (from..(from + 256).min(3 + many)).map(|second| {
            let kind = if second % 2 == 0 { KIND } else { AuditKind::SignedOut };
            record(&world, of(ada, kind, second))
        });
        futures_util::future::join_all(some).await;
    }
    let all = AuditFilter::default();
    let user = |user| AuditFilter { user_id: Some(user), ..all };
    let kind = |filter| AuditFilter { kind: Some(KIND), ..filter };
    let more = EventTotal::MoreThan(COUNTED.into());
    for (filter, total) in [
        (all, more),
        (user(ada), more),
        (user(eve), EventTotal::Exact(3)),
        (kind(user(eve)), EventTotal::Exact(3)),
        (AuditFilter { until: Some(at(13)), ..all }, EventTotal::Exact(13)),
        (AuditFilter { until: Some(at(13)), ..user(ada) }, EventTotal::Exact(10)),
        (
            AuditFilter { from: Some(at(3)), until: Some(at(2 + many)), ..all },
            EventTotal::Exact(COUNTED.into()),
        ),
        (kind(AuditFilter { from: Some(at(0)), until: Some(at(13)), ..all }), EventTotal::Exact(8)),
        (kind(user(ada)), EventTotal::AtLeast(u64::from(COUNTED / 20))),
        (user(world.user_id(at(0))), EventTotal::Exact(0)),
    ] {
        assert_eq!(world.count_events(filter, COUNTED).await.unwrap(), total, "{filter:?}");
    }
}

pub(super) async fn a_page_ends_after_the_inspected_events(world: World) {
    let ada = world.user_id(at(0));
    let wanted = record(&world, AuditEvent { user_id: Some(ada), ..world.event(KIND, at(0)) }).await;
    for second in 1..=i64::from(EVENTS_INSPECTED) {
        let other = AuditEvent { user_id: Some(ada), ..world.event(AuditKind::SignInFailed, at(second)) };
        record(&world, other).await;
    }
    let filter = AuditFilter { user_id: Some(ada), kind: Some(KIND), ..AuditFilter::default() };

    let first = world.list_events(ListEvents { filter, before: None, after: None, limit: 10 }).await.unwrap();

    assert!(first.events.is_empty() && first.next.is_some(), "{first:?}");
    let second =
        world.list_events(ListEvents { filter, before: first.next, after: None, limit: 10 }).await.unwrap();
    assert_eq!(second.events.iter().map(|event| event.id).collect::<Vec<_>>(), [wanted]);
    assert_eq!(second.next, None);
}
