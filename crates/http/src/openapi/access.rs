//! Who may call an operation: the security schemes, and the errors that each way in brings along.

use utoipa::openapi::SecurityRequirement;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};

use crate::error::ErrorCode;
use crate::error::codes::{
    ADMIN_UNAUTHORIZED, AUTH_UNAUTHORIZED, FORBIDDEN, INVALID_CSRF_TOKEN, TOO_MANY_REQUESTS, VALIDATION_ERROR,
};

const USER_TOKEN: &str = "userToken";
const ANON_KEY: &str = "anonKey";
const ADMIN_KEY: &str = "adminKey";
const ADMIN_KEY_HEADER: &str = "adminKeyHeader";
const REFRESH_COOKIE: &str = "refreshCookie";
/// The cookie's name outside of development; see [`crate::cookies`].
pub(super) const COOKIE_NAME: &str = "__Secure-latchkey_refresh";

/// The ways into an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// For anybody; credentials are not looked at.
    Open,
    /// For anybody; with the anonymous key where the operator demands it.
    Public,
    /// The same; a signed-in user does more with it.
    PublicOrUser,
    /// For a signed-in user.
    User,
    /// For an admin.
    Admin,
    /// For anybody, and with an admin key for an admin.
    PublicOrAdmin,
    /// For the holder of a refresh token: the cookie, or the token in the body.
    Refresh,
    /// For the holder of the refresh cookie alone.
    Cookie,
    /// For the holder of a session, by whatever it has; also for anybody, to no effect.
    SignOut,
}

impl Access {
    /// The requirements of the operation, any one of which is enough. An empty one means: without credentials too.
    pub(super) fn requirements(self) -> Vec<SecurityRequirement> {
        let schemes: &[&str] = match self {
            Self::Open => &[""],
            Self::Public => &["", ANON_KEY],
            Self::PublicOrUser => &["", ANON_KEY, USER_TOKEN],
            Self::User => &[USER_TOKEN],
            Self::Admin => &[ADMIN_KEY, ADMIN_KEY_HEADER],
            Self::PublicOrAdmin => &["", ANON_KEY, ADMIN_KEY, ADMIN_KEY_HEADER],
            Self::Refresh | Self::Cookie => &["", REFRESH_COOKIE],
            Self::SignOut => &["", USER_TOKEN, REFRESH_COOKIE],
        };
        schemes.iter().map(|name| requirement(name)).collect()
    }

    /// What a call can be refused with for who makes it. `Admin` reads the client's address, and with it the query
    /// parameter `client_type`, before all else.
    pub(super) fn errors(self) -> Vec<&'static ErrorCode> {
        match self {
            Self::Open => vec![],
            Self::Public | Self::PublicOrUser | Self::User => vec![&AUTH_UNAUTHORIZED],
            Self::Admin => vec![&VALIDATION_ERROR, &ADMIN_UNAUTHORIZED, &FORBIDDEN, &TOO_MANY_REQUESTS],
            Self::PublicOrAdmin => {
                vec![&AUTH_UNAUTHORIZED, &ADMIN_UNAUTHORIZED, &FORBIDDEN, &TOO_MANY_REQUESTS]
            }
            Self::Refresh => vec![&AUTH_UNAUTHORIZED, &FORBIDDEN, &INVALID_CSRF_TOKEN],
            Self::Cookie => vec![&AUTH_UNAUTHORIZED, &FORBIDDEN],
            Self::SignOut => vec![&FORBIDDEN, &INVALID_CSRF_TOKEN],
        }
    }
}

/// Every security scheme, by name.
pub(super) fn schemes() -> [(&'static str, SecurityScheme); 5] {
    let bearer = || HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
    let user = bearer().bearer_format("JWT").description(Some(
        "The access token of a session. Missing or no longer good: 401 `AUTH_UNAUTHORIZED`.",
    ));
    let anon = bearer().description(Some(
        "The anonymous key (`anon_…`) of public calls. Demanded only where the operator sets `auth.require_anon_key`; \
         a user's token does as well.",
    ));
    let admin = bearer().description(Some("An admin key of this service."));
    let cookie = ApiKeyValue::with_description(
        COOKIE_NAME,
        "The refresh token of clients of type `web`, set by the service and sent by the browser. Its \
         name follows `server.cookie_name`; in development over http it goes without the prefix and with `_` and the \
         port behind. Goes together with `X-CSRF-Token`.",
    );
    let api_key = ApiKeyValue::with_description("X-API-Key", "An admin key of this service.");
    [
        (USER_TOKEN, SecurityScheme::Http(user.build())),
        (ANON_KEY, SecurityScheme::Http(anon.build())),
        (ADMIN_KEY, SecurityScheme::Http(admin.build())),
        (ADMIN_KEY_HEADER, SecurityScheme::ApiKey(ApiKey::Header(api_key))),
        (REFRESH_COOKIE, SecurityScheme::ApiKey(ApiKey::Cookie(cookie))),
    ]
}

fn requirement(name: &str) -> SecurityRequirement {
    if name.is_empty() {
        SecurityRequirement::default()
    } else {
        SecurityRequirement::new(name, [] as [&str; 0])
    }
}
