//! Refusals of passkeys.

use super::{NOT_FOUND, Refusal};
use crate::refusals;

refusals! {
    INVALID_PASSKEY 401 "The passkey was not accepted.",
        when "an answer by passkey is wrong or late, was used before, or is not of the account with the given address",
        next "Ask for new options and try again, or sign in another way.";
    UNKNOWN_PASSKEY 401 "No account has this passkey.",
        when "the answer is by a passkey that no account has, such as a removed one",
        next "Remove the passkey where it is stored (`signalUnknownCredential`), and sign in another way.";
    PASSKEY_EXISTS 409 "This passkey is registered already.",
        when "an account has the passkey already",
        next "Use the passkey to sign in, or register another.";
}

/// The caller has no passkey with this id.
pub const PASSKEY_NOT_FOUND: Refusal = Refusal { message: "Not found: passkey.", ..NOT_FOUND };
