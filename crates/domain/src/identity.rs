//! External identities: who a provider says somebody is, and what that opens here. An identity is (provider, issuer,
//! subject) and nothing else; an email never moves one. How a provider is asked lives in the crate `oauth`.

use crate::email::Email;
use crate::profile::{AvatarUrl, LONGEST_NAME, Name};
use crate::user::{EMAIL_PROVIDER, User};

/// Longest key of a provider, in characters.
const LONGEST_KEY: usize = 64;
/// Longest subject, in characters; OpenID Connect Core section 2 has the same bound.
const LONGEST_SUBJECT: usize = 255;
/// Longest issuer, in bytes: with key and subject it fits into an index of every engine.
const LONGEST_ISSUER: usize = 1024;
/// What stores keep in the place of an issuer that nobody noted.
const UNKNOWN_ISSUER: &str = "?";
/// Keys that are words of the interface: `providers` of a user, and segments of the paths beside a key.
const RESERVED_KEYS: [&str; 3] = [EMAIL_PROVIDER, "configs", "custom"];

/// The text is no key of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProviderKey {
    /// Wrong characters or length.
    #[error("must have 1 to 64 characters out of a-z, 0-9, '_' and '-'")]
    Form,
    /// A word of the interface.
    #[error("is reserved; choose another one")]
    Reserved,
}

/// The key of an identity provider: 1 to 64 of `a-z 0-9 _ -`, and no word of the interface.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderKey(String);

impl ProviderKey {
    /// Reads a key as sent; upper case is no key.
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

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a provider is one of the built-in table or was described by the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProviderKind {
    /// An entry of the table, which wants credentials alone.
    BuiltIn,
    /// Any OpenID provider, by its discovery document.
    Custom,
}

impl ProviderKind {
    /// What stores keep.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built_in",
            Self::Custom => "custom",
        }
    }

    /// Reads what stores keep.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::BuiltIn, Self::Custom].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Who somebody is at a provider, in the provider's words: compared byte by byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject(String);

impl Subject {
    /// Takes 1 to 255 characters without control characters; anything else identifies nobody.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let length = text.chars().count();
        let is_subject = (1..=LONGEST_SUBJECT).contains(&length) && !text.chars().any(char::is_control);
        is_subject.then(|| Self(text.to_owned()))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The issuer of an identity: whose subjects these are. Empty for a provider that has none; compared byte by byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Issuer(String);

impl Issuer {
    /// Takes up to 1,024 visible characters of ASCII. No provider proves the unknown one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_issuer = text.len() <= LONGEST_ISSUER
            && text.bytes().all(|c| c.is_ascii_graphic())
            && text != UNKNOWN_ISSUER;
        is_issuer.then(|| Self(text.to_owned()))
    }

    /// The issuer of an identity that was linked before issuers were stored.
    #[must_use]
    pub fn unknown() -> Self {
        Self(UNKNOWN_ISSUER.to_owned())
    }

    /// Reads what stores keep.
    #[must_use]
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// Whether nobody noted it.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.0 == UNKNOWN_ISSUER
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of an identity: somebody at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityId {
    /// Which provider.
    pub provider: ProviderKey,
    /// Who, there.
    pub subject: Subject,
}

/// What a provider says of somebody, after all of its checks.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenIdentity {
    /// Which provider.
    pub provider: ProviderKey,
    /// Its issuer.
    pub issuer: Issuer,
    /// Who, there.
    pub subject: Subject,
    /// The address, where the provider gives one that is one.
    pub email: Option<Email>,
    /// Whether the provider says that it proved the address.
    pub email_verified: bool,
    /// The name, cut and cleaned; empty where there is none.
    pub name: Name,
    /// The picture, where it is one that a profile takes.
    pub avatar_url: Option<AvatarUrl>,
}

/// What a provider says of somebody, as it was written there.
#[derive(Clone, Copy, Default)]
pub struct ForeignFacts<'a> {
    /// The issuer; empty where the provider has none.
    pub issuer: &'a str,
    /// The subject.
    pub subject: &'a str,
    /// The address.
    pub email: Option<&'a str>,
    /// Whether the provider says that it proved the address.
    pub email_verified: bool,
    /// The name.
    pub name: Option<&'a str>,
    /// The picture.
    pub avatar_url: Option<&'a str>,
}

