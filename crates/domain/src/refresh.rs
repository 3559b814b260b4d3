//! Refresh-token rotation with reuse detection as a pure decision (RFC 9700 section 4.14.2).

use std::time::Duration;

use crate::time::Timestamp;
use crate::tokens::TokenHash;
use crate::user::User;

/// Most replaced tokens that a session remembers; an older one counts as past its grace. As many as the rate
/// limit allows one address in a grace of half a minute: a burst of 300 and one per second.
const REMEMBERED: usize = 330;

/// A replaced token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplacedToken {
    /// Hash of the token. Stores keep only the first [`ReplacedToken::MARK`] bytes, the others are 0, except for
    /// the predecessor of the current token.
    pub hash: TokenHash,
    /// Time of replacement.
    pub replaced_at: Timestamp,
}

/// Refresh-token state of a session. The session was found by the presented token's family, so that token was
/// once issued for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefreshState {
    /// Hash of the current token.
    pub current: TokenHash,
    /// Tokens replaced within the last grace period, oldest first. The last is the predecessor of `current`,
    /// whatever its age. A successor that was superseded unused is not included.
    pub retired: Vec<ReplacedToken>,
    /// End of the session unless refreshed.
    pub idle_expires_at: Timestamp,
    /// Latest end of the session.
    pub absolute_expires_at: Timestamp,
    /// Time of revocation or sign-out.
    pub ended_at: Option<Timestamp>,
}

/// Decision on a presented refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshVerdict {
    /// The current token: rotate it.
    Rotate,
    /// Replaced within the grace, successor unused (two tabs, a lost response): return the same successor.
    SameSuccessor,
    /// Grace over, successor unused (a response lost long ago): issue a new successor and invalidate the
    /// unused one. Returning the same one would let owner and thief take turns undetected.
    Supersede,
    /// Refuse without change: the session ended or expired, or the token was replaced within the grace and
    /// its successor used (a late duplicate).
    Refuse,
    /// Reuse detected: superseded unused, or past its grace with a used successor. Refuse and revoke the
    /// session.
    Revoke,
}

impl RefreshVerdict {
    /// True if the token gets a successor, a new one or the same again.
    #[must_use]
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Rotate | Self::SameSuccessor | Self::Supersede)
    }
}

impl RefreshState {
    /// [`Self::judge`] for a session of this user: that of a banned one refuses.
    #[must_use]
    pub fn judge_for(
        &self,
        user: &User,
        presented: &TokenHash,
        now: Timestamp,
        grace: Duration,
    ) -> RefreshVerdict {
        if user.is_banned() { RefreshVerdict::Refuse } else { self.judge(presented, now, grace) }
    }

    /// Decides on a presented token. The grace includes its last millisecond.
    #[must_use]
    pub fn judge(&self, presented: &TokenHash, now: Timestamp, grace: Duration) -> RefreshVerdict {
        if !self.is_alive(now) {
            return RefreshVerdict::Refuse;
        }
        if *presented == self.current {
            return RefreshVerdict::Rotate;
        }
        let last = self.retired.len().wrapping_sub(1);
        let is_it = |at: usize| {
            let hash = &self.retired[at].hash;
            if at == last { hash == presented } else { mark(hash) == mark(presented) }
        };
        let Some(at) = (0..self.retired.len()).rfind(|at| is_it(*at)) else {
            return RefreshVerdict::Revoke;
        };
        let is_predecessor = at == last;
        match (self.retired[at].is_within(grace, now), is_predecessor) {
            (true, true) => RefreshVerdict::SameSuccessor,
            (false, true) => RefreshVerdict::Supersede,
            (true, false) => RefreshVerdict::Refuse,
            (false, false) => RefreshVerdict::Revoke,
        }
    }

    /// The list of replaced tokens after `presented` is replaced at `now`. It is the current token, or its
    /// predecessor, whose grace starts anew.
    #[must_use]
    pub fn retire(&self, presented: &TokenHash, now: Timestamp, grace: Duration) -> Vec<ReplacedToken> {
        let is_kept = |retired: &&ReplacedToken| retired.is_within(grace, now) && retired.hash != *presented;
        let mut retired: Vec<_> = self.retired.iter().filter(is_kept).copied().collect();
        retired.push(ReplacedToken { hash: *presented, replaced_at: now });
        let surplus = retired.len().saturating_sub(REMEMBERED);
        retired.split_off(surplus)
    }

