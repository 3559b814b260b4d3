//! Comparison of a password with a hash from elsewhere. Every comparison takes constant time for its scheme and cost.

use std::num::NonZeroU32;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use aws_lc_rs::cipher::{AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::pbkdf2;
use latchkey_domain::imported_hash::{
    Argon2Hash, Argon2Variant, BcryptHash, FirebaseHash, ImportedHash, Pbkdf2Digest, Pbkdf2Hash, Scheme,
    ScryptCosts, ScryptHash, SignerKey, WrappedDigest,
};
use latchkey_domain::password::Password;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

mod crypt;
mod digest;

use digest::digest_of;

/// Number of bytes of a password that bcrypt reads, with the NUL that ends it.
const OF_BCRYPT: usize = 72;

/// Returns the memory that a comparison needs, in bytes, if that is worth counting.
pub(super) fn memory(hash: &ImportedHash) -> usize {
    match hash.scheme() {
        Scheme::Argon2(hash) => hash.memory_kib as usize * 1024,
        Scheme::Wrapped(hash) => hash.memory_kib as usize * 1024,
        Scheme::Scrypt(hash) => hash.costs.memory(),
        Scheme::Firebase(hash) => hash.costs.memory(),
        _ => 0,
    }
}

/// True if a hash is of the password: as it was typed, or in NFC. A scheme that hashes NFKC gets that form alone.
pub(super) fn fits(hash: &ImportedHash, password: &Password, blocks: &mut Vec<Block>) -> bool {
    if let Scheme::Scrypt(ScryptHash { is_nfkc: true, .. }) = hash.scheme() {
        return fits_bytes(hash, password.expose_nfkc().as_bytes(), blocks);
    }
    let typed = password.expose_typed().is_some_and(|typed| fits_bytes(hash, typed, blocks));
    fits_bytes(hash, password.expose(), blocks) | typed
}

/// A computation that fails fits nothing: a stored hash must not make a request fail.
fn fits_bytes(hash: &ImportedHash, password: &[u8], blocks: &mut Vec<Block>) -> bool {
    match hash.scheme() {
        Scheme::Argon2(hash) => is_argon2(hash, password, blocks),
        Scheme::Bcrypt(hash) => Some(is_bcrypt(hash, password)),
        Scheme::Scrypt(hash) => is_scrypt(hash, password),
        Scheme::Firebase(hash) => is_firebase(hash, password),
        Scheme::Pbkdf2(hash) => is_pbkdf2(hash, password),
        Scheme::ShaCrypt(hash) => crypt::is_sha_crypt(hash, password),
        Scheme::Phpass(hash) => Some(crypt::is_phpass(hash, password)),
        Scheme::Digest(hash) => Some(digest_of(&hash.recipe, password).ct_eq(&hash.output).into()),
        Scheme::Wrapped(hash) => is_wrapped(hash, password, blocks),
    }
    .unwrap_or(false)
}

fn is_argon2(hash: &Argon2Hash, password: &[u8], blocks: &mut Vec<Block>) -> Option<bool> {
    let Argon2Hash { variant, version, memory_kib, passes, lanes, salt, output } = hash;
    let algorithm = match variant {
        Argon2Variant::D => Algorithm::Argon2d,
        Argon2Variant::I => Algorithm::Argon2i,
        Argon2Variant::Id => Algorithm::Argon2id,
    };
    let version = Version::try_from(*version).ok()?;
    let params = Params::new(*memory_kib, *passes, *lanes, Some(output.len())).ok()?;
    let computed = argon2_of((algorithm, version, params), password, salt, blocks)?;
    Some(computed.ct_eq(output).into())
}

fn is_wrapped(hash: &WrappedDigest, password: &[u8], blocks: &mut Vec<Block>) -> Option<bool> {
    let WrappedDigest { recipe, memory_kib, passes, lanes, salt, output } = hash;
    let params = Params::new(*memory_kib, *passes, *lanes, Some(output.len())).ok()?;
    let digest = Zeroizing::new(hex::encode(&*digest_of(recipe, password)));
    let computed = argon2_of((Algorithm::Argon2id, Version::V0x13, params), digest.as_bytes(), salt, blocks)?;
    Some(computed.ct_eq(output).into())
}

fn argon2_of(
    (algorithm, version, params): (Algorithm, Version, Params),
    password: &[u8],
    salt: &[u8],
    blocks: &mut Vec<Block>,
) -> Option<Vec<u8>> {
    let needed = params.block_count();
    if blocks.len() < needed {
        blocks.resize(needed, Block::default());
    }
    let mut output = vec![0; params.output_len()?];
    Argon2::new(algorithm, version, params)
        .hash_password_into_with_memory(password, salt, &mut output, &mut blocks[..needed])
        .ok()?;
    Some(output)
}

/// The NUL that ends a password in C is part of bcrypt's key, which repeats: a password with a NUL in it would equal
/// another one, so it fits nothing.
fn is_bcrypt(hash: &BcryptHash, password: &[u8]) -> bool {
    let mut key = Zeroizing::new(Vec::with_capacity(OF_BCRYPT));
    if hash.is_of_sha256 {
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, password);
        key.extend_from_slice(hex::encode(digest).as_bytes());
    } else {
        key.extend_from_slice(&password[..password.len().min(OF_BCRYPT)]);
    }
    let has_nul = key.contains(&0);
    if key.len() < OF_BCRYPT {
        key.push(0);
    }
    let computed = bcrypt::bcrypt(hash.cost, hash.salt, &key);
    let is_equal: bool = computed[..hash.output.len()].ct_eq(&hash.output).into();
    is_equal && !has_nul
}

