//! Responses of the browser to WebAuthn options, and their verification.

use latchkey_domain::passkey::{CredentialId, PasskeyState, RpId, Transports, UserHandle};
use latchkey_domain::session::AuthMethod;
use latchkey_store::{FoundChallenge, PasskeyOptions, ShownPasskey, VerifiablePasskey};
use latchkey_webauthn::{
    AssertionResponse, CoseKey, Expected, ExpectedRegistration, NewCredential, Refusal, RegistrationMode,
    RegistrationResponse, StoredCredential, verify_assertion, verify_registration,
};

use super::Passkeys;
use crate::error::{Error, Result};

/// A browser's response to creation options, decoded. Field names of WebAuthn are in the comments.
pub struct Registration {
    /// `rawId`: the credential id.
    pub id: CredentialId,
    /// `response.clientDataJSON`: challenge, origin and type, as JSON.
    pub client_data: Vec<u8>,
    /// `response.attestationObject`: authenticator data and attestation, as CBOR.
    pub attestation_object: Vec<u8>,
    /// `response.transports`: ways to reach the authenticator.
    pub transports: Transports,
}

/// A browser's response to request options, decoded. Field names of WebAuthn are in the comments.
pub struct Assertion {
    /// `rawId`: the credential id.
    pub id: CredentialId,
    /// `response.clientDataJSON`: challenge, origin and type, as JSON.
    pub client_data: Vec<u8>,
    /// `response.authenticatorData`: flags and signature counter.
    pub authenticator_data: Vec<u8>,
    /// `response.signature`: signature over authenticator data and the hash of client data.
    pub signature: Vec<u8>,
    /// `response.userHandle`: user handle of the account, unvalidated.
    pub user_handle: Option<Vec<u8>>,
}

impl Passkeys {
    pub(super) fn verify_registration(
        &self,
        registration: &Registration,
        challenge: &[u8],
        mode: RegistrationMode,
        rp_id: &RpId,
    ) -> Result<NewCredential, Refusal> {
        let response = RegistrationResponse {
            id: registration.id.clone(),
            client_data_json: &registration.client_data,
            attestation_object: &registration.attestation_object,
        };
        let accepts_origin = |origin: &str| self.accepts_origin(origin);
        let ceremony = Expected { challenge, accepts_origin: &accepts_origin, rp_id: rp_id.as_str() };
        verify_registration(&response, &ExpectedRegistration { ceremony, mode })
    }

    /// Verifies an assertion by a stored passkey. Returns `None` if the signature or the signed data are
    /// wrong. If the signature is right but the signature counter did not increase or the backup eligibility
    /// changed, the passkey may have been copied: [`ShownPasskey::state`] is then `None`.
    pub(crate) fn verify_assertion(
        &self,
        assertion: &Assertion,
        stored: &VerifiablePasskey,
        challenge: &[u8],
    ) -> Result<Option<ShownPasskey>> {
        let response = AssertionResponse {
            id: assertion.id.clone(),
            client_data_json: &assertion.client_data,
            authenticator_data: &assertion.authenticator_data,
            signature: &assertion.signature,
            user_handle: assertion.user_handle.as_deref().and_then(UserHandle::parse),
        };
        let credential = StoredCredential {
            id: &stored.passkey.credential_id,
            user_handle: stored.user_handle,
            key: &CoseKey::parse(&stored.public_key).map_err(Error::internal)?,
            is_backup_eligible: stored.passkey.is_backup_eligible,
            counter: stored.counter,
        };
        let accepts_origin = |origin: &str| self.accepts_origin(origin);
        let rp_id = stored.passkey.rp_id.as_str();
        let expected = Expected { challenge, accepts_origin: &accepts_origin, rp_id };
        let id = stored.passkey.id;
        Ok(match verify_assertion(&response, &credential, &expected) {
            Ok(verified) => {
                let is_backed_up = verified.flags.is_backed_up();
                Some(ShownPasskey {
                    id,
                    state: Some(PasskeyState { counter: verified.counter, is_backed_up }),
                })
            }
            Err(Refusal::Counter | Refusal::BackupEligibility) => Some(ShownPasskey { id, state: None }),
            Err(refusal) => {
                tracing::debug!(%refusal, "an assertion was refused");
                None
            }
        })
    }

    /// Verifies an assertion that answers a challenge; `None` if it is wrong. The challenge determines the account, so
    /// the response need not contain a user handle.
    pub(crate) fn verify_answer(
        &self,
        mut assertion: Assertion,
        found: &FoundChallenge,
    ) -> Result<Option<(ShownPasskey, PasskeyOptions, AuthMethod)>> {
        let stored = found.passkeys.iter().find(|stored| stored.passkey.credential_id == assertion.id);
        let (Some(stored), Some(options)) = (stored, found.passkey_options) else { return Ok(None) };
        assertion.user_handle.get_or_insert_with(|| stored.user_handle.as_bytes().to_vec());
        let shown = self.verify_assertion(&assertion, stored, &options.0)?;
        let method = AuthMethod::of_passkey(stored.passkey.is_backup_eligible);
        Ok(shown.map(|shown| (shown, options, method)))
    }

    fn accepts_origin(&self, origin: &str) -> bool {
        self.relying_party.accepts(origin, &self.kernel.settings.load().redirects)
    }
}
