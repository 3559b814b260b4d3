//! Refusals of sign-up and of accounts.

use super::{NOT_FOUND, Refusal};
use crate::refusals;

refusals! {
    SIGNUP_DISABLED 403 "Sign-up is switched off.",
        when "sign-up is switched off",
        next "Ask the operator for an account.";
    USER_BANNED 403 "This account is banned.",
        when "the account is banned",
        next "Contact the operator of this service.";
    EMAIL_EXISTS 409 "An account with this email exists.", field "email",
        when "an account with this email exists: reported at sign-up only while verification is off, and at \
            sign-in through a provider that is not linked to that account and cannot be without signing in to it; at a \
            change of address only after both mailboxes are proven",
        next "Sign in, or reset the password.";
}

/// Another account got the new address before the change of address was completed.
pub const NEW_EMAIL_EXISTS: Refusal =
    Refusal { field: None, next_action: "Change to another address.", ..EMAIL_EXISTS };

/// The caller has no change of address with this id.
pub const EMAIL_CHANGE_NOT_FOUND: Refusal = Refusal {
    message: "Not found: change of the email address.",
    next_action: "Begin the change again with POST /api/auth/email/change.",
    ..NOT_FOUND
};
