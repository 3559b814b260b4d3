//! `/dev/mail`: an inbox of the mails that the file transport wrote, as pages, and as JSON for tests (`Accept:
//! application/json`). It exists in development mode only, and only requests from this machine get a response, because
//! codes and links in the mails give access to accounts.

use axum::extract::{FromRequestParts, State};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use latchkey_domain::time::Timestamp;
use latchkey_service::outbox::inbox::{ParsedMail, StoredMail};
use serde::Serialize;

use crate::app::App;
use crate::client::{PeerAddr, SEC_FETCH_SITE};
use crate::endpoint::{Access, Endpoint};
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::pages::{Markup, Page};
use crate::path::PathText;

/// Maximum number of mails in the inbox.
const SHOWN: usize = 100;
/// Seconds after which a browser loads the inbox again, so that it shows the newest mail.
const REFRESH: u8 = 5;
/// Headers that proxies add, besides all that begin with `x-forwarded`. A request with one of them may come from
/// another machine.
const FORWARDING: [&str; 8] = [
    "forwarded",
    "via",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-original-forwarded-for",
    "cf-connecting-ip",
    "true-client-ip",
];
/// Content Security Policy for the HTML part of a mail, shown in a frame: inline styles and embedded images, no script,
/// an opaque origin.
const FRAME_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'self'",
);

/// Extractor for a caller on this machine whose browser was not sent here by another site. Any other caller gets 404,
/// as if the page did not exist.
pub struct LocalCaller;

impl FromRequestParts<App> for LocalCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let PeerAddr(peer) = PeerAddr::from_request_parts(parts, app).await?;
        let is_local = app.settings.development
            && peer.ip().to_canonical().is_loopback()
            && has_local_host(parts)
            && !parts.headers.keys().any(is_forwarding)
            && parts
                .headers
                .get_all(SEC_FETCH_SITE)
                .iter()
                .all(|site| site == "none" || site == "same-origin");
        if is_local { Ok(Self) } else { Err(ApiError::of_status(StatusCode::NOT_FOUND)) }
    }
}

fn is_forwarding(name: &HeaderName) -> bool {
    FORWARDING.contains(&name.as_str()) || name.as_str().starts_with("x-forwarded")
}

/// True if the single `Host` header, or `:authority` of HTTP/2, names this machine.
fn has_local_host(parts: &Parts) -> bool {
    let mut hosts = parts.headers.get_all(HOST).iter().map(|host| host.to_str().unwrap_or_default());
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => is_local(host),
        (None, _) => parts.uri.authority().is_some_and(|authority| is_local(authority.as_str())),
        _ => false,
    }
}

/// True for `localhost`, `127.0.0.1` or `[::1]`, with or without a port.
fn is_local(host: &str) -> bool {
    let rests = ["localhost", "127.0.0.1", "[::1]"].into_iter().filter_map(|name| host.strip_prefix(name));
    let is_port = |rest: &str| rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    rests.into_iter().any(|rest| rest.is_empty() || is_port(rest))
}

pub const LIST: Endpoint = Endpoint::get("/dev/mail", |method| on(method, list)).access(Access::Development);

/// Response body of the inbox for programs.
#[derive(Serialize)]
struct InboxBody {
    /// The newest first.
    mails: Vec<EntryBody>,
}

#[derive(Serialize)]
struct EntryBody {
    id: String,
    date: Timestamp,
    to: String,
    subject: String,
}

pub async fn list(State(app): State<App>, _: LocalCaller, headers: HeaderMap) -> Result<Response> {
    let mails = app.service.outbox.list_inbox(SHOWN).await?;
    if wants_json(&headers) {
        let entry =
            |mail: StoredMail| EntryBody { id: mail.id, date: mail.date, to: mail.to, subject: mail.subject };
        return Ok(Json(InboxBody { mails: mails.into_iter().map(entry).collect() }).into_response());
    }
    let rows = mails.into_iter().map(|mail| {
        let about = format!("{} · {}", mail.to, mail.date);
        (format!("/dev/mail/{}", mail.id), mail.subject, about)
    });
    let rows: Vec<_> = rows.collect();
    let body = if rows.is_empty() {
        Markup::new().paragraph("No mails yet. They appear here as soon as the service sends one.")
    } else {
        let links: Vec<_> = rows.iter().map(|(href, text, about)| (&**href, &**text, &**about)).collect();
        Markup::new().links(&links)
    };
    Ok(Page::new(StatusCode::OK, "Mails", body).loaded_again_after(REFRESH).into_response())
}

/// True if the response is for a program, such as a test that needs the code of a mail.
fn wants_json(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).iter().filter_map(|kinds| kinds.to_str().ok()).any(|kinds| {
        let mut first = kinds.split(',').next().unwrap_or_default().split(';').map(str::trim);
        // A weight of 0 refuses the kind (RFC 9110 section 12.4.2).
        first.next() == Some("application/json")
            && !first.any(|parameter| ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains(&parameter))
    })
}

/// Response body of a mail for programs.
#[derive(Serialize)]
struct MailBody {
    id: String,
    date: Timestamp,
    from: String,
    to: String,
    subject: String,
    text: String,
    html: String,
}

pub const SHOW: Endpoint =
    Endpoint::get("/dev/mail/{id}", |method| on(method, show)).access(Access::Development);

pub async fn show(
    State(app): State<App>,
    _: LocalCaller,
    headers: HeaderMap,
    PathText(id): PathText,
) -> Result<Response> {
    let mail = app.service.outbox.read_inbox(&id).await?;
    if wants_json(&headers) {
        let ParsedMail { id, date, from, to, subject, text, html } = mail;
        return Ok(Json(MailBody { id, date, from, to, subject, text, html }).into_response());
    }
    let body = Markup::new()
        .paragraph(&format!("From {} to {}, {}", mail.from, mail.to, mail.date))
        .preformatted(&mail.text)
        .link(&format!("/dev/mail/{id}/html"), "The HTML part")
        .link("/dev/mail", "All mails");
    Ok(Page::new(StatusCode::OK, mail.subject, body).into_response())
}

pub const HTML: Endpoint =
    Endpoint::get("/dev/mail/{id}/html", |method| on(method, html)).access(Access::Development);

pub async fn html(State(app): State<App>, _: LocalCaller, PathText(id): PathText) -> Result<Response> {
    let mail = app.service.outbox.read_inbox(&id).await?;
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CONTENT_SECURITY_POLICY, FRAME_POLICY),
    ];
    Ok((headers, mail.html).into_response())
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn local_hosts_are_three_names_with_a_port_or_without() {
        for host in ["localhost", "localhost:8700", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:8700"] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "",
            "localhost.",
            "localhost.evil.example",
            "localhost:x",
            "localhost:",
            "localhost@evil.example",
            "127.0.0.1.nip.io",
            "127.0.0.2",
            "::1",
            "[localhost]",
            "[::1",
            "[::2]",
            "evil.example",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }
}
