//! Properties of folding, search and pages over generated text.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use latchkey_domain::fold::{fold, nfc, words};
use latchkey_domain::page::Page;
use latchkey_domain::search::{SearchQuery, SearchText, Tier, matches};
use proptest::prelude::*;

/// Characters to generate texts from: letters with unusual folding, marks, jamo, format characters and white space.
const ODD: &str = "aAbıIİßẞŉǰΐΰΣςσµﬁﬆÅÅéÉ\u{301}\u{308}\u{345}\u{327}ᾼᾳⱯꭰᎠKℌⅧ①½㎏ｶﾞガ가\u{1100}\u{1161}\u{11A8}\u{FFA0}\u{200B}\u{200D}\u{AD}\u{FE0F}\u{93E}\u{BD7}\u{9BE}\u{9C7}क \u{A0}\u{3000}\u{85}¨\u{FDFA}\u{302E}\u{1D165}\u{1D15E}_%*'\"-";

fn text(longest: usize) -> impl Strategy<Value = String> {
    let odd: Vec<char> = ODD.chars().collect();
    let character = prop_oneof![
        3 => prop::sample::select(vec!['a', 'b', 'c', ' ', 'A', 'é']),
        2 => prop::sample::select(odd),
        1 => any::<char>(),
    ];
    prop::collection::vec(character, 0..longest).prop_map(String::from_iter)
}

/// Second implementation of the matching rule, independent of the tested one.
fn is_match(query: &SearchQuery, text: &SearchText) -> bool {
    let field_words: Vec<&str> =
        [&text.name, &text.username, &text.bio].into_iter().flat_map(|field| words(field)).collect();
    query.words().all(|wanted| {
        field_words.iter().any(|word| match wanted.chars().count() {
            1 | 2 => word.starts_with(wanted),
            _ => word.contains(wanted),
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn folding_is_idempotent(text in text(12)) {
        let once = fold(&text);
        prop_assert_eq!(fold(&once), once);
    }

    #[test]
    fn folding_ignores_the_normal_form(text in text(12)) {
        prop_assert_eq!(fold(&nfc(&text)), fold(&text));
    }

    #[test]
    fn folding_a_text_is_folding_its_words(text in text(12)) {
        let folded = fold(&text);
        for word in words(&folded) {
            prop_assert_eq!(fold(word), word);
        }
    }

    #[test]
    fn query_is_its_words_joined(text in text(40)) {
        if let Ok(query) = SearchQuery::parse(&text) {
            prop_assert!(query.words().all(|word| !word.is_empty() && !word.contains(char::is_whitespace)));
            prop_assert_eq!(query.words().collect::<Vec<_>>().join(" "), query.folded());
            prop_assert_eq!(fold(query.folded()), query.folded());
        } else {
            prop_assert_eq!(words(&fold(&text)).count(), 0);
        }
    }

    #[test]
    fn match_follows_the_rule(q in text(6), name in text(8), username in "[a-c_]{3,5}", bio in text(12)) {
        let profile = SearchText::of(&name, Some(&username), Some(&bio));
        if let Ok(query) = SearchQuery::parse(&q) {
            prop_assert_eq!(matches(&query, &profile).is_some(), is_match(&query, &profile));
        }
    }

    #[test]
    fn whole_name_finds_its_profile_exactly(name in text(12), bio in text(12)) {
        if let Ok(query) = SearchQuery::parse(&name) {
            prop_assert_eq!(matches(&query, &SearchText::of(&name, None, Some(&bio))), Some(Tier::Exact));
            prop_assert_eq!(matches(&query, &SearchText::of("", None, Some(&name))), Some(Tier::Rest));
        }
    }

    #[test]
    fn name_finds_longer_names_at_least_by_prefix(name in text(12), more in "[a-c ]{0,5}") {
        if let Ok(query) = SearchQuery::parse(&name) {
            let profile = SearchText::of(&format!("{}{more}", query.folded()), None, None);
            prop_assert!(matches(&query, &profile).unwrap() <= Tier::Prefix);
        }
    }

    #[test]
    fn another_bio_never_loses_a_match(q in text(6), name in text(8), bio in text(8), more in text(8)) {
        if let Ok(query) = SearchQuery::parse(&q) {
            let before = matches(&query, &SearchText::of(&name, None, Some(&bio)));
            let after = matches(&query, &SearchText::of(&name, None, Some(&format!("{bio} {more}"))));
            prop_assert!(before.is_none() || before == after);
        }
    }

    #[test]
    fn pages_tile_the_list(limit in 1..=100_u32, number in 0..1000_u64, skipped in 0..100_u64) {
        let offset = number * u64::from(limit) + skipped % u64::from(limit);
        let page = Page::parse(Some(&limit.to_string()), Some(&offset.to_string())).unwrap();
        prop_assert_eq!((page.limit(), page.offset(), page.number()), (limit, offset, number + 1));
    }

    #[test]
    fn pages_stay_within_bounds(limit in "[0-9]{1,30}", offset in "[0-9]{1,30}") {
        if let Ok(page) = Page::parse(Some(&limit), Some(&offset)) {
            prop_assert!((1..=Page::MAX_LIMIT).contains(&page.limit()));
            prop_assert!(i64::try_from(page.offset()).is_ok());
            prop_assert!(page.number() >= 1);
        } else {
            prop_assert!(limit.bytes().all(|b| b == b'0'));
        }
    }

    #[test]
    fn only_digits_make_a_page(text in "\\PC{0,4}") {
        let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        prop_assert_eq!(Page::parse(None, Some(&text)).is_ok(), is_plain);
    }
}
