//! `/console/audit`: the audit log with filters in the address, and `/console/audit/export`, the same as JSON lines.

use std::sync::Arc;

use axum::routing::get;
use latchkey_domain::audit::{ActorKind, AuditFilter, AuditKind};
use latchkey_domain::client::ClientAddress;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{EventId, UserId};
use latchkey_domain::operator::{Act, Operator};
use latchkey_domain::time::Timestamp;
use latchkey_http::endpoints::auth::audit::export;
use latchkey_pages::console::views::{Audit, Choice, EventTotal as Total, Filter};
use latchkey_service::Error;
use latchkey_service::admin::{EventPage, EventTotal};
use url::form_urlencoded;

use super::events::{self, People};
use super::keyset::Place;
use super::page::Page;
use super::stop::{Outcome, Stop};
use super::visit::ConsoleVisit;

const PATH: &str = "/console/audit";
const EXPORT_PATH: &str = "/console/audit/export";
/// Most events on one page.
const MOST: u32 = 50;

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(show));
pub(crate) const EXPORT: Page = Page::of_reads(EXPORT_PATH, || get(export));

/// The filters as they stand in the address.
struct Typed {
    event: String,
    actor: String,
    /// Email address or id of an operator.
    operator: String,
    /// Email address or id of the user concerned.
    user: String,
    address: String,
    /// First and last day, in UTC.
    since: String,
    until: String,
}

/// Returns the address of the events of a user, or of those of a kind.
pub(super) fn address_of_user(id: UserId, kind: Option<AuditKind>) -> String {
    let event = kind.map(|kind| format!("&event={kind}")).unwrap_or_default();
    format!("{PATH}?user={id}{event}")
}

async fn show(visit: ConsoleVisit) -> Outcome {
    let typed = Typed::of(&visit)?;
    let place = Place::of(&visit, |text| text.parse::<EventId>().ok())?;
    let Read { page, place, total } = match typed.filter(&visit).await? {
        Some(filter) => read(&visit, filter, place).await?,
        None => Read {
            page: EventPage { events: Vec::new(), next: None },
            place: Place::First,
            total: Total::Exact { count: 0 },
        },
    };
    // Who may not see the operators gets no choice between them.
    let may_see = visit.may(Act::ManageOperators);
    let operators = if may_see { visit.service().operators.list().await? } else { Vec::new() };
    let around = place.around(page.next.is_some(), ends(&place, &page), |name, key| {
        typed.address_of(PATH, Some((name, &key)))
    });
    let view = Audit {
        filters: typed.choices(&operators),
        clear: typed.is_given().then(|| PATH.to_owned()),
        rows: events::rows(visit.service(), page.events, People::Named).await?,
        total,
        previous: around.previous,
        next: around.next,
        export: typed.address_of(EXPORT_PATH, None),
        user: typed.user,
        address: typed.address,
        since: typed.since,
        until: typed.until,
    };
    visit.page(&view)
}

async fn export(visit: ConsoleVisit) -> Outcome {
    let file = match Typed::of(&visit)?.filter(&visit).await? {
        Some(filter) => export::file(Arc::clone(&visit.console.service), filter, None).await?,
        None => export::empty_file(),
    };
    Ok(visit.file(file))
}

/// A page of events with its place, and the number of all.
struct Read {
    page: EventPage,
    place: Place<EventId>,
    total: Total,
}

async fn read(visit: &ConsoleVisit, filter: AuditFilter, place: Place<EventId>) -> Result<Read, Stop> {
    let admin = &visit.service().admin;
    let total = match admin.count_events(filter).await? {
        EventTotal::Exact(count) => Total::Exact { count },
        EventTotal::MoreThan(count) => Total::MoreThan { count },
        EventTotal::AtLeast(count) => Total::AtLeast { count },
    };
    let page = match place {
        Place::First => admin.list_events(filter, None, MOST).await?,
        Place::After(id) => admin.list_events(filter, Some(id), MOST).await?,
        Place::Before(id) => admin.list_events_after(filter, id, MOST).await?,
    };
    if place.is_start(page.next.is_some()) {
        let page = admin.list_events(filter, None, MOST).await?;
        return Ok(Read { page, place: Place::First, total });
    }
    Ok(Read { page, place, total })
}

/// Returns the keys from which the pages around a page go on. Where events were looked through and do not match, the list
/// goes on behind them.
fn ends(place: &Place<EventId>, page: &EventPage) -> (Option<String>, Option<String>) {
    let (first, last) = (page.events.first(), page.events.last());
    let (mut first, mut last) = (first.map(|event| event.id), last.map(|event| event.id));
    match place {
        Place::First => last = page.next,
        Place::After(id) => (first, last) = (first.or(Some(*id)), page.next),
        Place::Before(id) => (first, last) = (page.next, last.or(Some(*id))),
    }
    let text = |id: EventId| id.to_string();
    (first.map(text), last.map(text))
}

