//! `/console/sessions`: all live sessions, by user, network address and device; a form in each row ends one.

use std::collections::BTreeMap;

use axum::routing::get;
use latchkey_domain::client::ClientAddress;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{Act, Role};
use latchkey_domain::session::SessionId;
use latchkey_domain::time::Timestamp;
use latchkey_pages::When;
use latchkey_pages::console::Notice;
use latchkey_pages::console::views::{ClientShown, Listing, PersonLink, SessionRow, Sessions};
use latchkey_service::Error;
use latchkey_service::admin::{ListedSession, SessionFilter, SessionKey, SessionPage, SessionPosition};
use latchkey_service::refusal::OPERATOR_PROTECTED;
use url::form_urlencoded;

use super::keyset::Place;
use super::page::Page;
use super::rejection::Rejection;
use super::stop::{Outcome, Stop};
use super::submission::Sent;
use super::visit::ConsoleVisit;

const PATH: &str = "/console/sessions";
/// Number of sessions on one page.
const MOST: u32 = 50;

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(end));

/// The filters as they stand in the address.
struct Typed {
    /// Email address or id of the user.
    user: String,
    address: String,
    device: String,
}

async fn show(visit: ConsoleVisit) -> Outcome {
    let view = view(&visit, &Typed::of(&visit)?).await?;
    visit.page(&view)
}

async fn end(sent: Sent) -> Outcome {
    let submission = sent.must(Act::EndSessions).await?;
    let id = submission.fields.text("id")?;
    let mut visit = submission.visit;
    let typed = Typed::of(&visit)?;
    match end_one(&mut visit, &id).await {
        Ok(()) => visit.go_to_with(&typed.address_at(None), Notice::OneSessionEnded),
        Err(rejection) => {
            if rejection.is(OPERATOR_PROTECTED.name) {
                visit.record_refusal(Act::EndSessions).await?;
            }
            let view = view(&visit, &typed).await?;
            visit.refuse(rejection, &view)
        }
    }
}

/// Ends a session, which the form names by its id.
async fn end_one(visit: &mut ConsoleVisit, id: &str) -> Result<(), Rejection> {
    let id: SessionId = id.parse().map_err(|_| visit.not_found())?;
    let owner = visit.service().admin.owner_of_session(id).await?;
    let Some(user_id) = owner else { return Err(visit.not_found().into()) };
    visit.concerns(user_id);
    let admin = &visit.service().admin;
    Ok(admin.end_session(user_id, id, visit.party(), Some(&visit.to_client())).await?)
}

/// True if the operator may end sessions of this user. Those of protected accounts are for admins and owners.
fn can_end(visit: &ConsoleVisit, protected: &BTreeMap<UserId, Role>, user_id: UserId) -> bool {
    let is_protected = protected.contains_key(&user_id);
    visit.may(Act::EndSessions) && (!is_protected || visit.may(Act::EndSessionsOfOperators))
}

async fn view(visit: &ConsoleVisit, typed: &Typed) -> Result<Sessions, Stop> {
    let place = Place::of(visit, read_key)?;
    let page = read(visit, typed, &place).await?;
    let key = |row: &ListedSession| format!("{}.{}", row.session.created_at.as_millis(), row.session.id);
    let ends = (page.sessions.first().map(key), page.sessions.last().map(key));
    let around = place.around(page.has_more, ends, |name, key| typed.address_at(Some((name, key))));
    let protected = visit.service().operators.list_protected().await?;
    Ok(Sessions {
        clear: typed.is_given().then(|| PATH.to_owned()),
        list: Listing {
            previous: around.previous,
            next: around.next,
            rows: page.sessions.iter().map(|listed| row(visit, listed, &protected)).collect(),
            total: page.total,
        },
        end: visit.form_of(Act::EndSessions, PATH).map(|mut form| {
            form.action = typed.address_at(None);
            form
        }),
        user: typed.user.clone(),
        address: typed.address.clone(),
        device: typed.device.clone(),
    })
}

/// Reads a page.
async fn read(visit: &ConsoleVisit, typed: &Typed, place: &Place<SessionKey>) -> Result<SessionPage, Stop> {
    let nobody = SessionPage { sessions: Vec::new(), total: 0, has_more: false };
    let Some(filter) = typed.filter(visit).await? else { return Ok(nobody) };
    let admin = &visit.service().admin;
    let position = match place {
        Place::First => SessionPosition::First,
        Place::After(key) => SessionPosition::After(*key),
        Place::Before(key) => SessionPosition::Before(*key),
    };
    let page = admin.list_live_sessions(filter.clone(), position, MOST).await?;
    if place.is_start(page.has_more) {
        let first = admin.list_live_sessions(filter, SessionPosition::First, MOST).await?;
        return Ok(SessionPage { has_more: false, ..first });
    }
    Ok(page)
}

fn row(visit: &ConsoleVisit, listed: &ListedSession, protected: &BTreeMap<UserId, Role>) -> SessionRow {
    let ListedSession { session, email } = listed;
    SessionRow {
        id: session.id,
        person: PersonLink { id: session.user_id, email: Some(email.as_typed().to_owned()) },
        client: ClientShown {
            device: session.client.device().into(),
            address: session.client.address.to_string(),
        },
        kind: session.kind.as_str(),
        opened: When(session.created_at),
        last_seen: When(session.last_seen_at),
        can_end: can_end(visit, protected, session.user_id),
    }
}

fn read_key(text: &str) -> Option<SessionKey> {
    let (millis, id) = text.split_once('.')?;
    Some(SessionKey { created_at: Timestamp::from_millis(millis.parse().ok()?), id: id.parse().ok()? })
}

impl Typed {
    fn of(visit: &ConsoleVisit) -> Result<Self, Stop> {
        let text = |name: &str| -> Result<String, Stop> {
            Ok(visit.query.optional(name)?.unwrap_or_default().trim().to_owned())
        };
        Ok(Self { user: text("user")?, address: text("address")?, device: text("device")? })
    }

    fn named(&self) -> [(&'static str, &str); 3] {
        [("user", &self.user), ("address", &self.address), ("device", &self.device)]
    }

    fn is_given(&self) -> bool {
        self.named().iter().any(|(_, value)| !value.is_empty())
    }

    /// Returns the filter; `None` if no session can pass it, such as one of an address without account.
    async fn filter(&self, visit: &ConsoleVisit) -> Result<Option<SessionFilter>, Stop> {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let address = match (self.address.as_str(), self.address.parse()) {
            ("", _) => None,
            (_, Ok(address)) => Some(ClientAddress::new(address).to_string()),
            (_, Err(_)) => return Ok(None),
        };
        let user_id = match (self.user.as_str(), self.user.parse::<UserId>()) {
            ("", _) => None,
            (_, Ok(id)) => Some(id),
            (text, Err(_)) => match Email::parse(text) {
                Err(_) => return Ok(None),
                Ok(email) => match visit.service().admin.find_user_by_email(&email).await {
                    Ok(user) => Some(user.id),
                    Err(Error::Refused(_)) => return Ok(None),
                    Err(error) => return Err(error.into()),
                },
            },
        };
        Ok(Some(SessionFilter { user_id, address, device: given(&self.device) }))
    }

    /// Returns the address of the page with these filters, at a place in the list.
    fn address_at(&self, place: Option<(&str, String)>) -> String {
        let given = self.named().into_iter().filter(|(_, value)| !value.is_empty());
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(given);
        if let Some((name, key)) = place {
            query.append_pair(name, &key);
        }
        let query = query.finish();
        if query.is_empty() { PATH.to_owned() } else { format!("{PATH}?{query}") }
    }
}
