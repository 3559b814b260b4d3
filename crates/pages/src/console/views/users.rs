//! Views of lists of users.

use serde::Serialize;

use super::parts::{AccountState, Column, Filter, Listing, PersonLink};
use super::word;
use crate::frame::Form;
use crate::message::When;
use crate::view::views;
use crate::views::PasswordRules;

/// Search and list of users.
#[derive(Debug, Clone, Serialize)]
pub struct Users {
    /// The text that is searched for; empty for none.
    pub query: String,
    pub filters: Vec<Filter>,
    /// First and last day of creation, as `2026-05-04`; empty for none.
    pub created_after: String,
    pub created_before: String,
    /// First and last day of the last sign-in, likewise.
    pub signed_in_after: String,
    pub signed_in_before: String,
    /// URL of the list without search and filters; `None` if there are none.
    pub clear: Option<String>,
    pub columns: Vec<Column>,
    pub list: Listing<UserRow>,
    /// Acts on chosen accounts that the role may do; their form leads to a page that asks.
    pub acts: Vec<BulkAct>,
    /// Form of the chosen accounts.
    pub choose: Form,
    /// URL of the page that creates an account.
    pub create: Option<String>,
    /// Form that downloads the list as CSV.
    pub export: Option<Form>,
    /// Order of the list, as the address has it; empty for the newest first.
    pub sort: String,
}

/// A row of the list.
#[derive(Debug, Clone, Serialize)]
pub struct UserRow {
    pub person: PersonLink,
    pub name: Option<String>,
    #[serde(serialize_with = "word")]
    pub state: AccountState,
    pub is_operator: bool,
    /// Ways to sign in: `email`, `passkey`, or the name of a provider.
    pub ways: Vec<String>,
    pub created: When,
    pub last_sign_in: Option<When>,
}

/// An act on several accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BulkAct {
    EndSessions,
    Ban,
    Delete,
}

/// Question before an act on chosen accounts, which lists them.
#[derive(Debug, Clone, Serialize)]
pub struct Chosen {
    pub act: BulkAct,
    /// Accounts that the act concerns.
    pub rows: Vec<ChosenRow>,
    /// Chosen accounts that the act leaves out, because they are operators' or do not exist.
    pub left_out: Vec<PersonLink>,
    /// Form of the act; `None` if no account is left.
    pub form: Option<Form>,
    /// Ids of the accounts, for the field `ids`.
    pub ids: String,
    /// Text to type before an irreversible act; `None` for the others.
    pub phrase: Option<String>,
    /// URL of the list.
    pub cancel: String,
}

/// A chosen account.
#[derive(Debug, Clone, Serialize)]
pub struct ChosenRow {
    pub person: PersonLink,
    pub name: Option<String>,
    #[serde(serialize_with = "word")]
    pub state: AccountState,
    /// Number of live sessions, which end.
    pub sessions: u64,
}

/// Outcome of an act on chosen accounts, one by one.
#[derive(Debug, Clone, Serialize)]
pub struct BulkResult {
    pub act: BulkAct,
    pub outcomes: Vec<BulkOutcome>,
    /// Number of accounts for which the act was done.
    pub done: u64,
    /// URL of the list.
    pub back: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct BulkOutcome {
    pub person: PersonLink,
    pub outcome: Outcome,
}

/// Outcome of an act on one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done,
    /// The account was in this state already.
    Unchanged,
    /// The account is an operator's, and protected.
    Protected,
    /// The account is the last owner's.
    LastOwner,
    /// The account does not exist any more.
    Gone,
    /// The service was busy; nothing was changed.
    Failed,
}

/// Form of a new account.
#[derive(Debug, Clone, Serialize)]
pub struct UserNew {
    pub form: Form,
    pub email: String,
    pub name: String,
    /// True if the address counts as verified at once.
    pub is_verified: bool,
    pub rules: PasswordRules,
    /// URL of the list.
    pub cancel: String,
}

views! {
    Users "console/users.html"
    Chosen "console/chosen.html"
    BulkResult "console/bulk_result.html"
    UserNew "console/user_new.html"
}
