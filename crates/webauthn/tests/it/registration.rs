//! Registrations: honest ones of each algorithm, and one falsified fact each.

use latchkey_webauthn::RegistrationMode::{Conditional, Prompted};
use latchkey_webauthn::{Aaguid, Algorithm, Refusal};

use crate::authenticator::{Facts, ID, Pair, attestation_object, attested, bytes, cose, integer, map, text};

fn honest() -> Facts {
    Facts::registration(&cose(&Pair::es256().labels()))
}

/// An honest registration with one change.
fn with(change: impl Fn(&mut Facts)) -> Facts {
    let mut facts = honest();
    change(&mut facts);
    facts
}

#[test]
fn each_offered_algorithm_is_accepted() {
    for (pair, algorithm) in Pair::all().iter().zip([Algorithm::EdDsa, Algorithm::Es256, Algorithm::Rs256]) {
        let key = cose(&pair.labels());
        let credential = Facts::registration(&key).register(Prompted).unwrap();
        assert_eq!(credential.id.as_bytes(), ID);
        assert_eq!(credential.aaguid, Aaguid::new([1; 16]));
        assert_eq!(credential.key.as_bytes(), key);
        assert_eq!(credential.key.algorithm(), algorithm);
        assert_eq!(credential.counter, 0);
        assert!(!credential.flags.is_backup_eligible());
    }
}

#[test]
fn each_expected_origin_is_accepted() {
    for origin in crate::authenticator::origins() {
        assert!(with(|facts| facts.origin.clone_from(&origin)).register(Prompted).is_ok());
    }
}

#[test]
fn counter_and_backup_flags_are_returned() {
    let credential = with(|facts| (facts.flags, facts.counter) = (0x5d, 77)).register(Prompted).unwrap();
    assert!(credential.flags.is_backup_eligible() && credential.flags.is_backed_up());
    assert_eq!(credential.counter, 77);
}

#[test]
fn each_false_statement_of_the_browser_is_refused() {
    for (facts, refusal) in [
        (with(|facts| facts.kind = "webauthn.get"), Refusal::Type),
        (with(|facts| facts.challenge[31] ^= 1), Refusal::Challenge),
        (with(|facts| facts.challenge.clear()), Refusal::Challenge),
        (with(|facts| facts.challenge.push(0)), Refusal::Challenge),
        (with(|facts| facts.origin.push_str(":8443")), Refusal::Origin),
        (with(|facts| facts.origin = "https://login.example.org".to_owned()), Refusal::Origin),
        (with(|facts| facts.members = r#","crossOrigin":true"#.to_owned()), Refusal::CrossOrigin),
        (
            with(|facts| facts.members = r#","topOrigin":"https://example.org""#.to_owned()),
            Refusal::CrossOrigin,
        ),
        (with(|facts| facts.members.push_str(r#","crossOrigin":false"#)), Refusal::ClientData),
        (with(|facts| facts.id[0] ^= 1), Refusal::OtherCredential),
        (with(|facts| facts.id.clear()), Refusal::CredentialId),
    ] {
        assert_eq!(facts.register(Prompted), Err(refusal));
    }
}

#[test]
fn each_false_statement_of_the_authenticator_is_refused() {
    for (facts, refusal) in [
        (with(|facts| facts.rp_id = "login.example.org"), Refusal::RelyingParty),
        (with(|facts| facts.flags = 0x44), Refusal::UserNotPresent),
        (with(|facts| facts.flags = 0x41), Refusal::UserNotVerified),
        (with(|facts| facts.flags = 0x55), Refusal::BackupState),
        (with(|facts| facts.flags = 0x05), Refusal::AuthenticatorData),
        (with(|facts| facts.flags = 0xc5), Refusal::AuthenticatorData),
        (with(|facts| facts.appendix.push(0)), Refusal::AuthenticatorData),
        (with(|facts| facts.appendix.truncate(17)), Refusal::AuthenticatorData),
        (with(|facts| (facts.flags, facts.appendix) = (0x05, Vec::new())), Refusal::AuthenticatorData),
    ] {
        assert_eq!(facts.register(Prompted), Err(refusal));
    }
}

#[test]
fn conditional_registration_demands_neither_presence_nor_verification() {
    for flags in [0x40, 0x41, 0x44, 0x45, 0x58] {
        assert!(with(|facts| facts.flags = flags).register(Conditional).is_ok());
    }
    assert_eq!(with(|facts| facts.flags = 0x50).register(Conditional), Err(Refusal::BackupState));
    assert_eq!(with(|facts| facts.rp_id = "example.com").register(Conditional), Err(Refusal::RelyingParty));
}

#[test]
fn credential_id_has_1_to_1023_bytes() {
    let key = cose(&Pair::es256().labels());
    for (length, refusal) in [(1, None), (1_023, None), (0, Some(())), (1_024, Some(()))] {
        let id = vec![5; length];
        let facts = with(|facts| {
            facts.appendix = attested(&id, &key);
            // The response itself keeps a well-formed id.
            facts.id = if refusal.is_none() { id.clone() } else { ID.into() };
        });
        assert_eq!(facts.register(Prompted).err(), refusal.map(|()| Refusal::CredentialId), "{length}");
    }
}

#[test]
fn extension_outputs_are_read_past() {
    let extended = |outputs: &[u8]| {
        with(|facts| {
            facts.flags |= 0x80;
            facts.appendix.extend_from_slice(outputs);
        })
        .register(Prompted)
        .err()
    };
    let outputs = map(&[(text("credProtect"), integer(3)), (text("hmac-secret"), vec![0xf5])]);
    assert_eq!(extended(&outputs), None);
    for wrong in
        [&[][..], &[0x80], &[0xf5], &[outputs.clone(), vec![0]].concat(), &outputs[..outputs.len() - 1]]
    {
        assert_eq!(extended(wrong), Some(Refusal::AuthenticatorData), "{wrong:x?}");
    }
    let unannounced = with(|facts| facts.appendix.extend_from_slice(&outputs));
    assert_eq!(unannounced.register(Prompted), Err(Refusal::AuthenticatorData));
}

#[test]
fn any_attestation_statement_is_read_past() {
    let facts = honest();
    let object = |format: &[u8], statement: &[u8]| {
        let data = bytes(&facts.authenticator_data());
        map(&[
            (text("fmt"), format.to_vec()),
            (text("attStmt"), statement.to_vec()),
            (text("authData"), data),
        ])
    };
    let statement = map(&[(text("alg"), integer(-7)), (text("sig"), bytes(&[0; 70]))]);
    assert!(facts.register_with(&object(&text("packed"), &statement), Prompted).is_ok());
    assert!(facts.register_with(&object(&text("a format of next year"), &[0x80]), Prompted).is_ok());
    let mut longer = attestation_object(&facts.authenticator_data());
    longer.push(0);
    for wrong in [object(&integer(1), &statement), object(&text("none"), &[]), longer] {
        assert_eq!(facts.register_with(&wrong, Prompted), Err(Refusal::AttestationObject));
    }
}
