//! Types of profile fields: texts with bounds and character rules, and JSON objects of limited size.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use url::Url;

use crate::reason::{self, Reason};
use crate::shape::{Shape, Shaped};
use crate::text::{InvalidText, bounded, bounded_text, line};

/// Maximum length of a display name in characters.
pub const LONGEST_NAME: usize = 100;
/// Maximum length of a bio in characters.
pub const LONGEST_BIO: usize = 1_000;
/// Maximum length of an avatar URL in characters.
pub const LONGEST_AVATAR_URL: usize = 2_048;
/// Maximum size of the metadata, and of all custom fields together, in bytes of compact JSON.
pub const LARGEST_OBJECT: usize = 16 * 1024;
/// Keys that a profile update in flat form ignores, because clients cannot set them.
pub const READ_ONLY_KEYS: [&str; 8] =
    ["id", "auth_id", "profile", "createdAt", "updatedAt", "created_at", "updated_at", "metadata"];
/// Usernames that are refused because they could impersonate the service or its staff.
const RESERVED_USERNAMES: &str = "\
    about account accounts admin administrator anonymous api auth billing contact everyone guest help info \
    latchkey login logout mail me moderator nobody null official owner postmaster privacy profile \
    profiles root search security settings signin signup staff support system undefined user webmaster";

/// Error of parsing an avatar URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAvatarUrl {
    /// The text is not an absolute http or https URL with a host.
    #[error("must be a valid URL: an absolute http or https URL with a host")]
    Form,
    /// The text contains white space or control characters.
    #[error("must be a valid URL without white space or control characters")]
    Spaces,
    /// The text has more than [`LONGEST_AVATAR_URL`] characters.
    #[error("must be at most {LONGEST_AVATAR_URL} characters long")]
    Long,
}

impl InvalidAvatarUrl {
    /// Returns the reason code of the error.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Self::Form => Reason::InvalidFormat,
            Self::Spaces => Reason::InvalidCharacters,
            Self::Long => Reason::TooLong,
        }
    }
}

/// Error of parsing a username.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUsername {
    /// The text contains characters, or has a length, that a username must not have.
    #[error("must have 3 to 32 characters out of a-z, 0-9, '_', '.' and '-'")]
    Form,
    /// The username is reserved.
    #[error("is reserved; choose another one")]
    Reserved,
}

impl InvalidUsername {
    /// Returns the reason code of the error.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Self::Form => Reason::InvalidFormat,
            Self::Reserved => Reason::Reserved,
        }
    }
}

/// Error: the object exceeds [`LARGEST_OBJECT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be at most 16 KiB of JSON")]
pub struct TooLarge;

bounded_text!(
    /// A display name: at most 100 characters, without control characters. The default is empty.
    #[derive(Default)]
    Name, InvalidText, |text| line(text, LONGEST_NAME)
);
bounded_text!(
    /// A text about oneself: at most 1,000 characters; line breaks are allowed.
    Bio, InvalidText, |text| bounded(text, LONGEST_BIO)
);
bounded_text!(
    /// The URL of a picture: an absolute http or https URL with a host, at most 2,048 characters. Stored as sent.
    AvatarUrl, InvalidAvatarUrl, avatar_url
);
bounded_text!(
    /// A unique handle: 3 to 32 characters out of `a-z 0-9 _ . -`. Upper-case letters are converted to lower case.
    Username, InvalidUsername, username
);

impl Shaped for Name {
    const SENT: Shape = Shape {
        max_length: Some(LONGEST_NAME),
        pattern: Some("^[^\\u0000-\\u001f\\u007f-\\u009f]*$"),
        ..Shape::new("Display name, without control characters.", "Ada Lovelace")
    };
    const SHOWN: Shape = Shape { pattern: None, ..Self::SENT.about("Display name; empty if not set.") };
}

impl Shaped for Bio {
    const SENT: Shape = Shape { pattern: Some(Shape::NO_NUL), ..Self::SHOWN };
    const SHOWN: Shape =
        Shape { max_length: Some(LONGEST_BIO), ..Shape::new("Text about oneself.", "First programmer.") };
}

/// The schema does not use the format `uri`, which means RFC 3986: the accepted URLs follow the wider rules of the URL
/// Standard.
impl Shaped for AvatarUrl {
    const SENT: Shape = Shape {
        max_length: Some(LONGEST_AVATAR_URL),
        pattern: Some("^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#\\\\]\\S*$"),
        ..Shape::new(
            "Picture: an absolute http or https URL with a host, without white space.",
            "https://example.org/ada.png",
        )
    };
    const SHOWN: Shape = Self::SENT.about("Picture: an http or https URL.");
}

