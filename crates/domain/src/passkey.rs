//! Passkeys: discoverable WebAuthn credentials (Web Authentication Level 3) with user verification. A passkey counts as
//! both factors. Registrations and assertions are verified in the crate `webauthn`.

use std::fmt;
use std::sync::Arc;

use crate::factors::FactorName;
use crate::id::id;
use crate::time::Timestamp;

id! {
    /// Id of a passkey in the API. The authenticator uses another id, the [`CredentialId`].
    PasskeyId, "The id of the passkey."
}

/// Maximum number of passkeys of an account.
pub const MAX_PASSKEYS: u32 = 20;
/// Maximum length of a credential id in bytes (WebAuthn section 4, "credential ID").
pub const LONGEST_CREDENTIAL_ID: usize = 1_023;
/// Maximum number of transports that are stored with a passkey.
const MOST_TRANSPORTS: usize = 8;
/// Maximum length of the name of a transport.
const LONGEST_TRANSPORT: usize = 32;

/// Credential id: 1 to 1,023 bytes, chosen by the authenticator, unique over all accounts of the service.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CredentialId(Box<[u8]>);

/// Error of [`CredentialId::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to {LONGEST_CREDENTIAL_ID} bytes")]
pub struct InvalidCredentialId;

impl CredentialId {
    /// Parses the bytes; fails if there are none or more than 1,023.
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidCredentialId> {
        if bytes.is_empty() || bytes.len() > LONGEST_CREDENTIAL_ID {
            return Err(InvalidCredentialId);
        }
        Ok(Self(bytes.into()))
    }

    /// Returns the bytes of the credential id.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// User handle: 16 random bytes per account, stored by the authenticator and returned in each assertion. It is made at
/// the account's first registration and never changes. It differs from the user id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UserHandle([u8; 16]);

impl UserHandle {
    /// Creates the user handle from 16 random bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Parses the bytes in a response; `None` if there are not exactly 16.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().map(Self).ok()
    }

    /// Returns the bytes of the user handle.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// AAGUID: identifies the model of an authenticator. The authenticator states it without proof; all zeros mean that it
/// does not state one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Aaguid([u8; 16]);

impl Aaguid {
    /// Creates the AAGUID from its 16 bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes, in the order of a UUID's digits.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for Aaguid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aaguid({:032x})", u128::from_be_bytes(self.0))
    }
}

/// Relying party id: the domain that passkeys are registered for, setting `passkeys.rp_id`. A passkey is usable only
/// while the setting has the relying party id of its registration.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RpId(Arc<str>);

impl RpId {
    /// Creates the id from a domain, which the settings have checked.
    #[must_use]
    pub fn new(domain: &str) -> Self {
        Self(domain.into())
    }

    /// Returns the relying party id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Transports by which the authenticator can be reached (WebAuthn section 5.8.4), as the browser named them at
/// registration. Sorted, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transports(Vec<String>);

impl Transports {
    /// Creates the list from names. Only well-formed names are kept: at most 8, each of up to 32 lower-case letters,
    /// digits and hyphens. Unknown names are kept too, because later versions of WebAuthn may define them.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let is_name = |name: &&str| {
            (1..=LONGEST_TRANSPORT).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        };
        let mut names: Vec<_> =
            names.into_iter().filter(is_name).take(MOST_TRANSPORTS).map(str::to_owned).collect();
        names.sort_unstable();
        names.dedup();
        Self(names)
    }

    /// Parses the form in the database.
    #[must_use]
    pub fn from_stored(text: &str) -> Self {
        Self::new(text.split(' '))
    }

    /// Returns the form in the database: the names, separated by spaces.
    #[must_use]
    pub fn to_stored(&self) -> String {
        self.0.join(" ")
    }

    /// Returns the names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

/// State of a passkey that each accepted assertion updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasskeyState {
    /// Signature counter; 0 if the authenticator has none.
    pub counter: u32,
    /// Backup state: true if the passkey is synced now.
    pub is_backed_up: bool,
}

/// True if a signature counter may follow the stored one: it has increased, or the authenticator has no counter (0 then
/// and now). Otherwise the passkey may have been copied.
#[must_use]
pub const fn may_follow(stored: u32, presented: u32) -> bool {
    presented > stored || (presented == 0 && stored == 0)
}

/// A registered passkey, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    /// Id of the passkey.
    pub id: PasskeyId,
    /// Credential id.
    pub credential_id: CredentialId,
    /// Relying party id for which the passkey was registered.
    pub rp_id: RpId,
    /// Name of the passkey.
    pub name: FactorName,
    /// Model of the authenticator.
    pub aaguid: Aaguid,
    /// Transports of the authenticator.
    pub transports: Transports,
    /// True if the passkey may be synced (flag BE). It never changes.
    pub is_backup_eligible: bool,
    /// True if the passkey was synced at its last use (flag BS).
    pub is_backed_up: bool,
    /// Time of the registration.
    pub created_at: Timestamp,
    /// Time of the last accepted assertion; `None` if there was none.
    pub last_used_at: Option<Timestamp>,
}

/// Passkeys of an account.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Passkeys {
    /// User handle of the account; `None` before its first registration began.
    pub user_handle: Option<UserHandle>,
    /// All passkeys of the account, oldest first. Those of a former relying party id are included.
    pub passkeys: Vec<Passkey>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credential_id_has_1_to_1023_bytes() {
        for (length, is_accepted) in [(0, false), (1, true), (1_023, true), (1_024, false)] {
            assert_eq!(CredentialId::parse(&vec![7; length]).is_ok(), is_accepted, "{length}");
        }
    }

    #[test]
    fn user_handle_has_16_bytes() {
        for (length, is_accepted) in [(0, false), (15, false), (16, true), (17, false), (64, false)] {
            assert_eq!(UserHandle::parse(&vec![7; length]).is_some(), is_accepted, "{length}");
        }
    }

    #[test]
    fn counter_grows_or_stays_0() {
        for (stored, presented, is_accepted) in [
            (0, 0, true),
            (0, 1, true),
            (1, 2, true),
            (1, u32::MAX, true),
            (1, 1, false),
            (2, 1, false),
            (1, 0, false),
            (u32::MAX, 0, false),
            (u32::MAX, u32::MAX, false),
        ] {
            assert_eq!(may_follow(stored, presented), is_accepted, "{stored} then {presented}");
        }
    }

    #[test]
    fn transports_are_well_formed_names_without_repeats() {
        let transports = Transports::new(["usb", "internal", "usb", "", "a b", "NFC", "x-new"]);
        assert_eq!(transports.to_stored(), "internal usb x-new");
        assert_eq!(Transports::from_stored("internal usb x-new"), transports);
        assert_eq!(Transports::from_stored(""), Transports::default());
    }
}
