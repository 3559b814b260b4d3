#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;
use crate::entropy::SystemEntropy;
use crate::secrets::{KeyUse, ServerSecret};

/// The SHA-1 secret of RFC 6238 appendix B.
const RFC_SECRET: &[u8; SECRET] = b"12345678901234567890";

fn rfc_secret() -> TotpSecret {
    TotpSecret(Zeroizing::new(RFC_SECRET.to_vec()))
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_millis(second * 1000)
}

fn code(text: &str) -> SixDigitCode {
    SixDigitCode::parse(text).unwrap()
}

/// The ids of a user and of a factor.
fn ids(user: u8, factor: u8) -> (UserId, FactorId) {
    (UserId::new(at(0), [user; 10]), FactorId::new(at(0), [factor; 10]))
}

/// The last six digits of the codes of RFC 6238 appendix B.
const VECTORS: [(i64, &str); 6] = [
    (59, "287082"),
    (1_111_111_109, "081804"),
    (1_111_111_111, "050471"),
    (1_234_567_890, "005924"),
    (2_000_000_000, "279037"),
    (20_000_000_000, "353130"),
];

#[test]
fn codes_of_rfc_6238_match_their_steps() {
    for (second, digits) in VECTORS {
        let step = rfc_secret().step_of(&code(digits), at(second));
        assert_eq!(step, Some(TotpStep(second / 30)), "{second}");
    }
}

#[test]
fn a_code_is_accepted_from_one_step_before_to_one_step_after_its_own() {
    let (step, digits) = (1_111_111_109 / 30, code("081804"));
    for (distance, is_accepted) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
        for second in [0, 29] {
            let now = at((step + distance) * 30 + second);
            let found = rfc_secret().step_of(&digits, now);
            assert_eq!(found, is_accepted.then_some(TotpStep(step)), "{distance} {second}");
        }
    }
}

#[test]
fn secret_of_another_service_may_have_80_to_512_bits() {
    for (length, is_taken) in [(9, false), (10, true), (64, true), (65, false)] {
        assert_eq!(TotpSecret::of_bytes(&vec![b'1'; length]).is_some(), is_taken, "{length}");
    }
    let short = TotpSecret::of_bytes(b"1234567890").unwrap();
    assert_eq!(short.to_base32(), "GEZDGNBVGY3TQOJQ");
    // By Python's hmac.
    assert_eq!(short.step_of(&code("263420"), at(59)), Some(TotpStep(1)));
}

#[test]
fn a_time_before_the_epoch_matches_nothing() {
    assert_eq!(rfc_secret().step_of(&code("287082"), at(-1)), None);
}

#[test]
fn the_uri_states_all_parameters_percent_encoded() {
    let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    assert_eq!(rfc_secret().to_base32(), secret);
    assert_eq!(
        rfc_secret().uri("Ada & Söhne: Login", "ada+shop@example.org"),
        format!(
            "otpauth://totp/Ada%20%26%20S%C3%B6hne%3A%20Login:ada%2Bshop%40example.org?secret={secret}\
             &issuer=Ada%20%26%20S%C3%B6hne%3A%20Login&algorithm=SHA1&digits=6&period=30"
        )
    );
}

#[test]
fn a_sealed_secret_opens_only_for_its_account_and_factor() {
    let key = |byte| ServerSecret::new(vec![byte; 32]).unwrap().sealing_key(KeyUse::TotpSecrets).unwrap();
    let sealed = rfc_secret().seal(&key(1), &SystemEntropy, ids(1, 1)).unwrap();
    assert_eq!(TotpSecret::open(&key(1), ids(1, 1), &sealed).unwrap().0.as_slice(), RFC_SECRET);
    assert!(TotpSecret::open(&key(1), ids(2, 1), &sealed).is_err());
    assert!(TotpSecret::open(&key(1), ids(1, 2), &sealed).is_err());
    assert!(TotpSecret::open(&key(2), ids(1, 1), &sealed).is_err());
}

proptest! {
    #[test]
    fn a_uri_reads_back_whatever_service_and_address_are_called(service in "\\PC{1,40}", email in "\\PC{1,40}") {
        let uri = url::Url::parse(&rfc_secret().uri(&service, &email)).unwrap();
        let issuer = uri.query_pairs().find(|(name, _)| name == "issuer").unwrap().1.into_owned();
        prop_assert_eq!(&issuer, &service);
        let label = uri.path().trim_start_matches('/');
        let (first, second) = label.split_once(':').unwrap();
        let decoded = |text| percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned();
        prop_assert_eq!((decoded(first), decoded(second)), (service, email));
    }

    #[test]
    fn an_own_code_matches_its_step_and_no_time_far_away(secret: [u8; SECRET], second in 0_i64..10_000_000_000) {
        let secret = TotpSecret(Zeroizing::new(secret.to_vec()));
        let text = secret.generator().generate(second.unsigned_abs()).to_string();
        let found = secret.step_of(&code(&text), at(second));
        // A neighbouring step has the same code once in a million.
        prop_assert!(found.is_some_and(|step| (step.0 - second / 30).abs() <= 1));
    }
}
