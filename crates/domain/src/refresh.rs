//! Refresh-token rotation as a pure decision, so that every engine decides alike (RFC 9700 section 4.14.2).

use std::time::Duration;

use crate::time::Timestamp;
use crate::tokens::TokenHash;

/// How many replaced tokens a session remembers at the most; an older one counts as past its grace. As many as the
/// limit on refreshes lets one address make in a grace of half a minute: 300 at once and one a second.
const REMEMBERED: usize = 330;

/// A token that was replaced, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retired {
    /// The replaced token. Of all but the predecessor of the current token, stores keep the first [`Retired::MARK`]
    /// bytes alone; the others are 0 then.
    pub hash: TokenHash,
    /// When its successor was made.
    pub replaced_at: Timestamp,
}

/// What a session knows of its refresh tokens. The caller found it by the presented token's family, so the
/// presented token was issued for this session at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefreshState {
    /// The one token that rotates.
    pub current: TokenHash,
    /// Tokens replaced within the last grace window, oldest first. The last is the predecessor of `current`, however
    /// long ago it was replaced. A token that gave way before it was used is not among them.
    pub retired: Vec<Retired>,
    /// When the session ends without a refresh.
    pub idle_expires_at: Timestamp,
    /// When the session ends in any case.
    pub absolute_expires_at: Timestamp,
    /// When the session was ended, if it was.
    pub ended_at: Option<Timestamp>,
}

/// What is to be done with a presented refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshVerdict {
    /// It is the current one: replace it.
    Rotate,
    /// It was just replaced and its successor was not used yet (two tabs, a lost answer): give the same successor.
    SameSuccessor,
    /// Its grace is over and its successor was never used (an answer lost long ago): replace it once more. The unused
    /// successor is dead: with the same one again, owner and thief could go on in turns unseen.
    Supersede,
    /// Refuse, and change nothing: the session ended or expired, or the successor was used and the token was replaced
    /// within the grace (a late twin).
    Refuse,
    /// It gave way unused, or its successor was used and its grace is over: refuse, and end the session.
    Revoke,
}

impl RefreshVerdict {
    /// Whether the token is good: it gets a successor, a new one or the same again.
    #[must_use]
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Rotate | Self::SameSuccessor | Self::Supersede)
    }
}

impl RefreshState {
    /// Judges a presented token. The window counts as open up to and including its last millisecond.
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

    /// The list of replaced tokens after the presented one is replaced at `now`: the current token, or its predecessor,
    /// whose grace begins anew.
    #[must_use]
    pub fn retire(&self, presented: &TokenHash, now: Timestamp, grace: Duration) -> Vec<Retired> {
        let is_kept = |retired: &&Retired| retired.is_within(grace, now) && retired.hash != *presented;
        let mut retired: Vec<_> = self.retired.iter().filter(is_kept).copied().collect();
        retired.push(Retired { hash: *presented, replaced_at: now });
        let surplus = retired.len().saturating_sub(REMEMBERED);
        retired.split_off(surplus)
    }

    /// Whether the session can still be used at `now`.
    #[must_use]
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.idle_expires_at && now < self.absolute_expires_at
    }
}

impl Retired {
    /// Bytes that a store keeps of a token that is not the predecessor of the current one. Such a token opens nothing: its
    /// mark only tells a late twin, which is refused, from an old token, which ends the session.
    pub const MARK: usize = 8;
    /// Bytes of the predecessor in a store: 32 of the hash, 8 of the time in milliseconds, big-endian.
    const WHOLE: usize = 40;
    /// Bytes of each token before it: the mark, and 4 of the milliseconds from then to the predecessor's time.
    const SHORT: usize = Self::MARK + 4;
    /// First byte of the list. A list of before has none: its entries are all whole, so its length is a multiple of 40,
    /// which that of this form never is.
    const FORM: u8 = 1;

    /// Whether the grace lasts at `now`, its last millisecond included. It lasts where a clock stepped back.
    fn is_within(&self, grace: Duration, now: Timestamp) -> bool {
        now.since(self.replaced_at) <= grace
    }

    /// Writes a list for a store.
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

    /// Reads a list from a store; `None` where the bytes are no such list.
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

    /// A token that was replaced before this one.
    fn decode_earlier(&self, bytes: &[u8]) -> Option<Self> {
        let (mark, before) = bytes.split_at_checked(Self::MARK)?;
        let mut hash = [0; 32];
        hash[..Self::MARK].copy_from_slice(mark);
        let before = Duration::from_millis(u32::from_be_bytes(before.try_into().ok()?).into());
        Some(Self { hash: TokenHash::from_bytes(hash), replaced_at: self.replaced_at.minus(before) })
    }
}

/// The bytes of a token that stores keep in any case.
fn mark(hash: &TokenHash) -> &[u8] {
    &hash.as_bytes()[..Retired::MARK]
}
