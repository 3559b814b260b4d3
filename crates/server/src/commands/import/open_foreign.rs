//! Databases of other applications as the source of an import. They are only read. What they contain may change from one
//! run to the next, so an import from them begins anew each time: what it has written is skipped then.

use std::path::Path;

use latchkey_import::{Format, Input, RowText, Side};
use latchkey_service::imports::Stop;
use latchkey_store::{Scope, SideTable};
use latchkey_store_postgres::PostgresOptions;

use super::open::{Opened, Source};
use super::{CommandError, refused, unreadable};
use crate::cli::ImportFile;

fn opened(rows: impl Iterator<Item = RowText> + Send + 'static, name: String) -> Opened {
    let source = Source { name, digest: None, size: None, read: None };
    Opened { input: Input::Rows(Box::new(rows)), source }
}

pub(super) fn sqlite(
    path: &Path,
    name: String,
    arguments: &ImportFile,
    format: &'static Format,
    stop: Stop,
) -> Result<Opened, CommandError> {
    let Some(table) = arguments.table.as_deref().or(format.sqlite) else {
        return Err(refused(format!(
            "{name} is a SQLite file, which the format {} does not read",
            format.name
        )));
    };
    let sides = sides(format, |side| side.sqlite);
    let rows = latchkey_store_sqlite::foreign_rows(path, table, sides, move || stop.is_asked());
    let rows = rows.map_err(|error| unreadable(path, &error))?;
    Ok(opened(rows, name))
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
    let options = PostgresOptions::new(url.trim());
    let sides = sides(format, |side| side.postgres);
    let rows = latchkey_store_postgres::foreign_rows(&options, &table, sides).await;
    let mut chunks = rows.map_err(|error| refused(format!("{}: {error}", url_file.display())))?;
    let rows = std::iter::from_fn(move || chunks.blocking_recv()).flatten();
    Ok(opened(rows, url_file.display().to_string()))
}

/// Returns the tables beside that of the accounts which the format has in a database of this engine.
fn sides(format: &Format, table_of: fn(&Side) -> &'static str) -> Vec<SideTable> {
    let tables = format.sides.iter().filter(|side| !table_of(side).is_empty());
    let side = |side: &Side| SideTable {
        field: side.field,
        table: table_of(side),
        owners: side.owners,
        scope: side.collection.map(|names| Scope {
            columns: names.columns,
            tables: names.table,
            key: names.field,
        }),
        is_needed: side.is_needed,
    };
    tables.map(side).collect()
}

fn quoted(name: &str) -> String {
    name.split('.').map(|part| format!("\"{}\"", part.replace('"', "\"\""))).collect::<Vec<_>>().join(".")
}
