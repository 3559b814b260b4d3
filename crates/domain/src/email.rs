//! Email addresses: validation, the text as entered, and the canonical form for comparison ([`EmailKey`]).

use std::fmt;

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;
use serde::{Deserialize, Deserializer, Serialize};

use crate::reason::{self, Reason};
use crate::shape::{Shape, Shaped};

/// Maximum length of an address in characters (RFC 5321 section 4.5.3.1.3).
const LONGEST: usize = 254;
/// Maximum length of the local part in characters (RFC 5321 section 4.5.3.1.1).
const LONGEST_LOCAL: usize = 64;

/// An email address with an ASCII dot-atom as local part and a domain with a dot. A plus-tag is part of the address.
/// Quoted strings, comments, address literals, surrounding white space and look-alikes of `@` are refused.
#[derive(Clone, PartialEq, Eq)]
pub struct Email {
    as_typed: String,
    key: EmailKey,
}

impl Shaped for Email {
    const SENT: Shape = Shape {
        format: Some("email"),
        max_length: Some(LONGEST),
        ..Shape::new(
            "An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.",
            "ada@example.org",
        )
    };
    const SHOWN: Shape =
        Shape { format: Some("idn-email"), ..Self::SENT.about("The address as its owner typed it.") };
}

/// Canonical form of an email address, for comparison: `name@domain` in lower case, the domain in ASCII (UTS 46).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct EmailKey(String);

/// Error of [`Email::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEmail {
    /// The text does not have exactly one `@` with text on both sides.
    #[error("must be one address of the form name@domain.tld")]
    Form,
    /// The text has leading or trailing white space.
    #[error("must not have spaces around it")]
    Padded,
    /// The local part is not an ASCII dot-atom, or has more than 64 characters.
    #[error("has a local part that is no ASCII dot-atom of at most 64 characters")]
    Local,
    /// The domain is not a host name with a dot.
    #[error("has a domain that is not a host name with a dot")]
    Domain,
    /// The address has more than 254 characters.
    #[error("must be at most 254 characters long")]
    Long,
}

impl InvalidEmail {
    /// Returns the reason code of the error.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Self::Form | Self::Local | Self::Domain => Reason::InvalidFormat,
            Self::Padded => Reason::InvalidCharacters,
            Self::Long => Reason::TooLong,
        }
    }
}

impl Email {
    /// Parses exactly one address. The text is neither trimmed nor corrected.
    pub fn parse(text: &str) -> Result<Self, InvalidEmail> {
        if text.len() > 4 * LONGEST {
            return Err(InvalidEmail::Long);
        }
        if text.trim() != text {
            return Err(InvalidEmail::Padded);
        }
        let (local, domain) = text.split_once('@').ok_or(InvalidEmail::Form)?;
        if local.is_empty() || domain.is_empty() || domain.contains('@') {
            return Err(InvalidEmail::Form);
        }
        if !is_dot_atom(local) {
            return Err(InvalidEmail::Local);
        }
        let host = host(domain)?;
        let key = format!("{}@{host}", local.to_ascii_lowercase());
        if key.len() > LONGEST || text.chars().count() > LONGEST {
            return Err(InvalidEmail::Long);
        }
        Ok(Self { as_typed: text.to_owned(), key: EmailKey(key) })
    }

    /// Restores a stored address; `None` if invalid. IDNA, which is slow, runs only if the address is not ASCII.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        if !text.is_ascii() {
            return Self::parse(text).ok();
        }
        text.contains('@')
            .then(|| Self { as_typed: text.to_owned(), key: EmailKey(text.to_ascii_lowercase()) })
    }

    /// Returns the address as entered by the user.
    #[must_use]
    pub fn as_typed(&self) -> &str {
        &self.as_typed
    }

    /// Returns the canonical form for comparison.
    #[must_use]
    pub const fn key(&self) -> &EmailKey {
        &self.key
    }

    /// Returns the local part as entered, the text before `@`.
    #[must_use]
    pub fn local_part(&self) -> &str {
        self.as_typed.split('@').next().unwrap_or_default()
    }

    /// Returns the address for SMTP: local part as entered, domain in ASCII.
    #[must_use]
    pub fn deliverable(&self) -> String {
        let domain = self.key.0.split('@').nth(1).unwrap_or_default();
        format!("{}@{domain}", self.local_part())
    }
}

