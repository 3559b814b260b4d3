//! Parts that several views share.

use latchkey_domain::user::UserId;
use latchkey_domain::words;
use serde::Serialize;

use crate::views::Device;

/// A page of a list by keyset, with the number of all that match.
#[derive(Debug, Clone, Serialize)]
pub struct Listing<T> {
    pub rows: Vec<T>,
    /// The exact number of all rows that match.
    pub total: u64,
    /// URL of the page before this one; `None` on the first.
    pub previous: Option<String>,
    /// URL of the page after this one; `None` on the last.
    pub next: Option<String>,
}

/// Head of a column.
#[derive(Debug, Clone, Serialize)]
pub struct Column {
    /// Key of its words in the table `column`.
    pub key: &'static str,
    /// URL of the list sorted by this column, or turned around; `None` if it cannot be sorted by.
    pub sort: Option<String>,
    pub sorted: Option<Direction>,
}

/// Direction of a sorted column; the words are those of `aria-sort`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Ascending,
    Descending,
}

/// A filter of a list: a choice between values.
#[derive(Debug, Clone, Serialize)]
pub struct Filter {
    /// Name of the query parameter. Its label is in the table `filter`.
    pub name: &'static str,
    pub choices: Vec<Choice>,
}

/// A value of a filter or of a field.
#[derive(Debug, Clone, Serialize)]
pub struct Choice {
    /// Value of the parameter; empty for no filter.
    pub value: String,
    /// Text of the value, such as the name of a provider; `None` if the words of the filter have it.
    pub label: Option<String>,
    pub is_chosen: bool,
}

/// A link to the page of a user.
#[derive(Debug, Clone, Serialize)]
pub struct PersonLink {
    pub id: UserId,
    /// Email address; `None` if the account is deleted.
    pub email: Option<String>,
}

/// A client: device in words, and network address.
#[derive(Debug, Clone, Serialize)]
pub struct ClientShown {
    pub device: Device,
    pub address: String,
}

words! {
    /// State of an account, as a list shows and filters it.
    pub enum AccountState {
        /// The address is verified.
        Verified = "verified",
        /// The address is not verified.
        Unverified = "unverified",
        /// A sign-up that was never verified.
        Pending = "pending",
        /// Banned.
        Banned = "banned",
        /// The owner deleted it, and the grace period is not over.
        Deletion = "deletion",
    }
}
