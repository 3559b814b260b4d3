//! What is promised, and the lineage by which it is checked. It is written from policy and knows nothing of the rule.

use std::time::Duration;

use latchkey_domain::time::Timestamp;

/// The grace of a replaced token.
pub(crate) const GRACE: Duration = Duration::from_secs(30);

/// A token, by the order in which tokens were made.
pub(crate) type Token = usize;

/// Who presents a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Party {
    Owner,
    Thief,
}

/// A promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// While there is no thief, the session goes on, and what the jar holds is good at any time.
    OwnerStaysIn,
    /// The session ends, at once, when the later of two tokens is presented that both descend from a third and not one
    /// from the other. Owner and thief cannot go on side by side.
    DivergenceEnds,
    /// A token is given twice within one grace alone. Owner and thief cannot go on in turns with the same tokens.
    SharedWithinTheGraceAlone,
    /// A token whose successor was used gets nothing; after its grace it ends the session.
    UsedGetsNothing,
}

/// A token that was made.
struct Made {
    parent: Option<Token>,
    depth: usize,
    first_given_at: Timestamp,
    replaced_at: Option<Timestamp>,
    is_used: bool,
}

/// Every token of a session, and who came how far.
pub(crate) struct Lineage {
    made: Vec<Made>,
    deepest: [Option<Token>; 2],
}

impl Lineage {
    pub(crate) fn new() -> Self {
        let first_given_at = Timestamp::default();
        let first = Made { parent: None, depth: 0, first_given_at, replaced_at: None, is_used: false };
        Self { made: vec![first], deepest: [None; 2] }
    }

    /// The number of tokens that were made.
    pub(crate) const fn len(&self) -> usize {
        self.made.len()
    }

    /// The moment when a token got a new successor, the last one.
    pub(crate) fn replaced_at(&self, token: Token) -> Option<Timestamp> {
        self.made[token].replaced_at
    }

    /// Notes a presentation and its answer, and checks what is promised of it.
    pub(crate) fn note(
        &mut self,
        (party, token): (Party, Token),
        given: Option<Token>,
        is_over: bool,
        now: Timestamp,
    ) -> Result<(), Promise> {
        let diverges = self.deepest[1 - party as usize].is_some_and(|other| !self.are_related(token, other));
        let is_deeper = self.deepest[party as usize]
            .is_none_or(|deepest| self.made[deepest].depth < self.made[token].depth);
        if is_deeper {
            self.deepest[party as usize] = Some(token);
        }
        check(!diverges || is_over, Promise::DivergenceEnds)?;
        let of_used = self.made.iter().any(|made| made.parent == Some(token) && made.is_used);
        let is_late = self.made[token].replaced_at.is_none_or(|at| now.since(at) > GRACE);
        check(!of_used || (given.is_none() && (is_over || !is_late)), Promise::UsedGetsNothing)?;

        let Some(given) = given else { return Ok(()) };
        self.made[token].is_used = true;
        if given == self.made.len() {
            let depth = self.made[token].depth + 1;
            let parent = Some(token);
            self.made.push(Made { parent, depth, first_given_at: now, replaced_at: None, is_used: false });
            self.made[token].replaced_at = Some(now);
        }
        check(now.since(self.made[given].first_given_at) <= GRACE, Promise::SharedWithinTheGraceAlone)
    }

    fn are_related(&self, one: Token, other: Token) -> bool {
        let (mut deeper, upper) =
            if self.made[one].depth < self.made[other].depth { (other, one) } else { (one, other) };
        while self.made[deeper].depth > self.made[upper].depth {
            let Some(parent) = self.made[deeper].parent else { break };
            deeper = parent;
        }
        deeper == upper
    }
}

/// A promise is kept or broken.
pub(crate) const fn check(is_kept: bool, promise: Promise) -> Result<(), Promise> {
    if is_kept { Ok(()) } else { Err(promise) }
}
