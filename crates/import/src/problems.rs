//! Problems of a record. A record of 1 MiB may have 100,000 of them, so the number that is told is bounded.

use std::collections::BTreeMap;

use latchkey_domain::imports::{Problem, ProblemCode};

/// Maximum number of problems of a code that are told one by one.
const MOST: usize = 20;

/// Problems of a record.
#[derive(Default)]
pub(crate) struct Problems {
    told: Vec<Problem>,
    /// Numbers of further problems.
    more: BTreeMap<ProblemCode, u64>,
}

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        if self.told.iter().filter(|one| one.code == problem.code).count() < MOST {
            self.told.push(problem);
        } else {
            *self.more.entry(problem.code).or_default() += 1;
        }
    }

    /// Adds a problem, unless it was told already: a list may have half a million bad elements.
    pub(crate) fn note(&mut self, problem: Problem) {
        if !self.told.contains(&problem) {
            self.push(problem);
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        other.told.into_iter().for_each(|problem| self.push(problem));
        for (code, count) in other.more {
            *self.more.entry(code).or_default() += count;
        }
    }

    /// Returns the problems that are told, and for each code the number of the others.
    pub(crate) fn into_told(self) -> Vec<Problem> {
        let rest = |(code, count): (ProblemCode, u64)| Problem {
            message: format!("{count} more of the record are not listed"),
            count,
            ..Problem::new(code)
        };
        let Self { mut told, more } = self;
        told.extend(more.into_iter().map(rest));
        told
    }
}
