//! Password hashes from elsewhere: their canonical texts, their bounds, and the forms of other software that are read.
//!
//! A canonical text is stored beside our own hashes, in the same column. Its beginning is the work class
//! ([`class`]), so that an index of beginnings counts the classes. Salts and outputs are base64 without padding.
//!
//! | Canonical text | Read too |
//! |---|---|
//! | `$argon2id$v=19$m=,t=,p=$SALT$OUTPUT`, `argon2i`, `argon2d`, `v=16` | without `v=`, which means 16; Django's `argon2$argon2id$…` |
//! | `$2b$COST$…` of 60 characters, `$2a$`, `$2y$` | Django's `bcrypt$$2b$…` |
//! | `bcrypt_sha256$$2b$COST$…`: bcrypt of the SHA-256 in hex | |
//! | `$scrypt$ln=,r=,p=$SALT$OUTPUT`; with `,f=nfkc` the password is in NFKC | Better Auth `SALT:HEX`, Django `scrypt$N$SALT$r$p$OUTPUT`, Werkzeug `scrypt:N:r:p$SALT$HEX` |
//! | `$fbscrypt$ln=,r=,p=,k=KEY-ID$SALT$OUTPUT`, where the salt ends with Firebase's separator | `v=1,n=,r=,p=,ss=,sk=` of Supabase, with the signer key in the text |
//! | `$pbkdf2-sha256$i=$SALT$OUTPUT`, `-sha1`, `-sha512` | with `,l=`; passlib's without `i=`; Django `pbkdf2_sha256$i$SALT$OUTPUT`; Werkzeug `pbkdf2:sha256:i$SALT$HEX` |
//! | `$5$rounds=N$SALT$OUTPUT`, `$6$` | without rounds, which means 5,000 |
//! | `$P$…`, `$H$…` of 34 characters | |
//! | weak: `$digest$a=ALGORITHM,s=PLACE$SALT$OUTPUT` | hex of 32, 40, 64 or 128 digits; Django `md5$SALT$HEX`, `sha1$SALT$HEX`; LDAP `{SSHA}…` and the like |
//! | `$wrapped$m=,t=,p=$a=,s=$SALT$SALT OF ARGON2ID$OUTPUT`: argon2id over the hex digits of a weak one | |

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::id::id;
use crate::password::PasswordHash;

mod argon2;
mod bcrypt;
mod class;
mod crypt;
mod digest;
mod fields;
mod pbkdf2;
mod scrypt;

pub use argon2::{Argon2Hash, Argon2Variant};
pub use bcrypt::BcryptHash;
pub use class::{CLASS_LENGTH, class, decoy, scheme_name};
pub use crypt::{PhpassHash, ShaCryptHash};
pub use digest::{DigestHash, DigestRecipe, SaltPlace, WeakDigest, WrappedDigest};
pub use pbkdf2::{Pbkdf2Digest, Pbkdf2Hash};
pub use scrypt::{FirebaseHash, ScryptCosts, ScryptHash, SignerKey, parse_signer_key};

/// Maximum length of the text of a hash in bytes. Longer texts are not read.
pub const LONGEST_TEXT: usize = 1024;

id! {
    /// Id of the signer key with which Firebase made hashes.
    HashKeyId
}

/// Reason why a text is not taken as the hash of a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HashProblem {
    /// The scheme is not supported, or the text is malformed.
    #[error("the hash is of no known scheme; the account needs a new password")]
    Unknown,
    /// The scheme is known, and its cost, salt or output is out of bounds.
    #[error("the cost of the hash is out of bounds; the account needs a new password")]
    OutOfBounds,
    /// The scheme is so weak that it is taken only on demand.
    #[error("the hash is weak (a bare digest); allow weak hashes, or the account needs a new password")]
    Weak,
}

impl HashProblem {
    /// Returns the code of the problem in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "hash_unknown",
            Self::OutOfBounds => "hash_out_of_bounds",
            Self::Weak => "hash_weak",
        }
    }
}

/// A hash with what its verification needs, by scheme.
#[derive(Clone, PartialEq, Eq)]
pub enum Scheme {
    /// Argon2 of any variant.
    Argon2(Argon2Hash),
    /// bcrypt, of the password or of its SHA-256.
    Bcrypt(BcryptHash),
    /// scrypt.
    Scrypt(ScryptHash),
    /// Firebase's scrypt, which encrypts a signer key.
    Firebase(FirebaseHash),
    /// PBKDF2 with HMAC.
    Pbkdf2(Pbkdf2Hash),
    /// SHA-crypt of Unix.
    ShaCrypt(ShaCryptHash),
    /// phpass of PHP applications.
    Phpass(PhpassHash),
    /// A bare digest, which waits to be wrapped.
    Digest(DigestHash),
    /// argon2id over a bare digest.
    Wrapped(WrappedDigest),
}

