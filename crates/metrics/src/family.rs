//! Families whose label values are known when they are built.

use std::marker::PhantomData;

use latchkey_domain::words::Word;

use crate::cell::Cell;
use crate::page::{About, Page, label};

/// The labels of a cell, as its position in the family.
pub trait Key {
    fn index(self) -> usize;
}

/// A position in the rows of [`Family::of_rows`].
impl Key for usize {
    fn index(self) -> usize {
        self
    }
}

impl<A: Word> Key for (A,) {
    fn index(self) -> usize {
        self.0.index()
    }
}

impl<A: Word, B: Word> Key for (A, B) {
    fn index(self) -> usize {
        self.0.index() * B::ALL.len() + self.1.index()
    }
}

/// Cells by label. All combinations exist from the start.
#[derive(Debug)]
pub struct Family<K, C> {
    about: About,
    /// The text between the braces, by cell.
    rows: Box<[String]>,
    cells: Box<[C]>,
    /// True if cells without a record are not exposed.
    is_sparse: bool,
    key: PhantomData<fn(K)>,
}

impl<C: Cell> Family<usize, C> {
    /// Creates a family with one cell per row. Cells without a record are not exposed.
    #[must_use]
    pub fn of_rows(about: About, rows: Vec<String>, cell: impl Fn() -> C) -> Self {
        Self { is_sparse: true, ..Self::new(about, rows, cell) }
    }
}

impl<A: Word, C: Cell> Family<(A,), C> {
    #[must_use]
    pub fn of_words(about: About, name: &str, cell: impl Fn() -> C) -> Self {
        Self::new(about, A::ALL.iter().map(|word| label(name, word.word())).collect(), cell)
    }
}

impl<A: Word, B: Word, C: Cell> Family<(A, B), C> {
    #[must_use]
    pub fn of_pairs(about: About, [first, second]: [&str; 2], cell: impl Fn() -> C) -> Self {
        let rows = A::ALL.iter().flat_map(|a| {
            B::ALL.iter().map(|b| format!("{},{}", label(first, a.word()), label(second, b.word())))
        });
        Self::new(about, rows.collect(), cell)
    }
}

impl<K, C: Cell> Family<K, C> {
    fn new(about: About, rows: Vec<String>, cell: impl Fn() -> C) -> Self {
        let cells = rows.iter().map(|_| cell()).collect();
        Self { about, rows: rows.into(), cells, is_sparse: false, key: PhantomData }
    }

    /// Returns the cell of these labels.
    #[must_use]
    pub fn of(&self, key: K) -> &C
    where
        K: Key,
    {
        &self.cells[key.index()]
    }

    pub fn write(&self, page: &mut Page) {
        let shown =
            || self.rows.iter().zip(&self.cells).filter(|(_, cell)| !(self.is_sparse && cell.is_untouched()));
        if shown().next().is_none() {
            return;
        }
        page.begin(self.about, C::KIND);
        for (labels, cell) in shown() {
            cell.write(page, labels);
        }
    }

    #[must_use]
    pub fn most_series(&self) -> usize {
        self.cells.iter().map(Cell::series).sum()
    }
}
