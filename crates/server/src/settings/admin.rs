//! Section `admin`: the keys of the admin interface.

use super::problem::Problems;
use super::reader::Reader;
use super::secret::Secret;
use super::server::Mode;
use super::strength;

/// Fewest characters of an admin key.
const SHORTEST_KEY: usize = 32;

const MEND: &str = "make one with `openssl rand -hex 32`";

/// Section `admin`. At least 32 visible ASCII characters each.
#[derive(Debug)]
pub struct AdminSettings {
    /// The key. `None` only in development: the start generates one.
    pub api_key: Option<Secret>,
    /// A second key that is valid too, for rotation.
    pub api_key_next: Option<Secret>,
}

impl AdminSettings {
    pub(super) fn read(reader: &mut Reader<'_>, mode: Mode) -> Self {
        let api_key = read_key(reader, "admin.api_key", mode);
        let api_key_next = read_key(reader, "admin.api_key_next", mode);
        if api_key.is_none() && mode == Mode::Production {
            let sentence = format!("it is required in production; {MEND}");
            reader.rule(&["admin.api_key", "server.mode"], &sentence);
        }
        Self { api_key, api_key_next }
    }

    /// Keys that are the same protect nothing.
    pub(super) fn check(&self, server_secret: Option<&Secret>, problems: &mut Problems) {
        let is_same = |one: Option<&Secret>, other: Option<&Secret>| match (one, other) {
            (Some(one), Some(other)) => one.reveal() == other.reveal(),
            _ => false,
        };
        if is_same(self.api_key_next.as_ref(), self.api_key.as_ref()) {
            let sentence = "it is the same as admin.api_key; a rotation needs another key";
            problems.rule(&["admin.api_key_next", "admin.api_key"], sentence);
        }
        let keys = [("admin.api_key", &self.api_key), ("admin.api_key_next", &self.api_key_next)];
        for (name, key) in keys {
            if is_same(key.as_ref(), server_secret) {
                let sentence = "it is the same as server.secret, which no client may know; make another";
                problems.rule(&[name, "server.secret"], sentence);
            }
        }
    }
}

fn read_key(reader: &mut Reader<'_>, name: &'static str, mode: Mode) -> Option<Secret> {
    let secret = reader.take_secret(name)?;
    let length = secret.reveal().len();
    // Anything else could not be sent in a header.
    if !secret.reveal().bytes().all(|c| c.is_ascii_graphic()) {
        let sentence = format!("only visible ASCII characters without spaces can be sent; {MEND}");
        reader.refuse(name, &sentence);
    } else if length < SHORTEST_KEY {
        let sentence = format!("it has {length} characters, at least {SHORTEST_KEY} are needed; {MEND}");
        reader.refuse(name, &sentence);
    } else if let Some(weakness) = strength::weakness(secret.reveal(), mode) {
        reader.refuse(name, &format!("{weakness}; {MEND}"));
    }
    Some(secret)
}
