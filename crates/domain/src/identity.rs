//! External identities, and the decision on a sign-in with one. An identity is the triple of provider, issuer and
//! subject. A change of its email address never moves it to another account. The protocols are in the crate `oauth`.

use crate::email::Email;
use crate::profile::{AvatarUrl, LONGEST_NAME, Name};
use crate::shape::{Shape, Shaped};
use crate::user::{EMAIL_PROVIDER, PASSKEY_PROVIDER, User};
use crate::words;

/// Maximum length of a provider key in characters.
const LONGEST_KEY: usize = 64;
/// Maximum length of a subject in characters (OpenID Connect Core section 2).
const LONGEST_SUBJECT: usize = 255;
/// Maximum length of an issuer in bytes. Provider key, issuer and subject together fit into an index of every engine.
const LONGEST_ISSUER: usize = 1024;
/// Stored text of an unknown issuer.
pub const UNKNOWN_ISSUER: &str = "?";
/// Provider keys that the HTTP API reserves: methods of sign-in in a user's `providers`, and path segments in the place
/// of a key.
const RESERVED_KEYS: [&str; 6] =
    [EMAIL_PROVIDER, PASSKEY_PROVIDER, "password", "anonymous", "configs", "custom"];

/// Error of [`ProviderKey::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProviderKey {
    /// The text contains characters, or has a length, that a key must not have.
    #[error("must have 1 to 64 characters out of a-z, 0-9, '_' and '-'")]
    Form,
    /// The key is reserved by the HTTP API.
    #[error("is reserved; choose another one")]
    Reserved,
}

/// Key of an identity provider: 1 to 64 characters out of `a-z 0-9 _ -`, and not a reserved key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderKey(String);

impl Shaped for ProviderKey {
    const SENT: Shape = Shape {
        pattern: Some("^[a-z0-9_-]{1,64}$"),
        ..Shape::new("The key of an identity provider.", "google")
    };
}

impl ProviderKey {
    /// Parses a key. Upper-case letters are refused.
    pub fn parse(text: &str) -> Result<Self, InvalidProviderKey> {
        let is_allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"_-".contains(&c);
        if !(1..=LONGEST_KEY).contains(&text.len()) || !text.bytes().all(is_allowed) {
            return Err(InvalidProviderKey::Form);
        }
        if RESERVED_KEYS.contains(&text) {
            return Err(InvalidProviderKey::Reserved);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

words! {
    /// Kind of an identity provider: built in, or configured by the operator.
    pub enum ProviderKind {
        /// The provider is in the built-in table. The operator sets only the credentials.
        BuiltIn = "built_in",
        /// The operator configured this OpenID provider, which has a discovery document.
        Custom = "custom",
    }
}

/// Subject identifier of a user at an issuer: 1 to 255 characters, compared byte by byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject(String);

impl Shaped for Subject {
    const SENT: Shape = Shape {
        max_length: Some(LONGEST_SUBJECT),
        ..Shape::new("Who it is at the provider.", "110248495921238986420")
    };
}

impl Subject {
    /// Parses 1 to 255 characters, none of them a control character.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let length = text.chars().count();
        let is_subject = (1..=LONGEST_SUBJECT).contains(&length) && !text.chars().any(char::is_control);
        is_subject.then(|| Self(text.to_owned()))
    }

    /// Returns the subject identifier as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Issuer of an identity, within which its subject is unique. Compared byte by byte; empty if the provider has none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Issuer(String);

impl Issuer {
    /// Parses up to 1,024 visible ASCII characters. The stored text of an unknown issuer (`?`) is refused.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_issuer = text.len() <= LONGEST_ISSUER
            && text.bytes().all(|c| c.is_ascii_graphic())
            && text != UNKNOWN_ISSUER;
        is_issuer.then(|| Self(text.to_owned()))
    }

    /// Returns the issuer that stands for an unknown one: earlier releases linked identities without storing their
    /// issuers.
    #[must_use]
    pub fn unknown() -> Self {
        Self(UNKNOWN_ISSUER.to_owned())
    }

    /// Restores a stored issuer without a check.
    #[must_use]
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// True for [`Self::unknown`].
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.0 == UNKNOWN_ISSUER
    }

    /// Returns the issuer as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Unique key of an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityId {
    /// Key of the identity provider.
    pub provider: ProviderKey,
    /// Issuer of the subject.
    pub issuer: Issuer,
    /// Subject identifier of the user at the issuer.
    pub subject: Subject,
}

/// An identity with validated claims of a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedIdentity {
    /// Key of the identity provider.
    pub provider: ProviderKey,
    /// Issuer of the subject.
    pub issuer: Issuer,
    /// Subject identifier of the user at the issuer.
    pub subject: Subject,
    /// Email address; `None` if the provider sent no valid one.
    pub email: Option<Email>,
    /// True if the provider asserts that it verified the email address.
    pub email_verified: bool,
    /// Display name without control characters, truncated to 100 characters; empty if the provider sent none.
    pub name: Name,
    /// Picture URL; `None` if the provider sent none that a profile may have.
    pub avatar_url: Option<AvatarUrl>,
}

