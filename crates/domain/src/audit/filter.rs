//! Filters of the audit log.

use std::ops::Range;

use uuid::Uuid;

use super::{ActorKind, AuditEvent, AuditKind, EventId};
use crate::client::ClientAddress;
use crate::time::Timestamp;
use crate::user::UserId;

/// Filter of audit events. An event passes if it meets every condition that is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AuditFilter {
    /// User concerned.
    pub user_id: Option<UserId>,
    /// Kind of the event.
    pub kind: Option<AuditKind>,
    /// Kind of the actor.
    pub actor: Option<ActorKind>,
    /// Operator who acted.
    pub operator: Option<UserId>,
    /// IP address of the client.
    pub address: Option<ClientAddress>,
    /// Earliest time of the event.
    pub from: Option<Timestamp>,
    /// Time before which the event happened.
    pub until: Option<Timestamp>,
}

impl AuditFilter {
    /// True if the event meets every condition.
    #[must_use]
    pub fn passes(&self, event: &AuditEvent) -> bool {
        let address = || event.client.as_ref().map(|client| client.address);
        is_met(self.user_id, || event.user_id)
            && is_met(self.kind, || Some(event.kind))
            && is_met(self.actor, || Some(event.actor.kind()))
            && is_met(self.operator, || event.actor.operator())
            && is_met(self.address, address)
            && self.from.is_none_or(|from| event.at >= from)
            && self.until.is_none_or(|until| event.at < until)
    }

    /// Returns the ids of the events within the times of the filter, below `before` and above `after` if they are given.
    #[must_use]
    pub fn ids(&self, before: Option<EventId>, after: Option<EventId>) -> Range<EventId> {
        let from = self.from.map_or(EventId(Uuid::nil()), EventId::first_at);
        let until = self.until.map_or(EventId(Uuid::max()), EventId::first_at);
        let start = after.map_or(from, |after| after.successor().max(from));
        start..before.map_or(until, |before| before.min(until))
    }
}

impl EventId {
    /// Returns the least id of an event at a time.
    #[must_use]
    pub fn first_at(at: Timestamp) -> Self {
        Self::new(at, [0; 10])
    }

    /// Returns the least id above this one.
    #[must_use]
    fn successor(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128().saturating_add(1)))
    }

    /// Returns the time of the event, which its id contains.
    #[must_use]
    pub fn time(self) -> Timestamp {
        let millis = self.0.as_u128() >> 80;
        Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
    }
}

fn is_met<T: PartialEq + Copy>(wanted: Option<T>, is: impl FnOnce() -> Option<T>) -> bool {
    wanted.is_none() || wanted == is()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::Map;

    use super::super::Actor;
    use super::*;
    use crate::client::Client;

    const AT: Timestamp = Timestamp::from_millis(1_772_366_400_000);

    fn user(number: u8) -> UserId {
        UserId::new(AT, [number; 10])
    }

    fn address(text: &str) -> ClientAddress {
        ClientAddress::new(text.parse().unwrap())
    }

    fn event() -> AuditEvent {
        AuditEvent {
            id: EventId::new(AT, [0; 10]),
            at: AT,
            kind: AuditKind::UserBanned,
            actor: Actor::Operator(user(2)),
            user_id: Some(user(1)),
            session_id: None,
            client: Some(Client::new(address("192.0.2.7"), None)),
            details: Map::new(),
        }
    }

    #[test]
    fn every_condition_must_be_met() {
        let later = Timestamp::from_millis(AT.as_millis() + 1);
        let all = AuditFilter {
            user_id: Some(user(1)),
            kind: Some(AuditKind::UserBanned),
            actor: Some(ActorKind::Operator),
            operator: Some(user(2)),
            address: Some(address("192.0.2.7")),
            from: Some(AT),
            until: Some(later),
        };
        assert!(all.passes(&event()) && AuditFilter::default().passes(&event()));

        for other in [
            AuditFilter { user_id: Some(user(2)), ..all },
            AuditFilter { kind: Some(AuditKind::UserUnbanned), ..all },
            AuditFilter { actor: Some(ActorKind::Admin), ..all },
            AuditFilter { operator: Some(user(1)), ..all },
            AuditFilter { address: Some(address("192.0.2.8")), ..all },
            AuditFilter { from: Some(later), ..all },
            AuditFilter { until: Some(AT), ..all },
        ] {
            assert!(!other.passes(&event()), "{other:?}");
        }
    }

    #[test]
    fn ids_of_a_time_begin_with_its_first_and_end_before_the_next() {
        let next = Timestamp::from_millis(AT.as_millis() + 1);
        let filter = AuditFilter { from: Some(AT), until: Some(next), ..AuditFilter::default() };
        let first = EventId::new(AT, [0; 10]);
        let last = EventId::new(AT, [0xFF; 10]);

        let ids = filter.ids(None, None);

        assert!(ids.contains(&first) && ids.contains(&last));
        assert!(!ids.contains(&EventId::new(next, [0; 10])));
        assert!(!ids.contains(&EventId::new(Timestamp::from_millis(AT.as_millis() - 1), [0xFF; 10])));
        assert_eq!(filter.ids(Some(last), None), ids.start..last);
        let above = filter.ids(None, Some(first));
        assert!(!above.contains(&first) && above.contains(&EventId::new(AT, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1])));
        assert_eq!(filter.ids(None, Some(EventId::new(Timestamp::default(), [0; 10]))), ids);
        assert_eq!((first.time(), last.time()), (AT, AT));
    }

    #[test]
    fn events_of_nobody_do_not_pass_a_filter_by_user_or_address() {
        let event = AuditEvent { user_id: None, client: None, ..event() };
        let by_user = AuditFilter { user_id: Some(user(1)), ..AuditFilter::default() };
        let by_address = AuditFilter { address: Some(address("192.0.2.7")), ..AuditFilter::default() };
        assert!(!by_user.passes(&event) && !by_address.passes(&event));
    }
}
