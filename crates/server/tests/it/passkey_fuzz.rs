//! Fuzz test of the calls of passkeys: thousands of responses from one seed, made of good ones with bytes changed, cut,
//! doubled or inserted, and their JSON with members replaced. None causes a 5xx, and none opens anything.

use latchkey_testkit::passkeys::{cbor, encoded};
use latchkey_testkit::{Answer, Passkey, TestApp, User, Value, both_stores, json};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

use crate::hostile_values::VALUES;

/// Number of responses to each of the three calls, on each engine.
const ROUNDS: usize = 700;

/// Bytes with which CBOR begins a data item that has something special: long, nested, indefinite, reserved.
const HEADS: [u8; 16] =
    [0x00, 0x1b, 0x3b, 0x40, 0x5b, 0x5f, 0x78, 0x80, 0x9b, 0x9f, 0xa0, 0xbb, 0xbf, 0xc0, 0xf7, 0xff];

/// Changes bytes in one of the ways that break parsers.
fn spoil(bytes: &mut Vec<u8>, random: &mut StdRng) {
    let place = random.random_range(0..=bytes.len());
    match random.random_range(0..7) {
        0 => bytes.truncate(place),
        1 => bytes.insert(place, HEADS[random.random_range(0..HEADS.len())]),
        2 if place < bytes.len() => bytes[place] ^= 1 << random.random_range(0..8),
        3 if place < bytes.len() => bytes[place] = HEADS[random.random_range(0..HEADS.len())],
        4 => bytes.extend_from_within(place..),
        5 => bytes.splice(place.., [0x81; 4_000]).for_each(drop),
        _ => {
            bytes.resize(random.random_range(0..200), 0);
            random.fill_bytes(bytes);
        }
    }
}

/// Replaces a member of the JSON by a hostile value, or leaves it out.
fn spoil_json(credential: &mut Value, random: &mut StdRng) {
    let members =
        ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle", "transports"];
    let value = VALUES[random.random_range(0..VALUES.len())].clone();
    match random.random_range(0..4) {
        0 => credential["response"][members[random.random_range(0..members.len())]] = value,
        1 => credential[["id", "rawId", "type", "response"][random.random_range(0..4)]] = value,
        2 => drop(credential["response"].as_object_mut().unwrap().remove(members[random.random_range(0..5)])),
        _ => *credential = value,
    }
}

/// A registration that is good but for what was spoilt.
fn creation(app: &TestApp, options: &Value, random: &mut StdRng) -> Value {
    let mut creation = app.phone().create(options);
    match random.random_range(0..6) {
        0 => spoil(&mut creation.key, random),
        1 => spoil(&mut creation.appendix, random),
        2 => {
            let mut statement = cbor::bytes(&[7; 100]);
            spoil(&mut statement, random);
            creation.attestation = ("packed", statement);
        }
        3 => {
            let mut client = creation.client.to_string().into_bytes();
            spoil(&mut client, random);
            creation.client_bytes = Some(client);
        }
        _ => {
            let mut object = creation.attestation_object();
            spoil(&mut object, random);
            creation.object = Some(object);
        }
    }
    let mut credential = creation.to_json();
    if random.random_ratio(1, 8) {
        spoil_json(&mut credential, random);
    }
    credential
}

/// An assertion that is good but for what was spoilt after it was signed.
fn assertion(passkey: &Passkey, options: &Value, random: &mut StdRng) -> Value {
    let assertion = passkey.clone().sign(options);
    let mut credential = assertion.to_json();
    let good = [
        ("clientDataJSON", assertion.client.to_string().into_bytes()),
        ("authenticatorData", assertion.authenticator_data()),
        ("signature", vec![0x30; 70]),
    ];
    let (member, mut bytes) = good[random.random_range(0..3)].clone();
    let before = bytes.clone();
    while bytes == before {
        spoil(&mut bytes, random);
    }
    credential["response"][member] = json!(encoded(&bytes));
    if random.random_ratio(1, 8) {
        spoil_json(&mut credential, random);
    }
    credential
}

/// Asserts a refusal of the client in the documented form.
#[track_caller]
fn is_refused(answer: &Answer) {
    assert!((400..500).contains(&answer.status), "{answer:?}");
    answer.refused(answer.status, &answer.error_code());
}

/// User whose passkey, and the service, still work.
async fn is_well(app: &TestApp, ada: &User, passkey: &Passkey) {
    let opened = crate::passkey_calls::session(&app.anon(), &mut passkey.clone()).await;
    assert_eq!(opened.user_id, ada.id);
}

both_stores! {
    // A registration is not signed, so one that was spoilt may still be good: then it is a well-formed passkey.
    async fn spoilt_registrations_cause_no_fault(app) {
        let ada = app.passkey_user("ada").await;
        let mut random = StdRng::seed_from_u64(11);

        for _ in 0..ROUNDS {
            let begun = ada.begin_passkey().await;
            let credential = creation(&app, &begun.options, &mut random);
            let answer = ada.register_passkey(&begun.id, &credential).send().await;
            if answer.status == 200 {
                let id = answer.json()["passkey"]["id"].as_str().unwrap().to_owned();
                crate::passkey_calls::remove(&ada, &id).send().await.expect(200);
            } else {
                is_refused(&answer);
            }
        }

        is_well(&app, &ada, &ada.passkey).await;
    }

    async fn spoilt_assertions_cause_no_fault_and_open_nothing(app) {
        let ada = app.passkey_user("ada").await;
        let mut random = StdRng::seed_from_u64(12);

        for _ in 0..ROUNDS {
            let begun = app.anon().begin_passkey_sign_in().await;
            let credential = assertion(&ada.passkey, &begun.options, &mut random);
            is_refused(&app.anon().end_passkey_sign_in(&begun.id, &credential).send().await);
        }

        is_well(&app, &ada, &ada.passkey).await;
    }

    with(|b| b.verification_by_code())
    async fn spoilt_answers_cause_no_fault_and_open_nothing(app) {
        let ada = app.two_step_user("ada").await;
        let (passkey, _) = ada.add_passkey(&app.phone()).await;
        let mut random = StdRng::seed_from_u64(13);

        for _ in 0..ROUNDS / 4 {
            let challenge = ada.challenged().await;
            for _ in 0..4 {
                let begun = app.anon().challenge_options(&challenge).send().await.expect(200);
                let credential = assertion(&passkey, &begun["options"], &mut random);
                is_refused(&app.anon().answer_by_passkey(&challenge, &credential).send().await);
            }
        }

        is_well(&app, &ada, &passkey).await;
    }
}
