//! Views of operators and signing keys.

use latchkey_domain::operator::{OperatorState, Role};
use serde::{Serialize, Serializer};

use super::parts::PersonLink;
use crate::frame::Form;
use crate::message::When;
use crate::view::views;

/// Operators, with the forms of an owner.
#[derive(Debug, Clone, Serialize)]
pub struct Operators {
    pub rows: Vec<OperatorRow>,
    /// Grants for addresses whose link was not used yet.
    pub waiting: Vec<WaitingRow>,
    pub grant: Option<Grant>,
    /// The activation link of the grant just made, shown once.
    pub link: Option<ActivationLink>,
}

/// An operator.
#[derive(Debug, Clone, Serialize)]
pub struct OperatorRow {
    pub person: PersonLink,
    #[serde(serialize_with = "super::word")]
    pub role: Role,
    #[serde(serialize_with = "super::word")]
    pub state: OperatorState,
    /// Who granted the role; `None` for the command line.
    pub granted_by: Option<String>,
    pub granted: When,
    pub last_seen: Option<When>,
    /// Number of passkeys and apps.
    pub factors: u64,
    /// Form that changes the role.
    pub change: Option<Form>,
    /// Form that makes a new activation link.
    pub reactivate: Option<Form>,
    /// Form that revokes the grant; for an owner it leads to a page that asks.
    pub revoke: Option<Form>,
}

/// A grant for an address that had no account when it was given.
#[derive(Debug, Clone, Serialize)]
pub struct WaitingRow {
    pub email: String,
    pub state: WaitingState,
    /// Account that has the address by now.
    pub person: Option<PersonLink>,
    #[serde(serialize_with = "super::word")]
    pub role: Role,
    /// Who granted the role; `None` for the command line.
    pub granted_by: Option<String>,
    pub granted: When,
    /// Form that makes a new link.
    pub reactivate: Option<Form>,
    /// Form that revokes the grant.
    pub revoke: Option<Form>,
}

/// Whether an address for which a grant waits has an account by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingState {
    /// The link makes the account.
    NoAccount,
    /// The owner of the account gets the grant by signing in by the link.
    Account,
    /// The account cannot be an operator before its address is verified.
    Unverified,
    /// The account is banned or in deletion.
    Barred,
}

/// Form of a new grant.
#[derive(Debug, Clone, Serialize)]
pub struct Grant {
    pub form: Form,
    /// The typed address.
    pub email: String,
    /// Roles that may be granted, the least first.
    #[serde(serialize_with = "words")]
    pub roles: Vec<Role>,
}

/// A one-time link, shown once.
#[derive(Debug, Clone, Serialize)]
pub struct ActivationLink {
    pub email: String,
    pub url: String,
    pub expires: When,
}

/// Keys that sign access tokens.
#[derive(Debug, Clone, Serialize)]
pub struct Signing {
    pub keys: Vec<SigningKey>,
    /// URL of the public keys (JWKS).
    pub jwks: String,
    /// URL of the page that asks before a new key replaces the current one.
    pub rotate: Option<String>,
}

/// A signing key.
#[derive(Debug, Clone, Serialize)]
pub struct SigningKey {
    /// `kid` of the tokens.
    pub id: String,
    pub algorithm: String,
    pub made: When,
    pub state: KeyState,
    /// Time at which its tokens have expired, and it is removed; `None` for the current key.
    pub until: Option<When>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyState {
    /// Signs new tokens.
    Current,
    /// Published, signs from its time on. The service has no such keys yet; the preview shows one.
    Next,
    /// Verifies tokens that it signed.
    Retired,
}

views! {
    Operators "console/operators.html"
    Signing "console/signing.html"
}

fn words<S: Serializer>(roles: &[Role], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(roles.iter().map(|role| role.as_str()))
}
