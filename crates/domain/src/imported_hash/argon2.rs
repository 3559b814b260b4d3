//! Argon2 in PHC strings (RFC 9106).

use std::fmt;

use super::HashProblem;
use super::fields::{Read, base64, number, output, parts, salt, to_base64, values, within};

/// Maximum memory of a check in KiB: 256 MiB.
const MOST_MEMORY: u32 = 256 * 1024;
const MOST_PASSES: u32 = 10;
const MOST_LANES: u32 = 8;
/// Least length of a salt that Argon2 permits.
const SHORTEST_SALT: usize = 8;

/// Variant of Argon2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argon2Variant {
    /// Data-dependent.
    D,
    /// Data-independent.
    I,
    /// Both; the variant of our own hashes.
    Id,
}

impl Argon2Variant {
    const fn as_str(self) -> &'static str {
        match self {
            Self::D => "argon2d",
            Self::I => "argon2i",
            Self::Id => "argon2id",
        }
    }
}

/// A hash of Argon2.
#[derive(Clone, PartialEq, Eq)]
pub struct Argon2Hash {
    /// Variant.
    pub variant: Argon2Variant,
    /// Version: 16 or 19.
    pub version: u32,
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Number of passes.
    pub passes: u32,
    /// Number of lanes.
    pub lanes: u32,
    /// Salt.
    pub salt: Vec<u8>,
    /// Output.
    pub output: Vec<u8>,
}

impl fmt::Display for Argon2Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variant, version, memory_kib, passes, lanes, salt, output } = self;
        write!(f, "${}$v={version}$m={memory_kib},t={passes},p={lanes}", variant.as_str())?;
        write!(f, "${}${}", to_base64(salt), to_base64(output))
    }
}

pub(super) fn parse(text: &str) -> Option<Read<Argon2Hash>> {
    let rest = text.strip_prefix("argon2").filter(|rest| rest.starts_with("$argon2")).unwrap_or(text);
    let (name, rest) = rest.strip_prefix('$')?.split_once('$')?;
    let variant = [Argon2Variant::D, Argon2Variant::I, Argon2Variant::Id]
        .into_iter()
        .find(|variant| variant.as_str() == name)?;
    Some(read(variant, rest))
}

fn read(variant: Argon2Variant, rest: &str) -> Read<Argon2Hash> {
    let (version, rest) = match rest.strip_prefix("v=") {
        Some(rest) => rest.split_once('$').ok_or(HashProblem::Unknown)?,
        None => ("16", rest),
    };
    let version: u32 = number(version)?;
    if version != 16 && version != 19 {
        return Err(HashProblem::Unknown);
    }
    let [costs, salted, hashed] = parts(rest)?;
    let (memory_kib, passes, lanes) = costs_of(costs)?;
    let salted = salt(base64(salted)?)?;
    within(salted.len(), SHORTEST_SALT, usize::MAX)?;
    let hashed = output(base64(hashed)?)?;
    Ok(Argon2Hash { variant, version, memory_kib, passes, lanes, salt: salted, output: hashed })
}

/// Parses memory, passes and lanes.
pub(super) fn costs_of(text: &str) -> Read<(u32, u32, u32)> {
    let [memory, passes, lanes] = values(text, ["m", "t", "p"])?;
    let lanes = within(number(lanes)?, 1, MOST_LANES)?;
    let memory_kib = within(number(memory)?, 8 * lanes, MOST_MEMORY)?;
    Ok((memory_kib, within(number(passes)?, 1, MOST_PASSES)?, lanes))
}
