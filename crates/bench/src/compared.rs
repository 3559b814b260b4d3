//! Result of a comparison of two binaries for one kind of request: processor time per response, and whether a
//! difference is larger than the noise.
//!
//! The older binary runs twice. The largest difference between its two processes in the same round is the spread. A
//! difference between the binaries is significant only if it exceeds the spread.

use std::fmt::Write;

use crate::row::median;

/// Number of servers in a comparison, in the order of [`Compared::add`].
pub(crate) const SERVERS: usize = 3;

/// Result of one server in one round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    /// Responses per second.
    pub(crate) per_second: f64,
    /// Processor time of the server per response, in microseconds.
    pub(crate) processor: f64,
}

/// Results for one kind of request: rounds of the newer binary, the older one, and the older one again.
#[derive(Debug, Clone)]
pub(crate) struct Compared {
    name: String,
    rounds: Vec<[Round; SERVERS]>,
}

/// Significance of a difference between the binaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Significance {
    /// The difference does not exceed the spread.
    Within,
    /// The newer binary uses significantly less processor time.
    Less,
    /// The newer binary uses significantly more processor time.
    More,
}

impl Compared {
    /// Makes the comparison of a kind of request, without measured rounds yet.
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), rounds: Vec::new() }
    }

    /// Adds one round of all three servers.
    pub(crate) fn add(&mut self, round: [Round; SERVERS]) {
        self.rounds.push(round);
    }

    /// Processor time per response of the newer binary divided by that of the older one, as the median of all rounds.
    fn ratio(&self) -> f64 {
        self.median(|[newer, older, _]| newer.processor / older.processor)
    }

    /// Largest relative difference between the two runs of the older binary in one round.
    fn spread(&self) -> f64 {
        let own = |[_, older, repeat]: &[Round; SERVERS]| (repeat.processor / older.processor - 1.0).abs();
        self.rounds.iter().map(own).fold(0.0, f64::max)
    }

    fn verdict(&self) -> Significance {
        let difference = self.ratio() - 1.0;
        if difference.abs() <= self.spread() {
            return Significance::Within;
        }
        if difference < 0.0 { Significance::Less } else { Significance::More }
    }

    fn median(&self, value: impl Fn(&[Round; SERVERS]) -> f64) -> f64 {
        median(self.rounds.iter().map(value).collect())
    }
}

/// Markdown table of the rows.
pub(crate) fn table(rows: &[Compared]) -> String {
    let mut text =
        "| Request | per second | µs | before, per second | µs | ratio of µs | spread | verdict |\n\
                    |---|---:|---:|---:|---:|---:|---:|---|\n"
            .to_owned();
    for row in rows {
        let verdict = match row.verdict() {
            Significance::Within => "within the spread",
            Significance::Less => "**less**",
            Significance::More => "**more**",
        };
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.1} | {:.0} | {:.1} | {:.3} | ± {:.3} | {verdict} |",
            row.name,
            row.median(|[newer, ..]| newer.per_second),
            row.median(|[newer, ..]| newer.processor),
            row.median(|[_, older, _]| older.per_second),
            row.median(|[_, older, _]| older.processor),
            row.ratio(),
            row.spread(),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(rounds: &[[f64; SERVERS]]) -> Compared {
        let mut row = Compared::new("GET /api/profiles/me");
        let seen = |processor: f64| Round { per_second: 1e6 / processor, processor };
        for round in rounds {
            row.add(round.map(seen));
        }
        row
    }

    #[test]
    fn a_difference_narrower_than_the_spread_is_not_claimed() {
        let row = row(&[[52.0, 50.0, 50.0], [52.0, 50.0, 47.0], [52.0, 50.0, 51.0]]);
        assert_eq!(row.verdict(), Significance::Within);
        assert!(table(&[row]).contains("| 1.040 | ± 0.060 | within the spread |"));
    }

    #[test]
    fn a_wider_difference_is_told_with_its_direction() {
        let more = row(&[[54.0, 50.0, 51.0], [55.0, 50.0, 49.0], [60.0, 50.0, 50.0]]);
        let less = row(&[[46.0, 50.0, 51.0], [45.0, 50.0, 49.0], [40.0, 50.0, 50.0]]);
        assert_eq!((more.verdict(), less.verdict()), (Significance::More, Significance::Less));
        assert!(
            table(&[more]).contains(
                "| GET /api/profiles/me | 18182 | 55.0 | 20000 | 50.0 | 1.100 | ± 0.020 | **more** |"
            )
        );
    }

    #[test]
    fn each_round_is_compared_with_itself() {
        // Load on the machine slows all three servers alike, which is not a difference.
        let row = row(&[[10.0, 10.0, 10.0], [20.0, 20.0, 20.0], [40.0, 40.0, 40.0]]);
        assert_eq!((row.ratio().to_bits(), row.spread().to_bits()), (1.0_f64.to_bits(), 0.0_f64.to_bits()));
        assert_eq!(row.verdict(), Significance::Within);
    }
}
