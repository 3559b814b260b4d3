//! Finding profiles by words. The trigram index names candidates; [`latchkey_domain::search::matches`] decides, on
//! the folded columns, so that this engine cannot disagree with the contract.

use std::cmp::Reverse;

use latchkey_domain::page::Page;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::{SearchQuery, SearchText, Tier, matches};
use latchkey_domain::time::Timestamp;
use latchkey_store::ProfileHits;
use rusqlite::{Connection, params};

use crate::errors::Fallible;
use crate::profiles::{profile_columns, read_row};
use crate::rows::Cells;
use crate::statements::find;

/// Characters of one token of the index.
const TRIGRAM: usize = 3;
/// Most trigrams of one word that are asked for: more would only narrow the candidates further.
const ASKED_PER_WORD: usize = 12;

const LIST_CANDIDATES: &str = "
    SELECT p.search_id, p.id, p.created_at, p.folded_name, p.folded_username, p.folded_bio
    FROM profile_search JOIN profiles AS p ON p.search_id = profile_search.rowid
    WHERE profile_search MATCH ?1";
const FIND_HIT: &str = concat!("SELECT ", profile_columns!(), " FROM profiles WHERE search_id = ?1");

/// A match, ordered as the contract lists it: best tier, then newest, then greatest id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    tier: Tier,
    created_at: Reverse<Timestamp>,
    id: Reverse<[u8; 16]>,
    search_id: i64,
}

/// A page of matches and their exact number, of one moment.
pub(crate) fn search(conn: &Connection, query: &SearchQuery, page: Page) -> Fallible<ProfileHits> {
    let moment = conn.unchecked_transaction()?;
    let mut hits = list_hits(&moment, query)?;
    let total = hits.len();
    let first = usize::try_from(page.offset()).unwrap_or(usize::MAX).min(total);
    let end = first.saturating_add(page.limit() as usize).min(total);
    if end < total {
        hits.select_nth_unstable(end);
        hits.truncate(end);
    }
    hits.sort_unstable();
    let profiles = hits[first..].iter().map(|hit| find_hit(&moment, hit)).collect::<Fallible<_>>()?;
    Ok(ProfileHits { total: total as u64, profiles })
}

fn list_hits(conn: &Connection, query: &SearchQuery) -> Fallible<Vec<Hit>> {
    if query.folded().contains('\0') {
        return Ok(Vec::new()); // no stored text has one, and the index could not be asked
    }
    let mut statement = conn.prepare_cached(LIST_CANDIDATES)?;
    let mut rows = statement.query(params![candidates(query)])?;
    let mut hits = Vec::new();
    let mut text = SearchText::default();
    while let Some(row) = rows.next()? {
        let mut cells = Cells::new(row, "profiles");
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
    Ok(hits)
}

fn refill(buffer: &mut String, text: &str) {
    buffer.clear();
    buffer.push_str(text);
}

fn find_hit(conn: &Connection, hit: &Hit) -> Fallible<Profile> {
    let found = find(conn, FIND_HIT, params![hit.search_id], read_row)?;
    found.ok_or_else(|| {
        latchkey_store::StoreError::Corrupt { table: "profile_search", column: "rowid" }.into()
    })
}

/// The question to the index: every trigram of it stands in every profile that matches. Each is a quoted string, so
/// no character of it is an operator.
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

/// Trigrams that a match must have: of a short word the one of a word's beginning, of a longer one a selection that
/// covers it from both ends.
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
