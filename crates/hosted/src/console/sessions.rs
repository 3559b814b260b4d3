//! `/console/sessions`: all live sessions, by user, network address and device; a form in each row ends one.

use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{Act, Operator};
use latchkey_domain::session::SessionId;
use latchkey_domain::time::Timestamp;
use latchkey_pages::When;
use latchkey_pages::console::views::{ClientShown, Listing, PersonLink, SessionRow, Sessions};
use latchkey_pages::console::{Notice, Problem, Refusal};
use latchkey_service::Error;
use latchkey_service::admin::{ListedSession, SessionFilter, SessionKey, SessionPage, SessionPosition};
use url::form_urlencoded;

use super::page::Page;
use super::rejection::Rejection;
use super::stop::{Outcome, Stop};
use super::submission::ConsoleSubmission;
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

async fn end(submission: ConsoleSubmission) -> Outcome {
    submission.must(Act::EndSessions).await?;
    let ids = submission.fields.text("id")?;
    let visit = submission.visit;
    let typed = Typed::of(&visit)?;
    match end_one(&visit, &ids).await {
        Ok(()) => visit.go_to_with(&typed.address_at(None), Notice::OneSessionEnded),
        Err(rejection) => {
            let view = view(&visit, &typed).await?;
            visit.refuse(rejection, &view)
        }
    }
}

/// Ends a session, which the form names by its id.
async fn end_one(visit: &ConsoleVisit, id: &str) -> Result<(), Rejection> {
    let id: SessionId = id.parse().map_err(|_| visit.not_found())?;
    let admin = &visit.service().admin;
    let Some(user_id) = admin.owner_of_session(id).await? else { return Err(visit.not_found().into()) };
    let operators = visit.service().operators.list().await?;
    if !can_end(visit, &operators, user_id) {
        return Err(Rejection::of(Problem::whole(Refusal::OperatorProtected)));
    }
    Ok(admin.end_session(user_id, id, visit.party(), Some(&visit.to_client())).await?)
}

/// True if the operator may end sessions of this user. Those of operators are for admins and owners.
fn can_end(visit: &ConsoleVisit, operators: &[Operator], user_id: UserId) -> bool {
    let is_operator = operators.iter().any(|operator| operator.user.id == user_id);
    visit.may(Act::EndSessions) && (!is_operator || visit.may(Act::EndSessionsOfOperators))
}

async fn view(visit: &ConsoleVisit, typed: &Typed) -> Result<Sessions, Stop> {
    let position = position(visit)?;
    let page = read(visit, typed, position).await?;
    let is_backwards = matches!(position, SessionPosition::Before(_));
    let has_previous = match position {
        SessionPosition::First => false,
        SessionPosition::After(_) => true,
        SessionPosition::Before(_) => page.has_more,
    };
    let link = |name, row: Option<&ListedSession>| {
        row.map(|row| {
            let key = format!("{}.{}", row.session.created_at.as_millis(), row.session.id);
            typed.address_at(Some((name, URL_SAFE_NO_PAD.encode(key))))
        })
    };
    let operators = visit.service().operators.list().await?;
    Ok(Sessions {
        clear: typed.is_given().then(|| PATH.to_owned()),
        list: Listing {
            previous: link("before", page.sessions.first()).filter(|_| has_previous),
            next: link("after", page.sessions.last()).filter(|_| page.has_more || is_backwards),
            rows: page.sessions.iter().map(|listed| row(visit, listed, &operators)).collect(),
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

/// Reads a page. A page before the first full one would be short, so it is the first page instead.
async fn read(visit: &ConsoleVisit, typed: &Typed, position: SessionPosition) -> Result<SessionPage, Stop> {
    let nobody = SessionPage { sessions: Vec::new(), total: 0, has_more: false };
    let Some(filter) = typed.filter(visit).await? else { return Ok(nobody) };
    let admin = &visit.service().admin;
    let page = admin.list_live_sessions(filter.clone(), position, MOST).await?;
    if matches!(position, SessionPosition::Before(_)) && !page.has_more {
        let first = admin.list_live_sessions(filter, SessionPosition::First, MOST).await?;
        return Ok(SessionPage { has_more: false, ..first });
    }
    Ok(page)
}

fn row(visit: &ConsoleVisit, listed: &ListedSession, operators: &[Operator]) -> SessionRow {
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
        can_end: can_end(visit, operators, session.user_id),
    }
}

fn position(visit: &ConsoleVisit) -> Result<SessionPosition, Stop> {
    let key = |name: &str| -> Result<Option<SessionKey>, Stop> {
        Ok(visit.query.optional(name)?.as_deref().and_then(read_key))
    };
    if let Some(after) = key("after")? {
        return Ok(SessionPosition::After(after));
    }
    Ok(key("before")?.map_or(SessionPosition::First, SessionPosition::Before))
}

fn read_key(text: &str) -> Option<SessionKey> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
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
        Ok(Some(SessionFilter { user_id, address: given(&self.address), device: given(&self.device) }))
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
