//! Verification of a registration (WebAuthn section 7.1), without the attestation statement.

use latchkey_domain::passkey::{Aaguid, CredentialId};

use crate::attestation_object;
use crate::authenticator_data::AuthenticatorData;
use crate::client_data::{self, Ceremony};
use crate::cose::CoseKey;
use crate::expected::ExpectedRegistration;
use crate::flags::Flags;
use crate::refusal::Refusal;

/// Response of the browser to creation options, decoded from base64url. The names of its fields in
/// WebAuthn are in the comments.
#[derive(Debug, Clone)]
pub struct RegistrationResponse<'a> {
    /// `rawId`: the credential id.
    pub id: CredentialId,
    /// `response.clientDataJSON`: challenge, origin and type, as JSON.
    pub client_data_json: &'a [u8],
    /// `response.attestationObject`: authenticator data and attestation, as CBOR.
    pub attestation_object: &'a [u8],
}

/// A verified new credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCredential {
    /// The credential id. The store must check that no other account has it.
    pub id: CredentialId,
    /// The public key.
    pub key: CoseKey,
    /// The model of the authenticator, which the authenticator states without proof.
    pub aaguid: Aaguid,
    /// The flags of the registration. BE never changes afterwards.
    pub flags: Flags,
    /// The signature counter, 0 if the authenticator has none.
    pub counter: u32,
}

/// Verifies a registration.
pub fn verify_registration(
    response: &RegistrationResponse<'_>,
    expected: &ExpectedRegistration<'_>,
) -> Result<NewCredential, Refusal> {
    client_data::check(response.client_data_json, Ceremony::Registration, &expected.ceremony)?;
    let data = attestation_object::authenticator_data(response.attestation_object)?;
    let data = AuthenticatorData::parse(data)?;
    data.check_rp_id(expected.ceremony.rp_id)?;
    expected.mode.check(data.flags)?;
    let credential = data.credential.ok_or(Refusal::AuthenticatorData)?;
    if credential.id != response.id {
        return Err(Refusal::OtherCredential);
    }
    let key = CoseKey::parse(credential.key)?;
    let (id, aaguid) = (credential.id, credential.aaguid);
    Ok(NewCredential { id, key, aaguid, flags: data.flags, counter: data.counter })
}
