//! Arguments of `latchkey operator`.

use clap::Subcommand;
use latchkey_domain::operator::Role;

use super::{Output, UserRef};

/// Subcommands of `latchkey operator`.
#[derive(Debug, Subcommand)]
pub enum OperatorCommand {
    /// List the operators, with their roles and states.
    List(Output),
    /// Give an account a role in the console, or change its role, and print the link that activates it. The account must
    /// have a verified address; for an address without account the link makes it.
    Grant {
        /// Email address or id of the account, or the address of an account to be made.
        user: UserRef,
        /// Role: viewer, support, admin or owner; each may do all that the one before may.
        #[arg(long, value_parser = role)]
        role: Role,
    },
    /// Withdraw the role of an account.
    Revoke {
        /// Email address or id of the account.
        user: UserRef,
        /// Withdraw it even from the last owner. Then only `latchkey operator grant` lets anybody in again.
        #[arg(long)]
        force: bool,
    },
    /// Put the role of an account to sleep, and print a new link that activates it.
    Reactivate {
        /// Email address or id of the account.
        user: UserRef,
    },
}

fn role(text: &str) -> Result<Role, &'static str> {
    Role::parse(text).ok_or("wanted viewer, support, admin or owner")
}
