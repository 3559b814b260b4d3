//! JSON documents: an array of objects, or an object with arrays of objects under the names of tables. Only one element is in
//! memory at a time; everything else is skipped byte by byte.

use std::io;

use latchkey_domain::imports::LARGEST_RECORD;

use super::lines::{parse, too_large};
use super::{Bytes, Row, Source, malformed};

/// Objects of the arrays of a document.
pub(crate) struct Document {
    bytes: Bytes,
    /// Names of the members whose arrays are read.
    tables: Vec<&'static str>,
    place: Place,
    buffer: Vec<u8>,
    /// True if the document itself is an array.
    is_list: bool,
    /// Number of the document that is read, in an array of documents.
    only: Option<usize>,
    /// Names of the tables that it has.
    met: Vec<String>,
}

enum Place {
    Start,
    /// In the outer object, before a member or its end.
    Members,
    /// In an array, before an element or its end. The table is `None` for the outer array.
    Elements(Option<String>),
    End,
}

impl Document {
    pub(crate) fn new(bytes: Bytes, tables: Vec<&'static str>) -> Self {
        let (buffer, met) = (Vec::new(), Vec::new());
        Self { bytes, tables, place: Place::Start, buffer, is_list: false, only: None, met }
    }

    /// Reads only the document of this number in an array of documents.
    pub(super) fn at(self, only: Option<usize>) -> Self {
        Self { only, ..self }
    }

    /// Enters the array, up to the document that is read if it is one of documents.
    fn enter_list(&mut self) -> io::Result<()> {
        self.bytes.next()?;
        let Some(number) = self.only else {
            self.is_list = true;
            self.place = Place::Elements(None);
            return Ok(());
        };
        for _ in 0..number {
            self.skip_commas()?;
            self.read_value()?;
        }
        self.skip_commas()?;
        self.expect(b'{')?;
        self.place = Place::Members;
        Ok(())
    }

    fn skip_commas(&mut self) -> io::Result<Option<u8>> {
        while self.bytes.skip_blanks()? == Some(b',') {
            self.bytes.next()?;
        }
        self.bytes.peek()
    }

    /// True if the document is an object with one of the tables, and not the object of an account. The rest is left unread.
    pub(super) fn has_table(mut self) -> io::Result<bool> {
        self.expect(b'{')?;
        while let Some(name) = self.read_name()? {
            if name == "email" {
                break;
            }
            if self.is_table(&name)? {
                return Ok(true);
            }
            self.read_value()?;
        }
        Ok(false)
    }

    /// True if the value that follows is the array of a table.
    fn is_table(&mut self, name: &str) -> io::Result<bool> {
        Ok(self.tables.contains(&name) && self.bytes.skip_blanks()? == Some(b'['))
    }

    fn expect(&mut self, wanted: u8) -> io::Result<()> {
        match self.bytes.skip_blanks()? {
            Some(found) if found == wanted => self.bytes.next().map(|_| ()),
            _ => Err(malformed(self.bytes.line, &format!("wanted {:?}", char::from(wanted)))),
        }
    }

    /// Reads a value into the buffer. Returns false if the value is larger than a record, and was skipped.
    fn read_value(&mut self) -> io::Result<bool> {
        self.buffer.clear();
        self.bytes.skip_blanks()?;
        let (mut depth, mut in_text, mut is_escaped, mut is_small) = (0_usize, false, false, true);
        loop {
            let Some(byte) = self.bytes.peek()? else {
                if depth == 0 && !in_text && !self.buffer.is_empty() {
                    return Ok(is_small);
                }
                return Err(malformed(self.bytes.line, "the file ends in the middle of a value"));
            };
            if !in_text && depth == 0 && matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n') {
                return Ok(is_small);
            }
            self.bytes.next()?;
            if self.buffer.len() < LARGEST_RECORD {
                self.buffer.push(byte);
            } else {
                is_small = false;
            }
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if in_text => is_escaped = true,
                b'"' => in_text = !in_text,
                _ if in_text => continue,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 && !in_text && matches!(byte, b'}' | b']' | b'"') {
                return Ok(is_small);
            }
        }
    }

    /// Reads the name of the next member up to its value; `None` at the end of the object.
    fn read_name(&mut self) -> io::Result<Option<String>> {
        let wanted = "wanted the name of a member";
        match self.skip_commas()? {
            Some(b'}') => {
                self.bytes.next()?;
                return Ok(None);
            }
            Some(b'"') => {}
            _ => return Err(malformed(self.bytes.line, wanted)),
        }
        self.read_value()?;
        let name = serde_json::from_slice(&self.buffer).map_err(|_| malformed(self.bytes.line, wanted))?;
        self.expect(b':')?;
        Ok(Some(name))
    }

    /// Reads the next member, and enters the array of a table.
    fn read_member(&mut self) -> io::Result<()> {
        let Some(name) = self.read_name()? else {
            self.place = Place::End;
            return Ok(());
        };
        if self.is_table(&name)? {
            self.bytes.next()?;
            // A name may come any number of times.
            if !self.met.contains(&name) {
                self.met.push(name.clone());
            }
            self.place = Place::Elements(Some(name));
        } else {
            self.read_value()?;
        }
        Ok(())
    }
}

