//! Definition of the profile search: query, searchable text and matching.
//!
//! [`matches`] is the specification: every engine must return the same results, and tests compare them with
//! it. SQL, indexes and the order within a tier are not part of this module.

use thiserror::Error;

use crate::fold::{fold, words};

/// A folded search query of at least one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    folded: String,
}

/// Error of [`SearchQuery::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SearchQueryError {
    /// Empty, blank, or only marks and format characters.
    #[error("must hold at least one word to search for")]
    Missing,
    /// More than [`SearchQuery::MAX_CHARS`] characters.
    #[error("must be at most {} characters long", SearchQuery::MAX_CHARS)]
    TooLong,
}

/// Searchable text of a profile. Each field is folded, its words joined by one space; an absent field is
/// empty and matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchText {
    /// Folded name.
    pub name: String,
    /// Folded username; usernames are lower-case ASCII, so it is the username itself.
    pub username: String,
    /// Folded bio.
    pub bio: String,
}

/// Relevance tier of a match; lower sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The name or username equals the query.
    Exact,
    /// The name or username starts with the query.
    Prefix,
    /// Any other match.
    Rest,
}

impl SearchQuery {
    /// Longest query in Unicode scalar values as sent, before folding.
    pub const MAX_CHARS: usize = 100;

    /// Longest query word in characters, after folding, that matches only at the start of a word.
    pub const SHORT_WORD_CHARS: usize = 2;

    /// Parses a query as sent. The length is checked first to bound the work: a blank text of more than 100
    /// characters is too long.
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

    /// Folded words, joined by one space.
    #[must_use]
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// Folded words in order; at least one, none empty, duplicates included.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.folded.split(' ')
    }

    /// True if a folded query word matches only at the start of a word.
    #[must_use]
    pub fn is_short(word: &str) -> bool {
        word.chars().nth(Self::SHORT_WORD_CHARS).is_none()
    }
}

impl SearchText {
    /// Folds the fields of a profile.
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

/// Matches a profile against a query; returns its tier.
///
/// A profile matches if every word of the query occurs in its folded name, username or bio:
/// - each word may occur in another field, and two words may match the same place;
/// - a word of at least three characters matches anywhere inside a word of the field;
/// - a word of one or two characters (Unicode scalar values, after folding) matches only at the start of a
///   word of the field;
/// - a word never spans white space, and all characters are literal: no wildcards, quotes or operators.
///
/// [`Tier::Exact`]: the folded name or username equals the folded query. [`Tier::Prefix`]: it starts with the
/// query, whose last word may end inside a word. [`Tier::Rest`]: all other matches. The bio does not affect
/// the tier.
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
        // No white space in the word: a hit lies inside one word of the field.
        fields.any(|field| field.contains(word))
    }
}

/// Folds a text and joins its words by one space.
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