impl Typed {
    fn of(visit: &ConsoleVisit) -> Result<Self, Stop> {
        let text = |name: &str| -> Result<String, Stop> {
            Ok(visit.query.optional(name)?.unwrap_or_default().trim().to_owned())
        };
        Ok(Self {
            event: text("event")?,
            actor: text("actor")?,
            operator: text("operator")?,
            user: text("user")?,
            address: text("address")?,
            since: text("since")?,
            until: text("until")?,
        })
    }

    fn named(&self) -> [(&'static str, &str); 7] {
        [
            ("event", &self.event),
            ("actor", &self.actor),
            ("operator", &self.operator),
            ("user", &self.user),
            ("address", &self.address),
            ("since", &self.since),
            ("until", &self.until),
        ]
    }

    fn is_given(&self) -> bool {
        self.named().iter().any(|(_, value)| !value.is_empty())
    }

    /// Returns the filter; `None` if a value cannot be met by any event, such as the address of no account.
    async fn filter(&self, visit: &ConsoleVisit) -> Result<Option<AuditFilter>, Stop> {
        let mut ids = [None, None];
        for (id, text) in ids.iter_mut().zip([&self.user, &self.operator]) {
            if !text.is_empty() {
                *id = user(visit, text).await?;
                if id.is_none() {
                    return Ok(None);
                }
            }
        }
        let [user_id, operator] = ids;
        let address = |text: &str| text.parse().ok().map(ClientAddress::new);
        let filter = || {
            Some(AuditFilter {
                user_id,
                kind: optional(&self.event, AuditKind::parse)?,
                actor: optional(&self.actor, ActorKind::parse)?,
                operator,
                address: optional(&self.address, address)?,
                from: optional(&self.since, Timestamp::parse)?,
                until: optional(&self.until, Timestamp::parse_end)?,
            })
        };
        Ok(filter())
    }

    fn choices(&self, operators: &[Operator]) -> Vec<Filter> {
        let of = |name, chosen: &str, values: Vec<&str>| {
            let choice =
                |value: &str| Choice { value: value.to_owned(), label: None, is_chosen: value == chosen };
            Filter { name, choices: std::iter::once("").chain(values).map(choice).collect() }
        };
        let kinds = AuditKind::ALL.iter().map(|kind| kind.as_str());
        let actors = ActorKind::ALL.iter().map(|actor| actor.as_str());
        let mut filters =
            vec![of("event", &self.event, kinds.collect()), of("actor", &self.actor, actors.collect())];
        filters.extend((!operators.is_empty()).then(|| self.choice_of(operators)));
        filters
    }

    /// Returns the choice between operators. One who is an operator no more stays chosen.
    fn choice_of(&self, operators: &[Operator]) -> Filter {
        let choice = |value: String, label: Option<String>| {
            let is_chosen =
                value == self.operator || label.as_ref().is_some_and(|label| *label == self.operator);
            Choice { value, label, is_chosen }
        };
        let named = operators.iter().map(|operator| {
            choice(operator.user.id.to_string(), Some(operator.user.email.as_typed().to_owned()))
        });
        let mut choices: Vec<_> = std::iter::once(choice(String::new(), None)).chain(named).collect();
        if !choices.iter().any(|choice| choice.is_chosen) {
            choices.push(choice(self.operator.clone(), Some(self.operator.clone())));
        }
        Filter { name: "operator", choices }
    }

    /// Returns the address of a page with these filters, at a place in the list.
    fn address_of(&self, path: &str, place: Option<(&str, &str)>) -> String {
        let given = self.named().into_iter().filter(|(_, value)| !value.is_empty());
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(given);
        query.extend_pairs(place);
        let query = query.finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }
}

/// Parses a filter: `Some(None)` if it is not given, `None` if it is malformed.
#[expect(clippy::option_option, reason = "not given and malformed differ")]
fn optional<T>(text: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    if text.is_empty() { Some(None) } else { parse(text).map(Some) }
}

/// Finds a user by id or email address. An id need not belong to an account, because events outlive their users.
async fn user(visit: &ConsoleVisit, text: &str) -> Result<Option<UserId>, Stop> {
    if let Ok(id) = text.parse() {
        return Ok(Some(id));
    }
    let Ok(email) = Email::parse(text) else { return Ok(None) };
    match visit.service().admin.find_user_by_email(&email).await {
        Ok(user) => Ok(Some(user.id)),
        Err(Error::Refused(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
