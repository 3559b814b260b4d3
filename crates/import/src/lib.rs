//! Readers of other services' account files. A file becomes a stream of rows ([`source`]), a format maps a row to a draft
//! (one file per format in [`formats`]), and the draft becomes a record of domain types, or a problem ([`draft`]). No
//! database and no network: rows of a database come in as JSON ([`Input::Rows`]).

#![warn(missing_docs)]

mod base32;
mod draft;
mod export;
pub mod formats;
mod input;
mod options;
mod problems;
mod read_error;
mod realms;
mod records;
mod sides;
mod source;
mod values;

pub use draft::Entry;
pub use formats::{CollectionNames, FORMATS, Format, Side};
pub use input::{Input, RowText};
pub use options::{FirebaseHashes, ImportOptions, OptionProblem};
pub use read_error::ReadError;
pub use records::Records;
