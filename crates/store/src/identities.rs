//! Contract for external identities: sign-in, linking and unlinking. [`latchkey_domain::identity`] decides which
//! account an identity may sign in to.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::Email;
use latchkey_domain::identity::{
    IdentityRefusal, IdentityRules, Issuer, LegacyIdentities, ProviderKey, Subject, VerifiedIdentity,
};
use latchkey_domain::ids::{ProfileId, SessionId, UserId};
use latchkey_domain::operator::{OperatorRefusal, Protection};
use latchkey_domain::profile::NewProfile;
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::{AppMetadata, User};

use crate::accounts::NewAccount;
use crate::entry::{Entered, Entry};
use crate::error::StoreResult;
use crate::outbox::NewMail;

/// A provider's token, such as an `id_token`, that a client presented to sign in. It is recorded as used, so
/// that it is refused a second time.
#[derive(Debug, Clone, Copy)]
pub struct UsedToken {
    /// Hash of the provider's token, by which its reuse is detected.
    pub hash: TokenHash,
    /// Expiry of the token itself. The row is deleted afterwards, because an expired token is refused anyway.
    pub expires_at: Timestamp,
}

/// A sign-in with an identity of a provider. The data cover all cases; the store writes those that apply to the
/// account that it finds.
#[derive(Debug, Clone)]
pub struct SignInWithIdentity {
    /// Identity that the provider asserted, validated.
    pub identity: VerifiedIdentity,
    /// Operator's rules for sign-in with identities.
    pub rules: IdentityRules,
    /// Provider token that the client presented, if any. It is recorded as used even if the sign-in is refused.
    pub token: Option<UsedToken>,
    /// Id of the user, if an account is created.
    pub user_id: UserId,
    /// Id of the profile, if an account is created; `None` creates none.
    pub profile_id: Option<ProfileId>,
    /// Session to open, or challenge to write instead.
    pub entry: Entry,
    /// Audit events, one per step of the sign-in.
    pub events: IdentityEvents,
    /// Mail of kind `IdentityLinked` to the owner of an existing account; `None` if security notifications are off.
    pub mail: Option<NewMail>,
}

impl SignInWithIdentity {
    /// Returns the account to create, without a session; `None` if the identity has no email address.
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
            locale: self.entry.session.client.locale.clone(),
            browser: None,
            now: self.entry.session.created_at,
            event: self.events.signed_up.clone(),
        })
    }
}

/// Audit events of a sign-in with an identity. The store records only the events that apply, and fills in user id and
/// session id.
#[derive(Debug, Clone)]
pub struct IdentityEvents {
    /// Recorded if an account was created.
    pub signed_up: AuditEvent,
    /// Recorded if the account with the identity's address was not known to be the mailbox owner's: its
    /// credentials were removed, its address was verified, and the identity was linked to it.
    pub verified: AuditEvent,
    /// Recorded if the identity was linked to an existing account.
    pub linked: AuditEvent,
    /// Recorded if the session was opened.
    pub signed_in: AuditEvent,
    /// Recorded if the sign-in was refused, with the user id if an account exists.
    pub refused: AuditEvent,
    /// Recorded if the provider token was used before.
    pub replayed: AuditEvent,
}

/// Outcome of [`Identities::sign_in_with_identity`].
#[derive(Debug, Clone, PartialEq)]
pub enum IdentityOutcome {
    /// The sign-in succeeded: a session was opened, or a challenge was written. With a challenge, an identity that is
    /// not linked to its existing account yet is linked only by a right answer.
    Entered(Entered),
    /// The sign-in was refused. Only the audit event and the used token were stored.
    Refused(IdentityRefusal),
    /// The provider token was used before. Only the audit event was stored.
    Replayed,
}

/// An identity to link to the account of a session.
#[derive(Debug, Clone)]
pub struct LinkIdentity {
    /// Id of the session's user.
    pub user_id: UserId,
    /// Session that began the OAuth flow of the link. It must still be live.
    pub session_id: SessionId,
    /// Identity that the provider asserted, validated.
    pub identity: VerifiedIdentity,
    /// Treatment of identities of this provider that earlier releases stored without an issuer.
    pub earlier: LegacyIdentities,
    /// Audit event of the link. The store fills in user id and session id.
    pub event: AuditEvent,
    /// Mail of kind `IdentityLinked` to the owner; `None` if security notifications are off.
    pub mail: Option<NewMail>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`Identities::link_identity`].
#[derive(Debug, Clone, PartialEq)]
pub enum LinkOutcome {
    /// The identity is linked to the account. If it was linked before, nothing changed.
    Linked(Box<User>),
    /// The identity is linked to another account. Nothing changed.
    Taken,
    /// The session has ended, or the user is banned. Nothing changed.
    Gone,
}

