//! Verification of WebAuthn ceremonies (Web Authentication Level 3): a registration yields a new credential, an assertion
//! proves possession of a stored one. Pure functions of bytes: no I/O, no clock, no randomness.
//!
//! Challenges, their lifetime and single use, the search for a stored credential and the names of passkeys are in the
//! crate `service`; the JSON forms and base64url are in the crate `http`. Attestation statements are skipped: they are
//! neither required nor verified ([ADR 0028](../../../docs/adr/0028-passkeys-are-verified-by-our-own-crate.md)).

#![warn(missing_docs)]

mod assertion;
mod attestation_object;
mod authenticator_data;
mod cbor;
mod client_data;
mod cose;
mod edwards;
mod expected;
mod flags;
mod refusal;
mod registration;

pub use assertion::{Assertion, AssertionResponse, StoredCredential, verify_assertion};
pub use cose::{Algorithm, CoseKey};
pub use expected::{Expected, ExpectedRegistration, RegistrationMode};
pub use flags::Flags;
pub use latchkey_domain::passkey::{Aaguid, CredentialId, UserHandle};
pub use refusal::{Field, Refusal};
pub use registration::{NewCredential, RegistrationResponse, verify_registration};
