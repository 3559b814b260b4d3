//! Extraction of an identity from a provider's responses, by the field mapping in the provider table.

use latchkey_domain::email::Email;
use serde_json::Value;

use crate::error::{IdTokenFault, ProviderError, Stage};
use crate::id_token::LONGEST_SUBJECT;
use crate::identity::ProviderIdentity;
use crate::provider::Provider;
use crate::providers::{Avatar, EmailList, FieldMapping, Verified};

/// Maximum length of a name and of a picture URL, in characters; longer ones are ignored.
const LONGEST_NAME: usize = 400;
const LONGEST_AVATAR: usize = 2048;
/// Maximum number of entries read from a list of email addresses.
const MOST_EMAILS: usize = 100;

/// An email address and its verification status.
#[derive(Debug, PartialEq)]
pub(crate) struct Mailbox {
    pub(crate) email: Email,
    pub(crate) is_verified: bool,
}

impl Provider {
    /// Extracts the identity by [`FieldMapping::read`]. If each tenant of the provider has its own issuer, the
    /// first document must be a verified `id_token`; its claim `iss` is then the issuer of the identity.
    pub(crate) fn read(&self, documents: &[&Value]) -> Result<ProviderIdentity, ProviderError> {
        let told = documents.first().and_then(|document| document["iss"].as_str());
        let issuer = self.issuer().or_else(|| told.map(str::to_owned)).ok_or(IdTokenFault::Issuer)?;
        self.entry.mapping.read(&self.key, &issuer, documents)
    }
}

impl FieldMapping {
    /// Extracts the identity from the provider's documents (`id_token`, userinfo), the most trusted one first. The
    /// subject is from the first document. An email address and its verified flag are from the same document.
    pub(crate) fn read(
        &self,
        provider: &str,
        issuer: &str,
        documents: &[&Value],
    ) -> Result<ProviderIdentity, ProviderError> {
        let subject = documents.first().and_then(|document| self.subject(document));
        let subject = subject.ok_or_else(|| ProviderError::BadAnswer {
            stage: Stage::Profile,
            reason: "it does not say who signed in".to_owned(),
        })?;
        let mailbox = self.mailbox(documents);
        Ok(ProviderIdentity {
            provider: provider.to_owned(),
            issuer: issuer.to_owned(),
            subject,
            email_verified: mailbox.as_ref().is_some_and(|mailbox| mailbox.is_verified),
            email: mailbox.map(|mailbox| mailbox.email),
            name: documents.iter().find_map(|document| self.name(document)),
            avatar_url: documents.iter().find_map(|document| self.avatar(document)),
        })
    }

    /// True if the document lacks fields of the identity that the userinfo endpoint might return.
    pub(crate) fn is_incomplete(&self, document: &Value) -> bool {
        let has = |pointer: &str| document.pointer(pointer).is_some_and(|value| !value.is_null());
        let is_flag_lacking = match self.verified {
            Verified::True(pointer) | Verified::TrueOrText(pointer) => !has(pointer),
            Verified::Never | Verified::Listed(_) => false,
        };
        is_flag_lacking
            || self.email.is_some_and(|pointer| !has(pointer))
            || self.name(document).is_none()
            || (self.avatar != Avatar::None && self.avatar(document).is_none())
    }

    fn subject(&self, document: &Value) -> Option<String> {
        let parts = self.subject.iter().map(|pointer| part(document.pointer(pointer)?));
        let subject = parts.collect::<Option<Vec<_>>>()?.join(":");
        let is_good = (1..=LONGEST_SUBJECT).contains(&subject.chars().count());
        is_good.then_some(subject)
    }

    /// Selects the first email address with a verified flag, else the first one. A flag never applies to an address of
    /// another document.
    fn mailbox(&self, documents: &[&Value]) -> Option<Mailbox> {
        let pointer = self.email?;
        let mut found = documents.iter().filter_map(|document| {
            let email = Email::parse(document.pointer(pointer)?.as_str()?).ok()?;
            Some((email, self.flag(document)))
        });
        let first = found.next()?;
        let (email, flag) =
            if first.1.is_some() { first } else { found.find(|next| next.1.is_some()).unwrap_or(first) };
        Some(Mailbox { email, is_verified: flag == Some(true) })
    }

    /// Returns the verified flag in the document; `None` if absent.
    fn flag(&self, document: &Value) -> Option<bool> {
        let (Verified::True(pointer) | Verified::TrueOrText(pointer)) = &self.verified else { return None };
        match document.pointer(pointer)? {
            Value::Null => None,
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => {
                Some(matches!(self.verified, Verified::TrueOrText(_)) && text.as_str() == "true")
            }
            _ => Some(false),
        }
    }

    fn name(&self, document: &Value) -> Option<String> {
        self.name.iter().find_map(|pointer| text(document.pointer(pointer)?, LONGEST_NAME))
    }

    fn avatar(&self, document: &Value) -> Option<String> {
        match self.avatar {
            Avatar::None => None,
            Avatar::At(pointer) => text(document.pointer(pointer)?, LONGEST_AVATAR),
            Avatar::Template(template) => filled(template, document),
        }
    }
}

impl EmailList {
    /// Reads the primary email address in the response, if any; an error if the response has no list.
    pub(crate) fn read(&self, response: &Value) -> Result<Option<Mailbox>, ProviderError> {
        let list = response.pointer(self.list).and_then(Value::as_array);
        let list = list.ok_or_else(|| ProviderError::BadAnswer {
            stage: Stage::Emails,
            reason: "there is no list of addresses".to_owned(),
        })?;
        let primary = list.iter().take(MOST_EMAILS).find(|one| one[self.primary] == Value::Bool(true));
        Ok(primary.and_then(|one| {
            let email = Email::parse(one[self.address].as_str()?).ok()?;
            Some(Mailbox { email, is_verified: one[self.verified] == Value::Bool(true) })
        }))
    }
}

/// Reads a value for a subject or a URL as text: a string, or an integer (GitHub).
fn part(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let is_good = !text.is_empty() && text.trim() == text && !text.contains(char::is_control);
            is_good.then(|| text.clone())
        }
        Value::Number(number) => number.as_u64().map(|number| number.to_string()),
        _ => None,
    }
}

fn text(value: &Value, longest: usize) -> Option<String> {
    let text = value.as_str()?.trim();
    (!text.is_empty() && text.chars().count() <= longest).then(|| text.to_owned())
}

/// Fills the placeholders of a URL template, which are JSON pointers in braces, with values of the document. Returns
/// `None` if a value is missing, or could alter the structure of the URL.
fn filled(template: &str, document: &Value) -> Option<String> {
    let mut address = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (pointer, after) = after.split_once('}')?;
        let value = part(document.pointer(pointer)?)?;
        let is_plain = value.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-');
        if !is_plain {
            return None;
        }
        address.push_str(before);
        address.push_str(&value);
        rest = after;
    }
    address.push_str(rest);
    Some(address)
}

/// Reads the name in the `user` parameter of Apple's first callback. It is not verified, because it passes through the
/// browser.
pub(crate) fn name_in_callback(user: &str) -> Option<String> {
    if user.len() > 4096 {
        return None;
    }
    let user: Value = serde_json::from_str(user).ok()?;
    let part = |pointer: &str| user.pointer(pointer).and_then(|value| text(value, LONGEST_NAME / 2));
    let parts: Vec<_> = ["/name/firstName", "/name/lastName"].into_iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

#[cfg(test)]
mod tests;
