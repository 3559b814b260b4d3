//! Definition of the profile search: query, searchable text, and matching.
//!
//! [`matches()`] is the specification. All engines and the search index must return the same results, and tests compare
//! them with it. SQL, indexes and the order of results within a tier are not part of this module.

use thiserror::Error;

use crate::fold::{fold, words};

/// A folded search query with at least one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    folded: String,
}

/// Error of [`SearchQuery::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SearchQueryError {
    /// The query has no word: it is empty, blank, or has only marks and format characters.
    #[error("must hold at least one word to search for")]
    Missing,
    /// The query has more than [`SearchQuery::MAX_CHARS`] characters.
    #[error("must be at most {} characters long", SearchQuery::MAX_CHARS)]
    TooLong,
}

/// Searchable text of a profile: folded fields, whose words are joined by single spaces. Absent fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchText {
    /// Folded display name.
    pub name: String,
    /// Folded username. It equals the username, which is lower-case ASCII.
    pub username: String,
    /// Folded bio.
    pub bio: String,
}

/// Relevance tier of a match. Results of lower tiers come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The folded name or username equals the folded query.
    Exact,
    /// The folded name or username starts with the folded query.
    Prefix,
    /// The profile matches in any other way.
    Rest,
}

impl SearchQuery {
    /// Maximum length of a query as sent, in Unicode scalar values.
    pub const MAX_CHARS: usize = 100;

    /// Maximum length of a short query word in characters, after folding. A short word matches only at the start of a
    /// word.
    pub const SHORT_WORD_CHARS: usize = 2;

    /// Parses a query as sent. The length is checked first, to limit the work. A blank text of more than 100
    /// characters is therefore too long, not missing.
    pub fn parse(text: &str) -> Result<Self, SearchQueryError> {
        if text.chars().nth(Self::MAX_CHARS).is_some() {
            return Err(SearchQueryError::TooLong);
        }
        let folded = folded_words(text);
        if folded.is_empty() {
            return Err(SearchQueryError::Missing);
        }
        Ok(Self { folded })
    }

    /// Returns the folded words, joined by single spaces.
    #[must_use]
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// Returns the folded words in order. There is at least one, none is empty, and duplicates are retained.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.folded.split(' ')
    }

    /// True if a folded query word is short, so that it matches only at the start of a word.
    #[must_use]
    pub fn is_short(word: &str) -> bool {
        word.chars().nth(Self::SHORT_WORD_CHARS).is_none()
    }
}

impl SearchText {
    /// Creates the searchable text from the fields of a profile.
    #[must_use]
    pub fn of(name: &str, username: Option<&str>, bio: Option<&str>) -> Self {
        Self {
            name: folded_words(name),
            username: username.map(folded_words).unwrap_or_default(),
            bio: bio.map(folded_words).unwrap_or_default(),
        }
    }

    fn fields(&self) -> [&str; 3] {
        [&self.name, &self.username, &self.bio]
    }
}

/// Returns the tier of a profile that matches a query; `None` if it does not match.
///
/// A profile matches if every word of the query occurs in its folded name, username or bio:
/// - the words may occur in different fields, and two words may match the same text;
/// - a word of three or more characters matches anywhere inside a word of the field;
/// - a word of one or two characters (Unicode scalar values, after folding) matches only at the start of a word of
///   the field;
/// - a match never spans white space, and all characters are literal: no wildcards, quotes or operators exist.
///
/// In [`Tier::Exact`] the folded name or username equals the folded query. In [`Tier::Prefix`] it starts with the
/// query, whose last word may end inside a word. All other matches are in [`Tier::Rest`]. The bio does not affect the
/// tier.
#[must_use]
pub fn matches(query: &SearchQuery, text: &SearchText) -> Option<Tier> {
    if !query.words().all(|word| occurs(word, text)) {
        return None;
    }

    let q = query.folded();
    let heads = [text.name.as_str(), text.username.as_str()];
    Some(if heads.contains(&q) {
        Tier::Exact
    } else if heads.iter().any(|head| head.starts_with(q)) {
        Tier::Prefix
    } else {
        Tier::Rest
    })
}

fn occurs(word: &str, text: &SearchText) -> bool {
    let mut fields = text.fields().into_iter();
    if SearchQuery::is_short(word) {
        fields.any(|field| field.split(' ').any(|w| w.starts_with(word)))
    } else {
        // The query word has no white space, so it is found inside one word of the field.
        fields.any(|field| field.contains(word))
    }
}

/// Folds a text and joins its words by single spaces.
fn folded_words(text: &str) -> String {
    let folded = fold(text);
    let mut joined = String::with_capacity(folded.len());
    for word in words(&folded) {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

#[cfg(test)]
mod tests;
