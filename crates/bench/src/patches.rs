//! Request scripts ([`crate::load::Script`]) that write the user's own profile, with and without
//! searchable fields.

use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::load::Script;
use crate::scripts::{Bearer, Pick, body, head};
use crate::words::Words;

/// Request script of PATCH calls on the user's own profile, each with a new text.
pub(crate) struct Patch {
    bearers: Arc<Vec<Bearer>>,
    next: usize,
    pick: Pick,
    rng: StdRng,
    changed: Changed,
}

/// Fields changed by a PATCH.
enum Changed {
    /// A field that the search does not index.
    Avatar,
    /// Name and bio, which the search indexes, with words like those of seeded people.
    NameAndBio(Words),
    /// Bio only, which the search indexes.
    Bio(Words),
}

impl Patch {
    /// Makes a script that changes the avatars of the users of these access tokens.
    pub(crate) fn avatars(bearers: Arc<Vec<Bearer>>, pick: Pick) -> Self {
        Self { bearers, next: 0, pick, rng: StdRng::seed_from_u64(3), changed: Changed::Avatar }
    }

    /// Makes a script that changes names and bios of the users of these access tokens in turn, with
    /// words like those of seeded people.
    pub(crate) fn names_and_bios(bearers: Arc<Vec<Bearer>>) -> Self {
        Self { changed: Changed::NameAndBio(Words::new()), ..Self::avatars(bearers, Pick::InTurn) }
    }

    /// Makes a script that changes the bios of the users of these access tokens in turn.
    pub(crate) fn bios(bearers: Arc<Vec<Bearer>>) -> Self {
        Self { changed: Changed::Bio(Words::new()), ..Self::avatars(bearers, Pick::InTurn) }
    }

    /// Body of the next request. The words are ASCII letters, so nothing is escaped.
    fn change(&mut self) -> String {
        match &self.changed {
            Changed::Avatar => format!(r#"{{"avatar_url":"https://cdn.example.org/{}.png"}}"#, self.next),
            Changed::NameAndBio(words) => {
                let (name, bio) = words.of_person(&mut self.rng);
                format!(r#"{{"name":"{name}","bio":"{bio}"}}"#)
            }
            Changed::Bio(words) => format!(r#"{{"bio":"{}"}}"#, words.of_person(&mut self.rng).1),
        }
    }
}

impl Script for Patch {
    fn next_request(&mut self, _connection: usize, out: &mut Vec<u8>) {
        let at = match self.pick {
            Pick::InTurn => self.next % self.bearers.len(),
            Pick::Random => self.rng.random_range(0..self.bearers.len()),
        };
        self.next += 1;
        let change = self.change();
        patch(out, &self.bearers[at], &change);
    }
}

/// Appends a PATCH of the bearer's own profile to the output.
pub(crate) fn patch(out: &mut Vec<u8>, bearer: &Bearer, json: &str) {
    head(out, "PATCH", "/api/profiles/me");
    out.extend_from_slice(b"authorization: Bearer ");
    out.extend_from_slice(bearer.token.as_bytes());
    out.extend_from_slice(b"\r\n");
    body(out, json);
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchkey_domain::profile::{Bio, Name};

    fn bearers() -> Arc<Vec<Bearer>> {
        let bearer = |n: u32| Bearer { token: format!("token{n}"), user_id: n.to_string() };
        Arc::new((0..2).map(bearer).collect())
    }

    fn next(script: &mut Patch) -> (String, serde_json::Value) {
        let mut out = Vec::new();
        script.next_request(0, &mut out);
        let text = String::from_utf8(out).unwrap();
        let (head, json) = text.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_name_and_a_bio_are_new_each_time_and_valid() {
        let mut script = Patch::names_and_bios(bearers());
        let changes: Vec<_> = (0..100).map(|_| next(&mut script).1).collect();
        for (at, change) in changes.iter().enumerate() {
            assert!(Name::parse(change["name"].as_str().unwrap()).is_ok(), "{change}");
            assert!(Bio::parse(change["bio"].as_str().unwrap()).is_ok(), "{change}");
            assert!(!changes[..at].contains(change), "{change}");
        }
    }

    #[test]
    fn bearers_write_in_turn() {
        let mut script = Patch::avatars(bearers(), Pick::InTurn);
        let heads = [next(&mut script).0, next(&mut script).0, next(&mut script).0];
        assert!(heads[0].contains("Bearer token0") && heads[1].contains("Bearer token1"), "{heads:?}");
        assert!(heads[2].contains("Bearer token0"), "{heads:?}");
    }

    #[test]
    fn nothing_else_is_changed() {
        let changed = |mut script: Patch| {
            let (_, change) = next(&mut script);
            change.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(changed(Patch::avatars(bearers(), Pick::InTurn)), ["avatar_url"]);
        assert_eq!(changed(Patch::bios(bearers())), ["bio"]);
        assert_eq!(changed(Patch::names_and_bios(bearers())), ["bio", "name"]);
    }
}
