//! Contract for operators: accounts with a grant, which may sign in to the console. The rules are in
//! [`latchkey_domain::operator`].

use std::collections::BTreeMap;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::locale::Locale;
use latchkey_domain::operator::{AddressGrant, AddressGrantId, Ineligible, Operator, Role};
use latchkey_domain::passkey::RpId;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use crate::email_codes::NewToken;
use crate::error::{GuardedResult, StoreResult};
use crate::sessions::LiveSession;

/// A role for an account. An account that has a grant gets the role in it, and the grant stays active if it is.
#[derive(Debug, Clone)]
pub struct GrantOperator {
    /// Id of the account.
    pub user_id: UserId,
    /// Role to give.
    pub role: Role,
    /// Operator who gives the role; `None` for the command line.
    pub granted_by: Option<UserId>,
    /// Token of the activation link. It is stored only if the grant is not active.
    pub activation: NewToken,
    /// Audit event of kind `OperatorGranted`. The store fills in the user id and the former role.
    pub event: AuditEvent,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`Operators::grant_operator`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantedOperator {
    /// The account has the role, and its grant is active.
    Active,
    /// The account has the role. Its grant sleeps until the activation link is used.
    Asleep,
    /// No account has the id.
    NotFound,
    /// The account cannot be an operator. Nothing changed.
    Ineligible(Ineligible),
}

/// A role for an address without an account. An earlier grant for the same address is replaced, and its link invalid.
#[derive(Debug, Clone)]
pub struct GrantAddress {
    /// Id of the grant.
    pub id: AddressGrantId,
    /// Address.
    pub email: Email,
    /// Role to give.
    pub role: Role,
    /// Operator who gives the role; `None` for the command line.
    pub granted_by: Option<UserId>,
    /// Token of the activation link.
    pub activation: NewToken,
    /// Audit event. The store fills in the role and the id of the grant.
    pub event: AuditEvent,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`Operators::grant_address`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantedAddress {
    /// The grant waits for its link.
    Asleep,
    /// An account has the address. Nothing changed.
    HasAccount,
}

/// Withdrawal of a grant for an address.
#[derive(Debug, Clone)]
pub struct RevokeAddress {
    /// Address.
    pub email: EmailKey,
    /// Audit event of kind `OperatorRevoked`. The store fills in the role and the id of the grant.
    pub event: AuditEvent,
}

/// Use of the activation link of a grant for an address.
#[derive(Debug, Clone)]
pub struct AdoptGrant {
    /// Hash of the presented token.
    pub token: TokenHash,
    /// Audit event of kind `OperatorGranted`. The store fills in the user id, the role and the id of the grant.
    pub event: AuditEvent,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// A new activation link for a grant, which falls asleep. An earlier link becomes invalid.
#[derive(Debug, Clone)]
pub struct RenewActivation {
    /// Id of the account.
    pub user_id: UserId,
    /// Token of the activation link.
    pub activation: NewToken,
    /// True if the grant of the last owner falls asleep too.
    pub even_last_owner: bool,
    /// Audit event of kind `OperatorLinkMade`. The store fills in the user id.
    pub event: AuditEvent,
}

/// Outcome of [`Operators::renew_activation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenewedActivation {
    /// The token is stored, and the grant sleeps.
    Renewed,
    /// The account has no grant, or does not exist.
    NotFound,
    /// The account cannot use a grant. Nothing changed.
    Ineligible(Ineligible),
}

/// Outcome of [`Operators::revoke_operator`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevokedOperator {
    /// The grant is deleted.
    Revoked {
        /// True if it was the grant of the last owner.
        was_last_owner: bool,
    },
    /// The account has no grant.
    NotFound,
}

/// Withdrawal of a grant.
#[derive(Debug, Clone)]
pub struct RevokeOperator {
    /// Id of the account.
    pub user_id: UserId,
    /// True if the grant of the last owner is deleted too.
    pub even_last_owner: bool,
    /// Audit event of kind `OperatorRevoked`. The store fills in the user id and the role.
    pub event: AuditEvent,
}

/// Use of an activation link by the signed-in account.
#[derive(Debug, Clone)]
pub struct ActivateOperator {
    /// Id of the signed-in account.
    pub user_id: UserId,
    /// Session of the account.
    pub session_id: SessionId,
    /// Hash of the presented token.
    pub token: TokenHash,
    /// True if the account must have a second factor: two-step sign-in, or a usable passkey.
    pub needs_factor: bool,
    /// Relying party id of the service. Only passkeys registered for it are usable; `None` if passkeys do not count.
    pub rp_id: Option<RpId>,
    /// Audit event of kind `OperatorActivated`. The store fills in user id and session id.
    pub event: AuditEvent,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`Operators::activate_operator`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivatedOperator {
    /// The grant is active, and the link is used up.
    Activated,
    /// The token is unknown, used or expired, or of another account's grant, or the account cannot use a grant.
    Refused,
    /// The account has no second factor. The link stays valid.
    NoFactor,
    /// The session is not live.
    NoSession,
}

/// A live console session as a browser presents it.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundConsoleSession {
    /// The session with its user.
    pub live: LiveSession,
    /// Language of the user; `None` if the account has none.
    pub locale: Option<Locale>,
    /// Role of the user's active grant.
    pub role: Role,
}

/// Operators, and their grants.
#[async_trait]
pub trait Operators {
    /// Lists all operators, the earliest grant first.
    async fn list_operators(&self) -> StoreResult<Vec<Operator>>;

