//! Invariants of refresh token rotation, and the lineage of tokens with which they are checked. They are written from
//! the policy, not from the code.

use std::time::Duration;

use latchkey_domain::time::Timestamp;

/// Grace period of a replaced token.
pub(crate) const GRACE: Duration = Duration::from_secs(30);

/// A token, identified by its number in the order of issue.
pub(crate) type Token = usize;

/// Party that presents a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Party {
    Owner,
    Thief,
}

/// Invariant of the rotation rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// Without a thief the session stays live, and the token in the cookie jar is always valid.
    OwnerStaysIn,
    /// The session ends as soon as two diverging tokens were presented: both descend from a common token, but neither
    /// from the other. So owner and thief cannot both continue.
    DivergenceEnds,
    /// The same token is issued again only within one grace period. So owner and thief cannot take turns with the same
    /// tokens.
    SharedWithinTheGraceAlone,
    /// A token whose successor was used gets no successor. After its grace period it ends the session.
    UsedGetsNothing,
}

/// An issued token.
struct Made {
    parent: Option<Token>,
    depth: usize,
    first_given_at: Timestamp,
    replaced_at: Option<Timestamp>,
    is_used: bool,
}

/// All tokens of a session, and the newest ones of owner and thief.
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

    /// Number of issued tokens.
    pub(crate) const fn len(&self) -> usize {
        self.made.len()
    }

    /// Returns the time at which the token last got a new successor.
    pub(crate) fn replaced_at(&self, token: Token) -> Option<Timestamp> {
        self.made[token].replaced_at
    }

    /// Records a presentation and its outcome, and checks the invariants.
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

/// Result of checking an invariant.
pub(crate) const fn check(is_kept: bool, promise: Promise) -> Result<(), Promise> {
    if is_kept { Ok(()) } else { Err(promise) }
}
