//! Records of a file in a format.

use std::path::Path;
use std::sync::Arc;

use crate::draft::Entry;
use crate::export::Export;
use crate::formats::Format;
use crate::input::{Content, Input, Part};
use crate::options::ImportOptions;
use crate::read_error::ReadError;
use crate::realms::{self, Writable};
use crate::sides::{self, Sides};
use crate::source::{Row, RowTexts, Source, files_of, open};
use crate::values::{Drops, Fields};

/// Maximum number of columns that an error names.
const MOST_NAMES: usize = 30;

/// Records of a file, one after another.
pub struct Records {
    format: &'static Format,
    options: ImportOptions,
    parts: std::vec::IntoIter<Part>,
    /// Rows of the part that is being read.
    source: Option<(Part, Box<dyn Source>)>,
    /// True for the rows of a database, which all have the same columns.
    is_table: bool,
    /// First row, which was read for its columns.
    ahead: Option<Row>,
    sides: Sides,
    /// What users of a Keycloak realm may write themselves.
    writable: Writable,
    columns: Vec<(&'static str, String)>,
    /// Given columns that no record of a JSON file has had so far. Records may leave out what they lack.
    unseen: Vec<(String, String)>,
    export: Export,
    /// True if a part of the file has a place for accounts.
    has_place: bool,
}

impl Records {
    /// Opens a file. Side tables are read first, unless the rows bring them. A header settles the columns. Without one
    /// each record settles its own, and the columns reported are those of the first record. The first row of a database is not read here, because
    /// the caller may not wait for it.
    pub fn open(format: &'static Format, input: Input, options: ImportOptions) -> Result<Self, ReadError> {
        if format.guess.is_none() && (options.keep_rest || !options.columns.is_empty()) {
            return Err(ReadError::OwnColumns(format.name));
        }
        if !format.has_realms && options.realm.is_some() {
            return Err(ReadError::NoRealms(format.name));
        }
        let unseen = options.columns.clone().into_iter().collect();
        let mut records = Self {
            format,
            options,
            parts: Vec::new().into_iter(),
            source: None,
            is_table: false,
            ahead: None,
            sides: Sides::default(),
            writable: Writable::default(),
            columns: Vec::new(),
            unseen,
            export: Export::default(),
            has_place: false,
        };
        let mut parts = match input {
            Input::Rows(rows) => {
                let part = Part::whole(Content::Bytes(Arc::default()));
                records.source = Some((part, Box::new(RowTexts::new(rows))));
                records.is_table = true;
                return Ok(records);
            }
            Input::File(file, read) => vec![Part::whole(Content::File(file, read))],
            Input::Bytes(bytes) => vec![Part::whole(Content::Bytes(bytes))],
            Input::Folder(path) => parts_of(format, &path)?,
        };
        if format.has_realms {
            (parts, records.writable) = realms::choose(format, parts, records.options.realm.as_deref())?;
        }
        if !format.sides.is_empty() {
            records.sides = Sides::read(format, &parts)?;
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
        let Some(part) = self.parts.next() else { return Ok(false) };
        let source = open(self.format, &part)?;
        self.unseen = self.options.columns.clone().into_iter().collect();
        if let Some(header) = source.header() {
            self.learn_columns(&header.iter().map(String::as_str).collect::<Vec<_>>(), true)?;
        }
        self.source = Some((part, source));
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
            let Some((part, source)) = &mut self.source else { return Ok(None) };
            if let Some(mut row) = source.next_row()? {
                if self.format.is_lines {
                    self.export.meet(&mut row, source.as_ref())?;
                }
                row.file.clone_from(&part.file);
                let table = row.table.as_ref().or(part.table.as_ref());
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
                let is_main = |name: &str| self.format.is_main(name);
                self.has_place |= part.table.as_deref().is_none_or(is_main) && source.has_place(&is_main);
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
            Err(problem) => {
                Some(Entry { file: row.file, line: row.line, read: Err(problem), problems: Vec::new() })
            }
            Ok(mut object) => {
                let cut = self.is_table.then(|| sides::cut(self.format, &mut object)).flatten();
                self.sides.join(&mut object);
                if self.format.has_realms {
                    self.writable.split(&mut object);
                }
                let drops = Drops::default();
                let fields = Fields::new(&object, &drops);
                if (self.format.is_skipped)(fields) {
                    return None;
                }
                let mut draft = (self.format.map)(fields, &self.options, &self.columns);
                draft.problems.append(drops.into_problems());
                if let Some(problem) = cut {
                    draft.problems.push(problem);
                }
                let mut entry = Entry { file: row.file, ..draft.finish(row.line, &self.options) };
                if let Ok(record) = &mut entry.read {
                    self.export.complete(record);
                }
                Some(entry)
            }
        }
    }
}

impl Iterator for Records {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(refused) = self.sides.next_refused() {
            return Some(Ok(refused));
        }
        loop {
            match self.next_row() {
                Ok(None) if std::mem::take(&mut self.export).is_torn() => return Some(Err(ReadError::Torn)),
                Ok(None) if !std::mem::replace(&mut self.has_place, true) => {
                    return Some(Err(ReadError::NoAccounts(self.format.about)));
                }
                Ok(None) => return None,
                Ok(Some(row)) => {
                    if let Some(entry) = self.entry(row) {
                        return Some(Ok(entry));
                    }
                }
                Err(error) => {
                    self.source = None;
                    self.has_place = true;
                    self.parts = Vec::new().into_iter();
                    self.export = Export::default();
                    return Some(Err(error));
                }
            }
        }
    }
}

fn parts_of(format: &Format, folder: &Path) -> Result<Vec<Part>, ReadError> {
    let names = format.table_names();
    let part = |(file, content): (String, Content)| {
        let (stem, _) = file.rsplit_once('.')?;
        let table = (!format.is_document).then(|| stem.to_owned());
        let is_read = table.as_deref().is_none_or(|table| names.contains(&table));
        is_read.then(|| Part { file: Some(file.as_str().into()), table, ..Part::whole(content) })
    };
    let parts: Vec<_> = files_of(folder)?.into_iter().filter_map(part).collect();
    if parts.is_empty() { Err(ReadError::Empty) } else { Ok(parts) }
}
