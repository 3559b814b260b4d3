//! Identities: sign-in, linking and unlinking. [`latchkey_domain::identity`] decides which identity may open
//! which account.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::Email;
use latchkey_domain::identity::{
    IdentityRefusal, IdentityRules, Issuer, LegacyIdentities, ProviderKey, Subject, VerifiedIdentity,
};
use latchkey_domain::ids::{ProfileId, SessionId, UserId};
use latchkey_domain::profile::NewProfile;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::{AppMetadata, User};

use crate::accounts::NewAccount;
use crate::error::StoreResult;
use crate::outbox::NewMail;

/// A provider token that must not be accepted twice.
#[derive(Debug, Clone, Copy)]
pub struct UsedToken {
    /// Hash of the token.
    pub hash: TokenHash,
    /// Expiry of the token itself; the row is not needed afterwards.
    pub expires_at: Timestamp,
}

/// A sign-in with an identity. The store determines the case and uses the parts that apply.
#[derive(Debug, Clone)]
pub struct SignInWithIdentity {
    /// The proven identity.
    pub identity: VerifiedIdentity,
    /// The operator's rules.
    pub rules: IdentityRules,
    /// Provider token presented to this service; recorded as used whatever the outcome.
    pub token: Option<UsedToken>,
    /// Id of the account, if one is created.
    pub user_id: UserId,
    /// Id of its profile; `None` creates none.
    pub profile_id: Option<ProfileId>,
    /// Session to open.
    pub session: NewSession,
    /// Audit events.
    pub events: IdentityEvents,
    /// Mail of kind `IdentityLinked` to the owner of an existing account, if security
    /// notifications are on.
    pub mail: Option<NewMail>,
}

impl SignInWithIdentity {
    /// Account to create, without a session; `None` if the identity has no address.
    #[must_use]
    pub fn account(&self) -> Option<NewAccount> {
        let identity = &self.identity;
        let profile =
            |id| NewProfile { id, name: identity.name.clone(), avatar_url: identity.avatar_url.clone() };
        Some(NewAccount {
            id: self.user_id,
            email: identity.email.clone()?,
            password: None,
            email_verified: identity.email_verified,
            metadata: AppMetadata::default(),
            profile: self.profile_id.map(profile),
            session: None,
            now: self.session.created_at,
            event: self.events.signed_up.clone(),
        })
    }
}

/// Audit events of a sign-in with an identity. The store writes those that apply and fills in user and session.
#[derive(Debug, Clone)]
pub struct IdentityEvents {
    /// An account was created.
    pub signed_up: AuditEvent,
    /// An account was taken over: its address is verified.
    pub verified: AuditEvent,
    /// The identity was linked to an existing account.
    pub linked: AuditEvent,
    /// The session was opened.
    pub signed_in: AuditEvent,
    /// The sign-in was refused; names the account if there is one.
    pub refused: AuditEvent,
    /// The provider token was replayed.
    pub replayed: AuditEvent,
}

/// Outcome of a sign-in with an identity.
#[derive(Debug, Clone, PartialEq)]
pub enum IdentityOutcome {
    /// The session is open.
    Opened(Box<User>),
    /// Refused. Only the audit trail (and the used token) changed.
    Refused(IdentityRefusal),
    /// Replayed provider token. Only the audit trail changed.
    Replayed,
}

/// An identity to link to the account of a session.
#[derive(Debug, Clone)]
pub struct LinkIdentity {
    /// Id of the account.
    pub user_id: UserId,
    /// Session that began the flow; it must be live.
    pub session_id: SessionId,
    /// The proven identity.
    pub identity: VerifiedIdentity,
    /// Rule for identities of this provider that were stored without an issuer.
    pub earlier: LegacyIdentities,
    /// Audit event; the store fills in user and session.
    pub event: AuditEvent,
    /// Mail of kind `IdentityLinked` to the owner, if security notifications are on.
    pub mail: Option<NewMail>,
    /// Time of the request.
    pub now: Timestamp,
}

