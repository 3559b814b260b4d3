//! `/dev/mail`: a small inbox of the mails that the file transport wrote. Development mode only, loopback only: what
//! stands there opens accounts.

use axum::extract::{FromRequestParts, State};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, StatusCode};

use crate::app::App;
use crate::client::{PeerAddr, SEC_FETCH_SITE};
use crate::error::{ApiError, Result};
use crate::pages::{Cell, Markup, Page};
use crate::path::PathText;

/// Mails on the page.
const SHOWN: usize = 100;
/// Headers that a proxy adds: what came through one is not from here.
const FORWARDING: [&str; 6] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];
/// The HTML part of a mail in a frame: its styles and nothing else; no script, no origin.
const FRAME_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'self'",
);

/// A caller on this machine, with a browser that was not sent here by another site. Anybody else: 404, as if the page
/// did not exist.
pub struct LocalCaller;

impl FromRequestParts<App> for LocalCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let PeerAddr(peer) = PeerAddr::from_request_parts(parts, app).await?;
        let is_local = app.settings.development
            && peer.ip().to_canonical().is_loopback()
            && has_local_host(&parts.headers)
            && !FORWARDING.iter().any(|name| parts.headers.contains_key(*name))
            && !parts.headers.get_all(SEC_FETCH_SITE).iter().any(|site| site == "cross-site");
        if is_local { Ok(Self) } else { Err(ApiError::of_status(StatusCode::NOT_FOUND)) }
    }
}

fn has_local_host(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(http::header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let Ok(host) = host.to_str() else { return false };
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    ["localhost", "127.0.0.1", "::1"].contains(&name)
}

/// `GET /dev/mail`
pub async fn list(State(app): State<App>, _: LocalCaller) -> Result<Page> {
    let mails = app.service.list_inbox(SHOWN).await?;
    let body = if mails.is_empty() {
        Markup::new().paragraph("No mails yet. They appear here as soon as the service sends one.")
    } else {
        let rows = mails.into_iter().map(|mail| {
            let href = format!("/dev/mail/{}", mail.id);
            vec![
                Cell::Text(mail.date.to_string()),
                Cell::Text(mail.to),
                Cell::Link { href, text: mail.subject },
            ]
        });
        Markup::new().table(&["Date", "To", "Subject"], rows)
    };
    Ok(Page::new(StatusCode::OK, "Mails", body))
}

/// `GET /dev/mail/{id}`
pub async fn show(State(app): State<App>, _: LocalCaller, PathText(id): PathText) -> Result<Page> {
    let mail = app.service.read_inbox(&id).await?;
    let body = Markup::new()
        .paragraph(&format!("From {} to {}, {}", mail.from, mail.to, mail.date))
        .preformatted(&mail.text)
        .link(&format!("/dev/mail/{id}/html"), "The HTML part")
        .link("/dev/mail", "All mails");
    Ok(Page::new(StatusCode::OK, mail.subject, body))
}

/// `GET /dev/mail/{id}/html`
pub async fn html(State(app): State<App>, _: LocalCaller, PathText(id): PathText) -> Result<Response> {
    let mail = app.service.read_inbox(&id).await?;
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CONTENT_SECURITY_POLICY, FRAME_POLICY),
    ];
    Ok((headers, mail.html).into_response())
}
