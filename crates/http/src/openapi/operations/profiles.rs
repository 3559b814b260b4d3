//! The profile interface (spec 4.1), and the flat face of the same profiles (spec 2.5).

use http::StatusCode;
use serde_json::json;
use utoipa::openapi::path::HttpMethod;

use crate::endpoints::profiles::PublicProfileBody;
use crate::endpoints::profiles::me::{ProfileRecordBody, UpdateProfileRequest};
use crate::error::codes::{
    MISSING_QUERY, PRECONDITION_FAILED, PROFILE_NOT_FOUND, TOO_MANY_REQUESTS, USER_NOT_FOUND, USERNAME_TAKEN,
    VALIDATION_ERROR,
};
use crate::openapi::access::Access;
use crate::openapi::headers::{ETAG, X_PAGE, X_PAGE_SIZE, X_TOTAL_COUNT};
use crate::openapi::operation::Operation;
use crate::openapi::parameters::{if_match, limit, offset, profile_user_id, search_text};
use crate::openapi::shapes::{FlatProfile, PublicProfiles, SetProfileRequest};
use crate::openapi::tags::Tag;

/// Whose profile nobody sees.
const HIDDEN: &str =
    "Banned users have no public profile, nor have those who signed up and did not verify their address yet.";

pub(super) fn operations() -> Vec<Operation> {
    vec![read_own(), update_own(), search(), read_public(), get_profile(), set_profile()]
}

fn operation(method: HttpMethod, path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(method, path, Tag::Profiles, id, summary)
}

fn read_own() -> Operation {
    operation(HttpMethod::Get, "/api/profiles/me", "getOwnProfile", "Read one's own profile")
        .access(Access::User)
        .answers_with::<ProfileRecordBody>(StatusCode::OK, "The whole profile.", &[ETAG])
        .errors(&[&PROFILE_NOT_FOUND])
}

fn update_own() -> Operation {
    operation(HttpMethod::Patch, "/api/profiles/me", "updateOwnProfile", "Change one's own profile")
        .about(
            "Only the keys present change; `metadata` replaces the whole object. On any refusal nothing changes. Bodies \
             are at most 256 KiB.",
        )
        .access(Access::User)
        .parameter(if_match())
        .body::<UpdateProfileRequest>(json!({ "bio": "First programmer.", "name": "Ada Lovelace" }))
        .answers_with::<ProfileRecordBody>(StatusCode::OK, "The profile after the change.", &[ETAG])
        .errors(&[&PROFILE_NOT_FOUND, &USERNAME_TAKEN, &PRECONDITION_FAILED])
}

fn search() -> Operation {
    operation(HttpMethod::Get, "/api/profiles/search", "searchProfiles", "Search profiles")
        .about(
            "By name, username and bio, without regard to case and accents. Whole names and usernames come first, then \
             what begins with the text, then the rest; among equals the newest first.",
        )
        .access(Access::Public)
        .parameter(search_text())
        .parameter(limit())
        .parameter(offset())
        .answers_with::<PublicProfiles>(
            StatusCode::OK,
            "A page of profiles; empty beyond the last match.",
            &[X_TOTAL_COUNT, X_PAGE, X_PAGE_SIZE],
        )
        .errors(&[&MISSING_QUERY, &VALIDATION_ERROR, &TOO_MANY_REQUESTS])
}

fn read_public() -> Operation {
    operation(HttpMethod::Get, "/api/profiles/{userId}", "getPublicProfile", "Read anybody's profile")
        .about(HIDDEN)
        .access(Access::Public)
        .parameter(profile_user_id())
        .answers::<PublicProfileBody>(StatusCode::OK, "What everybody may see of the profile.")
        .errors(&[&USER_NOT_FOUND, &TOO_MANY_REQUESTS])
}

fn get_profile() -> Operation {
    operation(HttpMethod::Get, "/api/auth/profiles/{userId}", "getProfile", "Read anybody's flat profile")
        .about(HIDDEN)
        .access(Access::Public)
        .parameter(profile_user_id())
        .answers::<FlatProfile>(StatusCode::OK, "The profile with its custom fields.")
        .errors(&[&USER_NOT_FOUND, &TOO_MANY_REQUESTS])
}

fn set_profile() -> Operation {
    operation(HttpMethod::Patch, "/api/auth/profiles/current", "setProfile", "Change one's own flat profile")
        .about(
            "Merges the keys present, one level deep, and makes the profile where there is none. Bodies are at most 256 KiB.",
        )
        .access(Access::User)
        .body::<SetProfileRequest>(json!({ "profile": { "favourite_colour": "green", "name": "Ada Lovelace" } }))
        .answers::<FlatProfile>(StatusCode::OK, "The profile after the change.")
        .errors(&[&USERNAME_TAKEN])
}
