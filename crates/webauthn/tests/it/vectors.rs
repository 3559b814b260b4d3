//! The test vectors of the standard, and every one of them cut, lengthened and falsified.

use std::sync::LazyLock;

use latchkey_webauthn::{
    Algorithm, Assertion, AssertionResponse, CredentialId, Expected, ExpectedRegistration, NewCredential,
    Refusal, RegistrationMode, RegistrationResponse, StoredCredential, UserHandle, verify_assertion,
    verify_registration,
};
use serde::Deserialize;

/// The vectors have no user handle; it is not signed either.
const HANDLE: UserHandle = UserHandle::new([1; 16]);

fn is_known(origin: &str) -> bool {
    origin == "https://example.org"
}

/// The file, as it is in the standard: hexadecimal.
#[derive(Deserialize)]
struct Vectors {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) registration: Registration,
    pub(crate) authentication: Authentication,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Registration {
    #[serde(deserialize_with = "hexadecimal")]
    challenge: Vec<u8>,
    #[serde(rename = "credential_id", deserialize_with = "hexadecimal")]
    pub(crate) id: Vec<u8>,
    #[serde(deserialize_with = "hexadecimal")]
    aaguid: Vec<u8>,
    #[serde(rename = "clientDataJSON", deserialize_with = "hexadecimal")]
    pub(crate) client_data: Vec<u8>,
    #[serde(deserialize_with = "hexadecimal")]
    pub(crate) attestation_object: Vec<u8>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Authentication {
    #[serde(deserialize_with = "hexadecimal")]
    challenge: Vec<u8>,
    #[serde(rename = "clientDataJSON", deserialize_with = "hexadecimal")]
    pub(crate) client_data: Vec<u8>,
    #[serde(deserialize_with = "hexadecimal")]
    pub(crate) authenticator_data: Vec<u8>,
    #[serde(deserialize_with = "hexadecimal")]
    pub(crate) signature: Vec<u8>,
}

fn hexadecimal<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    hex::decode(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

pub(crate) fn cases() -> Vec<Case> {
    let vectors: Vectors = serde_json::from_str(include_str!("../webauthn-l3.json")).unwrap();
    vectors.cases
}

impl Registration {
    pub(crate) fn verify(&self, mode: RegistrationMode) -> Result<NewCredential, Refusal> {
        let response = RegistrationResponse {
            id: CredentialId::parse(&self.id)?,
            client_data_json: &self.client_data,
            attestation_object: &self.attestation_object,
        };
        let ceremony =
            Expected { challenge: &self.challenge, accepts_origin: &is_known, rp_id: "example.org" };
        verify_registration(&response, &ExpectedRegistration { ceremony, mode })
    }

    /// The vector as if its page were not in a frame of another origin. The attestation covers the client data, but is
    /// not verified.
    fn without_frame(&self) -> Self {
        let json = String::from_utf8(self.client_data.clone()).unwrap();
        let json = json.replace(r#""crossOrigin":true"#, r#""crossOrigin":false"#);
        let json = json.replace(r#""topOrigin":"https://example.com""#, r#""other":null"#);
        Self { client_data: json.into(), ..self.clone() }
    }
}

impl Authentication {
    pub(crate) fn verify(&self, credential: &NewCredential) -> Result<Assertion, Refusal> {
        let response = AssertionResponse {
            id: credential.id.clone(),
            client_data_json: &self.client_data,
            authenticator_data: &self.authenticator_data,
            signature: &self.signature,
            user_handle: Some(HANDLE),
        };
        let stored = StoredCredential {
            id: &credential.id,
            user_handle: HANDLE,
            key: &credential.key,
            is_backup_eligible: credential.flags.is_backup_eligible(),
            counter: credential.counter,
        };
        let expected =
            Expected { challenge: &self.challenge, accepts_origin: &is_known, rp_id: "example.org" };
        verify_assertion(&response, &stored, &expected)
    }

    fn is_user_verified(&self) -> bool {
        self.authenticator_data[32] & 0x04 != 0
    }
}

/// The cases whose algorithm is not offered.
const OTHER_ALGORITHMS: &[&str] = &["packed-es384", "packed-es512", "packed-ed448"];

/// The cases in a frame of another origin.
const FRAMES: &[&str] = &["none-es256-crossOrigin", "none-es256-topOrigin"];

/// The cases that this service accepts, each with its credential. The vectors register without user verification, as a
/// conditional creation does.
pub(crate) fn accepted() -> &'static [(Case, NewCredential)] {
    static ACCEPTED: LazyLock<Vec<(Case, NewCredential)>> = LazyLock::new(|| {
        let verified = |case: Case| {
            let credential = case.registration.verify(RegistrationMode::Conditional).ok()?;
            Some((case, credential))
        };
        cases().into_iter().filter_map(verified).collect()
    });
    &ACCEPTED
}

#[test]
fn registrations_of_offered_algorithms_are_verified() {
    let names: Vec<_> = accepted().iter().map(|(case, _)| &case.name).collect();
    assert_eq!(cases().len(), 15);
    assert_eq!(names.len(), 15 - OTHER_ALGORITHMS.len() - FRAMES.len());
    for (case, credential) in accepted() {
        assert_eq!(credential.id.as_bytes(), case.registration.id, "{}", case.name);
        assert_eq!(credential.aaguid.as_bytes()[..], case.registration.aaguid, "{}", case.name);
        let algorithm = match case.name.as_str() {
            "packed-rs256" => Algorithm::Rs256,
            "packed-eddsa" => Algorithm::EdDsa,
            _ => Algorithm::Es256,
        };
        assert_eq!(credential.key.algorithm(), algorithm, "{}", case.name);
    }
}

#[test]
fn other_algorithms_are_refused() {
    let refused = |case: &Case| OTHER_ALGORITHMS.contains(&case.name.as_str());
    for case in cases().into_iter().filter(refused) {
        let outcome = case.registration.verify(RegistrationMode::Conditional);
        assert_eq!(outcome, Err(Refusal::Algorithm), "{}", case.name);
    }
}

#[test]
fn frames_of_other_origins_are_refused() {
    for case in cases().into_iter().filter(|case| FRAMES.contains(&case.name.as_str())) {
        let mode = RegistrationMode::Conditional;
        assert_eq!(case.registration.verify(mode), Err(Refusal::CrossOrigin), "{}", case.name);
        let credential = case.registration.without_frame().verify(mode).unwrap();
        assert_eq!(case.authentication.verify(&credential), Err(Refusal::CrossOrigin), "{}", case.name);
    }
}

#[test]
fn prompted_registrations_demand_the_flags() {
    for (case, credential) in accepted() {
        let outcome = case.registration.verify(RegistrationMode::Prompted);
        let is_verified = credential.flags.is_user_verified();
        assert_eq!(outcome.is_ok(), is_verified, "{}", case.name);
        assert!(is_verified || outcome == Err(Refusal::UserNotVerified), "{}", case.name);
    }
}

/// The flag UV is judged after the signature, so its refusal shows a good signature as well.
#[test]
fn signatures_are_verified() {
    let mut verified = 0;
    for (case, credential) in accepted() {
        let outcome = case.authentication.verify(credential);
        let refusal = (!case.authentication.is_user_verified()).then_some(Refusal::UserNotVerified);
        assert_eq!(outcome.err(), refusal, "{}", case.name);
        verified += usize::from(refusal.is_none());
        let mut other = case.authentication.clone();
        *other.signature.last_mut().unwrap() ^= 1;
        assert_eq!(other.verify(credential), Err(Refusal::Signature), "{}", case.name);
    }
    assert_eq!(verified, 3);
}

#[test]
fn credential_of_another_case_is_refused() {
    for (place, (case, credential)) in accepted().iter().enumerate() {
        for (other, (_, other_credential)) in
            accepted().iter().enumerate().filter(|(other, _)| *other != place)
        {
            let key = other_credential.key.clone();
            let mixed = NewCredential { key, ..credential.clone() };
            assert_eq!(case.authentication.verify(&mixed), Err(Refusal::Signature), "{place} {other}");
        }
    }
}
