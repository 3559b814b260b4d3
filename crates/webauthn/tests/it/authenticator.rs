//! An authenticator and its browser in software: honest by default, each fact a field that a test may falsify.

use std::sync::OnceLock;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_webauthn::{
    Assertion, AssertionResponse, CoseKey, CredentialId, Expected, ExpectedRegistration, NewCredential,
    Refusal, RegistrationMode, RegistrationResponse, StoredCredential, UserHandle, verify_assertion,
    verify_registration,
};

pub(crate) const CHALLENGE: &[u8; 32] = &[0xfb; 32];
pub(crate) const RP_ID: &str = "example.org";
pub(crate) const HANDLE: [u8; 16] = [9; 16];
pub(crate) const ID: [u8; 20] = [3; 20];
/// UP and UV.
pub(crate) const VERIFIED: u8 = 0x05;

pub(crate) fn origins() -> Vec<String> {
    ["https://example.org", "android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck"]
        .map(str::to_owned)
        .into()
}

fn is_known(origin: &str) -> bool {
    origins().iter().any(|known| known == origin)
}

/// CBOR of a length, or of an integer of 0 or more.
pub(crate) fn head(major: u8, value: usize) -> Vec<u8> {
    let value = u16::try_from(value).unwrap();
    let [high, low] = value.to_be_bytes();
    match value {
        0..24 => vec![major << 5 | low],
        24..256 => vec![major << 5 | 0x18, low],
        _ => vec![major << 5 | 0x19, high, low],
    }
}

pub(crate) fn integer(value: i64) -> Vec<u8> {
    let is_negative = value < 0;
    head(is_negative.into(), usize::try_from(if is_negative { -1 - value } else { value }).unwrap())
}

pub(crate) fn bytes(value: &[u8]) -> Vec<u8> {
    [head(2, value.len()), value.to_vec()].concat()
}

pub(crate) fn text(value: &str) -> Vec<u8> {
    [head(3, value.len()), value.into()].concat()
}

/// CBOR of a map whose keys and values are CBOR already.
pub(crate) fn map(pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let pairs_in_one = pairs.iter().flat_map(|(key, value)| [key.clone(), value.clone()].concat());
    head(5, pairs.len()).into_iter().chain(pairs_in_one).collect()
}

pub(crate) fn cose(labels: &[(i64, Vec<u8>)]) -> Vec<u8> {
    map(&labels.iter().map(|(label, value)| (integer(*label), value.clone())).collect::<Vec<_>>())
}

/// A key pair of one of the offered algorithms.
pub(crate) enum Pair {
    EdDsa(Ed25519KeyPair),
    Es256(EcdsaKeyPair),
    Rs256(&'static RsaKeyPair),
}

impl Pair {
    pub(crate) fn ed_dsa() -> Self {
        Self::EdDsa(Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap())
    }

    pub(crate) fn es256() -> Self {
        Self::Es256(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap())
    }

    pub(crate) fn rs256() -> Self {
        static PAIR: OnceLock<RsaKeyPair> = OnceLock::new();
        Self::Rs256(PAIR.get_or_init(|| RsaKeyPair::generate(KeySize::Rsa2048).unwrap()))
    }

    pub(crate) fn all() -> [Self; 3] {
        [Self::ed_dsa(), Self::es256(), Self::rs256()]
    }

    /// The labels of the public key, each with its value in CBOR.
    pub(crate) fn labels(&self) -> Vec<(i64, Vec<u8>)> {
        match self {
            Self::EdDsa(pair) => {
                let point = pair.public_key().as_ref();
                vec![(1, integer(1)), (3, integer(-8)), (-1, integer(6)), (-2, bytes(point))]
            }
            Self::Es256(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                vec![(1, integer(2)), (3, integer(-7)), (-1, integer(1)), (-2, bytes(x)), (-3, bytes(y))]
            }
            Self::Rs256(pair) => {
                vec![(1, integer(3)), (3, integer(-257)), (-1, bytes(modulus(pair))), (-2, bytes(&[1, 0, 1]))]
            }
        }
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::EdDsa(pair) => pair.sign(message).as_ref().to_vec(),
            Self::Es256(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Rs256(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
        }
    }
}

/// The modulus, out of DER: two heads of four bytes and a sign before it, the exponent 65537 in five bytes after it.
pub(crate) fn modulus(pair: &RsaKeyPair) -> &[u8] {
    let der = pair.public_key().as_ref();
    &der[9..der.len() - 5]
}

/// What browser and authenticator state in either ceremony.
#[derive(Clone)]
pub(crate) struct Facts {
    pub(crate) kind: &'static str,
    pub(crate) challenge: Vec<u8>,
    pub(crate) origin: String,
    /// Further members of the client data, each after a comma.
    pub(crate) members: String,
    pub(crate) rp_id: &'static str,
    pub(crate) flags: u8,
    pub(crate) counter: u32,
    /// Bytes of the authenticator data after those that are always there.
    pub(crate) appendix: Vec<u8>,
    /// The credential id beside the response.
    pub(crate) id: Vec<u8>,
}

impl Facts {
    fn new(kind: &'static str, flags: u8, appendix: Vec<u8>) -> Self {
        let (challenge, origin) = (CHALLENGE.to_vec(), origins().swap_remove(0));
        let members = r#","crossOrigin":false"#.to_owned();
        Self { kind, challenge, origin, members, rp_id: RP_ID, flags, counter: 0, appendix, id: ID.into() }
    }

