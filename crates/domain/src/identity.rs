//! External identities and the decision on a sign-in with one. An identity is (provider, issuer, subject); an
//! email address never changes its owner. The protocols are in the crate `oauth`.

use crate::email::Email;
use crate::profile::{AvatarUrl, LONGEST_NAME, Name};
use crate::shape::{Shape, Shaped};
use crate::user::{EMAIL_PROVIDER, User};

/// Longest provider key, in characters.
const LONGEST_KEY: usize = 64;
/// Longest subject, in characters (OpenID Connect Core section 2).
const LONGEST_SUBJECT: usize = 255;
/// Longest issuer, in bytes: together with key and subject it fits an index of every engine.
const LONGEST_ISSUER: usize = 1024;
/// Stored form of an unknown issuer.
const UNKNOWN_ISSUER: &str = "?";
/// Reserved by the HTTP interface: an entry of a user's `providers`, and path segments beside a key.
const RESERVED_KEYS: [&str; 3] = [EMAIL_PROVIDER, "configs", "custom"];

/// Error of [`ProviderKey::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProviderKey {
    /// Wrong characters or length.
    #[error("must have 1 to 64 characters out of a-z, 0-9, '_' and '-'")]
    Form,
    /// Reserved by the HTTP interface.
    #[error("is reserved; choose another one")]
    Reserved,
}

/// Key of an identity provider: 1 to 64 of `a-z 0-9 _ -`, not reserved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderKey(String);

impl Shaped for ProviderKey {
    const SENT: Shape = Shape {
        pattern: Some("^[a-z0-9_-]{1,64}$"),
        ..Shape::new("The key of an identity provider.", "google")
    };
}

impl ProviderKey {
    /// Parses a key. Upper case is refused.
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

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Origin of a provider's description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProviderKind {
    /// An entry of the built-in table; the operator sets only credentials.
    BuiltIn,
    /// Any OpenID provider with a discovery document.
    Custom,
}

impl ProviderKind {
    /// Name in stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built_in",
            Self::Custom => "custom",
        }
    }

    /// Parses [`Self::as_str`].
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::BuiltIn, Self::Custom].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Subject identifier of a user at a provider, compared byte by byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject(String);

impl Shaped for Subject {
    const SENT: Shape = Shape {
        max_length: Some(LONGEST_SUBJECT),
        ..Shape::new("Who it is at the provider.", "110248495921238986420")
    };
}

impl Subject {
    /// Parses 1 to 255 characters without control characters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let length = text.chars().count();
        let is_subject = (1..=LONGEST_SUBJECT).contains(&length) && !text.chars().any(char::is_control);
        is_subject.then(|| Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Issuer of an identity, the namespace of its subject. Empty for a provider without one; compared byte by
/// byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Issuer(String);

impl Issuer {
    /// Parses up to 1,024 visible ASCII characters. The stored form of an unknown issuer is refused.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_issuer = text.len() <= LONGEST_ISSUER
            && text.bytes().all(|c| c.is_ascii_graphic())
            && text != UNKNOWN_ISSUER;
        is_issuer.then(|| Self(text.to_owned()))
    }

    /// Issuer of an identity that was linked before issuers were stored.
    #[must_use]
    pub fn unknown() -> Self {
        Self(UNKNOWN_ISSUER.to_owned())
    }

    /// Restores an issuer from a store.
    #[must_use]
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// True for the issuer of an identity that was linked before issuers were stored.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.0 == UNKNOWN_ISSUER
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reference to a linked identity of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityId {
    /// Identity provider.
    pub provider: ProviderKey,
    /// Issuer of the subject.
    pub issuer: Issuer,
    /// Subject at the provider.
    pub subject: Subject,
}

/// A validated identity from a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedIdentity {
    /// Identity provider.
    pub provider: ProviderKey,
    /// Issuer of the subject.
    pub issuer: Issuer,
    /// Subject at the provider.
    pub subject: Subject,
    /// The email address, if the provider sent a valid one.
    pub email: Option<Email>,
    /// True if the provider asserts that it verified the address.
    pub email_verified: bool,
    /// Display name, sanitised and truncated; empty if absent.
    pub name: Name,
    /// Picture URL, if valid for a profile.
    pub avatar_url: Option<AvatarUrl>,
}

/// Claims of a provider, unvalidated.
#[derive(Clone, Copy, Default)]
pub struct ProviderClaims<'a> {
    /// Issuer; empty if the provider has none.
    pub issuer: &'a str,
    /// Subject identifier.
    pub subject: &'a str,
    /// Email address.
    pub email: Option<&'a str>,
    /// True if the provider asserts that it verified the address.
    pub email_verified: bool,
    /// Display name.
    pub name: Option<&'a str>,
    /// Picture URL.
    pub avatar_url: Option<&'a str>,
}