impl EmailKey {
    /// Returns the canonical form as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the canonical form without the plus-tag: `ada@…` for `ada+x@…`. All tags belong to one mailbox.
    #[must_use]
    pub fn without_tag(&self) -> String {
        let (local, domain) = self.0.split_once('@').unwrap_or((&self.0, ""));
        match local.split_once('+') {
            Some((name, _)) if !name.is_empty() => format!("{name}@{domain}"),
            _ => self.0.clone(),
        }
    }
}

/// True if the text is an ASCII dot-atom (RFC 5322) of at most 64 characters.
fn is_dot_atom(local: &str) -> bool {
    let is_atext = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&c);
    local.len() <= LONGEST_LOCAL
        && local.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atext))
}

/// Converts a domain to ASCII by IDNA. The domain must have at least two labels of letters, digits and inner hyphens,
/// and its last label must not be all digits.
fn host(domain: &str) -> Result<String, InvalidEmail> {
    // Full-width and small forms are refused, because IDNA would convert them to ASCII; legitimate addresses have none.
    if domain.chars().any(|c| matches!(c, '\u{FF00}'..='\u{FF5E}' | '\u{FE50}'..='\u{FE6F}')) {
        return Err(InvalidEmail::Domain);
    }
    // Invisible characters are refused. IDNA would remove them, so the entered and the compared address would differ.
    if domain.chars().any(is_invisible) {
        return Err(InvalidEmail::Domain);
    }
    let host = idna::domain_to_ascii_strict(domain).map_err(|_| InvalidEmail::Domain)?;
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-')
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_host =
        host.contains('.') && host.split('.').all(is_label) && !last.bytes().all(|c| c.is_ascii_digit());
    if is_host { Ok(host) } else { Err(InvalidEmail::Domain) }
}

/// True for default-ignorable (invisible) characters, except the zero-width joiner and non-joiner, whose context IDNA
/// checks.
fn is_invisible(c: char) -> bool {
    !matches!(c, '\u{200C}' | '\u{200D}') && CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

impl<'de> Deserialize<'de> for Email {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|error| reason::refusal(error.reason(), error))
    }
}

/// Debug output omits the address, which must not appear in logs.
impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Email(…)")
    }
}

/// Debug output omits the address, which must not appear in logs.
impl fmt::Debug for EmailKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EmailKey(…)")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn key_ignores_case_and_knows_idna() {
        let email = Email::parse("Ada.Love+x@Bücher.Example").unwrap();
        assert_eq!(email.key().as_str(), "ada.love+x@xn--bcher-kva.example");
        assert_eq!(email.as_typed(), "Ada.Love+x@Bücher.Example");
        assert_eq!(email.deliverable(), "Ada.Love+x@xn--bcher-kva.example");
    }

    #[test]
    fn plus_tags_are_removed_unless_the_name_is_empty() {
        for (address, untagged) in [
            ("Ada+x@Example.org", "ada@example.org"),
            ("ada+x+y@example.org", "ada@example.org"),
            ("ada@example.org", "ada@example.org"),
            ("+x@example.org", "+x@example.org"),
        ] {
            assert_eq!(Email::parse(address).unwrap().key().without_tag(), untagged);
        }
    }

    #[test]
    fn malformed_addresses_are_refused() {
        for text in [
            "",
            "ada",
            "@example.org",
            "ada@",
            "ada@example",
            "a@b@c.org",
            " ada@example.org",
            "ada@example.org ",
            "ada@example.org\n",
            "\"ada\"@example.org",
            "ada(x)@example.org",
            "ada@[127.0.0.1]",
            "ada@127.0.0.1",
            "ada@example.org,eve@example.org",
            "ada@example.org;eve@x.org",
            ".ada@example.org",
            "ada.@example.org",
            "a..b@example.org",
            "ada\u{FF20}example.org",
            "ada@evil.example\u{FF20}example.org",
            "ädä@example.org",
            "ada@-x.org",
            "ada@x-.org",
            "ada@exa mple.org",
            "ada@example..org",
            "ada@.org",
            "ada@example.org.",
            "Ada <ada@example.org>",
            "ada@exam\u{0}ple.org",
            "ada@exam\u{AD}ple.org",
            "ada@example.org\u{200B}",
            "ada@ex_ample.org",
            "ada@example.123",
        ] {
            assert!(Email::parse(text).is_err(), "{text:?}");
        }
        assert!(Email::parse(&format!("{}@example.org", "a".repeat(65))).is_err());
        assert!(Email::parse(&format!("a@{}.org", "b".repeat(64))).is_err());
        assert!(Email::parse(&format!("a@{}org", "bcdefghi.".repeat(30))).is_err());
    }
}
