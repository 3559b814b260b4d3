//! A cache of verified access tokens, because verifying a signature is by far the most expensive part of a
//! request that only reads. It contains only the claims of tokens, which never change. The session is read
//! from the store at every request, so that sign-out, ban and deletion take effect at once, on every
//! instance.

use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::session::Level;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use quick_cache::sync::Cache;

use super::claims::Claims;

/// Maximum number of cached tokens, about 150 bytes each. The least used ones are evicted first.
const REMEMBERED: usize = 65_536;

/// The claims of a verified token that requests need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VerifiedToken {
    pub(crate) user_id: UserId,
    pub(crate) session_id: SessionId,
    pub(crate) level: Level,
    /// Time of the sign-in or reauthentication, in seconds since the Unix epoch.
    auth_time: i64,
    /// Expiry, in seconds since the Unix epoch.
    exp: i64,
    /// The claim `nbf`, in seconds since the Unix epoch.
    nbf: Option<i64>,
    /// Time until which the signing key verifies tokens; `None` for the current key.
    key_until: Option<Timestamp>,
}

/// Verified tokens by their hash. Each key set has its own cache, so a change of keys empties it.
pub(crate) struct VerifiedTokens(Cache<[u8; 32], VerifiedToken>);

impl VerifiedToken {
    /// Copies the claims to be cached. `key_until` is the time until which the signing key verifies tokens.
    pub(crate) fn of(claims: &Claims, key_until: Option<Timestamp>) -> Self {
        let Claims { sub, sid, auth_time, exp, nbf, .. } = *claims;
        Self { user_id: sub, session_id: sid, level: claims.level(), auth_time, exp, nbf, key_until }
    }

    /// Returns the time of the sign-in or reauthentication, in whole seconds.
    pub(crate) fn authenticated_at(&self) -> Timestamp {
        Timestamp::from_millis(self.auth_time.saturating_mul(1000))
    }

    pub(crate) fn expires_at(&self) -> Timestamp {
        Timestamp::from_millis(self.exp.saturating_mul(1000))
    }

    /// Returns true if `exp`, `nbf` and the signing key still allow the token at `now`.
    fn is_good_at(&self, now: Timestamp) -> bool {
        let second = now.as_seconds();
        let is_now = second < self.exp && self.nbf.is_none_or(|nbf| nbf <= second);
        is_now && self.key_until.is_none_or(|until| now < until)
    }
}

impl VerifiedTokens {
    fn with_room_for(count: usize) -> Self {
        Self(Cache::new(count))
    }

    /// Returns the cached token if it is still valid at `now`. A token that is not cached is verified by `verify` and,
    /// if valid, cached.
    pub(crate) fn get_or_verify(
        &self,
        token: &str,
        now: Timestamp,
        verify: impl FnOnce() -> Option<VerifiedToken>,
    ) -> Option<VerifiedToken> {
        let hash = hash_of(token);
        if let Some(known) = self.0.get(&hash) {
            return known.is_good_at(now).then_some(known);
        }
        let verified = verify()?;
        self.0.insert(hash, verified);
        Some(verified)
    }

    /// Caches a token that was just signed.
    pub(crate) fn remember(&self, token: &str, claims: VerifiedToken) {
        self.0.insert(hash_of(token), claims);
    }
}

fn hash_of(token: &str) -> [u8; 32] {
    *TokenHash::of(token.as_bytes()).as_bytes()
}

impl Default for VerifiedTokens {
    fn default() -> Self {
        Self::with_room_for(REMEMBERED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(exp: i64, nbf: Option<i64>, key_until: Option<Timestamp>) -> VerifiedToken {
        let (user_id, session_id) = (UserId::new(at(0), [1; 10]), SessionId::new(at(0), [2; 10]));
        VerifiedToken { user_id, session_id, level: Level::One, auth_time: 0, exp, nbf, key_until }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1000)
    }

    fn remembering(token: VerifiedToken) -> VerifiedTokens {
        let tokens = VerifiedTokens::default();
        assert_eq!(tokens.get_or_verify("a.b.c", at(0), || Some(token)), Some(token));
        tokens
    }

    #[test]
    fn a_remembered_token_is_not_verified_again() {
        let known = token(100, None, None);
        let tokens = remembering(known);
        assert_eq!(tokens.get_or_verify("a.b.c", at(99), || None), Some(known));
        assert_eq!(tokens.get_or_verify("a.b.d", at(99), || None), None);
    }

    #[test]
    fn a_remembered_token_expires_to_the_second() {
        let tokens = remembering(token(100, None, None));
        assert!(tokens.get_or_verify("a.b.c", at(99), || None).is_some());
        assert_eq!(tokens.get_or_verify("a.b.c", at(100), || None), None);
    }

    #[test]
    fn a_remembered_token_is_not_good_before_its_time() {
        let tokens = remembering(token(100, Some(50), None));
        assert_eq!(tokens.get_or_verify("a.b.c", at(49), || None), None);
        assert!(tokens.get_or_verify("a.b.c", at(50), || None).is_some());
    }

    #[test]
    fn a_remembered_token_dies_with_its_key() {
        let tokens = remembering(token(100, None, Some(at(60))));
        assert!(tokens.get_or_verify("a.b.c", at(59), || None).is_some());
        assert_eq!(tokens.get_or_verify("a.b.c", at(60), || None), None);
    }

    #[test]
    fn a_refused_token_is_asked_about_again() {
        let tokens = VerifiedTokens::default();
        assert_eq!(tokens.get_or_verify("a.b.c", at(0), || None), None);
        let good = token(100, None, None);
        assert_eq!(tokens.get_or_verify("a.b.c", at(0), || Some(good)), Some(good));
    }

    #[test]
    fn no_more_tokens_are_remembered_than_there_is_room_for() {
        let tokens = VerifiedTokens::with_room_for(64);
        for number in 0..10_000 {
            let text = format!("a.b.{number}");
            assert!(tokens.get_or_verify(&text, at(0), || Some(token(100, None, None))).is_some());
        }
        assert!(tokens.0.len() <= 64);
    }
}
