//! Refusals of sign-up and of accounts.

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
            sign-in through a provider that is not linked to that account and cannot be without signing in to it",
        next "Sign in, or reset the password.";
}
