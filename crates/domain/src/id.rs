//! Identifiers: one type per entity, each a UUID version 7 (RFC 9562). The text form has 36 characters with hyphens;
//! hex digits may have either case. `id!` declares an id type, in the file of its entity; the module `ids` lists them.

use serde::{Deserialize, Deserializer};
use uuid::fmt::Hyphenated;
use uuid::{Builder, Uuid};

use crate::reason::{self, Reason};
use crate::shape::Shape;
use crate::time::Timestamp;

/// Error of parsing an id: the text is not a UUID with hyphens. Braces, `urn:uuid:` and 32 bare hex digits are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a UUID")]
pub struct InvalidId;

/// Declares an id type: its documentation, its name, and its description in the API if it appears there.
///
/// ```ignore
/// id! {
///     /// Id of a note.
///     NoteId, "The id of the note."
/// }
/// ```
macro_rules! id {
    ($(#[$doc:meta])* $name:ident $(, $about:literal)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(uuid::Uuid);

        impl $name {
            /// Creates a UUID version 7 from the injected time and ten random bytes.
            #[must_use]
            pub fn new(now: $crate::time::Timestamp, random: [u8; 10]) -> Self {
                Self($crate::id::version_7(now, random))
            }

            /// Returns the UUID to be stored.
            #[must_use]
            pub const fn as_uuid(&self) -> uuid::Uuid {
                self.0
            }
        }

        /// Restores a stored id.
        impl From<uuid::Uuid> for $name {
            fn from(uuid: uuid::Uuid) -> Self {
                Self(uuid)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::id::InvalidId;

            fn from_str(text: &str) -> Result<Self, $crate::id::InvalidId> {
                $crate::id::parsed(text).map(Self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::id::deserialized(deserializer).map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0.hyphenated(), f)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        $(impl $crate::shape::Shaped for $name {
            const SENT: $crate::shape::Shape = $crate::id::shape($about);
        })?
    };
}
pub(crate) use id;

id! {
    /// Id of a signing key: `kid` of access tokens.
    KeyId
}

/// Creates a UUID version 7 from the injected time and ten random bytes.
pub(crate) fn version_7(now: Timestamp, random: [u8; 10]) -> Uuid {
    let millis = u64::try_from(now.as_millis()).unwrap_or_default();
    Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

pub(crate) fn parsed(text: &str) -> Result<Uuid, InvalidId> {
    text.parse::<Hyphenated>().map(Hyphenated::into_uuid).map_err(|_| InvalidId)
}

pub(crate) fn deserialized<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Uuid, D::Error> {
    let text = String::deserialize(deserializer)?;
    parsed(&text).map_err(|error| reason::refusal(Reason::InvalidFormat, error))
}

/// Returns the schema of an id in requests and responses.
pub(crate) const fn shape(about: &'static str) -> Shape {
    Shape { format: Some("uuid"), ..Shape::new(about, "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user::UserId;

    const ID: &str = "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";

    #[test]
    fn an_id_has_one_spelling_in_either_case() {
        let id = ID.parse::<UserId>();
        assert!(id.is_ok_and(|id| id.to_string() == ID));
        assert_eq!(ID.to_uppercase().parse::<UserId>(), id);
    }

    #[test]
    fn other_spellings_of_a_uuid_are_no_ids() {
        let bare = ID.replace('-', "");
        for text in [
            format!("{{{ID}}}"),
            format!("urn:uuid:{ID}"),
            format!("{{{bare}}}"),
            bare.clone(),
            format!("{ID} "),
            ID.replace("-7e5f-", "7-e5f-"),
            ID.replace('0', "０"),
            format!("{bare}----"),
            String::new(),
        ] {
            assert_eq!(text.parse::<UserId>(), Err(InvalidId), "{text:?}");
        }
    }
}
