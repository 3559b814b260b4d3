//! List of all routes, for facts about every route. `openapi::document_has_every_route_and_no_other` checks that it is
//! complete.
#![allow(unreachable_pub, reason = "one crate; `pub` reads easier")]

use latchkey_testkit::{Request, TestApp, User};

/// Credentials of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// None.
    Anybody,
    /// A user's access token.
    User,
    /// An admin key.
    Admin,
}

/// Body of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// JSON object of at most 64 KiB with, among others, these fields.
    Json(&'static [&'static str]),
    /// JSON object of at most 256 KiB with, among others, these fields.
    Profile(&'static [&'static str]),
}

#[derive(Debug, Clone, Copy)]
pub struct Route {
    pub method: &'static str,
    /// With `{…}` for parameters, as in the OpenAPI document.
    pub path: &'static str,
    pub who: Who,
    pub takes: Takes,
}

/// Unused id.
pub const NOBODY: &str = "00000000-0000-7000-8000-000000000000";

const fn get(who: Who, path: &'static str) -> Route {
    Route { method: "GET", path, who, takes: Takes::Nothing }
}

const fn delete(who: Who, path: &'static str) -> Route {
    Route { method: "DELETE", path, who, takes: Takes::Nothing }
}

/// Form of a provider.
const fn form(path: &'static str) -> Route {
    Route { method: "POST", path, who: Who::Anybody, takes: Takes::Nothing }
}

const fn json(who: Who, method: &'static str, path: &'static str, fields: &'static [&'static str]) -> Route {
    Route { method, path, who, takes: Takes::Json(fields) }
}

