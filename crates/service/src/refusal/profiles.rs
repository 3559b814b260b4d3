//! Refusals of profiles.

use crate::refusals;

refusals! {
    PROFILE_NOT_FOUND 404 "The current user has no profile.",
        when "the current user has no profile",
        next "Create a profile first.";
    USERNAME_TAKEN 409 "The username is taken.", field "username",
        when "the username belongs to another user",
        next "Choose another username.";
    PRECONDITION_FAILED 412 "The record has changed since it was read.",
        when "`If-Match` names another version of the record",
        next "Read the record again and repeat the change on its new `ETag`.";
}