impl Shaped for Username {
    const SENT: Shape = Shape {
        pattern: Some("^[A-Za-z0-9_.-]{3,32}$"),
        ..Shape::new(
            "Unique handle, compared without case and kept in lower case; reserved words are refused.",
            "ada",
        )
    };
    const SHOWN: Shape = Shape {
        pattern: Some("^[a-z0-9_.-]{3,32}$"),
        ..Self::SENT.about("Unique handle; the key is left out while it is not set.")
    };
}

fn avatar_url(text: &str) -> Result<String, InvalidAvatarUrl> {
    if text.chars().count() > LONGEST_AVATAR_URL {
        return Err(InvalidAvatarUrl::Long);
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(InvalidAvatarUrl::Spaces);
    }
    // Browsers accept `https:host` and `https:\\host`, but neither is an absolute URL.
    let (scheme, rest) = text.split_once("://").ok_or(InvalidAvatarUrl::Form)?;
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let has_host = !rest.is_empty() && !rest.starts_with(['/', '\\', '?', '#']);
    let is_url = Url::parse(text).is_ok_and(|url| url.host_str().is_some_and(|host| !host.is_empty()));
    if is_web && has_host && is_url { Ok(text.to_owned()) } else { Err(InvalidAvatarUrl::Form) }
}

fn username(text: &str) -> Result<String, InvalidUsername> {
    let text = text.to_ascii_lowercase();
    let is_allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"_.-".contains(&c);
    if !(3..=32).contains(&text.len()) || !text.bytes().all(is_allowed) {
        return Err(InvalidUsername::Form);
    }
    if RESERVED_USERNAMES.split(' ').any(|reserved| reserved == text) {
        return Err(InvalidUsername::Reserved);
    }
    Ok(text)
}

/// Refuses a JSON object that exceeds 16 KiB as compact JSON.
pub fn check_object_size(object: &Map<String, Value>) -> Result<(), TooLarge> {
    let size = serde_json::to_string(object).map_or(usize::MAX, |text| text.len());
    if size > LARGEST_OBJECT { Err(TooLarge) } else { Ok(()) }
}

/// Declares a JSON object of at most 16 KiB as compact JSON.
macro_rules! bounded_object {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name(Map<String, Value>);

        impl $name {
            /// Creates the value from an object; fails if it exceeds 16 KiB as compact JSON.
            pub fn new(object: Map<String, Value>) -> Result<Self, TooLarge> {
                check_object_size(&object)?;
                Ok(Self(object))
            }

            /// Restores a stored object without a check.
            #[must_use]
            pub const fn from_stored(object: Map<String, Value>) -> Self {
                Self(object)
            }

            /// Returns the JSON object.
            #[must_use]
            pub const fn as_map(&self) -> &Map<String, Value> {
                &self.0
            }

            /// Returns the JSON object and consumes the value.
            #[must_use]
            pub fn into_map(self) -> Map<String, Value> {
                self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(Map::deserialize(deserializer)?).map_err(|error| reason::refusal(Reason::TooLarge, error))
            }
        }
    };
}
pub(crate) use bounded_object;

bounded_object! {
    /// Metadata of a profile: free-form JSON that only the owner can read, at most 16 KiB as text.
    Metadata
}

impl Shaped for Metadata {
    const SENT: Shape = Shape::object(
        "Free-form JSON, private to the owner, at most 16 KiB as text. Replaces the whole object.",
        r#"{"theme":"dark"}"#,
    );
    const SHOWN: Shape = Self::SENT.about("Free-form JSON, private to the owner; never null.");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn avatar_urls_are_absolute_web_urls() {
        for good in
            ["https://x.example/a.png", "HTTP://x.example", "http://127.0.0.1:8/a?b#c", "https://[::1]/a"]
        {
            assert!(AvatarUrl::parse(good).is_ok(), "{good:?}");
        }
        for bad in [
            "",
            "x",
            "/a.png",
            "//x.example/a",
            "ftp://x.example/a",
            "javascript:alert(1)",
            "data:image/png;base64,AA",
            "https://",
            "https:///a",
            "https:x.example",
            "https:\\\\x.example",
            " https://x.example",
            "https://x.example/a b",
            "https://x.example/\n",
            "https://x\u{a0}.example/",
            "http://?a",
            "not-a-url",
        ] {
            assert!(AvatarUrl::parse(bad).is_err(), "{bad:?}");
        }
        assert!(AvatarUrl::parse(&format!("https://x.example/{}", "a".repeat(2048))).is_err());
    }

    #[test]
    fn usernames_are_lower_case_and_not_reserved() {
        assert_eq!(Username::parse("Ada_9.x-").unwrap().as_str(), "ada_9.x-");
        for bad in ["ab", "", &"a".repeat(33), "a b", "ädа", "admin", "Root"] {
            assert!(Username::parse(bad).is_err(), "{bad:?}");
        }
    }
}
