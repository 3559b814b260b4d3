//! Bare digests of weak hashes.

use aws_lc_rs::{digest, hmac as fast};
use hmac::{Hmac, KeyInit, Mac};
use latchkey_domain::imported_hash::{DigestRecipe, SaltPlace, WeakDigest};
use md5::{Digest, Md5};
use zeroize::Zeroizing;

/// Computes the digest of a password by a recipe.
pub(super) fn digest_of(recipe: &DigestRecipe, password: &[u8]) -> Zeroizing<Vec<u8>> {
    let DigestRecipe { algorithm, place, salt } = recipe;
    // The places that use them have them.
    let (key, beside) = recipe.key_and_salt().unwrap_or_default();
    Zeroizing::new(match place {
        SaltPlace::None => plain(*algorithm, [password, b""]),
        SaltPlace::Before => plain(*algorithm, [salt, password]),
        SaltPlace::After => plain(*algorithm, [password, salt]),
        SaltPlace::Key => keyed(*algorithm, salt, [password, b""]),
        SaltPlace::KeyBefore => keyed(*algorithm, key, [beside, password]),
        SaltPlace::KeyAfter => keyed(*algorithm, key, [password, beside]),
    })
}

fn plain(algorithm: WeakDigest, parts: [&[u8]; 2]) -> Vec<u8> {
    let algorithm = match algorithm {
        WeakDigest::Md5 => {
            return Md5::new().chain_update(parts[0]).chain_update(parts[1]).finalize().to_vec();
        }
        WeakDigest::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        WeakDigest::Sha256 => &digest::SHA256,
        WeakDigest::Sha512 => &digest::SHA512,
    };
    let mut context = digest::Context::new(algorithm);
    for part in parts {
        context.update(part);
    }
    context.finish().as_ref().to_vec()
}

fn keyed(algorithm: WeakDigest, key: &[u8], parts: [&[u8]; 2]) -> Vec<u8> {
    let algorithm = match algorithm {
        WeakDigest::Md5 => {
            // HMAC takes keys of any length.
            return Hmac::<Md5>::new_from_slice(key)
                .map(|mac| mac.chain_update(parts[0]).chain_update(parts[1]).finalize().into_bytes().to_vec())
                .unwrap_or_default();
        }
        WeakDigest::Sha1 => fast::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        WeakDigest::Sha256 => fast::HMAC_SHA256,
        WeakDigest::Sha512 => fast::HMAC_SHA512,
    };
    let mut context = fast::Context::with_key(&fast::Key::new(algorithm, key));
    for part in parts {
        context.update(part);
    }
    context.sign().as_ref().to_vec()
}
