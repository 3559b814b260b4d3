//! An in-memory inverted index for the profile search. It implements the definition in
//! [`latchkey_domain::search::matches`] with set operations on bitmaps instead of visiting hits, so that the exact
//! total and any page cost the same. The crate does no I/O and reads no clock. Profiles are added by [`Loader`] and
//! [`Index::apply`]; searches return ids.
//!
//! Writes work as in a log-structured merge tree: changes enter a memtable, a full memtable is flushed into an
//! immutable segment, and segments of similar size are merged. A profile's *doc id* is its position in its segment,
//! oldest first. *Postings* are the doc ids of the profiles that contain a term.
//!
//! Thresholds are far lower in unit tests, so that few profiles exercise every path.
//!
//! | Module | Contents |
//! |---|---|
//! | `index` | the current snapshot (segments and memtable), flushing and merging |
//! | `segment` | an immutable segment and query evaluation in it |
//! | `survivors` | intersection with further query words once few profiles are left |
//! | `trigrams` | substring search in the vocabulary; precomputed sets of common substrings |
//! | `exact_keys` | whole names and usernames, for the tiers "equal" and "prefix" |
//! | `inverted`, `string_table`, `offsets` | sorted terms with their postings |
//! | `segment_builder` | building a segment from profiles or from other segments |
//! | `sorted_runs` | bulk loading in bounded memory, as in an external merge sort |
//! | `memory_use` | memory use of an index by purpose |
//! | `pages` | a page at an offset across several segments |

mod exact_keys;
mod index;
mod inverted;
mod key;
mod loader;
mod memory_use;
mod offsets;
mod pages;
mod segment;
mod segment_builder;
mod sorted_runs;
mod string_table;
mod survivors;
mod trigrams;
mod unions;

#[cfg(test)]
mod tests;

pub use index::{Hits, Index};
pub use key::{Change, Entry, Key};
pub use loader::Loader;
pub use memory_use::MemoryUse;
