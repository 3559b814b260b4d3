//! Fuzz tests that know the structure: the test vectors with bytes cut, inserted, doubled, flipped, or spliced from another
//! vector. `PROPTEST_CASES=100000 cargo test -p latchkey-webauthn --test it fuzz` runs for longer.

use latchkey_webauthn::RegistrationMode::{Conditional, Prompted};
use latchkey_webauthn::{CoseKey, Refusal};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::vectors::{Case, accepted};

/// Bytes that begin a data item of CBOR with something special: long, nested, indefinite, reserved.
const HEADS: &[u8] =
    &[0x1b, 0x3b, 0x40, 0x58, 0x5b, 0x5f, 0x78, 0x80, 0x9b, 0xa0, 0xbb, 0xbf, 0xc0, 0xf7, 0xfb, 0xff];

/// Change to a field.
#[derive(Debug, Clone)]
enum Change {
    Cut(Index),
    Leave(Index, Index),
    Flip(Index),
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Double(Index, Index),
    Nest(Index, u8, usize),
    /// The end comes from the same field of another vector.
    Splice(Index, Index),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>, others: &[&[u8]]) {
        let place = |index: &Index| index.index(bytes.len() + 1);
        match self {
            Self::Cut(at) => bytes.truncate(place(at)),
            Self::Leave(from, to) => drop(bytes.drain(range(place(from), place(to)))),
            Self::Flip(_) | Self::Set(..) if bytes.is_empty() => (),
            Self::Flip(at) => {
                let bit = at.index(bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            Self::Set(at, byte) => {
                let place = at.index(bytes.len());
                bytes[place] = *byte;
            }
            Self::Insert(at, more) => drop(bytes.splice(place(at)..place(at), more.iter().copied())),
            Self::Double(from, to) => bytes.extend_from_within(range(place(from), place(to))),
            Self::Nest(at, byte, depth) => drop(bytes.splice(place(at)..place(at), vec![*byte; *depth])),
            Self::Splice(at, other) => {
                let other = other.get(others);
                let rest = &other[place(at).min(other.len())..];
                bytes.splice(place(at).., rest.iter().copied());
            }
        }
    }
}

fn range(one: usize, other: usize) -> std::ops::Range<usize> {
    one.min(other)..one.max(other)
}

fn change() -> impl Strategy<Value = Change> {
    let place = || any::<Index>();
    let byte = || prop_oneof![any::<u8>(), prop::sample::select(HEADS)];
    prop_oneof![
        place().prop_map(Change::Cut),
        (place(), place()).prop_map(|(from, to)| Change::Leave(from, to)),
        place().prop_map(Change::Flip),
        (place(), byte()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (place(), prop::collection::vec(byte(), 1..40)).prop_map(|(at, more)| Change::Insert(at, more)),
        (place(), place()).prop_map(|(from, to)| Change::Double(from, to)),
        (place(), byte(), 1..6_000_usize).prop_map(|(at, byte, depth)| Change::Nest(at, byte, depth)),
        (place(), place()).prop_map(|(at, other)| Change::Splice(at, other)),
    ]
}

/// A vector, and its field after the changes.
fn changed(case: Index, changes: &[Change], field: fn(&Case) -> &[u8]) -> (&'static Case, usize, Vec<u8>) {
    let place = case.index(accepted().len());
    let others: Vec<_> = accepted().iter().map(|(case, _)| field(case)).collect();
    let case = &accepted()[place].0;
    let mut bytes = field(case).to_vec();
    for change in changes {
        change.apply(&mut bytes, &others);
    }
    (case, place, bytes)
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec(change(), 1..4)
}

proptest! {
    /// A registration is not signed, so a changed one may be accepted. Then it keeps every rule.
    #[test]
    fn accepted_attestation_objects_keep_the_rules(case: Index, changes in changes()) {
        let (case, _, object) = changed(case, &changes, |case| &case.registration.attestation_object);
        let mut registration = case.registration.clone();
        registration.attestation_object = object;
        for mode in [Conditional, Prompted] {
            let Ok(credential) = registration.verify(mode) else { continue };
            prop_assert_eq!(credential.id.as_bytes(), &registration.id);
            prop_assert!(registration.id.len() <= 1_023 && registration.attestation_object.len() <= 16_384);
            prop_assert_eq!(CoseKey::parse(credential.key.as_bytes()), Ok(credential.key.clone()));
            let flags = credential.flags;
            prop_assert!(flags.is_backup_eligible() || !flags.is_backed_up());
            prop_assert!(mode == Conditional || (flags.is_user_present() && flags.is_user_verified()));
        }
    }

    /// Judged by another parser: what is accepted says the right type, challenge and origin.
    #[test]
    fn accepted_client_data_says_what_was_expected(case: Index, changes in changes()) {
        let (case, _, json) = changed(case, &changes, |case| &case.registration.client_data);
        let good: Value = serde_json::from_slice(&case.registration.client_data).unwrap();
        let mut registration = case.registration.clone();
        registration.client_data = json;
        if registration.verify(Conditional).is_ok() {
            let said: Value = serde_json::from_slice(&registration.client_data).unwrap();
            for member in ["type", "challenge", "origin"] {
                prop_assert_eq!(&said[member], &good[member]);
            }
            prop_assert!(said["crossOrigin"] != true && said["topOrigin"].is_null());
        }
    }

    #[test]
    fn changed_client_data_signs_nothing(case: Index, changes in changes()) {
        let (case, place, json) = changed(case, &changes, |case| &case.authentication.client_data);
        let mut changed = case.authentication.clone();
        if json != changed.client_data {
            changed.client_data = json;
            is_no_assertion(&changed.verify(&accepted()[place].1));
        }
    }

    #[test]
    fn changed_authenticator_data_signs_nothing(case: Index, changes in changes()) {
        let (case, place, data) = changed(case, &changes, |case| &case.authentication.authenticator_data);
        let mut changed = case.authentication.clone();
        if data != changed.authenticator_data {
            changed.authenticator_data = data;
            is_no_assertion(&changed.verify(&accepted()[place].1));
        }
    }

    #[test]
    fn changed_signature_signs_nothing(case: Index, changes in changes()) {
        let (case, place, signature) = changed(case, &changes, |case| &case.authentication.signature);
        let mut changed = case.authentication.clone();
        if signature != changed.signature {
            changed.signature = signature;
            is_no_assertion(&changed.verify(&accepted()[place].1));
        }
    }

    /// Of a key that was changed, what is accepted is read again, and is no longer the key of the signature.
    #[test]
    fn changed_keys_verify_nothing(case: Index, changes in changes()) {
        let place = case.index(accepted().len());
        let (case, credential) = &accepted()[place];
        let others: Vec<_> = accepted().iter().map(|(_, credential)| credential.key.as_bytes()).collect();
        let mut bytes = credential.key.as_bytes().to_vec();
        for change in &changes {
            change.apply(&mut bytes, &others);
        }
        let Ok(key) = CoseKey::parse(&bytes) else { return Ok(()) };
        prop_assert_eq!(key.as_bytes(), &bytes);
        if bytes != credential.key.as_bytes() {
            let mut other = credential.clone();
            other.key = key;
            is_no_assertion(&case.authentication.verify(&other));
        }
    }
}

/// Asserts a refusal that does not follow a good signature. `UserNotVerified` would: most vectors lack UV.
#[track_caller]
fn is_no_assertion(outcome: &Result<latchkey_webauthn::Assertion, Refusal>) {
    assert!(!matches!(outcome, Ok(_) | Err(Refusal::UserNotVerified)), "{outcome:?}");
}