    /// True if the session is usable at `now`.
    #[must_use]
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.idle_expires_at && now < self.absolute_expires_at
    }
}

impl ReplacedToken {
    /// Stored prefix of a hash in bytes. Such a token grants nothing: the prefix only distinguishes a late
    /// duplicate (refused) from an old token (session revoked).
    pub const MARK: usize = 8;
    /// Encoded predecessor in bytes: 32 of the hash, 8 of the time in milliseconds, big-endian.
    const WHOLE: usize = 40;
    /// Encoded earlier token in bytes: the prefix, and 4 of the milliseconds before the predecessor's time.
    const SHORT: usize = Self::MARK + 4;
    /// Version byte of the encoding. The older encoding has none: it holds only 40-byte entries, and its
    /// length is a multiple of 40, which this one's never is.
    const FORM: u8 = 1;

    /// True during the grace, including its last millisecond, and after a backward step of the clock.
    fn is_within(&self, grace: Duration, now: Timestamp) -> bool {
        now.since(self.replaced_at) <= grace
    }

    /// Encodes a list for a store.
    #[must_use]
    pub fn encode_all(list: &[Self]) -> Vec<u8> {
        let Some((newest, earlier)) = list.split_last() else { return Vec::new() };
        let mut bytes = Vec::with_capacity(1 + Self::WHOLE + earlier.len() * Self::SHORT);
        bytes.push(Self::FORM);
        bytes.extend_from_slice(newest.hash.as_bytes());
        bytes.extend_from_slice(&newest.replaced_at.as_millis().to_be_bytes());
        for retired in earlier {
            let before = newest.replaced_at.since(retired.replaced_at).as_millis();
            bytes.extend_from_slice(mark(&retired.hash));
            bytes.extend_from_slice(&u32::try_from(before).unwrap_or(u32::MAX).to_be_bytes());
        }
        bytes
    }

    /// Decodes a stored list; `None` if malformed.
    #[must_use]
    pub fn decode_all(bytes: &[u8]) -> Option<Vec<Self>> {
        if bytes.len().is_multiple_of(Self::WHOLE) {
            return bytes.chunks_exact(Self::WHOLE).map(Self::decode_whole).collect();
        }
        let (form, rest) = bytes.split_first()?;
        let (whole, earlier) = rest.split_at_checked(Self::WHOLE)?;
        if *form != Self::FORM || !earlier.len().is_multiple_of(Self::SHORT) {
            return None;
        }
        let newest = Self::decode_whole(whole)?;
        let mut tokens: Vec<_> = earlier
            .chunks_exact(Self::SHORT)
            .map(|chunk| newest.decode_earlier(chunk))
            .collect::<Option<_>>()?;
        tokens.push(newest);
        Some(tokens)
    }

    fn decode_whole(bytes: &[u8]) -> Option<Self> {
        let (hash, millis) = bytes.split_at_checked(Self::WHOLE - 8)?;
        let hash = TokenHash::from_bytes(hash.try_into().ok()?);
        let millis = i64::from_be_bytes(millis.try_into().ok()?);
        Some(Self { hash, replaced_at: Timestamp::from_millis(millis) })
    }

    /// Decodes a token that was replaced before this one.
    fn decode_earlier(&self, bytes: &[u8]) -> Option<Self> {
        let (mark, before) = bytes.split_at_checked(Self::MARK)?;
        let mut hash = [0; 32];
        hash[..Self::MARK].copy_from_slice(mark);
        let before = Duration::from_millis(u32::from_be_bytes(before.try_into().ok()?).into());
        Some(Self { hash: TokenHash::from_bytes(hash), replaced_at: self.replaced_at.minus(before) })
    }
}

/// The prefix of a hash that stores keep.
fn mark(hash: &TokenHash) -> &[u8] {
    &hash.as_bytes()[..ReplacedToken::MARK]
}
