//! Bare digests, which are weak: a stolen one is guessed at a rate of billions a second. They are stored only until
//! upkeep wraps them in argon2id.

use std::fmt;

use super::HashProblem;
use super::argon2::costs_of;
use super::fields::{Read, base64, hex, output, parts, salt, to_base64, values, within};

/// Digest algorithm of a weak hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeakDigest {
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

impl WeakDigest {
    /// All algorithms.
    pub const ALL: [Self; 4] = [Self::Md5, Self::Sha1, Self::Sha256, Self::Sha512];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }

    /// Returns the length of the output in bytes.
    #[must_use]
    pub const fn length(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha512 => 64,
        }
    }
}

/// Place of the salt in the input of a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaltPlace {
    /// The digest is of the password alone; the salt is empty.
    None,
    /// The salt precedes the password.
    Before,
    /// The salt follows the password.
    After,
    /// The salt is the key of an HMAC of the password.
    Key,
    /// The salt is the length of a key, the key of an HMAC, and the text that precedes the password.
    KeyBefore,
    /// The salt is the length of a key, the key of an HMAC, and the text that follows the password.
    KeyAfter,
}

impl SaltPlace {
    /// All places.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Before, Self::After, Self::Key, Self::KeyBefore, Self::KeyAfter];

    const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Before => "before",
            Self::After => "after",
            Self::Key => "key",
            Self::KeyBefore => "keybefore",
            Self::KeyAfter => "keyafter",
        }
    }
}

/// Recipe of a digest: algorithm and salt.
#[derive(Clone, PartialEq, Eq)]
pub struct DigestRecipe {
    /// Algorithm.
    pub algorithm: WeakDigest,
    /// Place of the salt.
    pub place: SaltPlace,
    /// Salt.
    pub salt: Vec<u8>,
}

impl DigestRecipe {
    fn new(algorithm: WeakDigest, place: SaltPlace, salted: Vec<u8>) -> Read<Self> {
        let recipe = Self { algorithm, place, salt: salt(salted)? };
        let is_consistent = match place {
            SaltPlace::None => recipe.salt.is_empty(),
            SaltPlace::Before | SaltPlace::After | SaltPlace::Key => true,
            SaltPlace::KeyBefore | SaltPlace::KeyAfter => recipe.key_and_salt().is_some(),
        };
        if is_consistent { Ok(recipe) } else { Err(HashProblem::Unknown) }
    }

    /// Splits the salt of [`SaltPlace::KeyBefore`] or [`SaltPlace::KeyAfter`] into the key of the HMAC and what is beside the
    /// password.
    #[must_use]
    pub fn key_and_salt(&self) -> Option<(&[u8], &[u8])> {
        let (length, rest) = self.salt.split_first()?;
        rest.split_at_checked(usize::from(*length))
    }
}

/// A bare digest.
#[derive(Clone, PartialEq, Eq)]
pub struct DigestHash {
    /// Recipe.
    pub recipe: DigestRecipe,
    /// Output, as long as that of the algorithm.
    pub output: Vec<u8>,
}

impl DigestHash {
    /// Creates a bare digest. The output must be as long as that of the algorithm, the salt empty if it has no place.
    pub fn new(algorithm: WeakDigest, place: SaltPlace, salted: Vec<u8>, digest: Vec<u8>) -> Read<Self> {
        let recipe = DigestRecipe::new(algorithm, place, salted)?;
        if digest.len() != algorithm.length() {
            return Err(HashProblem::Unknown);
        }
        Ok(Self { recipe, output: digest })
    }
}

impl fmt::Display for DigestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DigestRecipe { algorithm, place, salt } = &self.recipe;
        write!(f, "$digest$a={},s={}", algorithm.as_str(), place.as_str())?;
        write!(f, "${}${}", to_base64(salt), to_base64(&self.output))
    }
}

/// Hash of argon2id over the hex digits of a digest. A stolen one is guessed no faster than one of our own.
#[derive(Clone, PartialEq, Eq)]
pub struct WrappedDigest {
    /// Recipe of the digest.
    pub recipe: DigestRecipe,
    /// Memory of argon2id in KiB.
    pub memory_kib: u32,
    /// Number of passes of argon2id.
    pub passes: u32,
    /// Number of lanes of argon2id.
    pub lanes: u32,
    /// Salt of argon2id.
    pub salt: Vec<u8>,
    /// Output of argon2id.
    pub output: Vec<u8>,
}

impl fmt::Display for WrappedDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            recipe: DigestRecipe { algorithm, place, salt: inner }, memory_kib, passes, lanes, ..
        } = self;
        write!(f, "$wrapped$m={memory_kib},t={passes},p={lanes}")?;
        write!(f, "$a={},s={}${}", algorithm.as_str(), place.as_str(), to_base64(inner))?;
        write!(f, "${}${}", to_base64(&self.salt), to_base64(&self.output))
    }
}

