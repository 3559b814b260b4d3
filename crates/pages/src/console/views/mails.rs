//! Views of mails: what became of them, never their content.

use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::words;
use serde::Serialize;

use super::parts::{Filter, Listing, PersonLink};
use super::word;
use crate::frame::Form;
use crate::message::When;
use crate::view::views;

/// Mails of the last 30 days.
#[derive(Debug, Clone, Serialize)]
pub struct Mails {
    pub filters: Vec<Filter>,
    /// The typed filter of an address; empty for none.
    pub to: String,
    /// URL of the list without filters; `None` if there are none.
    pub clear: Option<String>,
    /// Waiting and dead mails, of all.
    pub waiting: u64,
    pub dead: u64,
    /// Name of the transport, such as `smtp`.
    pub transport: String,
    pub list: Listing<MailRow>,
}

/// A mail.
#[derive(Debug, Clone, Serialize)]
pub struct MailRow {
    /// Id of the mail, for its forms.
    pub id: String,
    #[serde(serialize_with = "word")]
    pub kind: MailKind,
    /// Recipient's address.
    pub to: String,
    /// User concerned; `None` if there is none, and on the page of that user.
    pub person: Option<PersonLink>,
    #[serde(serialize_with = "word")]
    pub fate: MailFate,
    pub written: When,
    /// Time of delivery, of the next attempt, or of the last one.
    pub at: Option<When>,
    pub attempts: u64,
    /// Answer of the mail server to the last failed attempt.
    pub reason: Option<String>,
    /// Form that tries it again.
    pub retry: Option<Form>,
}

words! {
    /// What became of a mail.
    pub enum MailFate {
        /// Waits for its first attempt, or for the next.
        Queued = "queued",
        /// Accepted by the transport.
        Sent = "sent",
        /// Failed for good.
        Dead = "dead",
    }
}

views! {
    Mails "console/mails.html"
}
