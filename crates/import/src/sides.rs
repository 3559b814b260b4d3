//! Rows of the tables beside the accounts, which a file has before or after them. They are read first, and wait in memory for
//! their accounts: as text, of the columns that are read, because a `Value` takes several times as much.

use std::collections::HashMap;
use std::vec::IntoIter;

use latchkey_domain::imports::{LARGEST_RECORD, Problem, ProblemCode};
use serde_json::{Map, Value};

use crate::draft::Entry;
use crate::formats::{Format, Side};
use crate::input::Part;
use crate::read_error::ReadError;
use crate::source::{Row, open};
use crate::values::text_of;

/// Maximum size of the rows of side tables in memory.
const MOST: usize = 48 * 1024 * 1024;
/// What an account with rows takes beyond its id and its rows: its place in the map, which may be half empty, and two
/// allocations.
const OWNER: usize = 144;
/// Maximum number of rows of an account; their text has at most [`LARGEST_RECORD`]. They become values all at once, which take
/// many times as much as short rows do. An account gets no more identities than that.
const MOST_ROWS: u8 = 100;
/// What a refused row takes beyond the texts of its problem, with the room that a growing list has.
const REFUSED: usize = 2 * size_of::<Entry>();

/// Rows of an account.
#[derive(Default)]
struct Rows {
    /// Lines, each an array of the number of the table and the kept columns.
    lines: String,
    count: u8,
    /// True once a row had no room.
    is_full: bool,
}

impl Rows {
    /// Adds a row. The first one that has no room is told; the later ones are left out too.
    fn push(&mut self, line: &str) -> Result<(), Problem> {
        if self.is_full {
            return Ok(());
        }
        if self.count == MOST_ROWS || self.lines.len() + line.len() >= LARGEST_RECORD {
            self.is_full = true;
            let message = "the account has more than 100 rows, or more than 1 MiB of them: this one and \
                those that follow are left out";
            return Err(Problem { message: message.to_owned(), ..Problem::new(ProblemCode::RecordTooLarge) });
        }
        self.count += 1;
        self.lines.reserve(line.len() + 1);
        self.lines.push_str(line);
        self.lines.push('\n');
        Ok(())
    }
}

/// Cuts the lists that a row of a database has of side tables to as many rows as an account of a file may have.
pub(crate) fn cut(format: &Format, object: &mut Map<String, Value>) -> Option<Problem> {
    let mut told = None;
    for side in format.sides {
        if let Some(Value::Array(list)) = object.get_mut(side.field)
            && list.len() > usize::from(MOST_ROWS)
        {
            list.truncate(MOST_ROWS.into());
            let message = "the account has more than 100 rows: those beyond are left out";
            told = Some(Problem::of(ProblemCode::RecordTooLarge, side.field, message));
        }
    }
    told
}

/// Rows of side tables.
#[derive(Default)]
pub(crate) struct Sides {
    tables: &'static [Side],
    /// Rows by the id of their account.
    rows: HashMap<Box<str>, Rows>,
    bytes: usize,
    /// Rows that cannot be read, belong to no account, or have no room.
    refused: IntoIter<Entry>,
}

impl Sides {
    /// Reads the side tables of the parts of a file.
    pub(crate) fn read(format: &'static Format, parts: &[Part]) -> Result<Self, ReadError> {
        let mut sides = Self { tables: format.sides, ..Self::default() };
        let mut refused = Vec::new();
        for part in parts {
            let mut source = open(format, part)?;
            while let Some(row) = source.next_row()? {
                let name = row.table.clone().or_else(|| part.table.clone()).unwrap_or_default();
                let is_named = |side: &Side| side.names.contains(&name.as_str());
                let Some(number) = format.sides.iter().position(is_named) else { continue };
                let line = row.line;
                if let Err(problem) = sides.keep(number, row) {
                    let message = format!("in the table {name}: {}", problem.message);
                    sides.bytes += REFUSED + message.capacity();
                    let read = Err(Problem { message, ..problem });
                    refused.push(Entry { file: part.file.clone(), line, read, problems: Vec::new() });
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
        let mut owners = side.owners.iter().filter_map(|owner| object.get(*owner).and_then(text_of));
        let Some(owner) = owners.find(|owner| !owner.is_empty()) else {
            let field = side.owners.first().copied().unwrap_or_default();
            let problem = Problem::of(ProblemCode::JsonInvalid, field, "the id of the account is missing");
            return if side.is_needed { Err(problem) } else { Ok(()) };
        };
        let Some(mut object) = (side.slim)(object) else { return Ok(()) };
        let columns = side.keeps.iter().map(|column| object.remove(*column).unwrap_or_default());
        let line = Value::Array(std::iter::once(number.into()).chain(columns).collect()).to_string();
        let before = self.rows.len();
        let rows = self.rows.entry(owner.as_str().into()).or_default();
        let capacity = rows.lines.capacity();
        let kept = rows.push(&line);
        self.bytes += rows.lines.capacity() - capacity;
        self.bytes += if self.rows.len() > before { owner.len() + OWNER } else { 0 };
        kept
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
        for (side, row) in rows.lines.lines().filter_map(|line| self.parse(line)) {
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
