//! The map of the interface on one screen: every endpoint, by group, in the order of the document and of `Allow`.

use crate::endpoint::Endpoint;
use crate::endpoints::auth::{
    audit, config, csrf, email, id_token, identities, logout, oauth, password, profiles as flat,
    public_config, refresh, sessions, users,
};
use crate::endpoints::profiles::{me, search, user};
use crate::endpoints::{dev::mail, health, home, jwks, openapi};

/// Endpoints under one heading.
pub struct Group {
    /// The heading: the tag of the document.
    pub name: &'static str,
    /// A sentence about the group.
    pub about: &'static str,
    /// Its endpoints.
    pub endpoints: &'static [Endpoint],
}

/// The groups of the document.
pub static GROUPS: [Group; 6] = [
    Group {
        name: "Accounts and sessions",
        about: "Sign-up, sign-in, refresh, sign-out, and one's own sessions and password.",
        endpoints: &[
            users::SIGN_UP,
            sessions::SIGN_IN,
            refresh::REFRESH,
            csrf::CSRF_TOKEN,
            logout::SIGN_OUT,
            password::CHANGE,
            sessions::CURRENT,
            sessions::LIST,
            sessions::END_OTHERS,
            sessions::END_ONE,
        ],
    },
    Group {
        name: "Email verification and password reset",
        about: "Codes and links that prove a mailbox. Known and unknown addresses are answered alike.",
        endpoints: &[
            email::send_verification::SEND,
            email::verify::VERIFY,
            email::verify_link::OPEN,
            email::verify_link::AGREE,
            email::send_reset_password::SEND,
            email::exchange_reset_password_token::EXCHANGE,
            email::reset_password_link::OPEN,
            email::reset_password::RESET,
        ],
    },
    Group {
        name: "Identity providers",
        about: "Sign-in through providers, and one's own identities there.",
        endpoints: &[
            oauth::start::BUILT_IN,
            oauth::start::CUSTOM,
            oauth::callback::BUILT_IN,
            oauth::callback::BUILT_IN_FORM,
            oauth::callback::CUSTOM,
            oauth::callback::CUSTOM_FORM,
            oauth::exchange::EXCHANGE,
            id_token::SIGN_IN,
            identities::LIST,
            identities::LINK,
            identities::UNLINK,
        ],
    },
    Group {
        name: "Profiles",
        about: "One's own profile, those of others, and the search over them.",
        endpoints: &[me::GET, me::PATCH, search::SEARCH, user::GET, flat::GET, flat::SET],
    },
    Group {
        name: "Administration",
        about: "Users, settings, identity providers and the audit trail, with an admin key. A key or parameter that a \
                call does not know is refused by name; a PUT or PATCH takes all that the GET shows, and ignores what is \
                read-only there.",
        endpoints: &[
            users::LIST,
            users::DELETE,
            users::ONE,
            users::CHANGE,
            users::END_SESSIONS,
            users::DELETE_PROFILE,
            config::GET,
            config::PUT,
            audit::LIST,
            oauth::configs::LIST_BUILT_IN,
            oauth::configs::CREATE_BUILT_IN,
            oauth::configs::GET_BUILT_IN,
            oauth::configs::PUT_BUILT_IN,
            oauth::configs::DELETE_BUILT_IN,
            oauth::configs::LIST_CUSTOM,
            oauth::configs::CREATE_CUSTOM,
            oauth::configs::GET_CUSTOM,
            oauth::configs::PUT_CUSTOM,
            oauth::configs::DELETE_CUSTOM,
        ],
    },
    Group {
        name: "Service",
        about: "Public settings, keys, health, and this document.",
        endpoints: &[public_config::GET, jwks::GET, health::LIVE, health::READY, openapi::GET],
    },
];

/// Pages of development mode; not in the document.
pub static DEVELOPMENT: [Endpoint; 4] = [home::HOME, mail::LIST, mail::SHOW, mail::HTML];

/// Every endpoint of every mode.
pub fn endpoints() -> impl Iterator<Item = &'static Endpoint> {
    GROUPS.iter().flat_map(|group| group.endpoints).chain(&DEVELOPMENT)
}
