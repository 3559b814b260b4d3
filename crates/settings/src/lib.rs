//! Declaration of settings. A key, its type, its default and its documentation are declared once, beside the field that
//! the setting fills.
//!
//! [`settings!`] declares a group of settings. Parsers for all sources, the default file, the documentation,
//! environment variables and default values follow from the items. Rules between keys are in the crate `latchkey`.

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
pub use group::{Group, Groups, Setting, defaults};
pub use item::{Fallback, Item, Kind, PREFIX, key_of_variable, variable_of};
pub use problem::{Problem, Problems, SettingsError};
pub use reader::Reader;
pub use secret::Secret;
pub use source::Source;
pub use value::{Entries, Entry, Found, Value, from_text, from_toml, text_of};