const fn profile(path: &'static str, fields: &'static [&'static str]) -> Route {
    Route { method: "PATCH", path, who: Who::User, takes: Takes::Profile(fields) }
}

/// Every route of every mode. Sign-up is public here; an admin credential selects another operation.
pub const ROUTES: &[Route] = &[
    json(
        Who::Anybody,
        "POST",
        "/api/auth/users",
        &["email", "password", "name", "redirectTo", "options", "autoConfirm", "createProfile", "metadata"],
    ),
    get(Who::Admin, "/api/auth/users"),
    json(Who::Admin, "DELETE", "/api/auth/users", &["userIds"]),
    get(Who::Admin, "/api/auth/users/{id}"),
    json(Who::Admin, "PATCH", "/api/auth/users/{id}", &["email", "emailVerified", "banned", "metadata"]),
    delete(Who::Admin, "/api/auth/users/{id}/sessions"),
    delete(Who::Admin, "/api/auth/users/{id}/profile"),
    get(Who::Admin, "/api/auth/config"),
    json(
        Who::Admin,
        "PUT",
        "/api/auth/config",
        &[
            "requireEmailVerification",
            "verifyEmailMethod",
            "resetPasswordMethod",
            "allowedRedirectUrls",
            "defaultRedirectUrl",
            "disableSignup",
            "passwordMinLength",
            "requireNumber",
            "requireLowercase",
            "requireUppercase",
            "requireSpecialChar",
        ],
    ),
    get(Who::Admin, "/api/auth/audit"),
    json(Who::Anybody, "POST", "/api/auth/sessions", &["email", "password", "method"]),
    get(Who::User, "/api/auth/sessions"),
    delete(Who::User, "/api/auth/sessions"),
    delete(Who::User, "/api/auth/sessions/{id}"),
    get(Who::User, "/api/auth/sessions/current"),
    json(Who::Anybody, "POST", "/api/auth/refresh", &["refreshToken", "refresh_token"]),
    get(Who::Anybody, "/api/auth/csrf"),
    json(Who::Anybody, "POST", "/api/auth/logout", &["refreshToken", "refresh_token"]),
    json(Who::User, "POST", "/api/auth/password", &["currentPassword", "newPassword"]),
    json(Who::Anybody, "POST", "/api/auth/email/send-verification", &["email", "redirectTo", "options"]),
    json(Who::Anybody, "POST", "/api/auth/email/verify", &["email", "otp"]),
    json(Who::Anybody, "POST", "/api/auth/email/send-reset-password", &["email", "redirectTo"]),
    json(Who::Anybody, "POST", "/api/auth/email/exchange-reset-password-token", &["email", "code"]),
    json(Who::Anybody, "POST", "/api/auth/email/reset-password", &["newPassword", "otp"]),
    get(Who::Anybody, "/api/auth/email/verify-link"),
    form("/api/auth/email/verify-link"),
    get(Who::Anybody, "/api/auth/email/reset-password-link"),
    get(Who::Anybody, "/api/auth/oauth/{provider}"),
    get(Who::Anybody, "/api/auth/oauth/{provider}/callback"),
    form("/api/auth/oauth/{provider}/callback"),
    get(Who::Anybody, "/api/auth/oauth/custom/{key}"),
    get(Who::Anybody, "/api/auth/oauth/custom/{key}/callback"),
    form("/api/auth/oauth/custom/{key}/callback"),
    json(Who::Anybody, "POST", "/api/auth/oauth/exchange", &["code", "code_verifier"]),
    json(Who::Anybody, "POST", "/api/auth/id-token", &["provider", "token", "nonce", "name"]),
    get(Who::Admin, "/api/auth/oauth/configs"),
    json(
        Who::Admin,
        "POST",
        "/api/auth/oauth/configs",
        &[
            "provider",
            "clientId",
            "clientSecret",
            "scopes",
            "nativeClientIds",
            "tenant",
            "teamId",
            "keyId",
            "privateKey",
            "linkByEmail",
            "enabled",
        ],
    ),
    get(Who::Admin, "/api/auth/oauth/{provider}/config"),
    json(
        Who::Admin,
        "PUT",
        "/api/auth/oauth/{provider}/config",
        &[
            "clientId",
            "clientSecret",
            "scopes",
            "nativeClientIds",
            "tenant",
            "teamId",
            "keyId",
            "privateKey",
            "linkByEmail",
            "enabled",
        ],
    ),
    delete(Who::Admin, "/api/auth/oauth/{provider}/config"),
    get(Who::Admin, "/api/auth/oauth/custom/configs"),
    json(
        Who::Admin,
        "POST",
        "/api/auth/oauth/custom/configs",
        &[
            "key",
            "name",
            "discoveryEndpoint",
            "clientId",
            "clientSecret",
            "scopes",
            "nativeClientIds",
            "linkByEmail",
            "enabled",
        ],
    ),
    get(Who::Admin, "/api/auth/oauth/custom/{key}/config"),
    json(
        Who::Admin,
        "PUT",
        "/api/auth/oauth/custom/{key}/config",
        &[
            "name",
            "discoveryEndpoint",
            "clientId",
            "clientSecret",
            "scopes",
            "nativeClientIds",
            "linkByEmail",
            "enabled",
        ],
    ),
    delete(Who::Admin, "/api/auth/oauth/custom/{key}/config"),
    get(Who::User, "/api/auth/identities"),
    json(
        Who::User,
        "POST",
        "/api/auth/identities/{provider}/link",
        &["redirect_uri", "code_challenge", "additionalParams"],
    ),
    delete(Who::User, "/api/auth/identities/{provider}"),
    get(Who::Anybody, "/api/auth/profiles/{userId}"),
    profile("/api/auth/profiles/current", &["profile", "name", "username", "avatar_url", "bio", "colour"]),
    get(Who::Anybody, "/api/auth/public-config"),
    get(Who::User, "/api/profiles/me"),
    profile("/api/profiles/me", &["name", "username", "avatar_url", "bio", "metadata"]),
    get(Who::Anybody, "/api/profiles/search"),
    get(Who::Anybody, "/api/profiles/{userId}"),
    get(Who::Anybody, "/.well-known/jwks.json"),
    get(Who::Anybody, "/health/live"),
    get(Who::Anybody, "/health/ready"),
    get(Who::Anybody, "/openapi.json"),
    get(Who::Anybody, "/"),
    get(Who::Anybody, "/dev/mail"),
    get(Who::Anybody, "/dev/mail/{id}"),
    get(Who::Anybody, "/dev/mail/{id}/html"),
];

impl Route {
    /// Path with an unused id.
    pub fn path_of_an_unknown_id(&self) -> String {
        let path = self.path.replace("{id}", NOBODY).replace("{userId}", NOBODY);
        path.replace("{provider}", "nobody").replace("{key}", "nobody")
    }

    /// Request with credentials and without a body.
    pub fn request(&self, app: &TestApp, user: &User) -> Request {
        self.request_to(&self.path_of_an_unknown_id(), app, user)
    }

    /// Request with credentials to another path.
    pub fn request_to(&self, path: &str, app: &TestApp, user: &User) -> Request {
        match self.who {
            Who::Anybody => app.anon().request(self.method, path),
            Who::User => user.request(self.method, path),
            Who::Admin => app.admin().request(self.method, path),
        }
    }

    /// Fields of the body; empty without a body.
    pub fn fields(&self) -> &'static [&'static str] {
        match self.takes {
            Takes::Nothing => &[],
            Takes::Json(fields) | Takes::Profile(fields) => fields,
        }
    }

    /// Whether the route exists in production.
    pub fn is_of_the_document(&self) -> bool {
        !self.path.starts_with("/dev") && self.path != "/"
    }

    pub fn takes_body(&self) -> bool {
        self.takes != Takes::Nothing
    }
}

/// Routes that take a body.
pub fn with_body() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.takes_body())
}
