//! Key pairs of passkeys, and public keys that a service must not accept.

use std::sync::{Arc, OnceLock};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};

use super::cbor::{bytes, cose, integer};

/// Signature algorithm of a passkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasskeyAlgorithm {
    /// `EdDSA` with Ed25519, COSE algorithm -8.
    EdDsa,
    /// ECDSA on P-256 with SHA-256, COSE algorithm -7.
    Es256,
    /// RSA with PKCS#1 padding, SHA-256 and 2,048 bits, COSE algorithm -257.
    Rs256,
}

impl PasskeyAlgorithm {
    pub const ALL: [Self; 3] = [Self::EdDsa, Self::Es256, Self::Rs256];

    /// Returns the number of the algorithm in the COSE registry.
    pub const fn identifier(self) -> i64 {
        match self {
            Self::EdDsa => -8,
            Self::Es256 => -7,
            Self::Rs256 => -257,
        }
    }
}

/// Key pair of a passkey.
#[derive(Clone)]
pub(super) enum Pair {
    EdDsa(Arc<Ed25519KeyPair>),
    Es256(Arc<EcdsaKeyPair>),
    /// One key pair for the whole test run, because generating one is slow.
    Rs256(&'static RsaKeyPair),
}

impl Pair {
    pub(super) fn generate(algorithm: PasskeyAlgorithm) -> Self {
        static RSA: OnceLock<RsaKeyPair> = OnceLock::new();
        match algorithm {
            PasskeyAlgorithm::EdDsa => Self::EdDsa(Arc::new(Ed25519KeyPair::generate().unwrap())),
            PasskeyAlgorithm::Es256 => {
                Self::Es256(Arc::new(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap()))
            }
            PasskeyAlgorithm::Rs256 => {
                Self::Rs256(RSA.get_or_init(|| RsaKeyPair::generate(KeySize::Rsa2048).unwrap()))
            }
        }
    }

    /// Encodes the public key in COSE form.
    pub(super) fn cose(&self) -> Vec<u8> {
        match self {
            Self::EdDsa(pair) => ed25519_key(pair.public_key().as_ref()),
            Self::Es256(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                p256_key(x, y)
            }
            Self::Rs256(pair) => {
                // Takes modulus and exponent from the DER form. Two heads of four bytes and a sign byte precede the
                // modulus; the exponent follows in five bytes.
                let der = pair.public_key().as_ref();
                rsa_key(&der[9..der.len() - 5], &[1, 0, 1])
            }
        }
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
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

/// Encodes a point on Ed25519, or any bytes in its place, as COSE key.
pub fn ed25519_key(point: &[u8]) -> Vec<u8> {
    cose(&[(1, integer(1)), (3, integer(-8)), (-1, integer(6)), (-2, bytes(point))])
}

/// Encodes a point on P-256, or any bytes in its place, as COSE key.
pub fn p256_key(x: &[u8], y: &[u8]) -> Vec<u8> {
    cose(&[(1, integer(2)), (3, integer(-7)), (-1, integer(1)), (-2, bytes(x)), (-3, bytes(y))])
}

/// Encodes an RSA key, or any bytes in place of its numbers, as COSE key.
pub fn rsa_key(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    cose(&[(1, integer(3)), (3, integer(-257)), (-1, bytes(modulus)), (-2, bytes(exponent))])
}

/// Returns an odd number of this many bits, which serves as an invalid modulus.
pub fn modulus_of(bits: usize) -> Vec<u8> {
    let mut number = vec![0xa5; bits.div_ceil(8)];
    number[0] = 1 << ((bits - 1) % 8);
    number
}
