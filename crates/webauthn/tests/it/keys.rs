//! Public keys that are refused: other algorithms, other members, points off their curve, RSA of another size.

use latchkey_webauthn::{CoseKey, Refusal};

use crate::authenticator::{Pair, bytes, cose, integer, modulus};

type Labels = Vec<(i64, Vec<u8>)>;

/// The outcome for the key of a pair with one change.
fn judge(pair: &Pair, change: impl Fn(&mut Labels)) -> Result<CoseKey, Refusal> {
    let mut labels = pair.labels();
    change(&mut labels);
    CoseKey::parse(&cose(&labels))
}

fn rsa(n: &[u8], e: &[u8]) -> Option<Refusal> {
    judge(&Pair::rs256(), |labels| (labels[2].1, labels[3].1) = (bytes(n), bytes(e))).err()
}

#[test]
fn stored_form_is_read_again() {
    for pair in Pair::all() {
        let key = judge(&pair, |_| ()).unwrap();
        assert_eq!(CoseKey::parse(key.as_bytes()), Ok(key));
    }
}

#[test]
fn order_of_the_labels_is_free() {
    for pair in Pair::all() {
        assert!(judge(&pair, |labels| labels.reverse()).is_ok());
    }
}

#[test]
fn other_algorithms_are_refused() {
    for identifier in [-9, -19, -35, -36, -37, -39, -47, -53, -65_535, -8 - 256, 0, 7] {
        for pair in Pair::all() {
            let outcome = judge(&pair, |labels| labels[1].1 = integer(identifier));
            assert_eq!(outcome, Err(Refusal::Algorithm), "{identifier}");
        }
    }
}

#[test]
fn algorithm_of_another_key_is_refused() {
    for (pair, own) in Pair::all().iter().zip([-8, -7, -257]) {
        for identifier in [-8, -7, -257].into_iter().filter(|identifier| *identifier != own) {
            assert_eq!(judge(pair, |labels| labels[1].1 = integer(identifier)), Err(Refusal::Key));
        }
    }
}

#[test]
fn each_other_member_is_refused() {
    for pair in Pair::all() {
        for place in 0..pair.labels().len() {
            let refusals = [
                judge(&pair, |labels| drop(labels.remove(place))),
                judge(&pair, |labels| labels[place] = labels[(place + 1) % labels.len()].clone()),
                judge(&pair, |labels| labels[place].1 = integer(99)),
                judge(&pair, |labels| labels[place].1 = vec![0xf5]),
                judge(&pair, |labels| labels[place].1 = bytes(&[])),
                judge(&pair, |labels| labels[place].0 = 4),
            ];
            for (change, outcome) in refusals.into_iter().enumerate() {
                let is_other_algorithm = place == 1 && change == 2;
                let refusal = if is_other_algorithm { Refusal::Algorithm } else { Refusal::Key };
                assert_eq!(outcome, Err(refusal), "change {change} of label {place}");
            }
        }
        assert_eq!(judge(&pair, |labels| labels.push((2, bytes(b"kid")))), Err(Refusal::Key));
        assert_eq!(judge(&pair, |labels| labels.extend(pair.labels())), Err(Refusal::Key));
        let mut longer = cose(&pair.labels());
        longer.push(0);
        assert_eq!(CoseKey::parse(&longer), Err(Refusal::Key));
    }
}

#[test]
fn points_off_p256_are_refused() {
    let pair = Pair::es256();
    for (place, value) in [(3, [0; 32]), (4, [0; 32]), (3, [0xff; 32]), (4, [0xff; 32])] {
        assert_eq!(judge(&pair, |labels| labels[place].1 = bytes(&value)), Err(Refusal::Key));
    }
    for place in [3, 4] {
        let outcome = judge(&pair, |labels| *labels[place].1.last_mut().unwrap() ^= 1);
        assert_eq!(outcome, Err(Refusal::Key));
        assert_eq!(judge(&pair, |labels| labels[place].1 = bytes(&[1; 33])), Err(Refusal::Key));
        assert_eq!(judge(&pair, |labels| labels[place].1 = bytes(&[1; 31])), Err(Refusal::Key));
    }
    let compressed = judge(&pair, |labels| labels[4].1 = vec![0xf4]);
    assert_eq!(compressed, Err(Refusal::Key));
}

#[test]
fn points_off_edwards25519_are_refused() {
    let point = |first: u8| {
        let mut point = [0; 32];
        point[0] = first;
        judge(&Pair::ed_dsa(), |labels| labels[3].1 = bytes(&point)).err()
    };
    assert_eq!(point(3), None);
    for first in [0, 1, 2, 7, 8] {
        assert_eq!(point(first), Some(Refusal::Key), "y = {first}");
    }
}

#[test]
fn ed448_under_ed_dsa_is_refused() {
    let outcome = judge(&Pair::ed_dsa(), |labels| {
        (labels[2].1, labels[3].1) = (integer(7), bytes(&[3; 57]));
    });
    assert_eq!(outcome, Err(Refusal::Key));
}

#[test]
fn rsa_has_2048_to_4096_bits() {
    let number = |bits: usize| {
        let mut n = vec![0xa5; bits.div_ceil(8)];
        n[0] = 1 << ((bits - 1) % 8);
        n
    };
    for (bits, is_accepted) in [
        (512, false),
        (1_024, false),
        (2_040, false),
        (2_047, false),
        (2_048, true),
        (2_049, true),
        (3_072, true),
        (4_096, true),
        (4_097, false),
        (8_192, false),
    ] {
        let refusal = (!is_accepted).then_some(Refusal::Key);
        assert_eq!(rsa(&number(bits), &[1, 0, 1]), refusal, "{bits} bits");
    }
    let padded = [vec![0], number(2_048)].concat();
    assert_eq!(rsa(&padded, &[1, 0, 1]), Some(Refusal::Key));
    let mut even = number(2_048);
    even[255] = 0xa4;
    assert_eq!(rsa(&even, &[1, 0, 1]), Some(Refusal::Key));
}

#[test]
fn rsa_has_exponent_65537() {
    let Pair::Rs256(pair) = Pair::rs256() else { unreachable!() };
    let n = modulus(pair);
    assert_eq!(rsa(n, &[1, 0, 1]), None);
    for e in [&[3][..], &[17], &[1], &[0, 1, 0, 1], &[1, 0, 3], &[1, 0, 1, 0], &[]] {
        assert_eq!(rsa(n, e), Some(Refusal::Key), "{e:?}");
    }
}
