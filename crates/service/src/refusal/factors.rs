//! Refusals of second factors, challenges and reauthentication.

use super::{FORBIDDEN, NOT_FOUND, Refusal};
use crate::refusals;

refusals! {
    INVALID_CHALLENGE 401 "The challenge is not valid or has expired.",
        when "the challenge is unknown, expired, used, out of attempts, or void because the account changed",
        next "Start over with the call that gave the challenge.";
    INVALID_SECOND_FACTOR 401 "The second factor is wrong or was used already.",
        when "a second factor is wrong or was used before; the challenge has attempts left",
        next "Check the code. One that was used already is refused: wait for the next.";
    REAUTHENTICATION_REQUIRED 403 "This call needs a recent sign-in.",
        when "the access token is not fresh, or lacks the second factor of an account with two-step sign-in",
        next "Call POST /api/auth/reauthenticate, answer its challenge, and repeat the call with the new access token.";
    SECOND_FACTOR_REQUIRED 403 "The account has two-step sign-in.",
        when "a second factor is needed; `challenge` is beside the error, unless the account has no second factor left",
        next "Answer the challenge with POST /api/auth/challenges/answer.";
    FEATURE_DISABLED 403 "This feature is switched off.",
        when "the operator switched the feature off",
        next "Do without it, or ask the operator to switch it on.";
    TOO_MANY_FACTORS 409 "The account has the most factors of this kind.",
        when "the account has two authenticator apps, or twenty passkeys",
        next "Remove a factor, then add the new one.";
    LAST_SECOND_FACTOR 409 "Two-step sign-in needs a second factor.",
        when "two-step sign-in would be on without a second factor, or recovery codes are asked for while it is off",
        next "Add another factor first, or turn two-step sign-in off.";
}

/// Two-step sign-in is on, but the account has no second factor and no recovery code.
pub const NO_SECOND_FACTOR_LEFT: Refusal = Refusal {
    message: "The account has two-step sign-in and no second factor left.",
    next_action: "Ask the administrator of this service to remove two-step sign-in from the account.",
    ..SECOND_FACTOR_REQUIRED
};

/// The account has no second factor, no password and no verified address, so its owner cannot be reauthenticated.
pub const NOTHING_TO_ASK_FOR: Refusal = Refusal {
    message: "This account has nothing that could be asked for.",
    next_action: "Sign in again, which gives a fresh access token.",
    ..REAUTHENTICATION_REQUIRED
};

/// The caller has no factor with this id.
pub const FACTOR_NOT_FOUND: Refusal = Refusal { message: "Not found: factor.", ..NOT_FOUND };

/// The operator requires two-step sign-in, so the owner of an account cannot turn it off.
pub const TWO_STEP_REQUIRED: Refusal = Refusal {
    message: "This service requires two-step sign-in.",
    next_action: "Keep two-step sign-in on, or ask the operator.",
    ..FORBIDDEN
};
