//! What the profile search looks for, what it looks in, and when the two match.
//!
//! [`matches`] is the definition. Engines may answer in any way they like as long as they answer the
//! same; the tests hold them against it. SQL, indexes and ordering inside a tier do not live here.

use thiserror::Error;

use crate::fold::{fold, words};

/// A search text with at least one word, folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    folded: String,
}

/// Why a search text was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SearchQueryError {
    /// Empty, blank, or nothing but marks and format characters.
    #[error("must hold at least one word to search for")]
    Missing,
    /// More than [`SearchQuery::MAX_CHARS`] characters.
    #[error("must be at most {} characters long", SearchQuery::MAX_CHARS)]
    TooLong,
}

/// The searchable text of one profile. Each field is folded, its words joined by one space;
/// an absent field is empty and matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchText {
    /// The folded name.
    pub name: String,
    /// The folded username. Usernames are lower-case ASCII, so this is the username itself.
    pub username: String,
    /// The folded bio.
    pub bio: String,
}

/// How well a profile matches; lower sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The whole name or the username is the whole query.
    Exact,
    /// The name or the username begins with the whole query.
    Prefix,
    /// Every word occurs somewhere.
    Rest,
}

impl SearchQuery {
    /// Characters a search text may have: Unicode scalar values of the text as sent, before folding.
    pub const MAX_CHARS: usize = 100;

    /// Query words of up to this many characters (after folding) match only at the start of a word.
    pub const SHORT_WORD_CHARS: usize = 2;

    /// Reads the text as sent. The length is judged first, so that the work is bounded: a blank text
    /// of more than 100 characters is too long.
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

    /// The folded words, joined by one space.
    #[must_use]
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// The folded words in their order; at least one, none of them empty, repeats included.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.folded.split(' ')
    }

    /// Whether a folded query word matches only at the start of a word.
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

/// Whether a profile matches a query, and how well.
///
/// A profile matches when every word of the query occurs in its folded name, username or bio:
/// - each word may occur in another field, and two words may occur in the same place;
/// - a word of three characters or more occurs anywhere inside a word of the field;
/// - a word of one or two characters (Unicode scalar values, after folding) occurs only at the start
///   of a word of the field;
/// - a word never spans white space, and every character is plain: there are no wildcards, quotes or
///   operators.
///
/// Of those that match, [`Tier::Exact`] are the ones whose whole folded name or username equals the
/// whole folded query, [`Tier::Prefix`] the ones where either begins with it (the last query word may
/// end inside a word), [`Tier::Rest`] all others. The bio never raises the tier.
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
        // Neither the word nor a field's words hold white space, so a hit lies inside one word.
        fields.any(|field| field.contains(word))
    }
}

/// The words of the folded text, joined by one space.
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
