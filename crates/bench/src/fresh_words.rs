//! Check that a search finds a write as soon as it is acknowledged. One client writes a unique word into a bio, then
//! searches for it; the first search must find it.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use memchr::memmem;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::error::{BenchError, Result};
use crate::load::{Script, count};
use crate::patches::patch;
use crate::response::Response;
use crate::scripts::{Bearer, get};
use crate::time::now;
use crate::words::Words;

/// Upper limit of the histogram, in nanoseconds.
const LONGEST: u64 = 120_000_000_000;

/// Request script that alternately writes a word and searches for it, on one connection.
pub(crate) struct FreshWords {
    bearers: Vec<Bearer>,
    words: Words,
    rng: StdRng,
    /// Words written so far.
    number: usize,
    /// Time at which the last write was acknowledged; `None` if its word was searched for already.
    written: Option<Instant>,
    found: FreshWordResults,
}

/// Results of the searches.
#[derive(Debug, Clone)]
pub(crate) struct FreshWordResults {
    /// Words written and searched for.
    pub(crate) searched: u64,
    /// Words found by the first search.
    pub(crate) at_once: u64,
    /// Nanoseconds between the response to a write and the response to its search.
    waits: Histogram<u64>,
}

impl FreshWords {
    /// Makes a script that uses these access tokens in turn. No other client may write their profiles.
    pub(crate) fn new(bearers: Vec<Bearer>) -> Result<Self> {
        let waits = Histogram::new_with_bounds(1_000, LONGEST, 3).map_err(BenchError::other)?;
        let found = FreshWordResults { searched: 0, at_once: 0, waits };
        let rng = StdRng::seed_from_u64(4);
        Ok(Self { bearers, words: Words::new(), rng, number: 0, written: None, found })
    }

    /// Discards a word that was written in the previous round and not searched for: a search now would not follow
    /// the write at once.
    pub(crate) fn begin_round(&mut self) {
        self.written = None;
    }

    /// Returns the results; fails if a first search did not find its word.
    pub(crate) fn finish(self) -> Result<FreshWordResults> {
        let FreshWordResults { searched, at_once, .. } = self.found;
        if searched == 0 {
            return Err(BenchError::Server("no written word was searched for".to_owned()));
        }
        if at_once < searched {
            return Err(BenchError::Server(format!(
                "{} of {searched} written words were not found by the first search after the write's answer",
                searched - at_once
            )));
        }
        Ok(self.found)
    }

    /// Last written word. It contains digits, unlike the vocabulary, and no such word contains another.
    fn word(&self) -> String {
        format!("fresh{:012}", self.number)
    }
}

impl Script for FreshWords {
    fn next_request(&mut self, _connection: usize, out: &mut Vec<u8>) {
        if self.written.is_some() {
            return get(out, &format!("/api/profiles/search?q={}", self.word()), None);
        }
        self.number += 1;
        let (_, bio) = self.words.of_person(&mut self.rng);
        let bearer = &self.bearers[self.number % self.bearers.len()];
        patch(out, bearer, &format!(r#"{{"bio":"{bio} {}"}}"#, self.word()));
    }

    fn on_response(&mut self, _connection: usize, response: &Response<'_>) {
        let is_good = response.status < 400;
        let Some(written) = self.written.take() else {
            self.written = is_good.then(now);
            return;
        };
        let is_found = is_good && memmem::find(response.body, self.word().as_bytes()).is_some();
        self.found.add(is_found, now().saturating_duration_since(written));
    }
}

impl FreshWordResults {
    /// Quantile of the milliseconds between the response to a write and the response to its search.
    pub(crate) fn ms(&self, quantile: f64) -> f64 {
        count(self.waits.value_at_quantile(quantile)) / 1e6
    }

    /// Percentage of words that the first search found.
    pub(crate) fn percent(&self) -> f64 {
        count(self.at_once) * 100.0 / count(self.searched)
    }

    fn add(&mut self, is_found: bool, wait: Duration) {
        self.searched += 1;
        if is_found {
            self.at_once += 1;
            self.waits.saturating_record(u64::try_from(wait.as_nanos()).unwrap_or(LONGEST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script() -> FreshWords {
        let bearer = Bearer { token: "token".to_owned(), user_id: "id".to_owned() };
        FreshWords::new(vec![bearer]).unwrap()
    }

    fn asked(script: &mut FreshWords) -> String {
        let mut out = Vec::new();
        script.next_request(0, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn answered(script: &mut FreshWords, status: u16, body: &str) {
        script.on_response(0, &Response { status, head: b"", body: body.as_bytes(), closes: false });
    }

    #[test]
    fn each_word_is_written_and_then_searched_for() {
        let mut script = script();
        let write = asked(&mut script);
        answered(&mut script, 200, "{}");
        let search = asked(&mut script);
        answered(&mut script, 200, r#"[{"bio":"fresh000000000001"}]"#);
        let next = asked(&mut script);

        assert!(write.starts_with("PATCH ") && write.ends_with("fresh000000000001\"}"), "{write}");
        assert!(search.starts_with("GET /api/profiles/search?q=fresh000000000001 "), "{search}");
        assert!(next.starts_with("PATCH ") && next.ends_with("fresh000000000002\"}"), "{next}");
        let found = script.finish().unwrap();
        assert_eq!((found.searched, found.at_once), (1, 1));
        assert!((found.percent() - 100.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_word_that_the_first_search_misses_fails_the_benchmark() {
        let mut script = script();
        for body in [r#"[{"bio":"fresh000000000001"}]"#, "[]", r#"[{"bio":"fresh000000000002"}]"#] {
            asked(&mut script);
            answered(&mut script, 200, "{}");
            asked(&mut script);
            answered(&mut script, 200, body);
        }
        let sentence = script.finish().unwrap_err().to_string();
        assert!(sentence.starts_with("2 of 3 written words were not found"), "{sentence}");
    }

    #[test]
    fn a_refused_write_is_not_searched_for() {
        let mut script = script();
        asked(&mut script);
        answered(&mut script, 503, "{}");
        assert!(asked(&mut script).starts_with("PATCH "));
        assert!(script.finish().is_err());
    }

    #[test]
    fn a_search_that_comes_a_round_later_does_not_count() {
        let mut script = script();
        asked(&mut script);
        answered(&mut script, 200, "{}");
        script.begin_round();
        assert!(asked(&mut script).starts_with("PATCH "));
    }
}