/// Claims of a provider before validation.
#[derive(Clone, Copy, Default)]
pub struct ProviderClaims<'a> {
    /// Issuer identifier; empty if the provider has none.
    pub issuer: &'a str,
    /// Subject identifier of the user at the issuer.
    pub subject: &'a str,
    /// Email address as the provider sent it, if it sent one.
    pub email: Option<&'a str>,
    /// True if the provider asserts that it verified the email address.
    pub email_verified: bool,
    /// Display name as the provider sent it, if it sent one.
    pub name: Option<&'a str>,
    /// Picture URL as the provider sent it, if it sent one.
    pub avatar_url: Option<&'a str>,
}

impl VerifiedIdentity {
    /// Validates claims. Returns `None` if issuer or subject is invalid. An invalid email address or picture URL is
    /// omitted, and a long name truncated.
    #[must_use]
    pub fn of(provider: ProviderKey, facts: ProviderClaims<'_>) -> Option<Self> {
        let email = facts.email.and_then(|text| Email::parse(text.trim()).ok());
        Some(Self {
            provider,
            issuer: Issuer::parse(facts.issuer)?,
            subject: Subject::parse(facts.subject)?,
            email_verified: facts.email_verified && email.is_some(),
            email,
            name: facts.name.map(cleaned_name).unwrap_or_default(),
            avatar_url: facts.avatar_url.and_then(|text| AvatarUrl::parse(text).ok()),
        })
    }

    /// Returns the unique key of the identity.
    #[must_use]
    pub fn id(&self) -> IdentityId {
        let Self { provider, issuer, subject, .. } = self;
        IdentityId { provider: provider.clone(), issuer: issuer.clone(), subject: subject.clone() }
    }

    /// Returns the email address if the provider verified it.
    #[must_use]
    pub fn verified_email(&self) -> Option<&Email> {
        self.email.as_ref().filter(|_| self.email_verified)
    }
}

fn cleaned_name(text: &str) -> Name {
    let clean: String = text.trim().chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
    Name::parse(clean.trim_end()).unwrap_or_default()
}

/// Operator's rules for sign-in with identities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdentityRules {
    /// True if a sign-in may create an account.
    pub is_sign_up_open: bool,
    /// True if only accounts with a verified email address may sign in.
    pub must_be_verified: bool,
    /// True if an identity may be linked to, or may take over, the account with its email address, provided that the
    /// identity provider verified the address.
    pub links_by_email: bool,
    /// Treatment of stored identities whose issuer is unknown.
    pub earlier: LegacyIdentities,
}

/// Treatment of identities that were linked before issuers were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyIdentities {
    /// Identities without an issuer never match a sign-in. The provider has one configured issuer, which the service
    /// stores with these identities at its start.
    Apart,
    /// Identities without an issuer match a sign-in of any issuer, and the issuer of that sign-in is then stored with
    /// the identity. The provider has one issuer per tenant, and its subjects are unique over all tenants.
    OfAnyIssuer,
}

impl LegacyIdentities {
    /// Returns the issuer, other than `own`, under which the identity may be stored; `own` itself if there is no other.
    #[must_use]
    pub fn issuer_beside(self, own: &Issuer) -> Issuer {
        match self {
            Self::Apart => own.clone(),
            Self::OfAnyIssuer => Issuer::unknown(),
        }
    }
}

impl IdentityRules {
    /// True if a sign-in may create an account with an unverified email address.
    const fn allows_unverified_sign_up(self) -> bool {
        self.is_sign_up_open && !self.must_be_verified
    }
}