/// Party that unlinks identities from an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlinker {
    /// The owner, in this session. It stays open even if an unlinked identity opened it.
    Owner(SessionId),
    /// An admin or operator, with what is spared if the account is an operator's.
    Admin(Protection),
}

/// Identities to unlink from an account.
#[derive(Debug, Clone)]
pub struct UnlinkIdentity {
    /// Id of the account's user.
    pub user_id: UserId,
    /// Provider of these identities.
    pub provider: ProviderKey,
    /// Subject of the identity; `None` unlinks all identities of the provider.
    pub subject: Option<Subject>,
    /// Methods of sign-in that the service offers. One of them must stay possible for the account.
    pub offer: SignInOffer,
    /// Party that unlinks.
    pub by: Unlinker,
    /// Audit event of the change. The store fills in user id and session id.
    pub event: AuditEvent,
    /// Mail of kind `IdentityUnlinked` to the owner; `None` if security notifications are off.
    pub mail: Option<NewMail>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`Identities::unlink_identity`].
#[derive(Debug, Clone, PartialEq)]
pub enum UnlinkOutcome {
    /// The identities were unlinked. Contains the user after the change.
    Unlinked(Box<User>),
    /// The account has no such identity.
    NotFound,
    /// Refused: the owner could no longer sign in ([`SignInOffer::admits`]). Nothing changed.
    LastWayIn,
    /// The account is an operator's. Nothing changed.
    Refused(OperatorRefusal),
}

/// An identity linked to an account, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedIdentity {
    /// Provider key as stored, even if it is no longer valid.
    pub provider: String,
    /// Issuer of the subject; [`Issuer::unknown`] if the identity was linked before issuers were stored.
    pub issuer: Issuer,
    /// Subject identifier of the user at the issuer, as stored.
    pub subject: String,
    /// Email address that the provider asserted at the latest sign-in or linking, if any.
    pub email: Option<Email>,
    /// Time at which the identity was linked.
    pub created_at: Timestamp,
}

/// External identities, unique by provider, issuer and subject: concurrent sign-ins with the same identity lead to one
/// account.
#[async_trait]
pub trait Identities {
    /// Records the provider token as used, decides by [`latchkey_domain::identity::judge_sign_in`] and applies the
    /// decision:
    ///
    /// - *Create* creates an account with the identity's name and picture, never a pending one. Its address
    ///   is verified if the provider verified it. Otherwise the account is also contested: once its owner
    ///   verifies the address, everything in it is removed.
    /// - *Link* links the identity and changes nothing else.
    /// - *`TakeOver`* verifies the address ([`latchkey_domain::email_verification::Verification::Provider`])
    ///   of an account that was never verified, or has a password that is not known to come from the
    ///   mailbox's owner. It invalidates every code and token of the account, and copies the identity's name
    ///   and picture to its profile, if there is one.
    ///
    /// An account that gets a session stops being pending. An identity stored with an unknown issuer is found if
    /// [`IdentityRules::earlier`] allows it, and gets the issuer of the sign-in.
    async fn sign_in_with_identity(&self, sign_in: SignInWithIdentity) -> StoreResult<IdentityOutcome>;

    /// Links an identity to the account of a live session. If it is linked already with an unknown issuer, the issuer
    /// is filled in, provided that [`LinkIdentity::earlier`] allows it.
    async fn link_identity(&self, link: LinkIdentity) -> StoreResult<LinkOutcome>;

    /// Unlinks identities and ends the sessions that they opened, except that of the owner who unlinks. Concurrent calls cannot remove
    /// the account's last credential.
    async fn unlink_identity(&self, unlink: UnlinkIdentity) -> StoreResult<UnlinkOutcome>;

    /// Returns the id of the user that an identity is linked to; `None` if it is linked to none. `earlier` is the treatment
    /// of identities that were stored with an unknown issuer.
    async fn find_identity_owner(
        &self,
        identity: &VerifiedIdentity,
        earlier: LegacyIdentities,
    ) -> StoreResult<Option<UserId>>;

    /// Lists the identities of a user, oldest first, then by provider, issuer and subject; at most 1,000.
    async fn list_identities(&self, user_id: UserId) -> StoreResult<Vec<LinkedIdentity>>;

    /// Sets the issuer of identities that were stored without one, per provider. An identity is skipped if its subject
    /// is linked under that issuer already. Idempotent, even if several instances call it at the same time.
    async fn settle_issuers(&self, issuers: &[(ProviderKey, Issuer)]) -> StoreResult<()>;
}
