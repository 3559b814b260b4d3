//! Measurements of one kind of request in several rounds, with the goals that they should meet.

use crate::load::Measured;

/// Row of the results: one kind of request, measured in each round together with its baseline.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    /// Kind of request.
    pub(crate) name: String,
    rounds: Vec<Round>,
    goals: Vec<Goal>,
    refused: u64,
}

/// Results of one round.
#[derive(Debug, Clone, Copy)]
struct Round {
    per_second: f64,
    limit: Option<Limit>,
    p50: f64,
    p99: f64,
    /// Processor time of the server per response, in microseconds.
    processor: f64,
    /// Peak memory of the server, in MB.
    peak: f64,
}

/// What the baseline of a round reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// Responses per second.
    pub(crate) per_second: f64,
    /// Processor time of the baseline per response, in microseconds.
    pub(crate) processor: f64,
}

/// Goal for a kind of request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    /// Minimum ratio of responses per second to the baseline.
    Ratio(f64),
    /// Maximum 99th percentile of the latency, in milliseconds.
    P99(f64),
}

impl Row {
    /// Makes the result of a kind of request, without measured rounds yet.
    pub(crate) fn new(name: &str, goals: &[Goal]) -> Self {
        Self { name: name.to_owned(), goals: goals.to_vec(), ..Self::default() }
    }

    /// Adds a round: results, those of the baseline, processor seconds, and peak memory.
    pub(crate) fn add(&mut self, seen: &Measured, limit: Option<Limit>, processor: f64, peak: f64) {
        self.refused += seen.refused().map(|(_, count)| count).sum::<u64>();
        self.rounds.push(Round {
            per_second: seen.per_second(),
            limit,
            p50: seen.ms(0.5),
            p99: seen.ms(0.99),
            processor: per_response(processor, seen),
            peak,
        });
    }

    /// Responses per second.
    pub(crate) fn per_second(&self) -> f64 {
        self.median(|round| round.per_second)
    }

    /// Ratio of responses per second to the baseline, as the median of all rounds.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.limited(|round, limit| round.per_second / limit.per_second)
    }

    /// Ratio of the baseline's processor time per response to that of the service, as the median of all rounds. The load
    /// driver, which shares the cores, does not count in it.
    pub(crate) fn ratio_by_processor(&self) -> Option<f64> {
        self.limited(|round, limit| limit.processor / round.processor)
    }

    /// Processor time of the baseline per response, in microseconds.
    pub(crate) fn processor_of_limit(&self) -> Option<f64> {
        self.limited(|_, limit| limit.processor)
    }

    /// Median of a value of the rounds that needs a baseline; `None` if a round has none.
    fn limited(&self, value: impl Fn(&Round, &Limit) -> f64) -> Option<f64> {
        let values = self.rounds.iter().map(|round| Some(value(round, round.limit.as_ref()?)));
        values.collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty()).map(median)
    }

    /// Median latency in milliseconds.
    pub(crate) fn p50(&self) -> f64 {
        self.median(|round| round.p50)
    }

    /// p99 latency in milliseconds.
    pub(crate) fn p99(&self) -> f64 {
        self.median(|round| round.p99)
    }

    /// Processor time of the server per response, in microseconds.
    pub(crate) fn processor(&self) -> f64 {
        self.median(|round| round.processor)
    }

    /// Peak memory of the server over all rounds, in MB.
    pub(crate) fn peak(&self) -> f64 {
        self.rounds.iter().map(|round| round.peak).fold(0.0, f64::max)
    }

    /// Number of error responses.
    pub(crate) const fn refused(&self) -> u64 {
        self.refused
    }

    /// Goals as texts, and whether each is met.
    pub(crate) fn goals(&self) -> Vec<(String, bool)> {
        let judged = |goal: &Goal| match *goal {
            Goal::Ratio(least) => (format!("≥ {least} ×"), self.ratio().is_some_and(|ratio| ratio >= least)),
            Goal::P99(most) => (format!("p99 ≤ {most} ms"), self.p99() <= most),
        };
        self.goals.iter().map(judged).collect()
    }

    fn median(&self, value: impl Fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(value).collect())
    }
}

/// Processor time per response in microseconds, of the seconds used for a load.
pub(crate) fn per_response(processor: f64, seen: &Measured) -> f64 {
    processor * 1e6 / (seen.per_second() * seen.seconds).max(1.0)
}

/// Medians of several rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Medians {
    /// Successful responses per second.
    pub(crate) per_second: f64,
    /// Median latency in milliseconds.
    pub(crate) p50: f64,
    /// p99 latency in milliseconds.
    pub(crate) p99: f64,
}

impl Medians {
    /// Medians of these rounds.
    pub(crate) fn of(rounds: &[Measured]) -> Self {
        let median_of = |value: fn(&Measured) -> f64| median(rounds.iter().map(value).collect());
        Self {
            per_second: median_of(Measured::per_second),
            p50: median_of(|seen| seen.ms(0.5)),
            p99: median_of(|seen| seen.ms(0.99)),
        }
    }
}

/// Median; NaN if there are no values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count if count.is_multiple_of(2) => f64::midpoint(values[count / 2 - 1], values[count / 2]),
        count => values[count / 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
        assert!(median(Vec::new()).is_nan());
    }
}