/// What a document has beside its tables.
pub(crate) struct Outline {
    /// Number of the document, if it is one of an array.
    pub(crate) number: Option<usize>,
    /// Texts of the wanted members; empty for one that is larger than a record.
    pub(crate) members: Vec<(String, Vec<u8>)>,
    /// True if it has a table.
    pub(crate) has_table: bool,
    /// True if the document could not be read to its end.
    pub(crate) is_torn: bool,
}

impl Document {
    /// Passes the outlines of the document, or of all objects in its array, to `each`: also that of an object at which the
    /// reading fails, as far as it goes.
    pub(crate) fn outline(mut self, wanted: &[&str], mut each: impl FnMut(Outline)) -> io::Result<()> {
        if self.bytes.skip_blanks()? == Some(b'{') {
            return self.outline_of(wanted, None, &mut each);
        }
        self.expect(b'[')?;
        for number in 0.. {
            match self.skip_commas()? {
                Some(b'{') => self.outline_of(wanted, Some(number), &mut each)?,
                Some(b']') => break,
                _ => {
                    self.read_value()?;
                    if self.buffer.is_empty() {
                        return Err(malformed(self.bytes.line, "wanted a value"));
                    }
                }
            }
        }
        Ok(())
    }

    fn outline_of(
        &mut self,
        wanted: &[&str],
        number: Option<usize>,
        each: &mut impl FnMut(Outline),
    ) -> io::Result<()> {
        let mut outline = Outline { number, members: Vec::new(), has_table: false, is_torn: false };
        let read = self.fill(&mut outline, wanted);
        outline.is_torn = read.is_err();
        each(outline);
        read
    }

    fn fill(&mut self, outline: &mut Outline, wanted: &[&str]) -> io::Result<()> {
        self.expect(b'{')?;
        while let Some(name) = self.read_name()? {
            outline.has_table |= self.is_table(&name)?;
            let is_small = self.read_value()?;
            // A name that comes again counts for nothing: a number of them has no bound.
            if wanted.contains(&name.as_str()) && outline.members.iter().all(|(known, _)| *known != name) {
                outline.members.push((name, if is_small { self.buffer.clone() } else { Vec::new() }));
            }
        }
        Ok(())
    }
}

impl Source for Document {
    fn next_row(&mut self) -> io::Result<Option<Row>> {
        loop {
            match &self.place {
                Place::Start => match self.bytes.skip_blanks()? {
                    Some(b'[') => self.enter_list()?,
                    Some(b'{') => {
                        self.bytes.next()?;
                        self.place = Place::Members;
                    }
                    _ => return Err(malformed(self.bytes.line, "wanted a JSON array or object")),
                },
                Place::Members => self.read_member()?,
                Place::Elements(table) => {
                    let table = table.clone();
                    match self.bytes.skip_blanks()? {
                        Some(b',') => {
                            self.bytes.next()?;
                        }
                        Some(b']') => {
                            self.bytes.next()?;
                            self.place = if table.is_some() { Place::Members } else { Place::End };
                        }
                        None => {
                            return Err(malformed(self.bytes.line, "the file ends in the middle of a list"));
                        }
                        Some(_) => {
                            let line = self.bytes.line;
                            let is_small = self.read_value()?;
                            if self.buffer.is_empty() {
                                return Err(malformed(line, "wanted a value"));
                            }
                            let object = if is_small { parse(&self.buffer) } else { Err(too_large()) };
                            return Ok(Some(Row { file: None, line, table, object }));
                        }
                    }
                }
                Place::End if self.only.is_some() => return Ok(None), // other documents may follow
                Place::End => {
                    return match self.bytes.skip_blanks()? {
                        None => Ok(None),
                        Some(_) => Err(malformed(self.bytes.line, "something follows the document")),
                    };
                }
            }
        }
    }
    fn has_place(&self, is_main: &dyn Fn(&str) -> bool) -> bool {
        self.is_list || self.met.iter().any(|name| is_main(name))
    }
}
