//! The formats. A format is a row of [`FORMATS`]: where its accounts stand, and the function that maps a row to a draft.

mod auth0;
mod better_auth;
mod clerk;
mod firebase;
mod hashes;
mod keycloak;
mod latchkey;
mod pocketbase;
mod supabase;
mod table;

pub(crate) use keycloak::OF_USERS;
use serde_json::{Map, Value};

use crate::draft::Draft;
use crate::options::ImportOptions;
use crate::values::Fields;

/// Column of the file for each field of ours.
pub(crate) type Columns = [(&'static str, String)];

/// A format of account files.
pub struct Format {
    /// Name of the format.
    pub name: &'static str,
    /// What it reads, for people.
    pub about: &'static str,
    /// Names of the table of accounts: members of a document, blocks of a dump, files of a folder.
    pub(crate) names: &'static [&'static str],
    /// True if an object is always a document with tables, never a line.
    pub(crate) is_document: bool,
    /// True if a document is a realm, of which an export may have several.
    pub(crate) has_realms: bool,
    /// True if a file is always JSON lines.
    pub(crate) is_lines: bool,
    /// Table of accounts in a PostgreSQL database of the source, as SQL; `None` if it has none.
    pub postgres: Option<&'static str>,
    /// Table of accounts in a SQLite file of the source; `None` if it has none.
    pub sqlite: Option<&'static str>,
    /// Tables beside the accounts.
    pub sides: &'static [Side],
    /// Guesses the column of each field of ours; `None` if the format has its own columns.
    pub(crate) guess: Option<Guess>,
    /// Takes what wraps the fields of a row off.
    pub(crate) prepare: fn(Map<String, Value>) -> Map<String, Value>,
    /// True for a row that is no account.
    pub(crate) is_skipped: fn(Fields<'_>) -> bool,
    pub(crate) map: fn(Fields<'_>, &ImportOptions, &Columns) -> Draft,
}

/// Function that guesses a column for each field of ours that has none yet. The names are those of a header or a record.
pub(crate) type Guess = fn(&[&str], &ImportOptions, &mut Vec<(&'static str, String)>);

/// Function that takes off what is not read of a row.
pub(crate) type Slim = fn(Object) -> Option<Object>;

type Object = Map<String, Value>;

/// A table beside the accounts, whose rows become a list in the account's row.
pub struct Side {
    /// Field of the list.
    pub field: &'static str,
    /// Names of the table in files.
    pub(crate) names: &'static [&'static str],
    /// Table in a PostgreSQL database, as SQL.
    pub postgres: &'static str,
    /// Table in a SQLite file.
    pub sqlite: &'static str,
    /// Columns that may have the id of the account: releases and tools differ.
    pub owners: &'static [&'static str],
    /// What names the collection of the account, whose id is unique in that one only; `None` without collections.
    pub collection: Option<CollectionNames>,
    /// True if accounts would lack something without the table. Another one is only told of: a table of its name without the
    /// id of the account is one of the application, and is passed over.
    pub is_needed: bool,
    /// Columns that are read.
    pub(crate) keeps: &'static [&'static str],
    /// Takes off what is not read of a row; `None` for a row that says nothing.
    pub(crate) slim: Slim,
}

/// Names under which rows tell the collection of their account.
#[derive(Clone, Copy)]
pub struct CollectionNames {
    /// Columns of the side table that may have the id of the collection.
    pub columns: &'static [&'static str],
    /// Table of the collections in a SQLite file, with `id` and `name`.
    pub table: &'static str,
    /// Field of an account with the id of its collection.
    pub field: &'static str,
}

impl Format {
    const DEFAULT: Self = Self {
        name: "",
        about: "",
        names: &[],
        is_document: false,
        has_realms: false,
        is_lines: false,
        postgres: None,
        sqlite: None,
        sides: &[],
        guess: None,
        prepare: |row| row,
        is_skipped: |_| false,
        map: |_, _, _| Draft::default(),
    };

    /// Finds a format by its name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        FORMATS.iter().copied().find(|format| format.name == name)
    }

    pub(crate) fn table_names(&self) -> Vec<&'static str> {
        let sides = self.sides.iter().flat_map(|side| side.names);
        self.names.iter().chain(sides).copied().collect()
    }

    pub(crate) fn is_main(&self, table: &str) -> bool {
        self.names.contains(&table)
    }
}

/// All formats.
pub const FORMATS: &[&Format] = &[
    &latchkey::FORMAT,
    &supabase::FORMAT,
    &firebase::FORMAT,
    &auth0::FORMAT,
    &clerk::FORMAT,
    &keycloak::FORMAT,
    &better_auth::FORMAT,
    &pocketbase::FORMAT,
    &table::RAUTHY,
    &table::DJANGO,
    &table::CSV,
];
