//! `GET /docs`: the document of the interface as a page for people. Development mode only. Made on the server: no
//! script, nothing from elsewhere.

mod curl;
mod operation;
mod shape;
mod text;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use latchkey_domain::reason::Reason;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{OpenApi, PathItem};

use crate::app::App;
use crate::error::catalogue;
use crate::openapi::api;
use crate::pages::escape;

/// The page's style sheet, inline. Its hash stands in [`POLICY`].
const STYLE: &str = include_str!("../pages/docs.css");

/// Nothing but the style sheet (CSP level 3).
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'sha256-f38AkGbsAHgNGd0BBW/2XkqznON6De3e2LUg+x2hVzQ='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// `GET /docs`
pub async fn get(State(app): State<App>) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, page(&api(), &app.settings.public_origin())).into_response()
}

/// The whole page. `origin` is where the examples send their requests.
fn page(api: &OpenApi, origin: &str) -> String {
    let title = escape(&api.info.title);
    let about = text::paragraphs(api.info.description.as_deref().unwrap_or_default());
    let groups: Vec<_> = groups(api);
    let contents: String = groups.iter().map(|(name, _, operations)| contents_of(name, operations)).collect();
    let operations: String =
        groups.iter().map(|(name, about, operations)| section(name, about, operations, origin)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"robots\" content=\"noindex\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <nav aria-label=\"Contents\">\n{contents}<h2>More</h2>\n<ul><li><a href=\"#shapes\">Shapes</a></li>\
         <li><a href=\"#errors\">Errors</a></li><li><a href=\"/openapi.json\">openapi.json</a></li></ul>\n</nav>\n\
         <main>\n<h1>{title}</h1>\n{about}{operations}{}{}</main>\n</body>\n</html>\n",
        shape::section(api),
        errors(),
    )
}

/// A group of operations.
fn section(name: &str, about: &str, calls: &[Call<'_>], origin: &str) -> String {
    let operations: String = calls.iter().map(|call| operation::article(call, origin)).collect();
    format!("<section>\n<h2>{}</h2>\n{}{operations}</section>\n", escape(name), text::paragraphs(about))
}

/// One operation, and where it is.
struct Call<'a> {
    method: &'static str,
    path: &'a str,
    operation: &'a Operation,
}

/// The groups of the document: name, description, operations.
fn groups(api: &OpenApi) -> Vec<(&str, &str, Vec<Call<'_>>)> {
    let calls = || api.paths.paths.iter().flat_map(|(path, item)| calls_of(path, item));
    let tags = api.tags.iter().flatten();
    tags.map(|tag| {
        let is_here = |call: &Call| call.operation.tags.iter().flatten().any(|name| *name == tag.name);
        (tag.name.as_str(), tag.description.as_deref().unwrap_or_default(), calls().filter(is_here).collect())
    })
    .collect()
}

fn calls_of<'a>(path: &'a str, item: &'a PathItem) -> impl Iterator<Item = Call<'a>> {
    let methods = [
        ("GET", &item.get),
        ("POST", &item.post),
        ("PUT", &item.put),
        ("PATCH", &item.patch),
        ("DELETE", &item.delete),
    ];
    methods.into_iter().filter_map(move |(method, operation)| {
        operation.as_ref().map(|operation| Call { method, path, operation })
    })
}

fn contents_of(group: &str, calls: &[Call<'_>]) -> String {
    let entry = |call: &Call<'_>| {
        let id = escape(call.operation.operation_id.as_deref().unwrap_or_default());
        format!("<li><a href=\"#{id}\">{id}</a></li>")
    };
    let entries: String = calls.iter().map(entry).collect();
    format!("<h2>{}</h2>\n<ul>{entries}</ul>\n", escape(group))
}

/// The catalogue of errors.
fn errors() -> String {
    let row = |name: &str, status: u16, when: &str, action: &str| {
        let (when, action) = (text::inline(when), text::inline(action));
        format!("<tr><td><code>{name}</code></td><td>{status}</td><td>{when}</td><td>{action}</td></tr>\n")
    };
    let rows: String =
        catalogue().iter().map(|code| row(code.name, code.status, code.when, code.next_action)).collect();
    let reason = |word: &str, when: &str| {
        format!("<tr><td><code>{word}</code></td><td>{}</td></tr>\n", text::inline(when))
    };
    let reasons: String = Reason::ALL.iter().map(|one| reason(one.as_str(), one.when())).collect();
    format!(
        "<section id=\"errors\">\n<h2>Errors</h2>\n<table><thead><tr><th>Code</th><th>Status</th><th>When</th>\
         <th>What to do</th></tr></thead>\n<tbody>\n{rows}</tbody></table>\n<table><thead><tr><th>Reason</th><th>When</th></tr>\
         </thead>\n<tbody>\n{reasons}</tbody></table>\n</section>\n"
    )
}

#[cfg(test)]
mod tests;
