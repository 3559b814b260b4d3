//! Identities of a draft: what a format found, under the names that the source has for providers.

use latchkey_domain::email::Email;
use latchkey_domain::identity::{Issuer, ProviderKey, Subject};
use latchkey_domain::imports::ImportIdentity;

use super::{Draft, take};

/// Maximum number of identities of a record.
const MOST_IDENTITIES: usize = 100;

/// Providers whose key differs from ours.
const PROVIDERS: [(&str, &str); 17] = [
    ("google.com", "google"),
    ("google-oauth2", "google"),
    ("apple.com", "apple"),
    ("github.com", "github"),
    ("facebook.com", "facebook"),
    ("microsoft.com", "microsoft"),
    ("windowslive", "microsoft"),
    ("azure", "microsoft"),
    ("azuread", "microsoft"),
    ("microsoft-entra-id", "microsoft"),
    ("twitter", "x"),
    ("twitter.com", "x"),
    ("twitterv2", "x"),
    ("linkedin_oidc", "linkedin"),
    ("linkedin-openid-connect", "linkedin"),
    ("slack_oidc", "slack"),
    ("gitlab.com", "gitlab"),
];

/// An identity as text.
pub(crate) struct DraftIdentity {
    pub(crate) provider: String,
    /// Issuer of the subject, which our own exports tell.
    pub(crate) issuer: Option<String>,
    pub(crate) subject: String,
    pub(crate) email: Option<String>,
}

impl Draft {
    /// Adds an identity, unless its provider is one of `own`: the names under which the source lists its password or the
    /// mailbox. Another source may have a real provider of that name.
    pub(crate) fn add_identity_but(
        &mut self,
        own: &[&str],
        provider: Option<String>,
        subject: Option<String>,
        email: Option<String>,
    ) {
        if !provider.as_deref().is_some_and(|name| own.contains(&name)) {
            self.add_identity(provider, subject, email);
        }
    }

    /// Adds an identity. One that is incomplete is left out and reported.
    pub(crate) fn add_identity(
        &mut self,
        provider: Option<String>,
        subject: Option<String>,
        email: Option<String>,
    ) {
        match provider.zip(subject) {
            Some((provider, subject)) => {
                self.identities.push(DraftIdentity { provider, subject, email, issuer: None });
            }
            None => self.drop_field("identities", "an identity lacks provider or subject"),
        }
    }

    /// Returns the identities in domain types. One that is not valid is left out and reported.
    pub(super) fn identities(&mut self) -> Vec<ImportIdentity> {
        let mut found: Vec<ImportIdentity> = Vec::new();
        for draft in std::mem::take(&mut self.identities) {
            let (parsed, email) = (self.identity(&draft), draft.email);
            let Some(parsed) = parsed.filter(|_| found.len() < MOST_IDENTITIES) else {
                let message = "a provider, issuer or subject is not valid, or there are too many";
                self.drop_field("identities", message);
                continue;
            };
            let email = take(&mut self.problems, "identities.email", email, Email::parse);
            let identity = ImportIdentity { email, ..parsed };
            let is_same = |one: &ImportIdentity| {
                (&one.provider, &one.issuer, &one.subject)
                    == (&identity.provider, &identity.issuer, &identity.subject)
            };
            if !found.iter().any(is_same) {
                found.push(identity);
            }
        }
        found
    }

    /// Parses an identity without its address.
    fn identity(&self, draft: &DraftIdentity) -> Option<ImportIdentity> {
        let key = PROVIDERS.iter().find(|(theirs, _)| !self.is_exported && *theirs == draft.provider);
        let key = key.map_or_else(|| draft.provider.to_ascii_lowercase(), |(_, ours)| (*ours).to_owned());
        let issuer = match draft.issuer.as_deref() {
            None => None,
            Some(text) if text == Issuer::unknown().as_str() => Some(Issuer::unknown()),
            Some(text) => Some(Issuer::parse(text)?),
        };
        let (provider, subject) = (ProviderKey::parse(&key).ok()?, Subject::parse(&draft.subject)?);
        Some(ImportIdentity { provider, issuer, subject, email: None })
    }
}
