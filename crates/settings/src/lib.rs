//! Settings as items: a key with its type, default and sentence is declared once, beside the field that it fills.
//!
//! [`settings!`] declares a group of them. Parsers of all sources, the default file, the documentation, the names in the
//! environment and the defaults of a group are made from the items. Rules between keys are not here.

mod address;
mod declare;
pub mod duration;
mod group;
mod item;
mod problem;
mod reader;
mod secret;
mod source;
mod value;

pub use address::{holds_password, without_password};
pub use group::{Group, Groups, Setting, Words, defaults};
pub use item::{Fallback, Item, Kind, PREFIX, key_of_variable, variable_of};
pub use problem::{Problem, Problems, SettingsError};
pub use reader::Reader;
pub use secret::Secret;
pub use source::Source;
pub use value::{Entries, Entry, Found, Value, from_text, from_toml, text_of};
