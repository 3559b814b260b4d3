//! Refusals of mailed codes and links, and of redirect targets.

use crate::refusals;

refusals! {
    REDIRECT_NOT_ALLOWED 400 "The redirect target is not allowed.",
        when "the redirect target is not on the list; the message says which rule failed",
        next "Use a redirect target that is on the list of allowed redirect URLs, or ask the operator to add this one.";
    INVALID_CODE 400 "The code or link is not valid or has expired.",
        when "a code or link token is unknown, wrong, expired, used or out of attempts",
        next "Check the code, or request a new one.";
    EMAIL_NOT_VERIFIED 403 "The email address is not verified yet.",
        when "the password is that of the account or of the last sign-up for the address, which has \
            to be verified first, or the identity provider does not vouch for the address that it gives; or a password is set for \
            an account that no provider vouched for",
        next "Verify the email address with the mail that was sent, or request a new one.";
}
