//! A stored session, to which a rotation rule is applied.

use latchkey_domain::refresh::{RefreshState, RefreshVerdict};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use crate::promises::{GRACE, Token};
use crate::rules::Rule;

/// Row of a session.
pub(crate) struct Session {
    rule: Rule,
    state: RefreshState,
    /// Current token, returned again to presenters of its predecessor, and the end of that grace period.
    sealed: Option<(Token, Timestamp)>,
}

impl Session {
    pub(crate) fn new(rule: Rule) -> Self {
        let never = Timestamp::from_millis(i64::MAX);
        let state = RefreshState {
            current: hash(0),
            retired: Vec::new(),
            idle_expires_at: never,
            absolute_expires_at: never,
            ended_at: None,
        };
        Self { rule, state, sealed: None }
    }

    /// Presents a token with a candidate for its successor. Returns the successor, if any.
    pub(crate) fn present(&mut self, token: Token, offered: Token, now: Timestamp) -> Option<Token> {
        let verdict = (self.rule.judge)(&self.state, &hash(token), now, GRACE);
        match (verdict, self.sealed) {
            (RefreshVerdict::SameSuccessor, Some((same, _))) => return Some(same),
            (verdict, _) if verdict.is_good() => {
                self.state.retired = (self.rule.retire)(&self.state, &hash(token), now, GRACE);
                self.state.current = hash(offered);
                self.sealed = Some((offered, now.plus(GRACE)));
                return Some(offered);
            }
            (RefreshVerdict::Revoke, _) => self.state.ended_at = Some(now),
            _ => {}
        }
        None
    }

    /// True if a token would get a successor.
    pub(crate) fn is_good(&self, token: Token, now: Timestamp) -> bool {
        (self.rule.judge)(&self.state, &hash(token), now, GRACE).is_good()
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.state.ended_at.is_some()
    }

    pub(crate) const fn is_sealed(&self) -> bool {
        self.sealed.is_some()
    }

    /// Deletes the stored successor if it is expired by an instance's clock.
    pub(crate) fn wipe(&mut self, now: Timestamp) {
        self.sealed = self.sealed.filter(|(_, until)| *until >= now);
    }
}

/// Returns a fake hash, different for each token.
fn hash(token: Token) -> TokenHash {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&token.to_be_bytes());
    TokenHash::from_bytes(bytes)
}
