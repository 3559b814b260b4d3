//! Plain dumps of PostgreSQL: the blocks `COPY table (columns) FROM stdin;`, which end with `\.`. All else is skipped.

use std::io;

use latchkey_domain::imports::{Problem, ProblemCode};
use serde_json::{Map, Value};

use super::lines::{Line, read_line, too_large};
use super::{Bytes, Row, Source};

/// Rows of the blocks of these tables.
pub(crate) struct Dump {
    bytes: Bytes,
    tables: Vec<&'static str>,
    block: Option<Block>,
    buffer: Vec<u8>,
    /// Names of the tables that have a block.
    met: Vec<String>,
}

struct Block {
    table: String,
    columns: Vec<String>,
}

impl Dump {
    pub(crate) fn new(bytes: Bytes, tables: Vec<&'static str>) -> Self {
        Self { bytes, tables, block: None, buffer: Vec::new(), met: Vec::new() }
    }
}

impl Source for Dump {
    fn next_row(&mut self) -> io::Result<Option<Row>> {
        loop {
            let line = self.bytes.line;
            let Some(read) = read_line(&mut self.bytes, &mut self.buffer)? else { return Ok(None) };
            let Some(block) = &self.block else {
                self.block = block_of(&self.buffer).filter(|_| matches!(read, Line::Whole));
                // A table may have any number of blocks.
                if let Some(Block { table, .. }) = &self.block
                    && self.tables.contains(&table.as_str())
                    && !self.met.contains(table)
                {
                    self.met.push(table.clone());
                }
                continue;
            };
            if self.buffer == b"\\." {
                self.block = None;
                continue;
            }
            if !self.tables.contains(&block.table.as_str()) {
                continue;
            }
            let object = match read {
                Line::TooLarge => Err(too_large()),
                Line::Whole => row_of(&self.buffer, &block.columns),
            };
            return Ok(Some(Row { file: None, line, table: Some(block.table.clone()), object }));
        }
    }

    fn has_place(&self, is_main: &dyn Fn(&str) -> bool) -> bool {
        self.met.iter().any(|name| is_main(name))
    }
}

/// Parses `COPY schema.table (a, b) FROM stdin;`.
fn block_of(line: &[u8]) -> Option<Block> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let rest = text.strip_prefix("COPY ")?.strip_suffix("FROM stdin;")?;
    let (table, columns) = rest.split_once('(')?;
    let columns = columns.trim().strip_suffix(')')?;
    let unquoted = |name: &str| name.trim().replace('"', "");
    Some(Block { table: unquoted(table), columns: columns.split(',').map(unquoted).collect() })
}

fn row_of(line: &[u8], columns: &[String]) -> Result<Map<String, Value>, Problem> {
    let invalid =
        |message: &str| Problem { message: message.to_owned(), ..Problem::new(ProblemCode::JsonInvalid) };
    let text = std::str::from_utf8(line).map_err(|_| invalid("the record is not UTF-8"))?;
    let fields: Vec<_> = text.split('\t').collect();
    if fields.len() != columns.len() {
        return Err(invalid("the record has not as many fields as the table columns"));
    }
    let value = |field: &str| match field {
        "\\N" => Some(Value::Null),
        field => unescaped(field).map(Value::from),
    };
    let values: Option<Vec<Value>> = fields.into_iter().map(value).collect();
    let values =
        values.ok_or_else(|| invalid("the record has a malformed escape, or the character U+0000"))?;
    Ok(columns.iter().cloned().zip(values).collect())
}

/// Decodes the escapes of COPY; `None` for a malformed one or U+0000.
fn unescaped(field: &str) -> Option<String> {
    if !field.contains('\\') {
        return (!field.contains('\0')).then(|| field.to_owned());
    }
    let mut text = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            '\0' => return None,
            '\\' => match characters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'v' => '\u{b}',
                '0'..='9' | 'x' => return None, // pg_dump writes no bytes by number
                other => other,
            },
            other => other,
        });
    }
    Some(text)
}
