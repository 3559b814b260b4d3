//! Conversion of generic rows to statement parameters, and of results to generic rows.

use latchkey_domain::search::SearchText;
use latchkey_store::StoreError;
use latchkey_store_operations::bulk::{Cell, Column, Kind, Row, Table};
use tokio_postgres::types::FromSqlOwned;
use uuid::Uuid;

use super::derived;
use crate::errors::Fallible;
use crate::trigrams;
use crate::values::Value;

/// Converts the value of a primary key column to a statement parameter.
pub(super) fn parameter(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Text(None),
        Cell::Id(bytes) => Value::Id(Some(Uuid::from_bytes(*bytes))),
        Cell::Int(number) => Value::Int(Some(*number)),
        Cell::Flag(flag) => Value::Flag(*flag),
        Cell::Text(text) => Value::Text(Some(text.clone())),
        Cell::Bytes(bytes) => Value::Bytes(Some(bytes.clone())),
    }
}

/// Decodes the values of these columns.
pub(super) fn read(table: &Table, columns: &[Column], row: &tokio_postgres::Row) -> Fallible<Vec<Cell>> {
    let cell = |(at, column): (usize, &Column)| {
        let cell = match column.kind {
            Kind::Id => read_one(row, at, |id: Uuid| Cell::Id(id.into_bytes())),
            Kind::Int => read_one(row, at, Cell::Int),
            Kind::Flag => read_one(row, at, Cell::Flag),
            Kind::Text => read_one(row, at, Cell::Text),
            Kind::Bytes => read_one(row, at, Cell::Bytes),
        };
        cell.ok_or_else(|| StoreError::Corrupt { table: table.name, column: column.name }.into())
    };
    columns.iter().enumerate().map(cell).collect()
}

/// Decodes a column, or returns `None` if it has another type.
fn read_one<T: FromSqlOwned>(
    row: &tokio_postgres::Row,
    at: usize,
    wrap: impl FnOnce(T) -> Cell,
) -> Option<Cell> {
    let value: Option<T> = row.try_get(at).ok()?;
    Some(value.map_or(Cell::Null, wrap))
}

/// Converts rows to one array per column. Computed columns come last.
pub(super) fn columns(table: &Table, rows: &[Row]) -> Vec<Value> {
    let mut values: Vec<_> =
        table.columns.iter().enumerate().map(|(at, column)| array(column.kind, at, rows)).collect();
    if derived(table).is_some() {
        values.push(Value::Texts(rows.iter().map(|row| Some(trigrams_of(table, row))).collect()));
    }
    values
}

fn array(kind: Kind, at: usize, rows: &[Row]) -> Value {
    macro_rules! array {
        ($array:ident, $cell:ident, $value:ident, $given:expr) => {{
            let cells = rows.iter().map(|row| &row[at]);
            Value::$array(
                cells.map(|cell| if let Cell::$cell($value) = cell { Some($given) } else { None }).collect(),
            )
        }};
    }
    match kind {
        Kind::Id => array!(Ids, Id, bytes, Uuid::from_bytes(*bytes)),
        Kind::Int => array!(Ints, Int, number, *number),
        Kind::Flag => array!(Flags, Flag, flag, *flag),
        Kind::Text => array!(Texts, Text, text, text.clone()),
        Kind::Bytes => array!(Blobs, Bytes, bytes, bytes.clone()),
    }
}

/// Computes the trigrams of a profile, as the text form of a PostgreSQL array.
fn trigrams_of(table: &Table, row: &Row) -> String {
    let text = |name: &str| {
        let cell = table.columns.iter().position(|column| column.name == name).map(|at| &row[at]);
        if let Some(Cell::Text(text)) = cell { text.clone() } else { String::new() }
    };
    let folded =
        SearchText { name: text("folded_name"), username: text("folded_username"), bio: text("folded_bio") };
    trigrams::array_text(&folded)
}