    /// Lists the accounts that are protected, with their roles: operators, and those whose address has a grant that waits.
    async fn list_protected_accounts(&self) -> StoreResult<BTreeMap<UserId, Role>>;

    /// Finds the operator with this account; `None` if the account has no grant.
    async fn find_operator(&self, user_id: UserId) -> StoreResult<Option<Operator>>;

    /// True if the account has a grant whose unused activation link has this token and is valid at `now`.
    async fn is_activation_valid(
        &self,
        user_id: UserId,
        token: TokenHash,
        now: Timestamp,
    ) -> StoreResult<bool>;

    /// Finds the console session of a token that is live at `now`, with its user and the role. `None` as well if it was
    /// opened in another browser, if the grant sleeps, or if the account may not use it.
    async fn find_console_session(
        &self,
        token: TokenHash,
        browser: TokenHash,
        now: Timestamp,
    ) -> StoreResult<Option<FoundConsoleSession>>;

    /// Lists all grants for addresses without an account, the earliest first.
    async fn list_address_grants(&self) -> StoreResult<Vec<AddressGrant>>;

    /// Finds the grant for an address whose activation link has this token and is valid at `now`.
    async fn find_address_grant(&self, token: TokenHash, now: Timestamp)
    -> StoreResult<Option<AddressGrant>>;

    /// Gives an address without an account a role. It is asleep until the account that the link makes activates it.
    async fn grant_address(&self, grant: GrantAddress) -> StoreResult<GrantedAddress>;

    /// Deletes a grant for an address. Returns `false` if the address has none.
    async fn revoke_address(&self, revoke: RevokeAddress) -> StoreResult<bool>;

    /// Passes the grant for an address on to the account that has the address by now, if it may be an operator. The grant
    /// sleeps, and keeps its link. Returns `false` if the token is of no such grant, or there is no such account.
    async fn adopt_grant(&self, adopt: AdoptGrant) -> StoreResult<bool>;

    /// Gives an account a role, and ends its console sessions. Refused if the last owner would get another role.
    async fn grant_operator(&self, grant: GrantOperator) -> GuardedResult<GrantedOperator>;

    /// Makes a new activation link for a grant, puts the grant to sleep, and ends the console sessions. Refused for
    /// the last owner, unless the request says otherwise.
    async fn renew_activation(&self, renew: RenewActivation) -> GuardedResult<RenewedActivation>;

    /// Deletes a grant, and ends the console sessions. Refused for the last owner, unless the request says otherwise.
    async fn revoke_operator(&self, revoke: RevokeOperator) -> GuardedResult<RevokedOperator>;

    /// Activates a grant. Of concurrent callers only one succeeds.
    async fn activate_operator(&self, activate: ActivateOperator) -> StoreResult<ActivatedOperator>;
}