    /// An honest registration of a key in COSE form.
    pub(crate) fn registration(key: &[u8]) -> Self {
        Self::new("webauthn.create", VERIFIED | 0x40, attested(&ID, key))
    }

    /// An honest assertion.
    pub(crate) fn assertion() -> Self {
        Self::new("webauthn.get", VERIFIED, Vec::new())
    }

    pub(crate) fn client_data(&self) -> Vec<u8> {
        let challenge = URL_SAFE_NO_PAD.encode(&self.challenge);
        let Self { kind, origin, members, .. } = self;
        format!(r#"{{"type":"{kind}","challenge":"{challenge}","origin":"{origin}"{members}}}"#).into()
    }

    pub(crate) fn authenticator_data(&self) -> Vec<u8> {
        let rp_id_hash = digest(&SHA256, self.rp_id.as_bytes());
        [rp_id_hash.as_ref(), &[self.flags], &self.counter.to_be_bytes(), &self.appendix].concat()
    }

    pub(crate) fn register(&self, mode: RegistrationMode) -> Result<NewCredential, Refusal> {
        self.register_with(&attestation_object(&self.authenticator_data()), mode)
    }

    pub(crate) fn register_with(
        &self,
        object: &[u8],
        mode: RegistrationMode,
    ) -> Result<NewCredential, Refusal> {
        let response = RegistrationResponse {
            id: CredentialId::parse(&self.id)?,
            client_data_json: &self.client_data(),
            attestation_object: object,
        };
        let ceremony = Expected { challenge: CHALLENGE, accepts_origin: &is_known, rp_id: RP_ID };
        verify_registration(&response, &ExpectedRegistration { ceremony, mode })
    }

    /// The signature of an assertion.
    pub(crate) fn sign(&self, pair: &Pair) -> Vec<u8> {
        let hash = digest(&SHA256, &self.client_data());
        pair.sign(&[&self.authenticator_data(), hash.as_ref()].concat())
    }

    pub(crate) fn assert(&self, pair: &Pair, store: &Store) -> Result<Assertion, Refusal> {
        self.assert_with(&self.sign(pair), Some(HANDLE), store)
    }

    pub(crate) fn assert_with(
        &self,
        signature: &[u8],
        handle: Option<[u8; 16]>,
        store: &Store,
    ) -> Result<Assertion, Refusal> {
        let response = AssertionResponse {
            id: CredentialId::parse(&self.id)?,
            client_data_json: &self.client_data(),
            authenticator_data: &self.authenticator_data(),
            signature,
            user_handle: handle.map(UserHandle::new),
        };
        let expected = Expected { challenge: CHALLENGE, accepts_origin: &is_known, rp_id: RP_ID };
        verify_assertion(&response, &store.credential(), &expected)
    }
}

/// The stored side of an assertion.
pub(crate) struct Store {
    pub(crate) id: CredentialId,
    pub(crate) key: CoseKey,
    pub(crate) is_backup_eligible: bool,
    pub(crate) counter: u32,
}

impl Store {
    pub(crate) fn new(pair: &Pair) -> Self {
        let key = CoseKey::parse(&cose(&pair.labels())).unwrap();
        Self { id: CredentialId::parse(&ID).unwrap(), key, is_backup_eligible: false, counter: 0 }
    }

    fn credential(&self) -> StoredCredential<'_> {
        let Self { id, key, is_backup_eligible, counter } = self;
        let (is_backup_eligible, counter) = (*is_backup_eligible, *counter);
        StoredCredential { id, user_handle: UserHandle::new(HANDLE), key, is_backup_eligible, counter }
    }
}

/// Attested credential data with the AAGUID 010101….
pub(crate) fn attested(id: &[u8], key: &[u8]) -> Vec<u8> {
    let length = u16::try_from(id.len()).unwrap().to_be_bytes();
    [&[1; 16], &length[..], id, key].concat()
}

pub(crate) fn attestation_object(authenticator_data: &[u8]) -> Vec<u8> {
    map(&[
        (text("fmt"), text("none")),
        (text("attStmt"), map(&[])),
        (text("authData"), bytes(authenticator_data)),
    ])
}
