#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;

fn query(text: &str) -> SearchQuery {
    SearchQuery::parse(text).unwrap()
}

fn tier(q: &str, text: &SearchText) -> Option<Tier> {
    matches(&query(q), text)
}

fn ada() -> SearchText {
    SearchText::of(
        "Ada  Lovelace",
        Some("countess_ada"),
        Some("Writes programs for the Analytical Engine, 100% by hand."),
    )
}

#[test]
fn blank_and_invisible_queries_are_missing() {
    for text in ["", " ", "\t\n", "\u{A0}\u{3000}", "\u{200B}", "\u{301}", " \u{AD} \u{FE0F} "] {
        assert_eq!(SearchQuery::parse(text), Err(SearchQueryError::Missing), "{text:?}");
    }
}

#[test]
fn hundred_characters_pass_and_one_more_is_too_long() {
    assert!(SearchQuery::parse(&"é".repeat(100)).is_ok());
    assert!(SearchQuery::parse(&"😀".repeat(100)).is_ok());
    assert_eq!(SearchQuery::parse(&"e".repeat(101)), Err(SearchQueryError::TooLong));
    assert_eq!(SearchQuery::parse(&" ".repeat(101)), Err(SearchQueryError::TooLong));
}

#[test]
fn length_counts_the_text_as_sent_not_as_folded() {
    // A single character that folds to eighteen.
    assert!(SearchQuery::parse(&"\u{FDFA}".repeat(100)).is_ok());
    // Marks count towards the length although folding removes them.
    assert_eq!(SearchQuery::parse(&format!("a{}", "\u{301}".repeat(100))), Err(SearchQueryError::TooLong));
}

#[test]
fn query_words_are_folded_and_joined_by_one_space() {
    let q = query("  ÁDA \u{3000} Lovelace ");
    assert_eq!(q.folded(), "ada lovelace");
    assert_eq!(q.words().collect::<Vec<_>>(), ["ada", "lovelace"]);
}

#[test]
fn whole_name_or_username_is_exact() {
    assert_eq!(tier("ada lovelace", &ada()), Some(Tier::Exact));
    assert_eq!(tier("ÁDA   LOVELACE", &ada()), Some(Tier::Exact));
    assert_eq!(tier("Countess_Ada", &ada()), Some(Tier::Exact));
}

#[test]
fn beginning_of_name_or_username_is_prefix() {
    assert_eq!(tier("ada", &ada()), Some(Tier::Prefix));
    assert_eq!(tier("a", &ada()), Some(Tier::Prefix));
    assert_eq!(tier("ada lov", &ada()), Some(Tier::Prefix));
    assert_eq!(tier("countess", &ada()), Some(Tier::Prefix));
}

#[test]
fn everything_else_that_matches_is_the_rest() {
    assert_eq!(tier("lovelace ada", &ada()), Some(Tier::Rest));
    assert_eq!(tier("velace", &ada()), Some(Tier::Rest));
    assert_eq!(tier("analytical", &ada()), Some(Tier::Rest));
}

#[test]
fn bio_never_raises_the_tier() {
    let text = SearchText::of("", None, Some("ada"));
    assert_eq!(tier("ada", &text), Some(Tier::Rest));
}

#[test]
fn words_may_match_in_different_fields() {
    assert_eq!(tier("lovelace countess engine", &ada()), Some(Tier::Rest));
    assert_eq!(tier("lovelace babbage", &ada()), None);
}

#[test]
fn long_words_match_inside_a_word_and_short_ones_at_its_start() {
    assert_eq!(tier("gram", &ada()), Some(Tier::Rest));
    assert_eq!(tier("pr", &ada()), Some(Tier::Rest));
    assert_eq!(tier("gr", &ada()), None);
    assert_eq!(tier("h", &ada()), Some(Tier::Rest));
    assert_eq!(tier("z", &ada()), None);
}

#[test]
fn short_is_judged_after_folding() {
    let text = SearchText::of("xfi xstr", None, None);
    assert_eq!(tier("ﬁ", &text), None); // "fi": two characters
    assert_eq!(tier("ﬆr", &text), Some(Tier::Rest)); // "str": three
    assert_eq!(tier("f\u{301}i\u{301}", &text), None);
}

#[test]
fn a_word_never_spans_white_space() {
    assert_eq!(tier("adalovelace", &ada()), None);
}

#[test]
fn metacharacters_are_plain() {
    assert_eq!(tier("100%", &ada()), Some(Tier::Rest));
    assert_eq!(tier("engine,", &ada()), Some(Tier::Rest));
    assert_eq!(tier("s_a", &ada()), Some(Tier::Rest));
    for q in ["%", "_", "*", "ada*", "\"ada\"", "ada%", "a_a", "l%e", "ada OR bob", "-bob", "name:ada", "'--"]
    {
        assert_eq!(tier(q, &ada()), None, "{q}");
    }
}

#[test]
fn absent_fields_match_nothing() {
    assert_eq!(SearchText::of("", None, None), SearchText::default());
    assert_eq!(tier("a", &SearchText::default()), None);
}

#[test]
fn tiers_sort_best_first() {
    assert!(Tier::Exact < Tier::Prefix && Tier::Prefix < Tier::Rest);
}
