//! Assertions: honest ones of each algorithm, and one falsified fact each.

use latchkey_webauthn::{Field, Refusal};

use crate::authenticator::{Facts, HANDLE, ID, Pair, Store, attested, cose, integer, map, text};

/// Returns the outcome of an honest assertion with one change, signed as changed.
fn with(change: impl Fn(&mut Facts)) -> Option<Refusal> {
    let pair = Pair::ed_dsa();
    let mut facts = Facts::assertion();
    change(&mut facts);
    facts.assert(&pair, &Store::new(&pair)).err()
}

#[test]
fn each_offered_algorithm_is_accepted() {
    for pair in Pair::all() {
        let assertion = Facts::assertion().assert(&pair, &Store::new(&pair)).unwrap();
        assert_eq!(assertion.counter, 0);
        assert!(assertion.flags.is_user_verified());
    }
}

#[test]
fn each_false_statement_is_refused() {
    assert_eq!(with(|_| ()), None);
    assert_eq!(with(|facts| facts.kind = "webauthn.create"), Some(Refusal::Type));
    assert_eq!(with(|facts| facts.challenge[0] ^= 1), Some(Refusal::Challenge));
    assert_eq!(with(|facts| facts.origin.push('/')), Some(Refusal::Origin));
    assert_eq!(with(|facts| facts.members = r#","crossOrigin":true"#.to_owned()), Some(Refusal::CrossOrigin));
    assert_eq!(with(|facts| facts.rp_id = "example.com"), Some(Refusal::RelyingParty));
    assert_eq!(with(|facts| facts.flags = 0x04), Some(Refusal::UserNotPresent));
    assert_eq!(with(|facts| facts.flags = 0x01), Some(Refusal::UserNotVerified));
    assert_eq!(with(|facts| facts.flags = 0x15), Some(Refusal::BackupState));
    assert_eq!(with(|facts| facts.appendix.push(0)), Some(Refusal::AuthenticatorData));
    assert_eq!(with(|facts| facts.id[0] ^= 1), Some(Refusal::OtherCredential));
}

#[test]
fn attested_credential_is_refused() {
    let key = cose(&Pair::es256().labels());
    let refusal = with(|facts| (facts.flags, facts.appendix) = (0x45, attested(&ID, &key)));
    assert_eq!(refusal, Some(Refusal::AuthenticatorData));
}

#[test]
fn extension_outputs_are_read_past() {
    let outputs = map(&[(text("credProtect"), integer(2))]);
    assert_eq!(with(|facts| (facts.flags, facts.appendix) = (0x85, outputs.clone())), None);
    assert_eq!(with(|facts| facts.flags = 0x85), Some(Refusal::AuthenticatorData));
}

#[test]
fn user_handle_is_there_and_equal() {
    let pair = Pair::ed_dsa();
    let (facts, store) = (Facts::assertion(), Store::new(&pair));
    let judge = |handle| facts.assert_with(&facts.sign(&pair), handle, &store).err();
    assert_eq!(judge(Some(HANDLE)), None);
    assert_eq!(judge(None), Some(Refusal::UserHandle));
    assert_eq!(judge(Some([8; 16])), Some(Refusal::OtherUser));
}

#[test]
fn backup_eligibility_does_not_change() {
    let pair = Pair::ed_dsa();
    for (is_backup_eligible, flags, refusal) in [
        (false, 0x05, None),
        (true, 0x0d, None),
        (true, 0x1d, None),
        (false, 0x0d, Some(Refusal::BackupEligibility)),
        (false, 0x1d, Some(Refusal::BackupEligibility)),
        (true, 0x05, Some(Refusal::BackupEligibility)),
    ] {
        let store = Store { is_backup_eligible, ..Store::new(&pair) };
        let outcome = Facts { flags, ..Facts::assertion() }.assert(&pair, &store);
        assert_eq!(outcome.err(), refusal, "{is_backup_eligible} {flags:#x}");
        assert!(outcome.is_err() || outcome.unwrap().flags.is_backed_up() == (flags == 0x1d));
    }
}

#[test]
fn counter_grows_where_it_is_not_0() {
    let pair = Pair::ed_dsa();
    for (stored, counter, refusal) in [
        (0, 0, None),
        (0, 1, None),
        (5, 6, None),
        (5, 5, Some(Refusal::Counter)),
        (5, 4, Some(Refusal::Counter)),
        (5, 0, Some(Refusal::Counter)),
    ] {
        let store = Store { counter: stored, ..Store::new(&pair) };
        let outcome = Facts { counter, ..Facts::assertion() }.assert(&pair, &store);
        assert_eq!(outcome.err(), refusal, "{stored} then {counter}");
        assert!(outcome.is_err() || outcome.unwrap().counter == counter);
    }
}

#[test]
fn wrong_signature_is_refused_whatever_the_flags_say() {
    for pair in Pair::all() {
        let store = Store { counter: 9, is_backup_eligible: true, ..Store::new(&pair) };
        let facts = Facts { flags: 0, ..Facts::assertion() };
        let judge = |signature: &[u8]| facts.assert_with(signature, Some(HANDLE), &store).err();
        let good = facts.sign(&pair);
        assert_eq!(judge(&good), Some(Refusal::UserNotPresent));
        for place in 0..good.len() {
            let mut wrong = good.clone();
            wrong[place] ^= 1;
            assert_eq!(judge(&wrong), Some(Refusal::Signature), "byte {place}");
        }
        assert_eq!(judge(&[]), Some(Refusal::Signature));
        assert_eq!(judge(&good[1..]), Some(Refusal::Signature));
        assert_eq!(judge(&[&good[..], &[0]].concat()), Some(Refusal::Signature));
    }
}

#[test]
fn signature_of_other_data_is_refused() {
    let pair = Pair::es256();
    let store = Store::new(&pair);
    let signature = Facts::assertion().sign(&pair);
    let other_data = Facts { counter: 1, ..Facts::assertion() };
    let other_client = Facts { members: String::new(), ..Facts::assertion() };
    for facts in [other_data, other_client] {
        assert_eq!(facts.assert_with(&signature, Some(HANDLE), &store), Err(Refusal::Signature));
    }
    assert_eq!(Facts::assertion().assert(&Pair::es256(), &store), Err(Refusal::Signature));
}

#[test]
fn longer_fields_are_refused_unread() {
    let pair = Pair::ed_dsa();
    let store = Store::new(&pair);
    let long = Facts { appendix: vec![0; 1_024 - 36], ..Facts::assertion() };
    assert_eq!(long.assert(&pair, &store), Err(Refusal::TooLong(Field::AuthenticatorData)));
    let judge = |length| Facts::assertion().assert_with(&vec![1; length], Some(HANDLE), &store);
    assert_eq!(judge(512), Err(Refusal::Signature));
    assert_eq!(judge(513), Err(Refusal::TooLong(Field::Signature)));
}
