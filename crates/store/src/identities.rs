//! Identities: signing in with one, linking and unlinking them. What may be opened by whom is decided by
//! [`latchkey_domain::identity`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::Email;
use latchkey_domain::identity::{
    EarlierIdentities, IdentityRefusal, IdentityRules, Issuer, ProvenIdentity, ProviderKey, Subject,
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

/// A token of a provider that must not be accepted again.
#[derive(Debug, Clone, Copy)]
pub struct UsedToken {
    /// Its hash.
    pub hash: TokenHash,
    /// From when on nobody would accept it anyway.
    pub expires_at: Timestamp,
}

/// A sign-in with an identity. The store finds out which case it is and picks what belongs to it.
#[derive(Debug, Clone)]
pub struct SignInWithIdentity {
    /// Who it is.
    pub identity: ProvenIdentity,
    /// What the operator allows.
    pub rules: IdentityRules,
    /// The token that proved it, where one was presented here; kept whatever comes of the sign-in.
    pub token: Option<UsedToken>,
    /// Id of the account, where one is made.
    pub user_id: UserId,
    /// Id of its profile; `None` makes none.
    pub profile_id: Option<ProfileId>,
    /// The session.
    pub session: NewSession,
    /// What the audit says.
    pub events: IdentityEvents,
    /// The mail of kind [`crate::MailKind::IdentityLinked`] to the owner of an account that was there, where such mails
    /// are wanted.
    pub mail: Option<NewMail>,
}

impl SignInWithIdentity {
    /// The account that is made where the verdict says so, without a session; `None` where the identity has no address.
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

/// What the audit says of a sign-in with an identity; the store picks those that happened, fills in user and session,
/// and leaves out the others.
#[derive(Debug, Clone)]
pub struct IdentityEvents {
    /// An account was made.
    pub signed_up: AuditEvent,
    /// An account was taken over: its address is proven.
    pub verified: AuditEvent,
    /// The identity was linked to an account that was there.
    pub linked: AuditEvent,
    /// The session was opened.
    pub signed_in: AuditEvent,
    /// It was refused; names the account where there is one.
    pub refused: AuditEvent,
    /// Its token was presented before.
    pub replayed: AuditEvent,
}

/// What came of a sign-in with an identity.
#[derive(Debug, Clone, PartialEq)]
pub enum IdentityOutcome {
    /// The session is open.
    Opened(Box<User>),
    /// Nothing but the audit (and the used token) changed.
    Refused(IdentityRefusal),
    /// The token was presented before; nothing but the audit changed.
    Replayed,
}

/// An identity is linked to the account of a session.
#[derive(Debug, Clone)]
pub struct LinkIdentity {
    /// Whose account.
    pub user_id: UserId,
    /// The session that began it; it must live.
    pub session_id: SessionId,
    /// The identity.
    pub identity: ProvenIdentity,
    /// Identities of its provider whose issuer is unknown.
    pub earlier: EarlierIdentities,
    /// What the audit says; the store fills in user and session.
    pub event: AuditEvent,
    /// The mail of kind [`crate::MailKind::IdentityLinked`] to the owner, where such mails are wanted.
    pub mail: Option<NewMail>,
    /// When.
    pub now: Timestamp,
}

/// What came of linking.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkOutcome {
    /// It is linked. Where it was before, nothing changed.
    Linked(Box<User>),
    /// It is linked to another account.
    Taken,
    /// The session is over, or the user banned.
    Gone,
}

/// Identities are unlinked from an account.
#[derive(Debug, Clone)]
pub struct UnlinkIdentity {
    /// Whose.
    pub user_id: UserId,
    /// Of which provider.
    pub provider: ProviderKey,
    /// Which one; `None`: all of that provider.
    pub subject: Option<Subject>,
    /// The providers with which one can sign in: another identity is a way in only if its provider is one of them.
    pub offered: Vec<ProviderKey>,
    /// The session of the caller: it stays, whichever identity opened it.
    pub keep: SessionId,
    /// What the audit says; the store fills in the user.
    pub event: AuditEvent,
    /// The mail of kind [`crate::MailKind::IdentityUnlinked`] to the owner, where such mails are wanted.
    pub mail: Option<NewMail>,
    /// When.
    pub now: Timestamp,
}

/// What came of unlinking.
#[derive(Debug, Clone, PartialEq)]
pub enum UnlinkOutcome {
    /// They are unlinked.
    Unlinked(Box<User>),
    /// The account has no such identity.
    NotFound,
    /// They are the last way in ([`latchkey_domain::identity::keeps_a_way_in`]); nothing changed.
    LastWayIn,
}

/// An identity as it is linked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedIdentity {
    /// Its provider; as stored, even where no such key could be made today.
    pub provider: String,
    /// Its issuer; unknown where it was linked before issuers were stored.
    pub issuer: Issuer,
    /// Its subject.
    pub subject: String,
    /// The address that the provider gave last.
    pub email: Option<Email>,
    /// When it was linked.
    pub created_at: Timestamp,
}

/// Identities. (provider, issuer, subject) is unique: of many who link or sign in with one at the same time, all end at one
/// account.
#[async_trait]
pub trait Identities {
    /// Notes the token, judges by [`latchkey_domain::identity::judge_sign_in`] and does what the verdict says:
    ///
    /// - *Create* makes a verified account if the provider proved the address, else an unverified and contested one
    ///   (so that nothing in it outlives the proof of the mailbox), never a pending one; with a profile of the
    ///   identity's name and picture.
    /// - *Link* changes nothing else of the account.
    /// - *`TakeOver`* (of a never verified account, or of one whose password is unproven) proves the address by [`latchkey_domain::mailbox_proof::Proof::Provider`], ends every code and
    ///   token of the account, and fills name and picture of its profile, if it has one, from the identity.
    ///
    /// An account that gets a session is pending no more. An identity whose issuer is unknown is found where
    /// [`IdentityRules::earlier`] says so, and takes the issuer of the sign-in.
    async fn sign_in_with_identity(&self, sign_in: SignInWithIdentity) -> StoreResult<IdentityOutcome>;

    /// Links an identity to the account of a living session. One of unknown issuer that is linked to it already takes
    /// the issuer, where [`LinkIdentity::earlier`] says so.
    async fn link_identity(&self, link: LinkIdentity) -> StoreResult<LinkOutcome>;

    /// Unlinks identities, and ends the other sessions that they opened. Of many who unlink at the same time, none removes
    /// the last way in.
    async fn unlink_identity(&self, unlink: UnlinkIdentity) -> StoreResult<UnlinkOutcome>;

    /// The identities of a user, oldest first, then by provider, issuer and subject; at most 1,000.
    async fn list_identities(&self, user_id: UserId) -> StoreResult<Vec<LinkedIdentity>>;

    /// Gives identities of unknown issuer that of their provider, but where its subject at that issuer is linked
    /// already. Of instances that do so at the same time, each finds it done afterwards.
    async fn settle_issuers(&self, issuers: &[(ProviderKey, Issuer)]) -> StoreResult<()>;
}