/// Refusal of a sign-in with an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityRefusal {
    /// The account is banned.
    Banned,
    /// The account's email address must be verified first.
    AccountUnverified,
    /// No account exists, and sign-up is closed.
    SignUpClosed,
    /// No account exists, and none can be created because the provider sent no email address.
    NoEmail,
    /// The provider did not verify the email address, whether free or taken, and no account may be created with an
    /// unverified address.
    EmailUnproven,
    /// An account has the identity's email address, or the address is reserved for one, but the identity must not be
    /// linked automatically. The account's owner can link the identity while signed in.
    SignInToLink,
}

/// Decision on a sign-in with an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityVerdict {
    /// Sign in to the account that the identity is linked to.
    SignIn,
    /// Link the identity to the account with its email address, and sign in.
    Link,
    /// Remove all credentials and data that an attacker may have left in the account with the identity's email
    /// address (account pre-hijacking); then do the same as [`Self::Link`].
    TakeOver,
    /// Create an account, link the identity to it, and sign in.
    Create,
    /// Refuse the sign-in for this reason.
    Refused(IdentityRefusal),
}

impl IdentityVerdict {
    /// Returns the verdict for an identity whose address is reserved for an account that left it
    /// ([`crate::undo::UndoableEvent::EmailChanged`]). No account is created there.
    #[must_use]
    pub const fn at_reserved_address(self) -> Self {
        match self {
            Self::Create => Self::Refused(IdentityRefusal::SignInToLink),
            other => other,
        }
    }

    /// Returns the verdict for a sign-in to the console. It makes no account, and links none: a provider's word about an
    /// address is no way to an operator's account.
    #[must_use]
    pub const fn in_console(self) -> Self {
        match self {
            Self::Create | Self::Link | Self::TakeOver => Self::Refused(IdentityRefusal::SignInToLink),
            Self::SignIn | Self::Refused(_) => self,
        }
    }
}

/// Account with the email address of an identity that is not linked yet.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// User of the account.
    pub user: &'a User,
    /// True if any email address of the account was ever verified.
    pub was_ever_verified: bool,
    /// True if the account has a password that is not known to come from the mailbox's owner.
    pub has_unproven_password: bool,
}

/// Decides on a sign-in with an identity. `owner` is the account that the identity is linked to, if any. `of_email` is
/// the account with the identity's email address, if any.
#[must_use]
pub fn judge_sign_in(
    identity: &VerifiedIdentity,
    owner: Option<&User>,
    of_email: Option<Candidate<'_>>,
    rules: IdentityRules,
) -> IdentityVerdict {
    use IdentityRefusal::{AccountUnverified, Banned, EmailUnproven, NoEmail, SignUpClosed};
    use IdentityVerdict::{Create, Refused, SignIn};
    if let Some(owner) = owner {
        return match owner {
            owner if owner.is_banned() => Refused(Banned),
            owner if rules.must_be_verified && !owner.email_verified => Refused(AccountUnverified),
            _ => SignIn,
        };
    }
    if identity.email.is_none() {
        return Refused(NoEmail);
    }
    // The provider did not verify the address. The refusal must not reveal whether an account has it.
    if !identity.email_verified && !rules.allows_unverified_sign_up() {
        return Refused(EmailUnproven);
    }
    if let Some(candidate) = of_email {
        return judge_first_sign_in(identity, candidate, rules);
    }
    if rules.is_sign_up_open { Create } else { Refused(SignUpClosed) }
}

/// Decides on the first sign-in of an identity whose email address has an account.
fn judge_first_sign_in(
    identity: &VerifiedIdentity,
    candidate: Candidate<'_>,
    rules: IdentityRules,
) -> IdentityVerdict {
    let Candidate { user, was_ever_verified, has_unproven_password } = candidate;
    // The refusal reveals that an account exists, but no more.
    if !identity.email_verified || !rules.links_by_email {
        return IdentityVerdict::Refused(IdentityRefusal::SignInToLink);
    }
    match user {
        user if user.is_banned() => IdentityVerdict::Refused(IdentityRefusal::Banned),
        // The password may be an attacker's: a mail scanner that opens the link verifies the address too.
        user if user.email_verified && has_unproven_password => IdentityVerdict::TakeOver,
        user if user.email_verified => IdentityVerdict::Link,
        _ if !was_ever_verified => IdentityVerdict::TakeOver,
        // The account's address changed after its last verification, so its owner may not control the new one.
        _ => IdentityVerdict::Refused(IdentityRefusal::SignInToLink),
    }
}

#[cfg(test)]
mod tests;
