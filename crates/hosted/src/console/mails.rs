//! `/console/mails`: the mails that wait, that were sent in the last 30 days, and that are dead, never with their content.
//! A dead one is tried again.

use axum::routing::get;
use latchkey_domain::email::Email;
use latchkey_domain::ids::MailId;
use latchkey_domain::operator::Act;
use latchkey_domain::time::Timestamp;
use latchkey_pages::console::Notice;
use latchkey_pages::console::views::{Choice, Filter, Listing, MailFate, MailRow, Mails, PersonLink};
use latchkey_pages::{Form, When};
use latchkey_service::outbox::{ListMails, ListedMail, MailKey, MailPage, MailPosition, MailState};
use url::form_urlencoded;

use super::keyset::Place;
use super::page::Page;
use super::rejection::Rejection;
use super::stop::{Outcome, Stop};
use super::submission::Sent;
use super::visit::ConsoleVisit;
use crate::errors::PageError;

const PATH: &str = "/console/mails";
/// Most mails on one page.
const MOST: u32 = 50;

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// The filters as they stand in the address.
struct Typed {
    fate: String,
    to: String,
}

async fn show(visit: ConsoleVisit) -> Outcome {
    let view = view(&visit).await?;
    visit.page(&view)
}

async fn act(sent: Sent) -> Outcome {
    let submission = sent.must(Act::ResendMails).await?;
    let id = submission.fields.text("id")?;
    let visit = submission.visit;
    match retry(&visit, &id).await {
        Ok(notice) => visit.go_to_with(&Typed::of(&visit)?.address_with(None), notice),
        Err(rejection) => {
            let view = view(&visit).await?;
            visit.refuse(rejection, &view)
        }
    }
}

/// Queues a dead mail again.
pub(super) async fn retry(visit: &ConsoleVisit, id: &str) -> Result<Notice, Rejection> {
    let id = id.parse::<MailId>().map_err(|_| visit.not_found())?;
    visit.service().outbox.retry(id, visit.party(), Some(&visit.to_client())).await?;
    Ok(Notice::MailRetried)
}

/// Returns a mail as a row. `retry` is the form that tries a dead one again.
pub(super) fn row(mail: &ListedMail, person: Option<PersonLink>, retry: Option<Form>) -> MailRow {
    let fate = match mail.state {
        MailState::Sent => MailFate::Sent,
        MailState::Dead => MailFate::Dead,
        MailState::Queued | MailState::Decoy => MailFate::Queued,
    };
    MailRow {
        id: mail.id.to_string(),
        kind: mail.kind,
        to: mail.email.as_typed().to_owned(),
        person,
        fate,
        written: When(mail.created_at),
        at: Some(When(mail.ended_at.unwrap_or(mail.next_attempt_at))),
        attempts: mail.attempts.into(),
        reason: mail.last_error.clone(),
        retry: retry.filter(|_| fate == MailFate::Dead),
    }
}

/// Returns the address of the mails to an email address.
pub(super) fn address_to(email: &Email) -> String {
    Typed { fate: String::new(), to: email.as_typed().to_owned() }.address_with(None)
}

async fn view(visit: &ConsoleVisit) -> Result<Mails, Stop> {
    let typed = Typed::of(visit)?;
    let place = Place::of(visit, read_key)?;
    let page = typed.page(visit, &place).await?;
    let key = |mail: &ListedMail| format!("{}.{}", mail.created_at.as_millis(), mail.id);
    let ends = (page.mails.first().map(key), page.mails.last().map(key));
    let around = place.around(page.has_more, ends, |name, key| typed.address_with(Some((name, key))));
    let row = |mail: &ListedMail| {
        let person = mail.user_id.map(|id| PersonLink { id, email: Some(mail.email.as_typed().to_owned()) });
        let retry = visit.form_of(Act::ResendMails, PATH).map(|mut form| {
            form.action = typed.address_with(Some(("act", "retry".to_owned())));
            form
        });
        row(mail, person, retry)
    };
    Ok(Mails {
        filters: vec![typed.choices()],
        clear: typed.is_given().then(|| PATH.to_owned()),
        waiting: page.queued,
        dead: page.dead,
        transport: visit.service().outbox.transport().unwrap_or("no transport").to_owned(),
        list: Listing {
            rows: page.mails.iter().map(row).collect(),
            total: page.total,
            previous: around.previous,
            next: around.next,
        },
        to: typed.to,
    })
}

fn read_key(text: &str) -> Option<MailKey> {
    let (millis, id) = text.split_once('.')?;
    Some(MailKey { created_at: Timestamp::from_millis(millis.parse().ok()?), id: id.parse().ok()? })
}

impl Typed {
    fn of(visit: &ConsoleVisit) -> Result<Self, PageError> {
        let text = |name: &str| -> Result<String, PageError> {
            Ok(visit.query.optional(name)?.unwrap_or_default().trim().to_owned())
        };
        Ok(Self { fate: text("fate")?, to: text("to")? })
    }

    const fn is_given(&self) -> bool {
        !self.fate.is_empty() || !self.to.is_empty()
    }

    /// Reads a page of mails: none, if a filter cannot be met by any mail, such as a text that is no address.
    async fn page(&self, visit: &ConsoleVisit, place: &Place<MailKey>) -> Result<MailPage, Stop> {
        let outbox = &visit.service().outbox;
        let state = MailState::parse(&self.fate).filter(|state| *state != MailState::Decoy);
        let to = Email::parse(&self.to).ok();
        if self.fate.is_empty() != state.is_none() || self.to.is_empty() != to.is_none() {
            let all = outbox.list(&ListMails::newest(None, 1)).await?;
            return Ok(MailPage { mails: Vec::new(), total: 0, has_more: false, ..all });
        }
        let position = match place {
            Place::First => MailPosition::First,
            Place::After(key) => MailPosition::After(*key),
            Place::Before(key) => MailPosition::Before(*key),
        };
        let list = ListMails { state, to, position, limit: MOST };
        let page = outbox.list(&list).await?;
        if place.is_start(page.has_more) {
            let first = outbox.list(&ListMails { position: MailPosition::First, ..list }).await?;
            return Ok(MailPage { has_more: false, ..first });
        }
        Ok(page)
    }

    fn choices(&self) -> Filter {
        let fates = MailFate::ALL.iter().map(|fate| fate.as_str());
        let choice =
            |value: &str| Choice { value: value.to_owned(), label: None, is_chosen: value == self.fate };
        Filter { name: "fate", choices: std::iter::once("").chain(fates).map(choice).collect() }
    }

    /// Returns the address of the page with these filters, and with one more parameter.
    fn address_with(&self, parameter: Option<(&str, String)>) -> String {
        let given = [("fate", &self.fate), ("to", &self.to)].into_iter().filter(|(_, text)| !text.is_empty());
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(given).extend_pairs(parameter);
        let query = query.finish();
        if query.is_empty() { PATH.to_owned() } else { format!("{PATH}?{query}") }
    }
}
