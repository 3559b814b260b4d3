//! WebAuthn ceremonies (one registration or sign-in each). The WebAuthn challenge of a ceremony is sealed into an id,
//! which the client returns with its response, so no row is written for it.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::Ceremony as Completed;

use crate::entropy::Entropy;
use crate::error::{Error, Result};
use crate::secrets::{CannotDerive, KeyUse, SealingKey, ServerSecret};

/// Lifetime of a ceremony. It is the longest that WebAuthn recommends, because a request with conditional
/// mediation (autofill) waits until the user selects a passkey on the open page.
const LIFETIME: Duration = Duration::from_mins(10);
/// Length in bytes of a ceremony before it is sealed: kind, expiry, challenge, binding.
const LENGTH: usize = 1 + 8 + 32 + 32;

/// The kind of a ceremony. An id made for one kind is not accepted for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CeremonyKind {
    Registration,
    /// A registration that the browser makes without asking the user (WebAuthn's conditional creation).
    ConditionalRegistration,
    SignIn,
}

/// A ceremony that has begun.
pub(super) struct Ceremony {
    pub(super) kind: CeremonyKind,
    pub(super) challenge: [u8; 32],
    /// Hash of the session or challenge that alone may complete a registration, or of the address that a
    /// sign-in was begun for.
    pub(super) bound_to: TokenHash,
    pub(super) expires_at: Timestamp,
}

/// The key that seals ceremonies into their ids.
pub(super) struct CeremonyKey(SealingKey);

impl CeremonyKey {
    pub(super) fn new(secret: &ServerSecret) -> Result<Self, CannotDerive> {
        secret.sealing_key(KeyUse::PasskeyCeremonies).map(Self)
    }

    /// Seals a ceremony into its id. All ids have the same length.
    pub(super) fn seal(&self, ceremony: &Ceremony, entropy: &dyn Entropy) -> Result<String> {
        let mut plain = Vec::with_capacity(LENGTH);
        plain.push(ceremony.kind.to_byte());
        plain.extend(ceremony.expires_at.as_millis().to_be_bytes());
        plain.extend(ceremony.challenge);
        plain.extend(ceremony.bound_to.as_bytes());
        let sealed = self.0.seal(entropy, &[], &plain).map_err(Error::internal)?;
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Decrypts the id of a ceremony. Returns `None` if this service did not make the id, or if the ceremony has
    /// expired.
    pub(super) fn open(&self, id: &str, now: Timestamp) -> Option<Ceremony> {
        let sealed = URL_SAFE_NO_PAD.decode(id).ok()?;
        let plain: [u8; LENGTH] = self.0.open(&[], &sealed).ok()?.try_into().ok()?;
        let (kind, rest) = plain.split_first()?;
        let (expires_at, rest) = rest.split_first_chunk()?;
        let (challenge, bound_to) = rest.split_first_chunk()?;
        let ceremony = Ceremony {
            kind: CeremonyKind::of_byte(*kind)?,
            challenge: *challenge,
            bound_to: TokenHash::from_bytes(bound_to.try_into().ok()?),
            expires_at: Timestamp::from_millis(i64::from_be_bytes(*expires_at)),
        };
        (now < ceremony.expires_at).then_some(ceremony)
    }
}

impl Ceremony {
    pub(super) fn begin(
        kind: CeremonyKind,
        bound_to: TokenHash,
        entropy: &dyn Entropy,
        now: Timestamp,
    ) -> Self {
        Self { kind, challenge: entropy.bytes(), bound_to, expires_at: now.plus(LIFETIME) }
    }

    /// Returns the hash and expiry by which the store records that the ceremony was completed, so that it
    /// cannot be completed twice.
    pub(super) fn completed(&self) -> Completed {
        Completed { hash: TokenHash::of(&self.challenge), expires_at: self.expires_at }
    }
}

impl CeremonyKind {
    const ALL: [Self; 3] = [Self::Registration, Self::ConditionalRegistration, Self::SignIn];

    const fn to_byte(self) -> u8 {
        match self {
            Self::Registration => 1,
            Self::ConditionalRegistration => 2,
            Self::SignIn => 3,
        }
    }

    fn of_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.to_byte() == byte)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::entropy::SystemEntropy;

    const NOW: Timestamp = Timestamp::from_millis(1_772_366_400_000);

    fn key(byte: u8) -> CeremonyKey {
        CeremonyKey::new(&ServerSecret::new(vec![byte; 32]).unwrap()).unwrap()
    }

    fn begun(kind: CeremonyKind) -> Ceremony {
        Ceremony::begin(kind, TokenHash::of(b"caller"), &SystemEntropy, NOW)
    }

    #[test]
    fn id_opens_to_its_ceremony_for_ten_minutes() {
        for kind in CeremonyKind::ALL {
            let ceremony = begun(kind);
            let id = key(1).seal(&ceremony, &SystemEntropy).unwrap();
            let last = NOW.plus(LIFETIME.saturating_sub(Duration::from_millis(1)));
            let opened = key(1).open(&id, last).unwrap();
            assert_eq!((opened.kind, opened.challenge), (kind, ceremony.challenge));
            assert!(opened.bound_to == ceremony.bound_to && opened.expires_at == NOW.plus(LIFETIME));
            assert!(key(1).open(&id, NOW.plus(LIFETIME)).is_none());
        }
    }

    #[test]
    fn ids_have_one_length_and_differ() {
        let one = key(1).seal(&begun(CeremonyKind::SignIn), &SystemEntropy).unwrap();
        let other = key(1).seal(&begun(CeremonyKind::Registration), &SystemEntropy).unwrap();
        assert!(one.len() == other.len() && one != other);
    }

    #[test]
    fn ids_of_others_and_changed_ids_are_unknown() {
        let id = key(1).seal(&begun(CeremonyKind::SignIn), &SystemEntropy).unwrap();
        assert!(key(2).open(&id, NOW).is_none());
        for changed in
            ["", "x", &id[..id.len() - 1], &format!("{id}A"), &format!("{id}="), &id.to_uppercase()]
        {
            assert!(key(1).open(changed, NOW).is_none(), "{changed}");
        }
    }
}
