//! Properties of passwords and of the policy on new ones.
#![allow(clippy::unwrap_used, missing_docs)]

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use latchkey_domain::common_passwords::is_common;
use latchkey_domain::password::{Password, PasswordPolicy, WeakPassword};
use proptest::prelude::*;

fn text_of(password: &Password) -> String {
    String::from_utf8(password.expose().to_vec()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn composed_and_decomposed_are_one_password(text in "\\PC{0,60}") {
        let composed = ComposingNormalizerBorrowed::new_nfc().normalize(&text).into_owned();
        let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(&text).into_owned();
        let password = Password::new(composed.clone());
        prop_assert_eq!(text_of(&password), text_of(&Password::new(decomposed)));
        prop_assert_eq!(text_of(&password), composed);
    }

    #[test]
    fn nothing_is_trimmed_or_cut(text in "[ \\PC]{0,128}") {
        let normal = ComposingNormalizerBorrowed::new_nfc().normalize(&text).into_owned();
        let with_spaces = Password::new(format!(" {text} "));
        prop_assert_eq!(text_of(&Password::new(text)), normal.clone());
        let expected = ComposingNormalizerBorrowed::new_nfc().normalize(&format!(" {normal} ")).into_owned();
        prop_assert_eq!(text_of(&with_spaces), expected);
    }

    #[test]
    fn accepted_passwords_meet_every_rule(text in "\\PC{0,140}", min_length in 8_usize..=128, number: bool, lower: bool) {
        let policy = PasswordPolicy {
            min_length, require_number: number, require_lowercase: lower, ..PasswordPolicy::default()
        };
        let password = Password::new(text);
        let verdict = policy.check(&password, "adalovelace", "Latchkey");
        let text = text_of(&password);
        let length = text.chars().count();
        if verdict.is_ok() {
            prop_assert!((min_length..=128).contains(&length) && !is_common(&text));
            prop_assert!(!number || text.chars().any(char::is_numeric));
            prop_assert!(!lower || text.chars().any(char::is_lowercase));
            prop_assert!(!text.to_lowercase().contains("latchkey"));
        }
        if length > 128 {
            let refused = verdict.unwrap_err();
            prop_assert_eq!(refused.rules(), [WeakPassword::Long]);
        } else if length < min_length {
            let refused = verdict.unwrap_err();
            prop_assert_eq!(&refused.rules()[0], &WeakPassword::Short(min_length));
        }
    }

    #[test]
    fn a_longer_demand_never_lets_more_pass(text in "[a-z0-9#]{0,40}", less in 8_usize..30, more in 0_usize..30) {
        let policy = |min_length| PasswordPolicy { min_length, ..PasswordPolicy::default() };
        let check = |min_length| policy(min_length).check(&Password::new(text.clone()), "x", "y").is_ok();
        prop_assert!(!check(less + more) || check(less));
    }
}