impl ProvenIdentity {
    /// Takes what can be used: a bad picture is dropped, a long name is cut, an address that is none is none. `None`
    /// without a subject, or with an issuer that is none.
    #[must_use]
    pub fn of(provider: ProviderKey, facts: ForeignFacts<'_>) -> Option<Self> {
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

    /// Its name.
    #[must_use]
    pub fn id(&self) -> IdentityId {
        IdentityId { provider: self.provider.clone(), subject: self.subject.clone() }
    }

    /// The address, if the provider says that it proved it.
    #[must_use]
    pub fn vouched_email(&self) -> Option<&Email> {
        self.email.as_ref().filter(|_| self.email_verified)
    }
}

fn cleaned_name(text: &str) -> Name {
    let clean: String = text.trim().chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
    Name::parse(clean.trim_end()).unwrap_or_default()
}

/// What the operator lets identities do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdentityRules {
    /// New accounts may be made.
    pub is_sign_up_open: bool,
    /// Nobody signs in whose address is not proven.
    pub must_be_verified: bool,
    /// A proven address links to its account, or takes it over.
    pub links_by_email: bool,
    /// Identities of the provider that were linked before issuers were stored.
    pub earlier: EarlierIdentities,
}

/// What identities open whose issuer is unknown, because they were linked before issuers were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlierIdentities {
    /// Nothing: the provider's issuer stands in its settings, and they got it from there.
    Apart,
    /// Their account, and they take the issuer of the sign-in: the provider has one for each tenant, within which the
    /// subject is unique.
    OfAnyIssuer,
}

impl EarlierIdentities {
    /// The issuer under which an identity may be stored beside its own.
    #[must_use]
    pub fn issuer_beside(self, own: &Issuer) -> Issuer {
        match self {
            Self::Apart => own.clone(),
            Self::OfAnyIssuer => Issuer::unknown(),
        }
    }
}

impl IdentityRules {
    /// Whether somebody new may come with an address that nobody proved.
    const fn lets_unproven_addresses_in(self) -> bool {
        self.is_sign_up_open && !self.must_be_verified
    }
}

/// Why an identity opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityRefusal {
    /// The account is banned.
    Banned,
    /// Its address has to be proven first.
    AccountUnverified,
    /// There is no account, and none may be made.
    SignUpClosed,
    /// There is no account, and the provider gives no address to make one with.
    NoEmail,
    /// The provider does not say that it proved the address, and no account may be made with it. Said of taken and of
    /// free addresses alike.
    EmailUnproven,
    /// The address has an account that this identity may not open: its owner signs in there and links.
    SignInToLink,
}

/// What a sign-in with an identity does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityVerdict {
    /// Signs in to the account that the identity is linked to.
    SignIn,
    /// Links the identity to the account of its address and signs in.
    Link,
    /// The same, after everything was removed that somebody else may have put there before the owner came.
    TakeOver,
    /// Makes an account.
    Create,
    /// Nothing.
    Refused(IdentityRefusal),
}

/// An account as far as an identity is concerned.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// The account.
    pub user: &'a User,
    /// Whether any mailbox of it was ever proven.
    pub was_ever_verified: bool,
    /// Whether it has a password that is not known to come from the mailbox's owner.
    pub has_unproven_password: bool,
}

/// Judges a sign-in: `owner` is the account that the identity is linked to, `of_email` the one of its address.
#[must_use]
pub fn judge_sign_in(
    identity: &ProvenIdentity,
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
    // One refusal for a taken and for a free address, where the provider proves neither.
    if !identity.email_verified && !rules.lets_unproven_addresses_in() {
        return Refused(EmailUnproven);
    }
    if let Some(candidate) = of_email {
        return judge_first_sign_in(identity, candidate, rules);
    }
    if rules.is_sign_up_open { Create } else { Refused(SignUpClosed) }
}

/// Judges a new identity whose address has an account.
fn judge_first_sign_in(
    identity: &ProvenIdentity,
    candidate: Candidate<'_>,
    rules: IdentityRules,
) -> IdentityVerdict {
    let Candidate { user, was_ever_verified, has_unproven_password } = candidate;
    // Whoever cannot prove the address, or comes where that counts for nothing, hears nothing of the account but that
    // there is one.
    if !identity.email_verified || !rules.links_by_email {
        return IdentityVerdict::Refused(IdentityRefusal::SignInToLink);
    }
    match user {
        user if user.is_banned() => IdentityVerdict::Refused(IdentityRefusal::Banned),
        // A link that a mail scanner opened may have verified the address for whoever squats there.
        user if user.email_verified && has_unproven_password => IdentityVerdict::TakeOver,
        user if user.email_verified => IdentityVerdict::Link,
        _ if !was_ever_verified => IdentityVerdict::TakeOver,
        // It proved another address before: it has an owner, who is not known to own this one.
        _ => IdentityVerdict::Refused(IdentityRefusal::SignInToLink),
    }
}

/// Whether an account keeps a way in without some of its identities: a password, or another identity whose provider
/// is still offered.
#[must_use]
pub fn keeps_a_way_in(has_password: bool, left: &[ProviderKey], offered: &[ProviderKey]) -> bool {
    has_password || left.iter().any(|key| offered.contains(key))
}

#[cfg(test)]
mod tests;
