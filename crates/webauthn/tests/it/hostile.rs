//! Hostile bytes: arbitrary ones, and vectors that are cut, lengthened or changed. Nothing panics, nothing is accepted.

use latchkey_webauthn::RegistrationMode::Conditional;
use latchkey_webauthn::{CoseKey, CredentialId, Field, NewCredential, Refusal};
use proptest::prelude::*;

use crate::authenticator::{Facts, HANDLE, Pair, Store, attestation_object, attested, map, text};
use crate::vectors::{Authentication, Registration, accepted};

/// Replaces one field of a registration by each shorter one and by some longer ones; all are refused.
fn assert_registration_ends_there(
    registration: &Registration,
    field: impl Fn(&mut Registration) -> &mut Vec<u8>,
) {
    each_other_length(field(&mut registration.clone()), |other| {
        let mut changed = registration.clone();
        *field(&mut changed) = other.to_vec();
        changed.verify(Conditional).is_ok()
    });
}

fn assert_assertion_ends_there(
    authentication: &Authentication,
    credential: &NewCredential,
    field: impl Fn(&mut Authentication) -> &mut Vec<u8>,
) {
    each_other_length(field(&mut authentication.clone()), |other| {
        let mut changed = authentication.clone();
        *field(&mut changed) = other.to_vec();
        // These two refusals would show a good signature.
        !matches!(changed.verify(credential), Err(refusal) if refusal != Refusal::UserNotVerified)
    });
}

fn each_other_length(bytes: &[u8], is_accepted: impl Fn(&[u8]) -> bool) {
    for length in 0..bytes.len() {
        assert!(!is_accepted(&bytes[..length]), "cut to {length} of {}", bytes.len());
    }
    for byte in [0, 1, 0x40, 0x60, 0x80, 0xa0, 0xf6, 0xff] {
        assert!(!is_accepted(&[bytes, &[byte]].concat()), "longer by {byte:#x}");
        assert!(!is_accepted(&[&[byte], bytes].concat()), "shifted by {byte:#x}");
    }
    assert!(!is_accepted(&[bytes, bytes].concat()), "twice");
}

#[test]
fn cut_and_lengthened_vectors_are_refused() {
    for (case, credential) in accepted() {
        assert_registration_ends_there(&case.registration, |one| &mut one.client_data);
        assert_registration_ends_there(&case.registration, |one| &mut one.attestation_object);
        assert_registration_ends_there(&case.registration, |one| &mut one.id);
        assert_assertion_ends_there(&case.authentication, credential, |one| &mut one.client_data);
        assert_assertion_ends_there(&case.authentication, credential, |one| &mut one.authenticator_data);
        assert_assertion_ends_there(&case.authentication, credential, |one| &mut one.signature);
    }
}

#[test]
fn cut_and_lengthened_keys_are_refused() {
    for (_, credential) in accepted() {
        each_other_length(credential.key.as_bytes(), |other| CoseKey::parse(other).is_ok());
    }
}

/// Every bit of the authenticator data of an assertion is signed or checked.
#[test]
fn each_flipped_bit_of_an_assertion_is_refused() {
    for (case, credential) in accepted() {
        for bit in 0..case.authentication.authenticator_data.len() * 8 {
            let mut changed = case.authentication.clone();
            changed.authenticator_data[bit / 8] ^= 1 << (bit % 8);
            let refusal = changed.verify(credential).unwrap_err();
            assert_ne!(refusal, Refusal::UserNotVerified, "{} bit {bit}", case.name);
        }
    }
}

/// The worst inputs of the greatest length: deep nesting, many small items, lengths beyond the end.
#[test]
fn greatest_inputs_are_refused() {
    let limit = Field::AttestationObject.limit();
    let facts = Facts::registration(&[]);
    for unit in
        ["81", "a1", "80", "00", "60", "8000", "9a00003fff", "9bffffffffffffffff", "bbffffffffffffffff"]
    {
        let unit = hex::decode(unit).unwrap();
        let object: Vec<u8> = unit.iter().copied().cycle().take(limit).collect();
        assert_eq!(facts.register_with(&object, Conditional), Err(Refusal::AttestationObject));
        let statement = [hex::decode("a363666d74606761747453746d74").unwrap(), object].concat();
        let outcome = facts.register_with(&statement[..limit], Conditional);
        assert_eq!(outcome, Err(Refusal::AttestationObject));
    }
}

/// Bytes that look like CBOR more often than arbitrary ones.
fn cbor_like() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(vec![
            0x00, 0x01, 0x03, 0x20, 0x21, 0x22, 0x26, 0x27, 0x40, 0x58, 0x60, 0x80, 0xa4, 0xa5
        ])
    ];
    prop::collection::vec(byte, 0..400)
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_no_key(bytes in cbor_like()) {
        prop_assert!(CoseKey::parse(&bytes).is_err());
    }

    #[test]
    fn arbitrary_attestation_objects_are_refused(bytes in cbor_like()) {
        prop_assert!(Facts::registration(&[]).register_with(&bytes, Conditional).is_err());
    }

    #[test]
    fn arbitrary_authenticator_data_is_refused(bytes in cbor_like(), flags: u8, prefix in 0..4_usize) {
        let id = [3; 20];
        let appendix = match prefix {
            0 => bytes,
            1 => attested(&id, &bytes),
            2 => [attested(&id, &map(&[(text("a"), vec![0])])), bytes].concat(),
            _ => [vec![1; 16], bytes].concat(),
        };
        let facts = Facts { flags, appendix, ..Facts::registration(&[]) };
        prop_assert!(facts.register_with(&attestation_object(&facts.authenticator_data()), Conditional).is_err());
    }

    #[test]
    fn arbitrary_client_data_is_refused(json in cbor_like(), place: prop::sample::Index) {
        let (case, credential) = &accepted()[0];
        let mut changed = case.authentication.clone();
        changed.client_data = json.clone();
        prop_assert!(changed.verify(credential).is_err());
        changed.client_data = case.authentication.client_data.clone();
        let place = place.index(changed.client_data.len());
        changed.client_data.splice(place.., json);
        prop_assert_ne!(changed.verify(credential), Err(Refusal::UserNotVerified));
    }

    /// A registration is not signed, so a changed one may be accepted; then its credential is well formed.
    #[test]
    fn changed_registrations_never_panic(
        case: prop::sample::Index,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut registration = case.get(accepted()).0.registration.clone();
        for (place, byte) in changes {
            let length = registration.attestation_object.len();
            registration.attestation_object[place.index(length)] = byte;
        }
        if let Ok(credential) = registration.verify(Conditional) {
            prop_assert_eq!(CoseKey::parse(credential.key.as_bytes()), Ok(credential.key));
            prop_assert_eq!(CredentialId::parse(&registration.id), Ok(credential.id));
        }
    }

    #[test]
    fn arbitrary_signatures_are_refused(signature in prop::collection::vec(any::<u8>(), 0..520)) {
        let pair = Pair::ed_dsa();
        let outcome = Facts::assertion().assert_with(&signature, Some(HANDLE), &Store::new(&pair));
        prop_assert!(matches!(outcome, Err(Refusal::Signature | Refusal::TooLong(_))));
    }
}
