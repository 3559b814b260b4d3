//! scrypt (RFC 7914) in the forms of several frameworks, and Firebase's variant.

use std::fmt;

use zeroize::Zeroizing;

use super::fields::{Read, base64, hex, number, output, parts, salt, to_base64, values, within};
use super::{HashKeyId, HashProblem};

/// Maximum of log₂ N: N = 131,072.
const MOST_LOG_N: u8 = 17;
const MOST_BLOCK_SIZE: u32 = 16;
/// Maximum of p, that of Django 5.1 and later.
const MOST_PARALLELISM: u32 = 5;
/// Maximum memory of a check: 128 MiB.
const MOST_MEMORY: usize = 128 << 20;
/// Parameters of Better Auth.
const BETTER_AUTH: ScryptCosts = ScryptCosts { log_n: 14, block_size: 16, parallelism: 1 };
/// Length of a signer key in bytes. Those of Firebase have 64.
const SIGNER_KEY: std::ops::RangeInclusive<usize> = 16..=64;

/// Costs of scrypt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScryptCosts {
    /// Binary logarithm of N.
    pub log_n: u8,
    /// Block size r.
    pub block_size: u32,
    /// Parallelism p.
    pub parallelism: u32,
}

impl ScryptCosts {
    /// Returns the memory of a computation in bytes.
    #[must_use]
    pub const fn memory(self) -> usize {
        (128 * self.block_size as usize) << self.log_n
    }

    fn read(log_n: u8, block_size: &str, parallelism: &str) -> Read<Self> {
        let costs = Self {
            log_n: within(log_n, 1, MOST_LOG_N)?,
            block_size: within(number(block_size)?, 1, MOST_BLOCK_SIZE)?,
            parallelism: within(number(parallelism)?, 1, MOST_PARALLELISM)?,
        };
        within(costs.memory(), 0, MOST_MEMORY)?;
        Ok(costs)
    }

    /// Parses N as a number, which must be a power of two.
    fn of_n(n: &str, block_size: &str, parallelism: &str) -> Read<Self> {
        let n: u64 = number(n)?;
        if !n.is_power_of_two() {
            return Err(HashProblem::OutOfBounds);
        }
        Self::read(u8::try_from(n.trailing_zeros()).unwrap_or(u8::MAX), block_size, parallelism)
    }
}

impl fmt::Display for ScryptCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ln={},r={},p={}", self.log_n, self.block_size, self.parallelism)
    }
}

/// A hash of scrypt.
#[derive(Clone, PartialEq, Eq)]
pub struct ScryptHash {
    /// Costs.
    pub costs: ScryptCosts,
    /// True if the password was hashed in NFKC (Better Auth).
    pub is_nfkc: bool,
    /// Salt.
    pub salt: Vec<u8>,
    /// Output.
    pub output: Vec<u8>,
}

impl fmt::Display for ScryptHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = if self.is_nfkc { ",f=nfkc" } else { "" };
        write!(f, "$scrypt${}{form}${}${}", self.costs, to_base64(&self.salt), to_base64(&self.output))
    }
}

pub(super) fn parse(text: &str) -> Option<Read<ScryptHash>> {
    let canonical = text.strip_prefix("$scrypt$").map(read);
    let django = || text.strip_prefix("scrypt$").map(read_django);
    let werkzeug = || text.strip_prefix("scrypt:").map(read_werkzeug);
    canonical.or_else(django).or_else(werkzeug).or_else(|| read_better_auth(text))
}

fn read(rest: &str) -> Read<ScryptHash> {
    let [costs, salted, hashed] = parts(rest)?;
    let (costs, is_nfkc) = costs.strip_suffix(",f=nfkc").map_or((costs, false), |costs| (costs, true));
    let [log_n, block_size, parallelism] = values(costs, ["ln", "r", "p"])?;
    let costs = ScryptCosts::read(number(log_n)?, block_size, parallelism)?;
    hash(costs, is_nfkc, base64(salted)?, base64(hashed)?)
}

fn read_django(rest: &str) -> Read<ScryptHash> {
    let [n, salted, block_size, parallelism, hashed] = parts(rest)?;
    let costs = ScryptCosts::of_n(n, block_size, parallelism)?;
    hash(costs, false, salted.into(), base64(hashed)?)
}

