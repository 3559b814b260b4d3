//! The list of all endpoints, by group. Its order is that of the `OpenAPI` document and of the `Allow` header.

use crate::endpoint::Endpoint;
use crate::endpoints::auth::{
    account, audit, challenges, config, csrf, email, events, export, factors, id_token, identities, import,
    logout, mails, oauth, passkeys, password, profiles as flat, public_config, reauthenticate, refresh,
    sessions, stats, undo, users,
};
use crate::endpoints::profiles::{me, search, user};
use crate::endpoints::{dev::mail, health, jwks, openapi, webauthn};

/// Endpoints under one heading of the `OpenAPI` document.
pub struct Group {
    /// Name of the group. It is the tag of its endpoints in the `OpenAPI` document.
    pub name: &'static str,
    /// A sentence about the group, for the `OpenAPI` document.
    pub about: &'static str,
    pub endpoints: &'static [Endpoint],
}

pub static GROUPS: [Group; 8] = [
    Group {
        name: "Accounts and sessions",
        about: "Sign-up, sign-in, refresh, sign-out, and one's own sessions, password, email address and security events.",
        endpoints: &[
            users::SIGN_UP,
            sessions::sign_in::SIGN_IN,
            email::send_otp::SEND,
            refresh::REFRESH,
            csrf::CSRF_TOKEN,
            logout::SIGN_OUT,
            password::CHANGE,
            email::change::BEGIN,
            email::change::confirm::CONFIRM,
            email::change::CANCEL,
            sessions::CURRENT,
            sessions::LIST,
            sessions::END_OTHERS,
            sessions::END_ONE,
            sessions::RENAME,
            events::LIST,
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
            email::sign_in_link::OPEN,
            undo::OPEN,
            undo::UNDO,
        ],
    },
    Group {
        name: "Second factors",
        about: "Two-step sign-in by authenticator app and recovery codes, and challenges, which ask for them.",
        endpoints: &[
            account::GET,
            account::DELETE,
            account::export::EXPORT,
            account::CHANGE,
            factors::totp::BEGIN,
            factors::totp::confirm::CONFIRM,
            factors::totp::RENAME,
            factors::totp::REMOVE,
            factors::two_step::SET,
            factors::recovery_codes::REPLACE,
            reauthenticate::BEGIN,
            challenges::passkey_options::OPTIONS,
            challenges::send_code::SEND,
            challenges::answer::ANSWER,
        ],
    },
    Group {
        name: "Passkeys",
        about: "Registration of passkeys and sign-in by them (WebAuthn), and one's own passkeys.",
        endpoints: &[
            passkeys::registration_options::BEGIN,
            passkeys::REGISTER,
            passkeys::LIST,
            passkeys::RENAME,
            passkeys::REMOVE,
            passkeys::authentication_options::BEGIN,
            passkeys::sign_in::SIGN_IN,
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
        about: "Users, their sessions and profiles, settings, identity providers and the audit trail, with an admin key. A key or parameter that a \
                call does not know is refused by name; a PUT or PATCH takes all that the GET shows, and ignores what is \
                read-only there.",
        endpoints: &[
            users::LIST,
            users::DELETE,
            users::ONE,
            users::CHANGE,
            users::sessions::LIST,
            users::END_SESSIONS,
            users::sessions::END,
            users::send_mail::VERIFICATION,
            users::send_mail::RESET,
            users::password::SET,
            users::identities::UNLINK,
            users::mails::LIST,
            users::sign_ins::LIST,
            users::limits::LIST,
            users::limits::LIFT,
            users::sign_in_state::GET,
            users::DELETE_PROFILE,
            users::factors::GET,
            users::factors::RESET,
            users::passkeys::REMOVE,
            config::GET,
            config::PUT,
            mails::LIST,
            mails::RETRY,
            audit::LIST,
            audit::export::EXPORT,
            export::EXPORT,
            stats::GET,
            import::START,
            import::GET,
            import::REPORT,
            import::UNDO,
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
        endpoints: &[public_config::GET, jwks::GET, webauthn::GET, health::LIVE, health::READY, openapi::GET],
    },
];

/// HTML pages that exist in development mode only: the inbox of the sent mails. They are not in the `OpenAPI` document.
pub static DEVELOPMENT: [Endpoint; 3] = [mail::LIST, mail::SHOW, mail::HTML];

/// Iterates over all endpoints, those of development mode included.
pub fn endpoints() -> impl Iterator<Item = &'static Endpoint> {
    GROUPS.iter().flat_map(|group| group.endpoints).chain(&DEVELOPMENT)
}