impl VerifiedIdentity {
    /// Validates claims. An invalid picture or email address is dropped, a long name truncated. `None`
    /// without a valid issuer and subject.
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

    /// Reference for storage.
    #[must_use]
    pub fn id(&self) -> IdentityId {
        let Self { provider, issuer, subject, .. } = self;
        IdentityId { provider: provider.clone(), issuer: issuer.clone(), subject: subject.clone() }
    }

    /// The email address, if the provider verified it.
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
    /// New accounts may be created.
    pub is_sign_up_open: bool,
    /// Sign-in requires a verified email address.
    pub must_be_verified: bool,
    /// A verified address links to its existing account, or takes it over.
    pub links_by_email: bool,
    /// Treatment of identities whose issuer is unknown.
    pub earlier: LegacyIdentities,
}

/// Treatment of identities that were linked before issuers were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyIdentities {
    /// They never match: the provider has one issuer, in its settings, and migration has set it.
    Apart,
    /// They match any issuer and take that of the sign-in: the provider has one issuer per tenant, and
    /// subjects are unique within it.
    OfAnyIssuer,
}

impl LegacyIdentities {
    /// Alternative issuer under which an identity may be stored.
    #[must_use]
    pub fn issuer_beside(self, own: &Issuer) -> Issuer {
        match self {
            Self::Apart => own.clone(),
            Self::OfAnyIssuer => Issuer::unknown(),
        }
    }
}

impl IdentityRules {
    /// True if a new account may have an unverified address.
    const fn allows_unverified_sign_up(self) -> bool {
        self.is_sign_up_open && !self.must_be_verified
    }
}

/// Refusal of a sign-in with an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityRefusal {
    /// The account is banned.
    Banned,
    /// The email address must be verified first.
    AccountUnverified,
    /// No account exists, and sign-up is closed.
    SignUpClosed,
    /// No account exists, and the provider sent no email address.
    NoEmail,
    /// The provider did not verify the address, and no account may be created with it. The same answer for
    /// taken and free addresses.
    EmailUnproven,
    /// The address belongs to an account that this identity must not open: its owner signs in and links the
    /// identity there.
    SignInToLink,
}

/// Decision on a sign-in with an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityVerdict {
    /// Sign in to the linked account.
    SignIn,
    /// Link the identity to the account of its address and sign in.
    Link,
    /// As [`Self::Link`], after removal of all credentials and data that an attacker may have planted before
    /// the owner came (account pre-hijacking).
    TakeOver,
    /// Create an account.
    Create,
    /// Refuse the sign-in.
    Refused(IdentityRefusal),
}

/// Account of the identity's email address.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// The account.
    pub user: &'a User,
    /// True if any email address of the account was ever verified.
    pub was_ever_verified: bool,
    /// True if its password is not known to come from the mailbox's owner.
    pub has_unproven_password: bool,
}

/// Decides on a sign-in. `owner` is the linked account, `of_email` the account of the identity's address.
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
    // One refusal for taken and free addresses, as long as the provider does not verify them.
    if !identity.email_verified && !rules.allows_unverified_sign_up() {
        return Refused(EmailUnproven);
    }
    if let Some(candidate) = of_email {
        return judge_first_sign_in(identity, candidate, rules);
    }
    if rules.is_sign_up_open { Create } else { Refused(SignUpClosed) }
}

/// Decides on an unlinked identity whose address has an account.
fn judge_first_sign_in(
    identity: &VerifiedIdentity,
    candidate: Candidate<'_>,
    rules: IdentityRules,
) -> IdentityVerdict {
    let Candidate { user, was_ever_verified, has_unproven_password } = candidate;
    // An unverified address, or one that does not count here, learns only that an account exists.
    if !identity.email_verified || !rules.links_by_email {
        return IdentityVerdict::Refused(IdentityRefusal::SignInToLink);
    }
    match user {
        user if user.is_banned() => IdentityVerdict::Refused(IdentityRefusal::Banned),
        // A mail scanner may have opened the link and verified the address of an attacker's account.
        user if user.email_verified && has_unproven_password => IdentityVerdict::TakeOver,
        user if user.email_verified => IdentityVerdict::Link,
        _ if !was_ever_verified => IdentityVerdict::TakeOver,
        // The account verified another address before: its owner is not known to own this one.
        _ => IdentityVerdict::Refused(IdentityRefusal::SignInToLink),
    }
}

/// True if an account keeps credentials without some of its identities: a password, or another identity of an
/// enabled provider.
#[must_use]
pub fn keeps_credentials(has_password: bool, left: &[ProviderKey], offered: &[ProviderKey]) -> bool {
    has_password || left.iter().any(|key| offered.contains(key))
}

#[cfg(test)]
mod tests;