fn read_werkzeug(rest: &str) -> Read<ScryptHash> {
    let [costs, salted, hashed] = parts(rest)?;
    let costs: Vec<_> = costs.splitn(4, ':').collect();
    let [n, block_size, parallelism] = costs.try_into().map_err(|_| HashProblem::Unknown)?;
    let costs = ScryptCosts::of_n(n, block_size, parallelism)?;
    hash(costs, false, salted.into(), hex(hashed)?)
}

/// Reads 32 hex digits, a colon and 128 hex digits. The salt is the text of its digits.
fn read_better_auth(text: &str) -> Option<Read<ScryptHash>> {
    let (salted, hashed) = text.split_once(':')?;
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_ours = salted.len() == 32 && hashed.len() == 128 && is_hex(salted) && is_hex(hashed);
    is_ours.then(|| hash(BETTER_AUTH, true, salted.into(), hex(hashed)?))
}

fn hash(costs: ScryptCosts, is_nfkc: bool, salted: Vec<u8>, hashed: Vec<u8>) -> Read<ScryptHash> {
    Ok(ScryptHash { costs, is_nfkc, salt: salt(salted)?, output: output(hashed)? })
}

/// Key that all hashes of a Firebase project share.
#[derive(Clone, PartialEq, Eq)]
pub enum SignerKey {
    /// The key itself, as Supabase writes it into each hash.
    Given(Zeroizing<Vec<u8>>),
    /// A key that is stored apart.
    Stored(HashKeyId),
}

/// A hash of Firebase's scrypt: the signer key, encrypted by AES-256-CTR under the output of scrypt.
#[derive(Clone, PartialEq, Eq)]
pub struct FirebaseHash {
    /// Costs.
    pub costs: ScryptCosts,
    /// Signer key.
    pub key: SignerKey,
    /// Salt, followed by the separator of the project.
    pub salt: Vec<u8>,
    /// Output, as long as the signer key.
    pub output: Vec<u8>,
}

impl fmt::Display for FirebaseHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$fbscrypt${},", self.costs)?;
        match &self.key {
            SignerKey::Given(key) => write!(f, "sk={}", to_base64(key))?,
            SignerKey::Stored(id) => write!(f, "k={}", id.as_uuid())?,
        }
        write!(f, "${}${}", to_base64(&self.salt), to_base64(&self.output))
    }
}

pub(super) fn parse_firebase(text: &str) -> Option<Read<FirebaseHash>> {
    text.strip_prefix("$fbscrypt$").map(read_firebase)
}

fn read_firebase(rest: &str) -> Read<FirebaseHash> {
    let [parameters, salted, hashed] = parts(rest)?;
    let (costs, key, separator) = if let Some(parameters) = parameters.strip_prefix("v=1,") {
        let [log_n, block_size, parallelism, separator, key] =
            values(parameters, ["n", "r", "p", "ss", "sk"])?;
        ([log_n, block_size, parallelism], signer_key(key)?, base64(separator)?)
    } else if let Ok([costs @ .., id]) = values(parameters, ["ln", "r", "p", "k"]) {
        let id = id.parse().map_err(|_| HashProblem::Unknown)?;
        (costs, SignerKey::Stored(id), Vec::new())
    } else {
        let [costs @ .., key] = values(parameters, ["ln", "r", "p", "sk"])?;
        (costs, signer_key(key)?, Vec::new())
    };
    let [log_n, block_size, parallelism] = costs;
    let costs = ScryptCosts::read(number(log_n)?, block_size, parallelism)?;
    let salted = salt([base64(salted)?, separator].concat())?;
    Ok(FirebaseHash { costs, key, salt: salted, output: output(base64(hashed)?)? })
}

fn signer_key(text: &str) -> Read<SignerKey> {
    parse_signer_key(text).map(SignerKey::Given)
}

/// Parses a signer key in base64. It must have 16 to 64 bytes.
pub fn parse_signer_key(text: &str) -> Result<Zeroizing<Vec<u8>>, HashProblem> {
    let key = Zeroizing::new(base64(text)?);
    within(key.len(), *SIGNER_KEY.start(), *SIGNER_KEY.end())?;
    Ok(key)
}
