//! Search for profiles in SQLite. The trigram index yields candidates. [`latchkey_domain::search::matches`]
//! checks each of them on the folded columns, so that the results are exact. Profiles that are not yet
//! indexed ([`pending`]) are candidates of every search.

pub(crate) mod pending;

use std::cmp::Reverse;

use latchkey_domain::page::Page;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::{SearchQuery, SearchText, Tier, matches};
use latchkey_domain::time::Timestamp;
use latchkey_store::ProfileHits;
use latchkey_store_operations::form::Cells;
use latchkey_store_operations::{profile_columns, tables::profiles};
use rusqlite::{Connection, Params, params};

use crate::errors::Fallible;
use crate::rows::SqliteRow;
use crate::statements::find;

/// Number of characters per token of the full-text index, whose tokens are trigrams.
const TRIGRAM: usize = 3;
/// Maximum number of trigrams of one word in a query. More would hardly narrow the candidates.
const ASKED_PER_WORD: usize = 12;

const LIST_CANDIDATES: &str = "
    SELECT p.search_id, p.id, p.created_at, p.folded_name, p.folded_username, p.folded_bio
    FROM profile_search JOIN profiles AS p ON p.search_id = profile_search.rowid
    WHERE profile_search MATCH ?1 AND p.searchable = 1
        AND NOT EXISTS (SELECT 1 FROM profile_search_pending AS behind WHERE behind.search_id = p.search_id)";
/// Reads the profiles that are not yet indexed. `CROSS JOIN` fixes the join order, because these profiles are few and
/// each is found by key.
const LIST_PENDING: &str = "
    SELECT p.search_id, p.id, p.created_at, p.folded_name, p.folded_username, p.folded_bio
    FROM profile_search_pending AS behind CROSS JOIN profiles AS p ON p.search_id = behind.search_id
    WHERE p.searchable = 1";
const FIND_HIT: &str = concat!("SELECT ", profile_columns!(), " FROM profiles AS p WHERE search_id = ?1");

/// A matching profile. Matches are sorted as the storage contract demands: by relevance tier, then newest
/// first, then greatest id first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    tier: Tier,
    created_at: Reverse<Timestamp>,
    id: Reverse<[u8; 16]>,
    search_id: i64,
}

pub(crate) struct SearchResult {
    /// A page of matches, and the exact number of all matches, from one snapshot.
    pub(crate) hits: ProfileHits,
    /// True if so many profiles are not yet indexed that the next batch should be indexed soon.
    pub(crate) is_index_behind: bool,
}

pub(crate) fn search(conn: &Connection, query: &SearchQuery, page: Page) -> Fallible<SearchResult> {
    let moment = conn.unchecked_transaction()?;
    let mut hits = Vec::new();
    if !query.folded().contains('\0') {
        // No stored text contains U+0000, and the index does not accept it in a query.
        list_hits(&moment, LIST_CANDIDATES, params![candidates(query)], query, &mut hits)?;
    }
    let checked = list_hits(&moment, LIST_PENDING, params![], query, &mut hits)?;
    let total = hits.len();
    let first = usize::try_from(page.offset()).unwrap_or(usize::MAX).min(total);
    let end = first.saturating_add(page.limit() as usize).min(total);
    if end < total {
        hits.select_nth_unstable(end);
        hits.truncate(end);
    }
    hits.sort_unstable();
    let profiles = hits[first..].iter().map(|hit| find_hit(&moment, hit)).collect::<Fallible<_>>()?;
    let is_index_behind = checked > pending::BATCH as usize;
    Ok(SearchResult { hits: ProfileHits { total: total as u64, profiles }, is_index_behind })
}

/// Checks the candidates that a statement returns, and adds those that match. Returns the number of candidates.
fn list_hits(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    query: &SearchQuery,
    hits: &mut Vec<Hit>,
) -> Fallible<usize> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut text = SearchText::default();
    let mut checked = 0;
    while let Some(row) = rows.next()? {
        checked += 1;
        let row = SqliteRow(row);
        let mut cells = Cells::new(&row);
        cells.of("profiles");
        let search_id = cells.int("search_id")?;
        let id = cells.array("id")?;
        let created_at = cells.time("created_at")?;
        refill(&mut text.name, cells.text("folded_name")?);
        refill(&mut text.username, cells.text("folded_username")?);
        refill(&mut text.bio, cells.text("folded_bio")?);
        if let Some(tier) = matches(query, &text) {
            hits.push(Hit { tier, created_at: Reverse(created_at), id: Reverse(id), search_id });
        }
    }
    Ok(checked)
}

fn refill(buffer: &mut String, text: &str) {
    buffer.clear();
    buffer.push_str(text);
}

fn find_hit(conn: &Connection, hit: &Hit) -> Fallible<Profile> {
    let found = find(conn, FIND_HIT, params![hit.search_id], profiles::read_profile)?;
    found.ok_or_else(|| {
        latchkey_store::StoreError::Corrupt { table: "profile_search", column: "rowid" }.into()
    })
}

/// Makes the full-text query for profiles whose name and username may have all words. The index has both in capital
/// letters too, which folded text does not have.
pub(crate) fn candidates_by_name(query: &SearchQuery) -> String {
    candidates(query).to_ascii_uppercase()
}

/// True if name or username of each candidate by name has all words: each word is one trigram, whose letters are in capitals
/// in the index where it comes from a name or username, and nowhere else.
pub(crate) fn is_exact_by_name(query: &SearchQuery) -> bool {
    let is_trigram = |word: &str| word.chars().nth(TRIGRAM).is_none();
    query.words().all(|word| is_trigram(word) && word.contains(|c: char| c.is_ascii_lowercase()))
}

/// Makes the full-text query for candidates: a conjunction of trigrams that every match contains. Each is a quoted
/// string, so that no character acts as an operator.
fn candidates(query: &SearchQuery) -> String {
    let mut asked: Vec<String> = Vec::new();
    for word in query.words() {
        for trigram in trigrams(word) {
            let quoted = format!("\"{}\"", trigram.replace('"', "\"\""));
            if !asked.contains(&quoted) {
                asked.push(quoted);
            }
        }
    }
    asked.join(" AND ")
}

/// Chooses trigrams that every match of a query word contains. For a short word this is only the trigram of its prefix.
/// For a longer word the chosen trigrams cover the word from both ends.
fn trigrams(word: &str) -> Vec<String> {
    if SearchQuery::is_short(word) {
        let spaces = TRIGRAM - word.chars().count();
        return vec![format!("{}{word}", " ".repeat(spaces))];
    }
    let chars: Vec<char> = word.chars().collect();
    let last = chars.len() - TRIGRAM;
    let step = TRIGRAM.max(last.div_ceil(ASKED_PER_WORD - 1));
    let starts = (0..last).step_by(step).chain([last]);
    starts.map(|start| chars[start..start + TRIGRAM].iter().collect()).collect()
}

#[cfg(test)]
mod tests;
