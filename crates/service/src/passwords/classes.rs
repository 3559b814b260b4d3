//! Work classes of the stored hashes and their shares. An address without a password of its own is worked at the cost of
//! a class that is drawn by the shares, so that costs do not tell it from the addresses of accounts.

use std::collections::BTreeMap;

use arc_swap::ArcSwap;
use aws_lc_rs::hmac;
use latchkey_domain::email::EmailKey;
use latchkey_domain::imported_hash::{ImportedHash, decoy};

/// The work classes of the passwords of all accounts, as last counted.
pub(crate) struct WorkClasses {
    /// Key of the draw: clients cannot compute the class of an address.
    key: hmac::Key,
    counted: ArcSwap<Counted>,
}

#[derive(Default)]
struct Counted {
    passwords: u64,
    /// Decoys by the number of passwords of their class and of those before it.
    decoys: Vec<(u64, ImportedHash)>,
}

impl WorkClasses {
    pub(crate) fn new(key: hmac::Key) -> Self {
        Self { key, counted: ArcSwap::default() }
    }

    /// Replaces the counts: numbers of passwords by work class. A class that cannot be worked is left out.
    pub(crate) fn replace(&self, counts: &BTreeMap<String, u64>) {
        let mut counted = Counted::default();
        for (class, passwords) in counts {
            let Ok(decoy) = decoy(class) else { continue };
            counted.passwords = counted.passwords.saturating_add(*passwords);
            counted.decoys.push((counted.passwords, decoy));
        }
        self.counted.store(counted.into());
    }

    /// Draws the decoy of an address; `None` if no class is known. An address has the same one while the shares stay.
    pub(crate) fn draw(&self, email: &EmailKey) -> Option<ImportedHash> {
        let counted = self.counted.load();
        let mac = hmac::sign(&self.key, email.as_str().as_bytes());
        let drawn = mac.as_ref().first_chunk().map(|bytes| u64::from_be_bytes(*bytes))?;
        let place = (u128::from(drawn) * u128::from(counted.passwords)) >> 64;
        let found = counted.decoys.iter().find(|(end, _)| place < u128::from(*end));
        found.map(|(_, decoy)| decoy.clone())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use latchkey_domain::email::Email;
    use latchkey_domain::imported_hash::class;

    use super::*;

    fn classes(counts: &[(&str, u64)]) -> WorkClasses {
        let classes = WorkClasses::new(hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]));
        classes.replace(&counts.iter().map(|(class, count)| ((*class).to_owned(), *count)).collect());
        classes
    }

    fn drawn(classes: &WorkClasses, number: u32) -> Option<String> {
        let email = Email::parse(&format!("nobody{number}@example.org")).unwrap();
        classes.draw(email.key()).map(|decoy| class(decoy.as_str()).unwrap().to_owned())
    }

    #[test]
    fn without_passwords_no_class_is_drawn() {
        assert_eq!(drawn(&classes(&[]), 1), None);
        assert_eq!(drawn(&classes(&[("no hash at all", 5)]), 1), None);
    }

    #[test]
    fn classes_are_drawn_by_their_shares() {
        let (usual, bcrypt, scrypt) =
            ("$argon2id$v=19$m=19456,t=2,p=1$", "$2b$10$", "$scrypt$ln=14,r=8,p=1$");
        let classes = classes(&[(usual, 50_000), (bcrypt, 40_000), (scrypt, 10_000)]);
        let mut counts = BTreeMap::<String, u32>::new();
        for number in 0..10_000 {
            *counts.entry(drawn(&classes, number).unwrap()).or_default() += 1;
        }
        // Five standard deviations of a share of 40 % among 10,000 are 245.
        for (class, expected) in [(usual, 5_000_u32), (bcrypt, 4_000), (scrypt, 1_000)] {
            assert!(counts[class].abs_diff(expected) < 250, "{class}: {}", counts[class]);
        }
    }

    #[test]
    fn an_address_keeps_its_class_while_the_shares_stay() {
        let (first, second) =
            (classes(&[("$2b$10$", 1), ("$2b$12$", 1)]), classes(&[("$2b$10$", 7), ("$2b$12$", 7)]));
        for number in 0..100 {
            assert_eq!(drawn(&first, number), drawn(&second, number));
        }
    }
}
