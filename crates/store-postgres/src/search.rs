//! Search for profiles in one SQL statement. The trigram index yields candidates, and conditions on the folded
//! columns then apply the definition in [`latchkey_domain::search::matches`]. The conditions are on the three
//! fields, joined by spaces. That is exact, because words contain no space: a query word occurs in a field if and
//! only if it occurs in the joined text. It begins a word if and only if it occurs there after a space.

use std::fmt::Write;

use latchkey_domain::page::Page;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchQuery;
use latchkey_store::{ProfileHits, StoreResult};
use latchkey_store_operations::form::Cells;
use latchkey_store_operations::{profile_columns, tables::profiles};

use crate::errors::{EngineFault, driver};
use crate::script::Script;
use crate::store::Postgres;
use crate::trigrams;
use crate::values::{Value, values};

/// Number of parameters that precede the words: trigrams, whole query, limit, offset.
const FIXED: usize = 4;

const BEFORE_WORDS: &str = "
    WITH hits AS MATERIALIZED (
        SELECT id, created_at, CASE
            WHEN folded_name = $2 OR folded_username = $2 THEN 1
            WHEN starts_with(folded_name, $2) OR starts_with(folded_username, $2) THEN 2
            ELSE 3 END AS tier
        FROM profiles WHERE searchable AND trigrams @> $1";
const A_WORD: &str = "strpos(' ' || folded_name || ' ' || folded_username || ' ' || folded_bio, $";
const AFTER_WORDS: &str = concat!(
    "), page AS (
        SELECT id, created_at, tier FROM hits ORDER BY tier, created_at DESC, id DESC LIMIT $3 OFFSET $4)
    SELECT (SELECT count(*) FROM hits), p.id IS NOT NULL, ",
    profile_columns!(),
    " FROM (SELECT 1) AS one LEFT JOIN (page JOIN profiles AS p ON p.id = page.id) ON TRUE
    ORDER BY page.tier, page.created_at DESC, page.id DESC"
);

/// Returns a page of matches, and the exact number of all matches, from one snapshot.
pub(crate) async fn search(store: &Postgres, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits> {
    if query.folded().contains('\0') {
        return Ok(ProfileHits { total: 0, profiles: Vec::new() }); // no stored text has a U+0000
    }
    let words = distinct_words(query);
    let offset = i64::try_from(page.offset()).unwrap_or(i64::MAX);
    let mut values = values![
        Value::Trigrams(trigrams::of_query(query).into_iter().map(Some).collect()),
        query.folded(),
        page.limit(),
        offset
    ];
    values.extend(words.iter().map(|word| Value::from(needle(word))));
    let script = Script::of(statement(words.len()), values);
    let output = store.read_long_script(&script).await?.take_first()?;

    let total = output.find(|cells| cells.of("profiles").count("total"))?;
    let total = total.ok_or_else(|| driver(EngineFault::NoRow))?;
    let profiles = output.list(read_hit)?.into_iter().flatten().collect();
    Ok(ProfileHits { total: u64::from(total), profiles })
}

/// Builds the SQL statement for a query of this many words.
fn statement(words: usize) -> String {
    let mut sql = BEFORE_WORDS.to_owned();
    for word in 1..=words {
        // Writing to a `String` cannot fail.
        let _ = write!(sql, "\n            AND {A_WORD}{}) > 0", FIXED + word);
    }
    sql.push_str(AFTER_WORDS);
    sql
}

fn distinct_words(query: &SearchQuery) -> Vec<&str> {
    let mut words: Vec<&str> = query.words().collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns the text to look for in the joined fields. A short word matches only as a prefix, so a space precedes it.
fn needle(word: &str) -> String {
    if SearchQuery::is_short(word) { format!(" {word}") } else { word.to_owned() }
}

/// Decodes the profile of a row; `None` for the single row of an empty page, which has only the number of matches.
fn read_hit(cells: &mut Cells<'_>) -> StoreResult<Option<Profile>> {
    let cells = cells.of("profiles");
    cells.int("total")?;
    if !cells.flag("id")? {
        return Ok(None);
    }
    profiles::read_profile(cells).map(Some)
}
