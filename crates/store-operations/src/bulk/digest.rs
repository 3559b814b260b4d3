//! Digest of a table: SHA-256 over its rows in the order of the primary key, in an encoding independent of the engine.
//! Tables with equal digests have equal rows.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::{Cell, Row, Table};

/// Number of rows of a table, and a hash of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigest {
    pub rows: u64,
    /// SHA-256 over the columns' names and types and all rows.
    pub hash: [u8; 32],
}

impl fmt::Display for TableDigest {
    /// Writes the first eight bytes of the hash in hex, enough for a comparison by eye.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = u64::from_be_bytes(std::array::from_fn(|at| self.hash[at]));
        f.pad(&format!("{number:016x}"))
    }
}

/// Incremental computation of a table's digest. Rows must be added in the order of the primary key.
pub struct Digest {
    rows: u64,
    hasher: Sha256,
}

impl Digest {
    /// Starts the digest of a table with its column names and types.
    #[must_use]
    pub fn new(table: &Table) -> Self {
        let mut hasher = Sha256::new();
        for column in table.columns {
            hasher.update(column.name);
            hasher.update([0, column.kind as u8]);
        }
        Self { rows: 0, hasher }
    }

    pub fn add(&mut self, rows: &[Row]) {
        self.rows += rows.len() as u64;
        rows.iter().flatten().for_each(|cell| self.add_cell(cell));
    }

    #[must_use]
    pub fn finish(self) -> TableDigest {
        TableDigest { rows: self.rows, hash: self.hasher.finalize().into() }
    }

    /// Hashes a byte for the type, then the value. The length precedes values of variable length, so that adjacent
    /// values cannot be confused.
    fn add_cell(&mut self, cell: &Cell) {
        let mut of_any_length = |mark: u8, bytes: &[u8]| {
            self.hasher.update([mark]);
            self.hasher.update((bytes.len() as u64).to_be_bytes());
            self.hasher.update(bytes);
        };
        match cell {
            Cell::Null => self.hasher.update([0]),
            Cell::Text(text) => of_any_length(4, text.as_bytes()),
            Cell::Bytes(bytes) => of_any_length(5, bytes),
            Cell::Id(bytes) => {
                self.hasher.update([1]);
                self.hasher.update(bytes);
            }
            Cell::Int(number) => {
                self.hasher.update([2]);
                self.hasher.update(number.to_be_bytes());
            }
            Cell::Flag(flag) => self.hasher.update([3, u8::from(*flag)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::TABLES;

    fn digest(rows: &[Row]) -> TableDigest {
        let mut digest = Digest::new(&TABLES[0]);
        digest.add(rows);
        digest.finish()
    }

    fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }

    #[test]
    fn rows_that_differ_have_another_digest() {
        let rows: [&[Row]; 9] = [
            &[],
            &[vec![Cell::Null]],
            &[vec![text("")]],
            &[vec![Cell::Bytes(Vec::new())]],
            &[vec![text("ab"), text("c")]],
            &[vec![text("a"), text("bc")]],
            &[vec![Cell::Int(0)]],
            &[vec![Cell::Flag(false)]],
            &[vec![Cell::Flag(true)]],
        ];
        for (at, one) in rows.iter().enumerate() {
            for other in &rows[at + 1..] {
                assert_ne!(digest(one).hash, digest(other).hash);
            }
        }
    }

    #[test]
    fn how_rows_come_in_batches_does_not_matter() {
        let rows = [vec![text("a")], vec![text("b")], vec![text("c")]];
        let mut batches = Digest::new(&TABLES[0]);
        batches.add(&rows[..1]);
        batches.add(&rows[1..]);
        assert_eq!(batches.finish(), digest(&rows));
        assert_eq!(digest(&rows).rows, 3);
    }
}
