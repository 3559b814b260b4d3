//! Refresh token rotation with reuse detection (RFC 9700 section 4.14.2), and the encoding of replaced tokens.

use std::time::Duration;

use crate::time::Timestamp;
use crate::tokens::TokenHash;
use crate::user::User;

/// Maximum number of replaced tokens stored per session. Older ones count as past their grace period. Within a grace
/// period of 30 s, the rate limit permits one client address no more refreshes than this: 300 at once, and one more per
/// second.
const REMEMBERED: usize = 330;

/// A refresh token that a successor has replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplacedToken {
    /// Hash of the token. For tokens before the predecessor of the current one, only the first [`ReplacedToken::MARK`]
    /// bytes are stored, and the remaining bytes are 0.
    pub hash: TokenHash,
    /// Time at which the token was replaced.
    pub replaced_at: Timestamp,
}

/// Refresh token state of a session. The caller found the session by the family half of the presented token, so the
/// session once issued that token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefreshState {
    /// Hash of the current token.
    pub current: TokenHash,
    /// Tokens replaced within the last grace period, oldest first. The last one is the predecessor of `current`, of any
    /// age. An unused successor that a newer successor displaced ([`RefreshVerdict::Supersede`]) is not included.
    pub retired: Vec<ReplacedToken>,
    /// Idle expiry: end of the session unless it is refreshed.
    pub idle_expires_at: Timestamp,
    /// Absolute expiry: end of the session even if it is refreshed.
    pub absolute_expires_at: Timestamp,
    /// Time of sign-out or revocation; `None` if neither happened.
    pub ended_at: Option<Timestamp>,
}

/// Decision on a presented refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshVerdict {
    /// The current token was presented. It is replaced by a new successor.
    Rotate,
    /// The predecessor was presented within its grace period, and its successor is unused (two tabs, or a lost
    /// response). The same successor is returned again.
    SameSuccessor,
    /// The predecessor was presented after its grace period, and its successor is unused (a lost response). A new
    /// successor replaces the unused one, which becomes invalid; otherwise owner and thief could alternate unnoticed.
    Supersede,
    /// The refresh is refused and nothing changes. The session has ended, or the token was replaced within the grace
    /// period and its successor was used (a late duplicate).
    Refuse,
    /// The refresh is refused and the session ends, because a token was reused. Either the token was replaced longer
    /// ago than the grace period and its successor was used, or it is an unused successor that [`Self::Supersede`] had
    /// replaced by a newer one.
    Revoke,
}

impl RefreshVerdict {
    /// True if the refresh succeeds, with a new or the same successor.
    #[must_use]
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Rotate | Self::SameSuccessor | Self::Supersede)
    }
}

impl RefreshState {
    /// Decides as [`Self::judge`], but refuses every token if `user`, the session's owner, is banned.
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

    /// Decides on a presented token. A token replaced exactly `grace` ago is within its grace period.
    #[must_use]
    pub fn judge(&self, presented: &TokenHash, now: Timestamp, grace: Duration) -> RefreshVerdict {
        if !self.is_live(now) {
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

    /// Returns the list of replaced tokens after `presented` is replaced at `now`. `presented` is the current token
    /// or its predecessor; the predecessor gets a new grace period.
    #[must_use]
    pub fn retire(&self, presented: &TokenHash, now: Timestamp, grace: Duration) -> Vec<ReplacedToken> {
        // `presented` is the current token or its predecessor, so that of those replaced it can only be the last.
        let others: &[_] = match self.retired.split_last() {
            Some((predecessor, earlier)) if predecessor.hash == *presented => earlier,
            _ => &self.retired,
        };
        let is_kept = |retired: &&ReplacedToken| retired.is_within(grace, now);
        let mut retired: Vec<_> = others.iter().filter(is_kept).copied().collect();
        retired.push(ReplacedToken { hash: *presented, replaced_at: now });
        let surplus = retired.len().saturating_sub(REMEMBERED);
        retired.split_off(surplus)
    }

    /// True if the session is live at `now`: not ended, not idle for too long, not too old. The storage engines repeat
    /// this condition in SQL.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.idle_expires_at && now < self.absolute_expires_at
    }
}

impl ReplacedToken {
    /// Length in bytes of the stored part of a hash. A token of which only this part is stored cannot be refreshed. The
    /// part distinguishes a late duplicate, which is refused, from an older token, which ends the session.
    pub const MARK: usize = 8;
    /// Encoded length of the predecessor in bytes: hash (32), and time of replacement in milliseconds (8, big-endian).
    const WHOLE: usize = 40;
    /// Encoded length, in bytes, of a token replaced before the predecessor: hash prefix (8), then the milliseconds
    /// from the replacement of this token to the replacement of the predecessor (4, big-endian).
    const SHORT: usize = Self::MARK + 4;
    /// First byte of the encoding, its version. Encodings of earlier releases have no such byte: they consist of
    /// entries of 40 bytes, so their length is a multiple of 40. The length of this encoding never is.
    const FORM: u8 = 1;

    /// True if the token was replaced at most `grace` ago, or at a time after `now`, because the clock stepped back.
    fn is_within(&self, grace: Duration, now: Timestamp) -> bool {
        now.since(self.replaced_at) <= grace
    }

    /// Encodes a list to be stored.
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

    /// Decodes a stored list; `None` if it is malformed.
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

    /// Decodes a token that was replaced before this token. The encoded duration is the time between the two
    /// replacements.
    fn decode_earlier(&self, bytes: &[u8]) -> Option<Self> {
        let (mark, before) = bytes.split_at_checked(Self::MARK)?;
        let mut hash = [0; 32];
        hash[..Self::MARK].copy_from_slice(mark);
        let before = Duration::from_millis(u32::from_be_bytes(before.try_into().ok()?).into());
        Some(Self { hash: TokenHash::from_bytes(hash), replaced_at: self.replaced_at.minus(before) })
    }
}

/// Returns the stored prefix of a hash.
fn mark(hash: &TokenHash) -> &[u8] {
    &hash.as_bytes()[..ReplacedToken::MARK]
}
