//! The whole map on one screen.

use axum::Router;
use axum::routing::{delete, get, patch, post};

use crate::app::App;
use crate::caller::public_calls;
use crate::endpoints::auth::{
    audit, config, csrf, email, id_token, identities, logout, oauth, password, public_config, refresh,
    sessions, users,
};
use crate::endpoints::{auth, dev, health, home, jwks, openapi, profiles};

/// Every route. The layers around it are put on by [`crate::edge::Edge::wrap`].
pub fn router(app: App) -> Router {
    // Anybody may call these; where the operator demands it, with the anonymous key.
    let public = Router::new()
        .route("/api/auth/email/send-verification", post(email::send_verification::send))
        .route("/api/auth/email/verify", post(email::verify::verify))
        .route("/api/auth/email/send-reset-password", post(email::send_reset_password::send))
        .route(
            "/api/auth/email/exchange-reset-password-token",
            post(email::exchange_reset_password_token::exchange),
        )
        .route("/api/auth/email/reset-password", post(email::reset_password::reset))
        .route("/api/auth/oauth/{provider}", get(oauth::start::built_in))
        .route("/api/auth/oauth/custom/{key}", get(oauth::start::custom))
        .route("/api/auth/oauth/exchange", post(oauth::exchange::exchange))
        .route("/api/auth/id-token", post(id_token::sign_in))
        .route("/api/auth/profiles/{userId}", get(auth::profiles::get))
        .route("/api/auth/public-config", get(public_config::get))
        .route("/api/profiles/search", get(profiles::search::get))
        .route("/api/profiles/{userId}", get(profiles::user::get))
        .route_layer(public_calls(app.clone()));

    // For a signed-in user (sign-in itself is public).
    let signed_in = Router::new()
        .route(
            "/api/auth/sessions",
            post(sessions::sign_in)
                .route_layer(public_calls(app.clone()))
                .get(sessions::list)
                .delete(sessions::end_others),
        )
        .route("/api/auth/sessions/current", get(sessions::current))
        .route("/api/auth/sessions/{id}", delete(sessions::end_one))
        .route("/api/auth/password", post(password::change))
        .route("/api/auth/identities", get(identities::list))
        .route("/api/auth/identities/{provider}/link", post(identities::link))
        .route("/api/auth/identities/{provider}", delete(identities::unlink))
        .route("/api/auth/profiles/current", patch(auth::profiles::set))
        .route("/api/profiles/me", get(profiles::me::get).patch(profiles::me::patch));

    let routes = public.merge(open()).merge(signed_in).merge(admin());
    let routes = if app.settings.development { routes.merge(development()) } else { routes };
    routes.with_state(app)
}

/// Opened in a browser, by machines, or with a token of their own.
fn open() -> Router<App> {
    Router::new()
        .route("/api/auth/email/verify-link", get(email::verify_link::open).post(email::verify_link::agree))
        .route("/api/auth/email/reset-password-link", get(email::reset_password_link::open))
        .route(
            "/api/auth/oauth/{provider}/callback",
            get(oauth::callback::built_in).post(oauth::callback::built_in_form),
        )
        .route(
            "/api/auth/oauth/custom/{key}/callback",
            get(oauth::callback::custom).post(oauth::callback::custom_form),
        )
        .route("/api/auth/refresh", post(refresh::refresh))
        .route("/api/auth/csrf", get(csrf::get))
        .route("/api/auth/logout", post(logout::logout))
        .route("/.well-known/jwks.json", get(jwks::get))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/openapi.json", get(openapi::get))
}

/// For an admin. (A sign-up is a POST to the users as well.)
fn admin() -> Router<App> {
    Router::new()
        .route("/api/auth/users", post(users::post).get(users::list).delete(users::delete))
        .route("/api/auth/users/{id}", get(users::one).patch(users::change))
        .route("/api/auth/users/{id}/sessions", delete(users::end_sessions))
        .route("/api/auth/users/{id}/profile", delete(users::delete_profile))
        .route("/api/auth/config", get(config::get).put(config::put))
        .route("/api/auth/audit", get(audit::list))
        .route(
            "/api/auth/oauth/configs",
            get(oauth::configs::list_built_in).post(oauth::configs::create_built_in),
        )
        .route(
            "/api/auth/oauth/{provider}/config",
            get(oauth::configs::get_built_in)
                .put(oauth::configs::put_built_in)
                .delete(oauth::configs::delete_built_in),
        )
        .route(
            "/api/auth/oauth/custom/configs",
            get(oauth::configs::list_custom).post(oauth::configs::create_custom),
        )
        .route(
            "/api/auth/oauth/custom/{key}/config",
            get(oauth::configs::get_custom)
                .put(oauth::configs::put_custom)
                .delete(oauth::configs::delete_custom),
        )
}

/// Conveniences of development mode.
fn development() -> Router<App> {
    Router::new()
        .route("/", get(home::get))
        .route("/dev/mail", get(dev::mail::list))
        .route("/dev/mail/{id}", get(dev::mail::show))
        .route("/dev/mail/{id}/html", get(dev::mail::html))
}
