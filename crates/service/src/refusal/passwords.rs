//! Refusals of new passwords and of sign-in by password.

use crate::refusals;

refusals! {
    WEAK_PASSWORD 400 "The password breaks a rule.",
        when "the password breaks a rule; the message says which",
        next "Choose another password.";
    INVALID_CREDENTIALS 401 "The login credentials are invalid.",
        when "wrong email or password, unknown email and account without a password alike",
        next "Check email and password.";
}
