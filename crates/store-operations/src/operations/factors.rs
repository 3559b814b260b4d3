//! Steps that operations on second factors share.

use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;

use crate::form::Script;
use crate::tables::{challenges, link_tokens, recovery_codes, totp_factors, users};

/// Removes TOTP factors and recovery codes of a user and turns two-step sign-in off. Passkeys stay.
pub(crate) fn remove_all_of(writes: &mut Script, user_id: UserId) {
    totp_factors::delete_all_of(writes, user_id);
    recovery_codes::delete_all_of(writes, user_id);
    users::set_two_step(writes, user_id, None);
}

/// Invalidates what depends on the factors of a user, before they change: all challenges, and the reset
/// tokens for which a second factor was shown.
pub(crate) fn invalidate_challenges(writes: &mut Script, user_id: UserId, now: Timestamp) {
    challenges::delete_all_of(writes, user_id);
    link_tokens::supersede_level_two_of(writes, user_id, now);
}
