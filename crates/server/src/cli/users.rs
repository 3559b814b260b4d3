//! Account argument of the `user` commands.

use std::str::FromStr;

use latchkey_domain::ids::UserId;

/// Reference to an account: its id or its email address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserRef {
    Id(UserId),
    /// Email address as typed, not validated yet.
    Email(String),
}

/// Error of a text that is neither an email address nor a user id.
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
