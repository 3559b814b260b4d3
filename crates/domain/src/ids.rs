//! Identifiers: one newtype per entity over a UUID version 7 (RFC 9562). The only text form is 36 characters
//! with hyphens, hex digits in either case.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};
use uuid::fmt::Hyphenated;
use uuid::{Builder, Uuid};

use crate::reason::{self, Reason};
use crate::shape::{Shape, Shaped};
use crate::time::Timestamp;

/// Error: the text is not a hyphenated UUID. Braces, `urn:uuid:` and bare hex digits are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a UUID")]
pub struct InvalidId;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident $(, $about:literal)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Creates a UUID v7 from injected time and randomness.
            #[must_use]
            pub fn new(now: Timestamp, random: [u8; 10]) -> Self {
                let millis = u64::try_from(now.as_millis()).unwrap_or_default();
                Self(Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }

            /// Restores an id from a store.
            #[must_use]
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID, for a store.
            #[must_use]
            pub const fn as_uuid(&self) -> Uuid {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                text.parse::<Hyphenated>().map(|id| Self(id.into_uuid())).map_err(|_| InvalidId)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse::<Self>().map_err(|error| reason::refusal(Reason::InvalidFormat, error))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        $(impl Shaped for $name {
            const SENT: Shape =
                Shape { format: Some("uuid"), ..Shape::new($about, "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b") };
        })?
    };
}

id!(
    /// A user: the authentication record, `auth_id` of the profile interface, `sub` of access tokens.
    UserId, "The id of the user: `sub` of access tokens, `auth_id` of profiles."
);
id!(
    /// A profile: `id` of the profile interface.
    ProfileId, "The id of the profile; not that of its user."
);
id!(
    /// A session: `sid` of access tokens.
    SessionId, "The id of the session: `sid` of access tokens."
);
id!(
    /// A mail in the outbox; also the left part of its Message-ID.
    MailId
);
id!(
    /// An audit event.
    EventId, "The id of the event; later events have greater ids."
);
id!(
    /// A lease on a batch of outbox mails.
    LeaseId
);
id!(
    /// A signing key: `kid` of access tokens.
    KeyId
);

#[cfg(test)]
mod tests {
    use super::*;

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
