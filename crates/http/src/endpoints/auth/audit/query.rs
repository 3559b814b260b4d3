//! The query parameters that filter the audit log.

use latchkey_domain::audit::{ActorKind, AuditFilter, AuditKind};
use latchkey_domain::client::ClientAddress;
use latchkey_domain::ids::EventId;
use latchkey_domain::reason::Reason;
use latchkey_domain::time::Timestamp;
use utoipa::openapi::path::Parameter;

use crate::error::{ApiError, Result};
use crate::openapi::parameters;
use crate::query::Query;

/// Names of the parameters of the list. The export takes all of them but the first.
pub(super) const NAMES: &[&str] =
    &["limit", "before", "userId", "event", "actor", "operatorId", "ip", "from", "to"];
pub(super) const NAMES_OF_EXPORT: &[&str] = NAMES.split_at(1).1;

/// Descriptions of the parameters, in the same order.
pub(super) const DESCRIBED: &[fn() -> Parameter] = &[
    parameters::admin_limit,
    parameters::before,
    parameters::concerned_user,
    parameters::event_name,
    parameters::actor,
    parameters::acting_operator,
    parameters::event_ip,
    parameters::event_from,
    parameters::event_to,
];
pub(super) const DESCRIBED_OF_EXPORT: &[fn() -> Parameter] = DESCRIBED.split_at(1).1;

/// Reads the filter.
pub(super) fn filter(query: &Query) -> Result<AuditFilter> {
    let id = (Reason::InvalidFormat, "must be the id of a user");
    let ip = (Reason::InvalidFormat, "must be an IP address, such as 192.0.2.7 or 2001:db8::7");
    let time =
        (Reason::InvalidFormat, "must be a time in RFC 3339 with `Z` or a percent-encoded offset, or a day");
    let address = |text: &str| text.parse().ok().map(ClientAddress::new);
    Ok(AuditFilter {
        user_id: read(query, "userId", id, |text| text.parse().ok())?,
        kind: read(query, "event", (Reason::NotAllowed, "must be the name of an event"), AuditKind::parse)?,
        actor: read(query, "actor", (Reason::NotAllowed, "must be an actor"), ActorKind::parse)?,
        operator: read(query, "operatorId", id, |text| text.parse().ok())?,
        address: read(query, "ip", ip, address)?,
        from: read(query, "from", time, Timestamp::parse)?,
        until: read(query, "to", time, Timestamp::parse)?,
    })
}

/// Reads the parameter `before`, the position of a page.
pub(super) fn before(query: &Query) -> Result<Option<EventId>> {
    let refusal = (Reason::InvalidFormat, "must be the id of an event");
    read(query, "before", refusal, |text| text.parse().ok())
}

fn read<T>(
    query: &Query,
    name: &str,
    (reason, problem): (Reason, &str),
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>> {
    let Some(text) = query.optional(name)? else { return Ok(None) };
    parse(&text).map(Some).ok_or_else(|| ApiError::validation(name, problem).reason(reason))
}
