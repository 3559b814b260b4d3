//! Rows of the tables beside the accounts, which a file has before or after them. They are read first, and wait in memory for
//! their accounts: as text, of the columns that are read, because a `Value` takes several times as much.

use std::collections::HashMap;
use std::vec::IntoIter;

use latchkey_domain::imports::{Problem, ProblemCode};
use serde_json::{Map, Value};

use crate::draft::Entry;
use crate::formats::{Format, Side};
use crate::input::Content;
use crate::read_error::ReadError;
use crate::source::{Row, open};
use crate::values::text_of;

/// Maximum size of the rows of side tables in memory.
const MOST: usize = 48 * 1024 * 1024;
/// What an account with rows takes beyond its id and its rows: its place in the map, which may be half empty, and two
/// allocations.
const OWNER: usize = 128;
/// Size that a refused row counts as.
const REFUSED: usize = 256;

/// Rows of side tables.
#[derive(Default)]
pub(crate) struct Sides {
    tables: &'static [Side],
    /// Rows by the id of their account: lines, each an array of the number of the table and the kept columns.
    rows: HashMap<Box<str>, String>,
    bytes: usize,
    /// Rows that cannot be read, or belong to no account.
    refused: IntoIter<Entry>,
}

impl Sides {
    /// Reads the side tables of the parts of a file.
    pub(crate) fn read(
        format: &'static Format,
        parts: &[(Option<String>, Content)],
    ) -> Result<Self, ReadError> {
        let mut sides = Self { tables: format.sides, ..Self::default() };
        let mut refused = Vec::new();
        for (table, content) in parts {
            let mut source = open(format, content)?;
            while let Some(row) = source.next_row()? {
                let name = row.table.clone().or_else(|| table.clone()).unwrap_or_default();
                let is_named = |side: &Side| side.names.contains(&name.as_str());
                let Some(number) = format.sides.iter().position(is_named) else { continue };
                let line = row.line;
                if let Err(problem) = sides.keep(number, row) {
                    sides.bytes += REFUSED;
                    let message = format!("in the table {name}: {}", problem.message);
                    let read = Err(Problem { message, ..problem });
                    refused.push(Entry { line, read, problems: Vec::new() });
                }
                if sides.bytes > MOST {
                    return Err(ReadError::Sides);
                }
            }
        }
        sides.refused = refused.into_iter();
        Ok(sides)
    }

    /// Keeps a row of a table, if its account needs it.
    fn keep(&mut self, number: usize, row: Row) -> Result<(), Problem> {
        let side = &self.tables[number];
        let object = row.object?;
        let owner = object.get(side.owner).and_then(text_of).filter(|owner| !owner.is_empty());
        let owner = owner.ok_or_else(|| {
            Problem::of(ProblemCode::JsonInvalid, side.owner, "the id of the account is missing")
        })?;
        let Some(mut object) = (side.slim)(object) else { return Ok(()) };
        let columns = side.keeps.iter().map(|column| object.remove(*column).unwrap_or_default());
        let line = Value::Array(std::iter::once(number.into()).chain(columns).collect()).to_string();
        let before = self.rows.len();
        let rows = self.rows.entry(owner.as_str().into()).or_default();
        let capacity = rows.capacity();
        rows.reserve(line.len() + 1);
        rows.push_str(&line);
        rows.push('\n');
        self.bytes += rows.capacity() - capacity;
        self.bytes += if self.rows.len() > before { owner.len() + OWNER } else { 0 };
        Ok(())
    }

    /// Returns the next row that is refused.
    pub(crate) fn next_refused(&mut self) -> Option<Entry> {
        self.refused.next()
    }

    /// Adds the rows of an account to its row.
    pub(crate) fn join(&mut self, object: &mut Map<String, Value>) {
        if self.rows.is_empty() {
            return;
        }
        let id = object.get("id").and_then(text_of).unwrap_or_default();
        let rows = self.rows.remove(id.as_str()).unwrap_or_default();
        for (side, row) in rows.lines().filter_map(|line| self.parse(line)) {
            let list = object.entry(side.field).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.push(row);
            }
        }
    }

    fn parse(&self, line: &str) -> Option<(&'static Side, Value)> {
        let Ok(Value::Array(values)) = serde_json::from_str(line) else { return None };
        let mut values = values.into_iter();
        let side = self.tables.get(usize::try_from(values.next()?.as_u64()?).ok()?)?;
        let there = side.keeps.iter().zip(values).filter(|(_, value)| !value.is_null());
        Some((side, there.map(|(key, value)| ((*key).to_owned(), value)).collect::<Map<_, _>>().into()))
    }
}