/// A password hash from elsewhere, within the bounds of its scheme.
#[derive(Clone, PartialEq, Eq)]
pub struct ImportedHash {
    scheme: Scheme,
    text: Text,
}

#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
struct Text(String);

impl ImportedHash {
    /// Parses a hash in its canonical text or in a form of other software. Bare digests are refused as
    /// [`HashProblem::Weak`] unless `allow_weak` is true.
    pub fn parse(text: &str, allow_weak: bool) -> Result<Self, HashProblem> {
        if text.len() > LONGEST_TEXT || !text.is_ascii() {
            return Err(HashProblem::Unknown);
        }
        match parse_scheme(text)? {
            Scheme::Digest(_) if !allow_weak => Err(HashProblem::Weak),
            scheme => Ok(Self::from(scheme)),
        }
    }

    /// Returns the canonical text, which is stored. That of a Firebase hash with its signer key in it contains the key:
    /// call [`Self::with_key`] first.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text.0
    }

    /// Returns the hash with what its verification needs.
    #[must_use]
    pub const fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Returns the text as the password hash of an account.
    #[must_use]
    pub fn to_password_hash(&self) -> PasswordHash {
        PasswordHash::from_phc(self.text.0.clone())
    }

    /// Returns the signer key in the text of a Firebase hash, which is to be stored apart.
    #[must_use]
    pub fn signer_key(&self) -> Option<&[u8]> {
        match &self.scheme {
            Scheme::Firebase(FirebaseHash { key: SignerKey::Given(key), .. }) => Some(key.as_slice()),
            _ => None,
        }
    }

    /// Returns the id of the signer key that a Firebase hash names.
    #[must_use]
    pub const fn key_id(&self) -> Option<HashKeyId> {
        match &self.scheme {
            Scheme::Firebase(FirebaseHash { key: SignerKey::Stored(id), .. }) => Some(*id),
            _ => None,
        }
    }

    /// Returns the hash with this signer key. Hashes of other schemes are unchanged.
    #[must_use]
    pub fn with_signer_key(mut self, key: Zeroizing<Vec<u8>>) -> Self {
        if let Scheme::Firebase(hash) = &mut self.scheme {
            hash.key = SignerKey::Given(key);
            return Self::from(self.scheme);
        }
        self
    }

    /// Returns the hash with the id of the stored signer key instead of the key. Hashes of other schemes are unchanged.
    #[must_use]
    pub fn with_key(mut self, id: HashKeyId) -> Self {
        if let Scheme::Firebase(hash) = &mut self.scheme {
            hash.key = SignerKey::Stored(id);
            return Self::from(self.scheme);
        }
        self
    }
}

impl From<Scheme> for ImportedHash {
    fn from(scheme: Scheme) -> Self {
        let text = Text(scheme.to_string());
        Self { scheme, text }
    }
}

impl fmt::Debug for ImportedHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ImportedHash(…)")
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argon2(hash) => hash.fmt(f),
            Self::Bcrypt(hash) => hash.fmt(f),
            Self::Scrypt(hash) => hash.fmt(f),
            Self::Firebase(hash) => hash.fmt(f),
            Self::Pbkdf2(hash) => hash.fmt(f),
            Self::ShaCrypt(hash) => hash.fmt(f),
            Self::Phpass(hash) => hash.fmt(f),
            Self::Digest(hash) => hash.fmt(f),
            Self::Wrapped(hash) => hash.fmt(f),
        }
    }
}

/// Reads a text by the first parser that recognises its beginning.
fn parse_scheme(text: &str) -> Result<Scheme, HashProblem> {
    None.or_else(|| argon2::parse(text).map(|read| read.map(Scheme::Argon2)))
        .or_else(|| bcrypt::parse(text).map(|read| read.map(Scheme::Bcrypt)))
        .or_else(|| scrypt::parse(text).map(|read| read.map(Scheme::Scrypt)))
        .or_else(|| scrypt::parse_firebase(text).map(|read| read.map(Scheme::Firebase)))
        .or_else(|| pbkdf2::parse(text).map(|read| read.map(Scheme::Pbkdf2)))
        .or_else(|| crypt::parse_sha(text).map(|read| read.map(Scheme::ShaCrypt)))
        .or_else(|| crypt::parse_phpass(text).map(|read| read.map(Scheme::Phpass)))
        .or_else(|| digest::parse_wrapped(text).map(|read| read.map(Scheme::Wrapped)))
        .or_else(|| digest::parse(text).map(|read| read.map(Scheme::Digest)))
        .unwrap_or(Err(HashProblem::Unknown))
}

#[cfg(test)]
mod tests;