pub(super) fn parse_wrapped(text: &str) -> Option<Read<WrappedDigest>> {
    text.strip_prefix("$wrapped$").map(read_wrapped)
}

fn read_wrapped(rest: &str) -> Read<WrappedDigest> {
    let [costs, recipe, inner, salted, hashed] = parts(rest)?;
    let (memory_kib, passes, lanes) = costs_of(costs)?;
    let (algorithm, place) = recipe_of(recipe)?;
    let recipe = DigestRecipe::new(algorithm, place, base64(inner)?)?;
    let salted = salt(base64(salted)?)?;
    within(salted.len(), 8, usize::MAX)?;
    Ok(WrappedDigest { recipe, memory_kib, passes, lanes, salt: salted, output: output(base64(hashed)?)? })
}

fn recipe_of(text: &str) -> Read<(WeakDigest, SaltPlace)> {
    let [algorithm, place] = values(text, ["a", "s"])?;
    let algorithm = WeakDigest::ALL.into_iter().find(|known| known.as_str() == algorithm);
    let place = SaltPlace::ALL.into_iter().find(|known| known.as_str() == place);
    algorithm.zip(place).ok_or(HashProblem::Unknown)
}

pub(super) fn parse(text: &str) -> Option<Read<DigestHash>> {
    if let Some(rest) = text.strip_prefix("$digest$") {
        return Some(read(rest));
    }
    if let Some(rest) = text.strip_prefix('{') {
        return read_ldap(rest);
    }
    read_django(text).or_else(|| read_hex(text)).or_else(|| read_base64(text))
}

fn read(rest: &str) -> Read<DigestHash> {
    let [recipe, salted, hashed] = parts(rest)?;
    let (algorithm, place) = recipe_of(recipe)?;
    let is_hex = hashed.len() == 2 * algorithm.length();
    let digest = if is_hex { hex(hashed)? } else { base64(hashed)? };
    DigestHash::new(algorithm, place, base64(salted)?, digest)
}

/// Reads `md5$SALT$HEX` and `sha1$SALT$HEX`, where the salt precedes the password.
fn read_django(text: &str) -> Option<Read<DigestHash>> {
    let (name, rest) = text.split_once('$')?;
    let algorithm = [WeakDigest::Md5, WeakDigest::Sha1].into_iter().find(|known| known.as_str() == name)?;
    let (salted, hashed) = rest.split_once('$')?;
    let place = if salted.is_empty() { SaltPlace::None } else { SaltPlace::Before };
    Some(hex(hashed).and_then(|digest| DigestHash::new(algorithm, place, salted.into(), digest)))
}

/// Reads the schemes of RFC 2307 and of LDAP servers after `{`: the salt follows the password, and the digest precedes it.
fn read_ldap(rest: &str) -> Option<Read<DigestHash>> {
    let (name, rest) = rest.split_once('}')?;
    let (algorithm, is_salted) = match name.to_ascii_uppercase().as_str() {
        "MD5" => (WeakDigest::Md5, false),
        "SMD5" => (WeakDigest::Md5, true),
        "SHA" => (WeakDigest::Sha1, false),
        "SSHA" => (WeakDigest::Sha1, true),
        "SHA256" => (WeakDigest::Sha256, false),
        "SSHA256" => (WeakDigest::Sha256, true),
        "SHA512" => (WeakDigest::Sha512, false),
        "SSHA512" => (WeakDigest::Sha512, true),
        _ => return None,
    };
    let place = if is_salted { SaltPlace::After } else { SaltPlace::None };
    Some(base64(rest).and_then(|mut digest| {
        if digest.len() < algorithm.length() {
            return Err(HashProblem::Unknown);
        }
        let salted = digest.split_off(algorithm.length());
        DigestHash::new(algorithm, place, salted, digest)
    }))
}

/// Reads hex digits alone; their number names the algorithm.
fn read_hex(text: &str) -> Option<Read<DigestHash>> {
    let algorithm = WeakDigest::ALL.into_iter().find(|known| 2 * known.length() == text.len())?;
    let digest = hex::decode(text).ok()?;
    Some(DigestHash::new(algorithm, SaltPlace::None, Vec::new(), digest))
}

/// Reads base64 with its padding alone, where its length names the algorithm.
fn read_base64(text: &str) -> Option<Read<DigestHash>> {
    let length = |algorithm: &WeakDigest| algorithm.length().div_ceil(3) * 4;
    let algorithm = WeakDigest::ALL.into_iter().find(|known| length(known) == text.len())?;
    // Each of the lengths has padding. Without it, the text is of another one.
    let digest = base64(text).ok().filter(|_| text.ends_with('='))?;
    Some(DigestHash::new(algorithm, SaltPlace::None, Vec::new(), digest))
}
