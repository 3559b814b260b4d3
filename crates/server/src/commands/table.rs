//! Tables on the terminal: each column is as wide as its longest text, with two spaces before the next.

/// Rows of a table under their heads.
pub(super) struct Table<const N: usize> {
    lines: Vec<Line<N>>,
}

enum Line<const N: usize> {
    Cells([String; N]),
    /// A line about the row above it.
    Note(String),
}

impl<const N: usize> Table<N> {
    pub(super) fn new(heads: [&str; N]) -> Self {
        Self { lines: vec![Line::Cells(heads.map(str::to_owned))] }
    }

    pub(super) fn row(&mut self, cells: [String; N]) {
        self.lines.push(Line::Cells(cells));
    }

    /// Adds a line about the last row.
    pub(super) fn note(&mut self, text: &str) {
        self.lines.push(Line::Note(text.to_owned()));
    }

    /// Prints the table.
    pub(super) fn print(&self) {
        let widths = self.widths();
        for line in &self.lines {
            println!("{}", text_of(line, &widths));
        }
    }

    fn widths(&self) -> [usize; N] {
        let mut widths = [0; N];
        for line in &self.lines {
            if let Line::Cells(cells) = line {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = (*width).max(cell.chars().count());
                }
            }
        }
        widths
    }
}

fn text_of<const N: usize>(line: &Line<N>, widths: &[usize; N]) -> String {
    match line {
        Line::Cells(cells) => {
            let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        }
        Line::Note(text) => format!("    {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_does_not_touch_the_next_column() {
        let mut table = Table::new(["STATE", "TO"]);
        table.row(["active since 4 May 2026, 10:02 UTC".to_owned(), "ada@example.org".to_owned()]);
        table.note("it failed");
        table.row(["asleep".to_owned(), "bob@example.org".to_owned()]);

        let widths = table.widths();
        let lines: Vec<_> = table.lines.iter().map(|line| text_of(line, &widths)).collect();
        assert_eq!(
            lines,
            [
                "STATE                               TO",
                "active since 4 May 2026, 10:02 UTC  ada@example.org",
                "    it failed",
                "asleep                              bob@example.org",
            ]
        );
    }
}
