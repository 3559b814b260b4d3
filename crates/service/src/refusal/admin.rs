//! Refusals of admin requests.

use crate::refusals;

refusals! {
    ADMIN_UNAUTHORIZED 401 "The admin key is missing or wrong.",
        when "the admin key is missing or wrong",
        next "Send the admin key in `Authorization: Bearer` or in `X-API-Key`.";
    USER_NOT_FOUND 404 "There is no user or profile with this id.",
        when "no user or no profile for this user id",
        next "Check the user id.";
    SETTING_PINNED 409 "The setting is pinned by the service's configuration.",
        when "the setting is fixed by file, environment or command line",
        next "Change the setting where it is pinned and restart the service.";
}
