//! The security schemes of the `OpenAPI` document, and what each [`Access`] means in it.

use utoipa::openapi::SecurityRequirement;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};

use crate::endpoint::Access;
use crate::error::{ErrorCode, codes};

const USER_TOKEN: &str = "userToken";
const ANON_KEY: &str = "anonKey";
const ADMIN_KEY: &str = "adminKey";
const ADMIN_KEY_HEADER: &str = "adminKeyHeader";
const REFRESH_COOKIE: &str = "refreshCookie";
/// The refresh cookie's name in production; see [`crate::cookies`] for its names in development.
pub(super) const COOKIE_NAME: &str = "__Secure-latchkey_refresh";

/// Returns the security requirements of an [`Access`]; one of them must be met. An empty requirement means no
/// credentials.
pub(super) fn requirements(access: Access) -> Vec<SecurityRequirement> {
    let schemes: &[&str] = match access {
        Access::Open | Access::Development => &[""],
        Access::Public => &["", ANON_KEY],
        Access::PublicOrUser => &["", ANON_KEY, USER_TOKEN],
        Access::User => &[USER_TOKEN],
        Access::Admin => &[ADMIN_KEY, ADMIN_KEY_HEADER],
        Access::PublicOrAdmin => &["", ANON_KEY, ADMIN_KEY, ADMIN_KEY_HEADER],
        Access::Refresh | Access::Cookie => &["", REFRESH_COOKIE],
        Access::SignOut => &["", USER_TOKEN, REFRESH_COOKIE],
    };
    schemes.iter().map(|name| requirement(name)).collect()
}

/// Returns the errors that missing or invalid credentials of an [`Access`] cause.
pub(super) const fn errors(access: Access) -> &'static [&'static ErrorCode] {
    match access {
        Access::Open | Access::Development => &[],
        Access::Public | Access::PublicOrUser | Access::User => &[&codes::AUTH_UNAUTHORIZED],
        Access::Admin => &[&codes::ADMIN_UNAUTHORIZED, &codes::FORBIDDEN, &codes::TOO_MANY_REQUESTS],
        Access::PublicOrAdmin => &[
            &codes::AUTH_UNAUTHORIZED,
            &codes::ADMIN_UNAUTHORIZED,
            &codes::FORBIDDEN,
            &codes::TOO_MANY_REQUESTS,
        ],
        Access::Refresh => &[&codes::AUTH_UNAUTHORIZED, &codes::FORBIDDEN, &codes::INVALID_CSRF_TOKEN],
        Access::Cookie => &[&codes::AUTH_UNAUTHORIZED, &codes::FORBIDDEN],
        Access::SignOut => &[&codes::FORBIDDEN, &codes::INVALID_CSRF_TOKEN],
    }
}

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
