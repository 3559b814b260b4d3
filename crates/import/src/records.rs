//! Records of a file in a format.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Value};

use crate::draft::Entry;
use crate::export::Export;
use crate::formats::Format;
use crate::input::{Content, Input};
use crate::options::ImportOptions;
use crate::read_error::ReadError;
use crate::source::{Row, RowTexts, Source, files_of, open};
use crate::values::{Drops, Fields, text_of};

/// Maximum size of the rows of side tables, which are in memory while the accounts are read.
const MOST_SIDES: usize = 48 * 1024 * 1024;
/// Maximum number of columns that an error names.
const MOST_NAMES: usize = 30;

/// Rows of side tables by the id of their account, and the field that they become.
type Sides = HashMap<String, Vec<(&'static str, Value)>>;

/// A file that is still to be read, with the table of its rows if its name says so.
type Part = (Option<String>, Content);

/// Records of a file, one after another.
pub struct Records {
    format: &'static Format,
    options: ImportOptions,
    parts: std::vec::IntoIter<Part>,
    source: Option<(Option<String>, Box<dyn Source>)>,
    /// True for the rows of a database, which all have the same columns.
    is_table: bool,
    /// First row, which was read for its columns.
    ahead: Option<Row>,
    sides: Sides,
    columns: Vec<(&'static str, String)>,
    /// Given columns that no record of a JSON file has had so far. Records may leave out what they lack.
    unseen: Vec<(String, String)>,
    export: Export,
}

impl Records {
    /// Opens a file. Side tables are read first, unless the rows bring them. Columns are settled by the header; without one,
    /// by each record, and those that are shown are the first one's. The first row of a database is not read here, because
    /// the caller may not wait for it.
    pub fn open(format: &'static Format, input: Input, options: ImportOptions) -> Result<Self, ReadError> {
        if format.guess.is_none() && (options.keep_rest || !options.columns.is_empty()) {
            return Err(ReadError::OwnColumns(format.name));
        }
        let unseen = options.columns.clone().into_iter().collect();
        let mut records = Self {
            format,
            options,
            parts: Vec::new().into_iter(),
            source: None,
            is_table: false,
            ahead: None,
            sides: Sides::new(),
            columns: Vec::new(),
            unseen,
            export: Export::default(),
        };
        let parts = match input {
            Input::Rows(rows) => {
                records.source = Some((None, Box::new(RowTexts::new(rows))));
                records.is_table = true;
                return Ok(records);
            }
            Input::File(file, read) => vec![(None, Content::File(file, read))],
            Input::Bytes(bytes) => vec![(None, Content::Bytes(bytes))],
            Input::Folder(path) => parts_of(format, &path)?,
        };
        if !format.sides.is_empty() {
            records.sides = read_sides(format, &parts)?;
        }
        records.parts = parts.into_iter();
        records.open_next()?;
        if format.guess.is_some() {
            records.ahead = records.next_row()?;
        }
        Ok(records)
    }

    /// Returns the column of the file for each field of ours, if the format guesses it.
    #[must_use]
    pub fn columns(&self) -> &[(&'static str, String)] {
        &self.columns
    }

    fn open_next(&mut self) -> Result<bool, ReadError> {
        let Some((table, content)) = self.parts.next() else { return Ok(false) };
        let source = open(self.format, &content)?;
        self.unseen = self.options.columns.clone().into_iter().collect();
        if let Some(header) = source.header() {
            self.learn_columns(&header.iter().map(String::as_str).collect::<Vec<_>>(), true)?;
        }
        self.source = Some((table, source));
        Ok(true)
    }

    /// Finds columns for the fields of ours. If the names are `all` that there are, the given columns must be among them.
    fn learn_columns(&mut self, names: &[&str], are_all: bool) -> Result<(), ReadError> {
        let Some(guess) = self.format.guess else { return Ok(()) };
        self.unseen.retain(|(_, theirs)| !names.contains(&theirs.as_str()));
        if are_all && let Some((ours, theirs)) = self.unseen.pop() {
            let there = names[..names.len().min(MOST_NAMES)].join(", ");
            return Err(ReadError::NoColumn { ours, theirs, there });
        }
        self.columns.clear();
        guess(names, &self.options, &mut self.columns);
        Ok(())
    }

    /// Fails if a given column was in no record.
    fn end(&mut self) -> Result<(), ReadError> {
        let is_empty = self.columns.is_empty();
        let Some((ours, theirs)) = self.unseen.pop().filter(|_| !is_empty) else { return Ok(()) };
        let there = self.columns.iter().map(|(_, theirs)| theirs.as_str()).collect::<Vec<_>>().join(", ");
        Err(ReadError::NoColumn { ours, theirs, there })
    }

    fn next_row(&mut self) -> Result<Option<Row>, ReadError> {
        if self.ahead.is_some() {
            return Ok(self.ahead.take());
        }
        loop {
            let Some((table, source)) = &mut self.source else { return Ok(None) };
            if let Some(mut row) = source.next_row()? {
                if self.format.is_lines {
                    self.export.meet(&mut row, source.as_ref())?;
                }
                let table = row.table.as_ref().or(table.as_ref());
                if table.is_none_or(|name| self.format.is_main(name)) {
                    let has_header = source.header().is_some();
                    row.object = row.object.map(self.format.prepare);
                    if let Ok(object) = &row.object
                        && !has_header
                        && self.format.guess.is_some()
                    {
                        let names: Vec<_> = object.keys().map(String::as_str).collect();
                        self.learn_columns(&names, self.is_table)?;
                    }
                    return Ok(Some(row));
                }
            } else {
                self.source = None;
                self.end()?;
                if !self.open_next()? {
                    return Ok(None);
                }
            }
        }
    }

    fn entry(&mut self, row: Row) -> Option<Entry> {
        match row.object {
            Err(problem) => Some(Entry { line: row.line, read: Err(problem), problems: Vec::new() }),
            Ok(mut object) => {
                self.join(&mut object);
                let drops = Drops::default();
                let fields = Fields::new(&object, &drops);
                if (self.format.is_skipped)(fields) {
                    return None;
                }
                let mut draft = (self.format.map)(fields, &self.options, &self.columns);
                draft.problems.extend(drops.into_problems());
                let mut entry = draft.finish(row.line, &self.options);
                if let Ok(record) = &mut entry.read {
                    self.export.complete(record);
                }
                Some(entry)
            }
        }
    }

    /// Adds the rows of side tables to a row.
    fn join(&mut self, object: &mut Map<String, Value>) {
        if self.sides.is_empty() {
            return;
        }
        let id = object.get("id").and_then(text_of).unwrap_or_default();
        for (field, row) in self.sides.remove(&id).unwrap_or_default() {
            let list = object.entry(field).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.push(row);
            }
        }
    }
}

impl Iterator for Records {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_row() {
                Ok(None) if std::mem::take(&mut self.export).is_torn() => return Some(Err(ReadError::Torn)),
                Ok(None) => return None,
                Ok(Some(row)) => {
                    if let Some(entry) = self.entry(row) {
                        return Some(Ok(entry));
                    }
                }
                Err(error) => {
                    self.source = None;
                    self.parts = Vec::new().into_iter();
                    self.export = Export::default();
                    return Some(Err(error));
                }
            }
        }
    }
}

