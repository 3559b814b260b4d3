//! `/console/audit`: the audit log with filters in the address, and `/console/audit/export`, the same as JSON lines.

use std::sync::Arc;
use std::time::Duration;

use axum::routing::get;
use latchkey_domain::audit::{ActorKind, AuditFilter, AuditKind};
use latchkey_domain::client::ClientAddress;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{EventId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_http::endpoints::auth::audit::export;
use latchkey_pages::console::views::{Audit, Choice, Filter};
use latchkey_service::Error;
use url::form_urlencoded;

use super::events::{self, People};
use super::page::Page;
use super::stop::{Outcome, Stop};
use super::visit::ConsoleVisit;

const PATH: &str = "/console/audit";
const EXPORT_PATH: &str = "/console/audit/export";
/// Query parameter with the id of the event before which the list begins.
const BEFORE: &str = "before";
/// Most events on one page.
const MOST: u32 = 50;
const DAY: Duration = Duration::from_hours(24);

pub(crate) const PAGE: Page = Page::new(PATH, || get(show));
pub(crate) const EXPORT: Page = Page::new(EXPORT_PATH, || get(export));

/// The filters as they stand in the address.
struct Typed {
    event: String,
    actor: String,
    /// Email address or id of the user concerned.
    user: String,
    address: String,
    /// First and last day, in UTC.
    since: String,
    until: String,
}

async fn show(visit: ConsoleVisit) -> Outcome {
    let typed = Typed::of(&visit)?;
    let before = before(&visit)?;
    let (events, next) = match typed.filter(&visit).await? {
        Some(filter) => {
            let page = visit.service().admin.list_events(filter, before, MOST).await?;
            (page.events, page.next)
        }
        None => (Vec::new(), None),
    };
    let view = Audit {
        filters: typed.choices(),
        clear: typed.is_given().then(|| PATH.to_owned()),
        rows: events::rows(visit.service(), events, People::Named).await?,
        next: next.map(|id| typed.address_of(PATH, Some(id))),
        export: typed.address_of(EXPORT_PATH, None),
        user: typed.user,
        address: typed.address,
        since: typed.since,
        until: typed.until,
    };
    visit.page(&view)
}

async fn export(visit: ConsoleVisit) -> Outcome {
    let filter = Typed::of(&visit)?.filter(&visit).await?.ok_or_else(|| visit.not_found())?;
    let file = export::file(Arc::clone(&visit.console.service), filter, before(&visit)?).await?;
    Ok(visit.file(file))
}

fn before(visit: &ConsoleVisit) -> Result<Option<EventId>, Stop> {
    let before = visit.query.optional(BEFORE)?.map(|id| id.parse()).transpose();
    before.map_err(|_| visit.not_found())
}

impl Typed {
    fn of(visit: &ConsoleVisit) -> Result<Self, Stop> {
        let text = |name: &str| -> Result<String, Stop> {
            Ok(visit.query.optional(name)?.unwrap_or_default().trim().to_owned())
        };
        Ok(Self {
            event: text("event")?,
            actor: text("actor")?,
            user: text("user")?,
            address: text("address")?,
            since: text("since")?,
            until: text("until")?,
        })
    }

    fn named(&self) -> [(&'static str, &str); 6] {
        [
            ("event", &self.event),
            ("actor", &self.actor),
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
        let user_id = match self.user.as_str() {
            "" => None,
            text => match user(visit, text).await? {
                Some(id) => Some(id),
                None => return Ok(None),
            },
        };
        let day_after = |text: &str| Timestamp::parse(text).map(|day| day.plus(DAY));
        let address = |text: &str| text.parse().ok().map(ClientAddress::new);
        let filter = || {
            Some(AuditFilter {
                user_id,
                kind: optional(&self.event, AuditKind::parse)?,
                actor: optional(&self.actor, ActorKind::parse)?,
                operator: None,
                address: optional(&self.address, address)?,
                from: optional(&self.since, Timestamp::parse)?,
                until: optional(&self.until, day_after)?,
            })
        };
        Ok(filter())
    }

    fn choices(&self) -> Vec<Filter> {
        let of = |name, chosen: &str, values: Vec<&str>| {
            let choice =
                |value: &str| Choice { value: value.to_owned(), label: None, is_chosen: value == chosen };
            Filter { name, choices: std::iter::once("").chain(values).map(choice).collect() }
        };
        let kinds = AuditKind::ALL.iter().map(|kind| kind.as_str());
        let actors = ActorKind::ALL.iter().map(|actor| actor.as_str());
        vec![of("event", &self.event, kinds.collect()), of("actor", &self.actor, actors.collect())]
    }

    /// Returns the address of a page with these filters.
    fn address_of(&self, path: &str, before: Option<EventId>) -> String {
        let given = self.named().into_iter().filter(|(_, value)| !value.is_empty());
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(given);
        if let Some(before) = before {
            query.append_pair(BEFORE, &before.to_string());
        }
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
