//! How a command names an account.

use std::str::FromStr;

use uuid::Uuid;

/// An account by its email address or its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserRef {
    /// A user id.
    Id(Uuid),
    /// An email address, not yet parsed.
    Email(String),
}

/// The text is neither an email address nor an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("give an email address or a user id")]
pub struct UserRefForm;

impl FromStr for UserRef {
    type Err = UserRefForm;

    fn from_str(text: &str) -> Result<Self, UserRefForm> {
        if text.contains('@') {
            return Ok(Self::Email(text.to_owned()));
        }
        Uuid::parse_str(text).map(Self::Id).map_err(|_| UserRefForm)
    }
}
