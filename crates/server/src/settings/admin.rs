//! Section `admin`: keys of the admin interface.

use latchkey_settings::{Kind, Problems, Reader, Secret, settings};

use super::server::{Mode, mode};
use super::strength::{self, REMEDY};

/// Minimum length of an admin key in characters.
const SHORTEST_KEY: usize = 32;

settings! {
    /// Settings of section `admin`.
    #[derive(Debug)]
    pub struct AdminSettings {
        /// The key of the admin interface, at least 32 visible ASCII characters.
        /// Development: generated into data.dir at the first start and shown once. Production: required.
        "admin.api_key" => api_key: Option<Secret> [Kind::Secret] | read_required_key =
            none, "change-me: the output of openssl rand -hex 32";
        /// A second key that is valid at the same time, for rotation: set the new one here, move the
        /// clients, then make it api_key. Not set: none.
        "admin.api_key_next" => api_key_next: Option<Secret> [Kind::Secret] | read_key = none, "";
    }
}

fn read_required_key(reader: &mut Reader<'_>, key: &'static str) -> Option<Secret> {
    let secret = read_key(reader, key);
    if secret.is_none() && mode(reader) == Mode::Production {
        reader.rule(&[key, "server.mode"], &format!("it is required in production; {REMEDY}"));
    }
    secret
}

impl AdminSettings {
    /// Checks the rules between keys: the admin keys and the server secret all differ.
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

fn read_key(reader: &mut Reader<'_>, name: &'static str) -> Option<Secret> {
    let secret = reader.take_secret(name)?;
    let length = secret.reveal().len();
    // Other characters cannot be sent in an HTTP header.
    if !secret.reveal().bytes().all(|c| c.is_ascii_graphic()) {
        let sentence = format!("only visible ASCII characters without spaces can be sent; {REMEDY}");
        reader.refuse(name, &sentence);
    } else if length < SHORTEST_KEY {
        let sentence = format!("it has {length} characters, at least {SHORTEST_KEY} are needed; {REMEDY}");
        reader.refuse(name, &sentence);
    } else if let Some(weakness) = strength::weakness(secret.reveal(), mode(reader)) {
        reader.refuse(name, &format!("{weakness}; {REMEDY}"));
    }
    Some(secret)
}
