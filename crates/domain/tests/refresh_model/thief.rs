//! Thieves of refresh tokens, and the outcomes of their thefts.

use crate::promises::{Party, Token};

/// Kind of thief in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    Nobody,
    /// A thief who copies the cookie jar once and presents the token once.
    Once,
    /// A thief who copies the cookie jar once and refreshes the session from time to time.
    NowAndThen,
    /// A thief who copies each new token of the cookie jar and presents it once, never its successors.
    Shadow,
}

impl Company {
    pub(crate) const THIEVES: [Self; 3] = [Self::Once, Self::NowAndThen, Self::Shadow];

    /// Returns the kind of thief for a seed; every second run has none.
    pub(crate) const fn of(seed: u64) -> Self {
        match seed % 6 {
            1 => Self::Once,
            3 => Self::NowAndThen,
            5 => Self::Shadow,
            _ => Self::Nobody,
        }
    }
}

/// Outcome of a theft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The thief presented no token.
    NotTried,
    /// The session ended.
    Caught,
    /// The session is live, and all tokens of the thief are invalid.
    LeftBehind,
    /// The session is live, and a token of the thief is valid.
    Unseen,
}

/// Statistics of a theft.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Toll {
    pub(crate) company: Company,
    pub(crate) end: End,
    /// Tokens presented by the owner since the first copy.
    pub(crate) by_owner: u32,
    /// Tokens presented by the owner since a copy was first presented.
    pub(crate) by_owner_since_use: u32,
    /// Tokens presented by the thief.
    pub(crate) by_thief: u32,
    /// New tokens since the first copy.
    pub(crate) rotations: u32,
    /// Tokens issued to the thief.
    pub(crate) gained: u32,
}

/// State of a thief in a run.
pub(crate) struct Thief {
    pub(crate) company: Company,
    begins_at: usize,
    pub(crate) holds: Option<Token>,
    is_done: bool,
    toll: Toll,
}

impl Thief {
    pub(crate) const fn new(company: Company, begins_at: usize) -> Self {
        let toll = Toll {
            company,
            end: End::NotTried,
            by_owner: 0,
            by_owner_since_use: 0,
            by_thief: 0,
            rotations: 0,
            gained: 0,
        };
        Self { company, begins_at, holds: None, is_done: false, toll }
    }

    pub(crate) fn begins(&self, act: usize) -> bool {
        act == self.begins_at && self.company != Company::Nobody
    }

    pub(crate) const fn copy(&mut self, token: Token) {
        self.holds = Some(token);
        self.is_done = false;
    }

    /// Informs the thief of a new token in the cookie jar.
    pub(crate) fn see(&mut self, token: Token) {
        if self.company == Company::Shadow && self.holds.is_some_and(|held| held != token) {
            self.copy(token);
        }
    }

    /// Returns the token that the thief presents now, if any.
    pub(crate) fn takes_a_turn(&self) -> Option<Token> {
        self.holds.filter(|_| !self.is_done)
    }

    pub(crate) fn gets(&mut self, given: Option<Token>) {
        self.is_done = self.company != Company::NowAndThen;
        if let Some(given) = given {
            self.toll.gained += 1;
            if self.company != Company::Shadow {
                self.holds = Some(given);
            }
        }
    }

    /// Counts a presented token, once the thief has copied one.
    pub(crate) fn count(&mut self, party: Party, is_rotation: bool) {
        if self.holds.is_some() {
            let is_owner = party == Party::Owner;
            self.toll.by_owner += u32::from(is_owner);
            self.toll.by_owner_since_use += u32::from(is_owner && self.toll.by_thief > 0);
            self.toll.by_thief += u32::from(!is_owner);
            self.toll.rotations += u32::from(is_rotation);
        }
    }

    pub(crate) const fn toll(&self, is_over: bool, is_good: bool) -> Toll {
        let end = match (self.toll.by_thief, is_over, is_good) {
            (0, _, _) => End::NotTried,
            (_, true, _) => End::Caught,
            (_, false, false) => End::LeftBehind,
            (_, false, true) => End::Unseen,
        };
        Toll { end, ..self.toll }
    }
}
