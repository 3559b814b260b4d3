//! The profile search in memory: the definition of [`latchkey_domain::search::matches`], answered by counting sets
//! instead of visiting hits, so that the exact total and any page cost the same. No I/O, no clock: entries come in by
//! [`Loader`] and [`Index::apply`], ids go out.
//!
//! Limits that decide which way is taken are far lower in the unit tests, so that few profiles go through all ways.
//!
//! | Room | What it holds |
//! |---|---|
//! | `index` | what is searched now: large parts that never change, the newest changes, and how one becomes the other |
//! | `part` | one unchanging part and what a query finds in it |
//! | `left` | looking for a word in the few profiles that have the others |
//! | `grams` | which words hold a text; sets made in advance where that would be long |
//! | `inverted`, `strings`, `ends` | sorted texts, each with the ranks of the profiles that have it |
//! | `draft` | making a part out of entries, or one out of several |
//! | `runs` | many entries on their way to a draft, in little memory |
//! | `footprint` | what all of it takes in memory |
//! | `pages` | the page at an offset across several parts |

mod draft;
mod ends;
mod footprint;
mod grams;
mod index;
mod inverted;
mod key;
mod left;
mod loader;
mod pages;
mod part;
mod runs;
mod strings;
mod tiers;
mod unions;

#[cfg(test)]
mod tests;

pub use footprint::Footprint;
pub use index::{Hits, Index};
pub use key::{Change, Entry, Key};
pub use loader::Loader;
