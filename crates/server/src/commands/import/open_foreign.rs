//! Databases of other applications as the source of an import. They are only read. What they contain may change from one
//! run to the next, so an import from them begins anew each time: what it has written is skipped then.

use std::path::Path;

use latchkey_import::{Format, Input, RowText};
use latchkey_store_postgres::PostgresOptions;
use latchkey_store_sqlite as sqlite;

use super::open::Opened;
use super::{CommandError, refused, unreadable};
use crate::cli::ImportFile;

fn opened(rows: impl Iterator<Item = RowText> + Send + 'static, name: String) -> Opened {
    Opened { input: Input::Rows(Box::new(rows)), name, digest: None, size: None, read: None }
}

pub(super) fn sqlite(
    path: &Path,
    name: String,
    arguments: &ImportFile,
    format: &'static Format,
) -> Result<Opened, CommandError> {
    let Some(table) = arguments.table.as_deref().or(format.sqlite) else {
        return Err(refused(format!(
            "{name} is a SQLite file, which the format {} does not read",
            format.name
        )));
    };
    let sides = format.sides.iter().filter(|side| !side.sqlite.is_empty());
    let sides =
        sides.map(|side| sqlite::SideTable { field: side.field, table: side.sqlite, owner: side.owner });
    let rows =
        sqlite::foreign_rows(path, table, sides.collect()).map_err(|error| unreadable(path, &error))?;
    Ok(opened(rows.into_iter(), name))
}

pub(super) async fn postgres(
    url_file: &Path,
    arguments: &ImportFile,
    format: &'static Format,
) -> Result<Opened, CommandError> {
    let url = std::fs::read_to_string(url_file).map_err(|error| unreadable(url_file, &error))?;
    let table = arguments.table.as_deref().map(quoted);
    let Some(table) = table.or_else(|| format.postgres.map(str::to_owned)) else {
        return Err(refused(format!("the format {} does not read a database", format.name)));
    };
    let sides = format.sides.iter().filter(|side| !side.postgres.is_empty());
    let sides = sides.map(|side| latchkey_store_postgres::SideTable {
        field: side.field,
        table: side.postgres,
        owner: side.owner,
    });
    let options = PostgresOptions::new(url.trim());
    let mut rows = latchkey_store_postgres::foreign_rows(&options, &table, sides.collect()).await?;
    Ok(opened(std::iter::from_fn(move || rows.blocking_recv()), url_file.display().to_string()))
}

fn quoted(name: &str) -> String {
    name.split('.').map(|part| format!("\"{}\"", part.replace('"', "\"\""))).collect::<Vec<_>>().join(".")
}
