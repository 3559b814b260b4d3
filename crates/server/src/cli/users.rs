//! Arguments of the `user` commands: an account, the filters of the list, mails and second factors.

use std::str::FromStr;

use clap::{Args, Subcommand};
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user_list::{UserSort, UserState};

use super::audit::time;
use super::output::Output;
use super::sure::Sure;

/// Arguments of `latchkey user list`. An account is listed if it meets every condition.
#[derive(Debug, Args)]
pub struct UserListArgs {
    /// Only the account with this id or email address, and those whose address begins with this text, or whose name or
    /// username has its words.
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// Only accounts in this state: verified, unverified, pending, banned, deletion, operator, no-profile or
    /// imported-hash (the password has not been used since its import).
    #[arg(long, value_parser = state)]
    pub state: Option<UserState>,
    /// Only accounts that sign in by this: the key of an identity provider, `email` (a password) or `passkey`.
    #[arg(long, value_name = "KEY")]
    pub provider: Option<String>,
    /// Only accounts created at or after this time, in RFC 3339, or this day in UTC.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub created_after: Option<Timestamp>,
    /// Only accounts created before this time, in RFC 3339, or this day in UTC.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub created_before: Option<Timestamp>,
    /// Only accounts that last signed in at or after this time, in RFC 3339, or this day in UTC.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub signed_in_after: Option<Timestamp>,
    /// Only accounts that last signed in before this time, in RFC 3339, or this day in UTC, or never.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub signed_in_before: Option<Timestamp>,
    /// Order: created (newest first), lastSignIn (latest first) or email.
    #[arg(long, default_value = "created", value_parser = sort)]
    pub sort: UserSort,
    /// Number of accounts to list, 1 to 1000.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    /// Number of accounts to skip.
    #[arg(long, default_value_t = 0)]
    pub offset: u32,
    #[command(flatten)]
    pub output: Output,
}

fn state(text: &str) -> Result<UserState, &'static str> {
    UserState::parse(text).ok_or(
        "wanted verified, unverified, pending, banned, deletion, operator, no-profile or imported-hash",
    )
}

fn sort(text: &str) -> Result<UserSort, &'static str> {
    UserSort::parse(text).ok_or("wanted created, lastSignIn or email")
}

/// Arguments of the commands that have a mail sent.
#[derive(Debug, Args)]
pub struct SendMailArgs {
    /// Email address or id of the account.
    pub user: UserRef,
    /// Page to which a mailed link leads; the default redirect URL if it is left out.
    #[arg(long, value_name = "URL")]
    pub redirect_to: Option<String>,
}

/// Subcommands of `latchkey user factors`.
#[derive(Debug, Subcommand)]
pub enum FactorsCommand {
    /// Remove all second factors of an account: authenticator apps, recovery codes and two-step sign-in. Ends all
    /// sessions and mails the owner. At a terminal it shows the account and asks for confirmation.
    Remove {
        /// Email address or id of the account.
        user: UserRef,
        /// Remove the passkeys too.
        #[arg(long)]
        passkeys: bool,
        #[command(flatten)]
        sure: Sure,
    },
}

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
