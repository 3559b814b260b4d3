//! Public keys in COSE form (RFC 9052, WebAuthn section 5.8.5), of the three algorithms that are offered.

use std::fmt;

use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256};

use crate::cbor::{Item, Malformed, Reader};
use crate::edwards;
use crate::refusal::Refusal;

/// Labels of the members of a COSE key. The meaning of labels below 0 depends on the type of the key.
const KEY_TYPE: i64 = 1;
const ALGORITHM: i64 = 3;
const CURVE_OR_MODULUS: i64 = -1;
const X_OR_EXPONENT: i64 = -2;
const Y: i64 = -3;

/// Maximum number of members of a key: an ES256 key has the most.
const MOST_LABELS: usize = 5;

/// 65537, the only accepted exponent of RSA.
const EXPONENT: &[u8] = &[1, 0, 1];

/// Signature algorithm of a passkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// `EdDSA` with Ed25519.
    EdDsa,
    /// ECDSA with P-256 and SHA-256.
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256, for Windows Hello on TPMs.
    Rs256,
}

impl Algorithm {
    /// The accepted algorithms in order of preference, for `pubKeyCredParams`.
    pub const OFFERED: [Self; 3] = [Self::EdDsa, Self::Es256, Self::Rs256];

    /// Returns the number of the algorithm in the COSE registry.
    #[must_use]
    pub const fn identifier(self) -> i64 {
        match self {
            Self::EdDsa => -8,
            Self::Es256 => -7,
            Self::Rs256 => -257,
        }
    }
}

/// Public key of a credential, valid for its algorithm. It is stored in the COSE form in which it was received.
#[derive(Clone)]
pub struct CoseKey {
    bytes: Box<[u8]>,
    algorithm: Algorithm,
    key: ParsedPublicKey,
}

impl CoseKey {
    /// Parses a key. Fails with [`Refusal::Algorithm`] if its algorithm is not accepted, and with [`Refusal::Key`] if
    /// the key is malformed, does not have exactly the members of its type, or is not valid for its algorithm.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let labels = Labels::read(bytes).map_err(|Malformed| Refusal::Key)?;
        let algorithm = labels.algorithm()?;
        let key = match algorithm {
            Algorithm::EdDsa => labels.ed25519(),
            Algorithm::Es256 => labels.p256(),
            Algorithm::Rs256 => labels.rsa(),
        };
        Ok(Self { bytes: bytes.into(), algorithm, key: key.ok_or(Refusal::Key)? })
    }

    /// Returns the COSE form.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the signature algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Verifies a signature over the message.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Refusal> {
        self.key.verify_sig(message, signature).map_err(|_| Refusal::Signature)
    }
}

impl PartialEq for CoseKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for CoseKey {}

impl fmt::Debug for CoseKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("CoseKey").field(&self.algorithm).finish()
    }
}

/// Members of a COSE key by label, at most [`MOST_LABELS`], each label once.
struct Labels<'a>(Vec<(i64, Item<'a>)>);

impl<'a> Labels<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let count = reader.map()?;
        if count > MOST_LABELS {
            return Err(Malformed);
        }
        let mut labels = Self(Vec::with_capacity(count));
        for _ in 0..count {
            let label = reader.integer()?;
            if labels.get(label).is_some() {
                return Err(Malformed);
            }
            labels.0.push((label, reader.item()?));
        }
        reader.end()?;
        Ok(labels)
    }

    fn get(&self, label: i64) -> Option<Item<'a>> {
        self.0.iter().find(|(known, _)| *known == label).map(|(_, item)| *item)
    }

    fn is(&self, label: i64, value: i64) -> bool {
        self.get(label) == Some(Item::Integer(value))
    }

    fn bytes(&self, label: i64) -> Option<&'a [u8]> {
        if let Some(Item::Bytes(bytes)) = self.get(label) { Some(bytes) } else { None }
    }

    fn algorithm(&self) -> Result<Algorithm, Refusal> {
        let Some(Item::Integer(identifier)) = self.get(ALGORITHM) else {
            return Err(Refusal::Key);
        };
        let offered = Algorithm::OFFERED.into_iter().find(|one| one.identifier() == identifier);
        offered.ok_or(Refusal::Algorithm)
    }

    /// Returns the key if it is of type OKP on Ed25519 (RFC 9053 section 7.2).
    fn ed25519(&self) -> Option<ParsedPublicKey> {
        if self.0.len() != 4 || !self.is(KEY_TYPE, 1) || !self.is(CURVE_OR_MODULUS, 6) {
            return None;
        }
        let point: [u8; 32] = self.bytes(X_OR_EXPONENT)?.try_into().ok()?;
        edwards::is_public_key(point).then(|| ParsedPublicKey::new(&ED25519, point).ok())?
    }

    /// Returns the key if it is of type EC2 on P-256 with both coordinates (RFC 9053 section 7.1.1). The library
    /// aws-lc-rs refuses points off the curve. The point at infinity cannot be encoded in this form.
    fn p256(&self) -> Option<ParsedPublicKey> {
        if self.0.len() != 5 || !self.is(KEY_TYPE, 2) || !self.is(CURVE_OR_MODULUS, 1) {
            return None;
        }
        let x: [u8; 32] = self.bytes(X_OR_EXPONENT)?.try_into().ok()?;
        let y: [u8; 32] = self.bytes(Y)?.try_into().ok()?;
        ParsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, [&[4], &x[..], &y[..]].concat()).ok()
    }

    /// Returns the key if it is of type RSA (RFC 8230 section 4), 2,048 to 4,096 bits and exponent 65537.
    fn rsa(&self) -> Option<ParsedPublicKey> {
        if self.0.len() != 4 || !self.is(KEY_TYPE, 3) || self.bytes(X_OR_EXPONENT)? != EXPONENT {
            return None;
        }
        let n = self.bytes(CURVE_OR_MODULUS)?;
        let unused_bits = n.first()?.leading_zeros() as usize;
        let is_odd = n.last()? % 2 == 1;
        let has_good_size = unused_bits < 8 && (2_048..=4_096).contains(&(n.len() * 8 - unused_bits));
        (is_odd && has_good_size).then(|| {
            PublicKeyComponents { n, e: EXPONENT }.to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256).ok()
        })?
    }
}
