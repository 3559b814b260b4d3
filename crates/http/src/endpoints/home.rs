//! `GET /`: the home page of development mode, with links to other pages. In production the path does not exist.

use axum::extract::State;
use axum::routing::on;
use http::StatusCode;

use crate::app::App;
use crate::endpoint::{Access, Endpoint};
use crate::pages::{Markup, Page};

/// The links on the page: path, text, description.
const LINKS: &[(&str, &str, &str)] = &[
    ("/openapi.json", "OpenAPI document", "Every call of the interface, for viewers, generators and tools"),
    ("/dev/mail", "Inbox", "The mails that this service wrote"),
    ("/api/auth/public-config", "Public settings", "Sign-in methods and password rules"),
    ("/.well-known/jwks.json", "Signing keys", "To verify access tokens elsewhere"),
    ("/health/ready", "Health", "Whether the database reads and writes"),
];

pub const HOME: Endpoint = Endpoint::get("/", |method| on(method, get)).access(Access::Development);

pub async fn get(State(app): State<App>) -> Page {
    let body = Markup::new()
        .paragraph(&format!("This service runs in development mode at {}.", app.settings.public_origin()))
        .links(LINKS)
        .quiet("In production this page and the inbox do not exist.");
    Page::new(StatusCode::OK, app.service.name(), body)
}
