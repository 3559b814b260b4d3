//! Properties of email addresses.
#![allow(clippy::unwrap_used, missing_docs)]

use latchkey_domain::email::Email;
use proptest::prelude::*;

/// Generates valid addresses and similar invalid texts.
fn near_address() -> impl Strategy<Value = String> {
    let local = prop_oneof![
        "[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{1,70}",
        "[a-z+.]{1,12}",
        "\\PC{0,10}",
        "\"[a-z ]{0,5}\""
    ];
    let domain = prop_oneof![
        "[a-zA-Z0-9-]{1,70}(\\.[a-zA-Z0-9-]{1,10}){0,4}",
        "[a-zäßéπ日.]{1,20}",
        "\\PC{0,12}",
        "\\[[0-9.]{7,9}\\]"
    ];
    let at = prop_oneof![8 => Just("@"), 1 => Just("@@"), 1 => Just("\u{FF20}"), 1 => Just("")];
    let pad = prop_oneof![8 => Just(""), 1 => Just(" "), 1 => Just("\t"), 1 => Just("\u{a0}"), 1 => Just("\u{200b}")];
    (pad.clone(), local, at, domain, pad)
        .prop_map(|(before, local, at, domain, after)| format!("{before}{local}{at}{domain}{after}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,400}") {
        let _ = Email::parse(&text);
    }

    #[test]
    fn accepted_texts_are_plain_addresses(text in near_address()) {
        let Ok(email) = Email::parse(&text) else { return Ok(()) };
        prop_assert_eq!(email.as_typed(), text.as_str());
        let key = email.key().as_str();
        prop_assert!(key.is_ascii() && key.len() <= 254 && key == key.to_ascii_lowercase());
        prop_assert!(!key.contains([' ', '"', '(', ')', '<', '>', ',', ';', ':', '[', ']', '\\']));
        let (local, domain) = key.split_once('@').unwrap();
        prop_assert!(!domain.contains('@') && (1..=64).contains(&local.len()));
        prop_assert!(domain.contains('.') && domain.split('.').all(|label| (1..=63).contains(&label.len())));
        prop_assert!(!text.chars().any(|c| c.is_whitespace() || c.is_control()));
    }

    #[test]
    fn stored_addresses_are_restored(text in near_address()) {
        let Ok(email) = Email::parse(&text) else { return Ok(()) };
        prop_assert!(Email::from_stored(&text) == Some(email));
    }

    #[test]
    fn the_key_is_an_address_with_the_same_key(text in near_address()) {
        let Ok(email) = Email::parse(&text) else { return Ok(()) };
        let again = Email::parse(email.key().as_str()).unwrap();
        prop_assert_eq!(again.key(), email.key());
        let delivered = Email::parse(&email.deliverable()).unwrap();
        prop_assert_eq!(delivered.key(), email.key());
        prop_assert_eq!(delivered.local_part(), email.local_part());
    }

    #[test]
    fn case_makes_no_other_address_and_a_tag_does(local in "[a-z]{1,10}", domain in "[a-z]{1,10}\\.[a-z]{2,5}", tag in "[a-z]{1,5}") {
        let plain = Email::parse(&format!("{local}@{domain}")).unwrap();
        let loud = Email::parse(&format!("{}@{}", local.to_uppercase(), domain.to_uppercase())).unwrap();
        let tagged = Email::parse(&format!("{local}+{tag}@{domain}")).unwrap();
        prop_assert_eq!(plain.key(), loud.key());
        prop_assert_ne!(plain.key(), tagged.key());
    }
}
