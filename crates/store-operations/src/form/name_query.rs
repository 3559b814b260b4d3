//! The query of a search for names, which each engine writes in its own words.

/// Search for names, as an engine's statements take it.
#[derive(Clone, Default)]
pub struct NameQuery {
    /// Query for the engine's index, which yields candidates; empty for no search.
    pub candidates: String,
    /// True if each candidate has all words, so that counting candidates counts matches.
    pub is_exact: bool,
    /// The longest word that a match has, which is looked for first.
    pub longest: String,
    /// List of the other words that a match has.
    pub others: String,
}