fn is_scrypt(hash: &ScryptHash, password: &[u8]) -> Option<bool> {
    let computed = scrypt_of(hash.costs, password, &hash.salt, hash.output.len())?;
    Some(computed.ct_eq(&hash.output).into())
}

fn scrypt_of(costs: ScryptCosts, password: &[u8], salt: &[u8], length: usize) -> Option<Zeroizing<Vec<u8>>> {
    let params = scrypt::Params::new(costs.log_n, costs.block_size, costs.parallelism).ok()?;
    let mut output = Zeroizing::new(vec![0; length]);
    scrypt::scrypt(password, salt, &params, &mut output).ok()?;
    Some(output)
}

/// A hash whose signer key is not at hand fits nothing, after the same work.
fn is_firebase(hash: &FirebaseHash, password: &[u8]) -> Option<bool> {
    let key = scrypt_of(hash.costs, password, &hash.salt, 32)?;
    let SignerKey::Given(signer_key) = &hash.key else { return Some(false) };
    let key = EncryptingKey::ctr(UnboundCipherKey::new(&AES_256, &key).ok()?).ok()?;
    let mut encrypted = signer_key.to_vec();
    let context = EncryptionContext::Iv128(FixedLength::from([0; 16]));
    key.less_safe_encrypt(&mut encrypted, context).ok()?;
    Some(encrypted.ct_eq(&hash.output).into())
}

/// Each block of the output takes all iterations, and the first one alone tells the password. The others are not computed:
/// the length of the output, which is in no work class, would tell an account from an address without one.
fn is_pbkdf2(hash: &Pbkdf2Hash, password: &[u8]) -> Option<bool> {
    let (algorithm, block) = match hash.digest {
        Pbkdf2Digest::Sha1 => (pbkdf2::PBKDF2_HMAC_SHA1, 20),
        Pbkdf2Digest::Sha256 => (pbkdf2::PBKDF2_HMAC_SHA256, 32),
        Pbkdf2Digest::Sha512 => (pbkdf2::PBKDF2_HMAC_SHA512, 64),
    };
    let first = &hash.output[..hash.output.len().min(block)];
    let mut computed = Zeroizing::new(vec![0; first.len()]);
    pbkdf2::derive(algorithm, NonZeroU32::new(hash.iterations)?, &hash.salt, password, &mut computed);
    Some(computed.ct_eq(first).into())
}

#[cfg(test)]
mod tests;
