//! Steps that operations on second factors share.

use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;

use crate::form::Script;
use crate::tables::{challenges, link_tokens, operators, recovery_codes, totp_factors, users};

/// Removes TOTP factors and recovery codes of a user and turns two-step sign-in off. Passkeys stay. The grant of an operator
/// falls asleep: without two-step sign-in a mailbox alone can add a factor.
pub(crate) fn remove_all_of(writes: &mut Script, user_id: UserId, now: Timestamp) {
    totp_factors::delete_all_of(writes, user_id);
    recovery_codes::delete_all_of(writes, user_id);
    users::set_two_step(writes, user_id, None);
    operators::sleep(writes, user_id, now);
}

/// Invalidates what depends on the factors of a user, before they change: all challenges, and the reset
/// tokens for which a second factor was shown.
pub(crate) fn invalidate_challenges(writes: &mut Script, user_id: UserId, now: Timestamp) {
    challenges::delete_all_of(writes, user_id);
    link_tokens::supersede_level_two_of(writes, user_id, now);
}
