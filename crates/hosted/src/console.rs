//! The console of operators, under `/console`. The path determines the file, as for the pages.

mod again;
mod errors;
mod list;
mod networks;
mod page;
mod router;
mod state;

pub(crate) use router::{files, router};
pub use state::{Console, ConsoleParts, Entry};