/// Outcome of linking.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkOutcome {
    /// Linked. Nothing changed if it was linked before.
    Linked(Box<User>),
    /// The identity is linked to another account.
    Taken,
    /// The session has ended, or the user is banned.
    Gone,
}

/// Identities to unlink from an account.
#[derive(Debug, Clone)]
pub struct UnlinkIdentity {
    /// Id of the account.
    pub user_id: UserId,
    /// Provider of the identities.
    pub provider: ProviderKey,
    /// Subject of the identity; `None` unlinks all of the provider.
    pub subject: Option<Subject>,
    /// Providers offered for sign-in: another identity counts as a way to sign in only if its provider is among
    /// them.
    pub offered: Vec<ProviderKey>,
    /// Session of the caller: it stays, whichever identity opened it.
    pub keep: SessionId,
    /// Audit event; the store fills in the user.
    pub event: AuditEvent,
    /// Mail of kind `IdentityUnlinked` to the owner, if security notifications are on.
    pub mail: Option<NewMail>,
    /// Time of the request.
    pub now: Timestamp,
}

/// Outcome of unlinking.
#[derive(Debug, Clone, PartialEq)]
pub enum UnlinkOutcome {
    /// Unlinked.
    Unlinked(Box<User>),
    /// The account has no such identity.
    NotFound,
    /// Refused: the account would have no way to sign in ([`latchkey_domain::identity::keeps_credentials`]). Nothing
    /// changed.
    LastWayIn,
}

/// A linked identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedIdentity {
    /// Provider key as stored, even if it is no longer a valid key.
    pub provider: String,
    /// Issuer; unknown if the identity was linked before issuers were stored.
    pub issuer: Issuer,
    /// Subject.
    pub subject: String,
    /// Address that the provider asserted last.
    pub email: Option<Email>,
    /// Time of linking.
    pub created_at: Timestamp,
}

/// Identities. (provider, issuer, subject) is unique: concurrent links and sign-ins with one identity all end at
/// one account.
#[async_trait]
pub trait Identities {
    /// Records the token as used, judges by [`latchkey_domain::identity::judge_sign_in`] and applies the verdict:
    ///
    /// - *Create* makes a verified account if the provider verified the address, otherwise an unverified and
    ///   contested one (so that nothing in it outlives the proof of the mailbox), never a pending one; its
    ///   profile has the identity's name and picture.
    /// - *Link* changes nothing else of the account.
    /// - *`TakeOver`* (of an account that was never verified, or whose password is unproven) proves the address
    ///   by [`latchkey_domain::email_verification::Verification::Provider`], invalidates every code and token of the account,
    ///   and fills name and picture of its profile, if it has one, from the identity.
    ///
    /// An account that gets a session is no longer pending. An identity with an unknown issuer is matched if
    /// [`IdentityRules::earlier`] allows it, and gets the issuer of the sign-in.
    async fn sign_in_with_identity(&self, sign_in: SignInWithIdentity) -> StoreResult<IdentityOutcome>;

    /// Links an identity to the account of a live session. If it is already linked with an unknown issuer, the
    /// issuer is filled in where [`LinkIdentity::earlier`] allows it.
    async fn link_identity(&self, link: LinkIdentity) -> StoreResult<LinkOutcome>;

    /// Unlinks identities and ends the other sessions that they opened. Concurrent calls never remove the last
    /// way to sign in.
    async fn unlink_identity(&self, unlink: UnlinkIdentity) -> StoreResult<UnlinkOutcome>;

    /// Identities of a user, oldest first, then by provider, issuer and subject; at most 1,000.
    async fn list_identities(&self, user_id: UserId) -> StoreResult<Vec<LinkedIdentity>>;

    /// Backfills the issuer of identities stored without one, unless the subject is already linked at that
    /// issuer. Idempotent across instances.
    async fn settle_issuers(&self, issuers: &[(ProviderKey, Issuer)]) -> StoreResult<()>;
}