fn parts_of(format: &Format, folder: &Path) -> Result<Vec<Part>, ReadError> {
    let files = files_of(folder)?;
    let parts: Vec<Part> = if format.is_document {
        files.into_iter().map(|(_, content)| (None, content)).collect()
    } else {
        let names = format.table_names();
        files
            .into_iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .map(|(name, content)| (Some(name), content))
            .collect()
    };
    if parts.is_empty() { Err(ReadError::Empty) } else { Ok(parts) }
}

fn read_sides(format: &Format, parts: &[Part]) -> Result<Sides, ReadError> {
    let (mut sides, mut size) = (Sides::new(), 0);
    for (table, content) in parts {
        let mut source = open(format, content)?;
        while let Some(row) = source.next_row()? {
            let name = row.table.as_ref().or(table.as_ref());
            let found =
                name.and_then(|name| format.sides.iter().find(|one| one.names.contains(&name.as_str())));
            let (Some(table), Ok(object)) = (found, row.object) else { continue };
            let Some(owner) = object.get(table.owner).and_then(text_of) else { continue };
            let kept: Map<String, Value> = object
                .into_iter()
                .filter(|(key, value)| table.keeps.contains(&key.as_str()) && !value.is_null())
                .collect();
            size += kept.iter().map(|(key, value)| key.len() + 64 + size_of_value(value)).sum::<usize>();
            if size > MOST_SIDES {
                return Err(ReadError::Sides);
            }
            sides.entry(owner).or_default().push((table.field, Value::Object(kept)));
        }
    }
    Ok(sides)
}

fn size_of_value(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(_) | Value::Object(_) => 4 * value.to_string().len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
