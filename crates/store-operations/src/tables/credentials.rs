//! Statements on table `credentials` by the beginning of the stored hash, which is its work class. The other statements
//! are in [`super::users`].

use latchkey_domain::ids::UserId;
use latchkey_domain::imported_hash::class;
use latchkey_domain::password::PasswordHash;
use latchkey_store::{ReplaceHash, StoreResult};

use crate::form::{Cells, Results, Script, Slot, statements};

/// SQL condition of the rows in the index of work classes: all but hashes under the default parameters.
macro_rules! classed {
    () => {
        "substr(data, 1, 31) <> '$argon2id$v=19$m=19456,t=2,p=1$'"
    };
}

/// Query for the ids of users whose password is kept as a hash of another scheme than argon2id, in two ranges of the index
/// of work classes.
macro_rules! imported_hashes {
    () => {
        concat!(
            "SELECT user_id AS id FROM credentials WHERE ",
            classed!(),
            " AND substr(data, 1, 40) < '$argon2id$' AND kind = 'password'
            UNION ALL SELECT user_id FROM credentials WHERE ",
            classed!(),
            " AND substr(data, 1, 40) >= '$argon2id%' AND kind = 'password'"
        )
    };
}
pub(crate) use {classed, imported_hashes};

/// Work class of the hashes that are not in the index.
pub(crate) const USUAL_CLASS: &str = "$argon2id$v=19$m=19456,t=2,p=1$";

statements! {
    /// Reads the first beginning at or after a text, in the order of the index.
    FIND_BEGINNING: read find_beginning(from: &str) = concat!(
        "SELECT substr(data, 1, 40) FROM credentials WHERE ", classed!(), " AND substr(data, 1, 40) >= $1
        ORDER BY substr(data, 1, 40) LIMIT 1"
    );
    COUNT_CLASS: read count_class(class: &str) [class, end_of(class)] = concat!(
        "SELECT count(*) FROM credentials WHERE ", classed!(),
        " AND substr(data, 1, 40) >= $1 AND substr(data, 1, 40) < $2"
    );
    /// Lists bare digests, in the order of the index.
    LIST_DIGESTS: read list_digests(limit: u32) ["$digest$", end_of("$digest$"), i64::from(limit)] = concat!(
        "SELECT user_id, data FROM credentials WHERE ", classed!(),
        " AND substr(data, 1, 40) >= $1 AND substr(data, 1, 40) < $2 ORDER BY substr(data, 1, 40), user_id LIMIT $3"
    );
    REPLACE: change replace(to: &ReplaceHash) [to.user_id, to.from.as_str(), to.to.as_str(), to.now] = "
    UPDATE credentials SET data = $3, updated_at = $4 WHERE user_id = $1 AND kind = 'password' AND data = $2";
}

/// Returns a text that follows all texts with this beginning. Stored hashes are ASCII.
pub(crate) fn end_of(beginning: &str) -> String {
    format!("{beginning}\u{7f}")
}

/// Decodes the work class of the beginning that was found, or the beginning itself if it is of no known scheme; `None`
/// if no hash follows.
pub(crate) fn found_class(results: &Results<'_>, slot: Slot) -> StoreResult<Option<String>> {
    let found = results.find(slot, |cells| Ok(cells.of("credentials").text("data")?.to_owned()))?;
    Ok(found.map(|beginning| class(&beginning).map_or(beginning.clone(), str::to_owned)))
}

pub(crate) fn count(results: &Results<'_>, slot: Slot) -> StoreResult<u64> {
    let found = results.find(slot, |cells| cells.of("credentials").int("data"))?;
    Ok(found.and_then(|count| u64::try_from(count).ok()).unwrap_or_default())
}

pub(crate) fn read_digest(cells: &mut Cells<'_>) -> StoreResult<(UserId, PasswordHash)> {
    cells.of("credentials");
    Ok((cells.id("user_id")?, PasswordHash::from_phc(cells.text("data")?.to_owned())))
}

/// Adds the replacement of each hash.
pub(crate) fn replace_all(script: &mut Script, replaced: &[ReplaceHash]) -> Vec<Slot> {
    replaced.iter().map(|to| replace(script, to)).collect()
}
