//! Verification of an assertion (WebAuthn section 7.2).

use aws_lc_rs::digest::{SHA256, digest};
use latchkey_domain::passkey::{CredentialId, UserHandle, may_follow};

use crate::authenticator_data::AuthenticatorData;
use crate::client_data::{self, Ceremony};
use crate::cose::CoseKey;
use crate::expected::Expected;
use crate::flags::Flags;
use crate::refusal::{Field, Refusal};

/// Response of the browser to request options, decoded from base64url. The names of its fields in WebAuthn are in the
/// comments.
#[derive(Debug, Clone)]
pub struct AssertionResponse<'a> {
    /// `rawId`: the credential id.
    pub id: CredentialId,
    /// `response.clientDataJSON`: challenge, origin and type, as JSON.
    pub client_data_json: &'a [u8],
    /// `response.authenticatorData`: flags and signature counter.
    pub authenticator_data: &'a [u8],
    /// `response.signature`: signature over authenticator data and the hash of client data.
    pub signature: &'a [u8],
    /// `response.userHandle`: the user handle of the account; `None` if the authenticator sent none.
    pub user_handle: Option<UserHandle>,
}

/// Stored data of the credential whose id is in the response.
#[derive(Debug, Clone)]
pub struct StoredCredential<'a> {
    /// The credential id.
    pub id: &'a CredentialId,
    /// The user handle of the credential's account.
    pub user_handle: UserHandle,
    /// The public key.
    pub key: &'a CoseKey,
    /// The flag BE of the registration.
    pub is_backup_eligible: bool,
    /// The signature counter of the registration or the last assertion.
    pub counter: u32,
}

/// Data of a verified assertion, to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assertion {
    /// The flags; BS may have changed.
    pub flags: Flags,
    /// The signature counter to store.
    pub counter: u32,
}

/// Verifies an assertion by a stored credential. User presence and user verification (UP and UV) are always required.
/// The flags and the counter are checked after the signature, so a refusal because of them shows that the client used
/// the credential's private key.
pub fn verify_assertion(
    response: &AssertionResponse<'_>,
    stored: &StoredCredential<'_>,
    expected: &Expected<'_>,
) -> Result<Assertion, Refusal> {
    client_data::check(response.client_data_json, Ceremony::Assertion, expected)?;
    Field::AuthenticatorData.check(response.authenticator_data)?;
    Field::Signature.check(response.signature)?;
    let data = AuthenticatorData::parse(response.authenticator_data)?;
    // An assertion has no attested credential data (WebAuthn section 6.1).
    if data.credential.is_some() {
        return Err(Refusal::AuthenticatorData);
    }
    data.check_rp_id(expected.rp_id)?;
    check_owner(response, stored)?;
    let hash = digest(&SHA256, response.client_data_json);
    stored.key.verify(&[response.authenticator_data, hash.as_ref()].concat(), response.signature)?;
    data.flags.demand_verified_user()?;
    if data.flags.is_backup_eligible() != stored.is_backup_eligible {
        return Err(Refusal::BackupEligibility);
    }
    if !may_follow(stored.counter, data.counter) {
        return Err(Refusal::Counter);
    }
    Ok(Assertion { flags: data.flags, counter: data.counter })
}

fn check_owner(response: &AssertionResponse<'_>, stored: &StoredCredential<'_>) -> Result<(), Refusal> {
    if response.id != *stored.id {
        return Err(Refusal::OtherCredential);
    }
    match response.user_handle {
        None => Err(Refusal::UserHandle),
        Some(handle) if handle != stored.user_handle => Err(Refusal::OtherUser),
        Some(_) => Ok(()),
    }
}
