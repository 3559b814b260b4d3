//! The account of a command: its email address or id.

use std::str::FromStr;

use latchkey_domain::ids::UserId;

/// An account by its email address or its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserRef {
    /// A user id.
    Id(UserId),
    /// An email address, not yet parsed.
    Email(String),
}

/// The text is neither an email address nor an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("give an email address or a user id (36 characters, as `latchkey user list` shows it)")]
pub struct UserRefForm;

impl FromStr for UserRef {
    type Err = UserRefForm;

    fn from_str(text: &str) -> Result<Self, UserRefForm> {
        if text.contains('@') {
            return Ok(Self::Email(text.to_owned()));
        }
        text.parse().map(Self::Id).map_err(|_| UserRefForm)
    }
}
