//! Refusals that protect the accounts of operators.

use super::{FORBIDDEN, NOT_FOUND, Refusal};
use crate::refusals;

refusals! {
    OPERATOR_PROTECTED 403 "This account is an operator's.",
        when "an admin key would change, ban or delete the account of an operator, delete its profile, remove its factors, unlink its providers or lift its limits",
        next "Do it in the console as an owner, or withdraw the role first with `latchkey operator revoke`.";
    LAST_OWNER 409 "This account is the last owner.",
        when "the last owner of the console would be banned or deleted, or would lose the role, the verified address or factors, also by its own doing",
        next "Give another account the role `owner` with `latchkey operator grant`, and activate it.";
}

/// The account has no grant.
pub const OPERATOR_NOT_FOUND: Refusal = Refusal {
    message: "This account has no role in the console.",
    next_action: "Check the account; `latchkey operator list` shows the operators.",
    ..NOT_FOUND
};

/// An operator activates the grant without a second factor.
pub const OPERATOR_NEEDS_FACTOR: Refusal = Refusal {
    message: "Operators need a second factor.",
    next_action: "Turn two-step sign-in on or add a passkey, then open the link again.",
    ..FORBIDDEN
};
