//! One operation on the page.

use std::fmt::Write;

use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::{RefOr, Required, Response};

use super::{Call, curl, shape, text};
use crate::pages::escape;

/// The article of an operation.
pub(super) fn article(call: &Call<'_>, origin: &str) -> String {
    let operation = call.operation;
    let id = escape(operation.operation_id.as_deref().unwrap_or_default());
    let summary = text::inline(operation.summary.as_deref().unwrap_or_default());
    let mut html = format!(
        "<article id=\"{id}\">\n<h3>{summary} <a href=\"#{id}\">{id}</a></h3>\n\
         <p class=\"call\"><b>{}</b> <code>{}</code></p>\n{}",
        call.method,
        escape(call.path),
        text::paragraphs(operation.description.as_deref().unwrap_or_default()),
    );
    html.push_str(&credentials(call));
    html.push_str(&parameters(operation.parameters.as_deref().unwrap_or_default()));
    html.push_str(&operation.request_body.as_ref().map(body).unwrap_or_default());
    html.push_str(&answers(call));
    let command = escape(&curl::command(call, origin));
    let _ = write!(html, "<h4>Example</h4>\n<pre>{command}</pre>\n</article>\n"); // a String takes everything
    html
}

fn credentials(call: &Call<'_>) -> String {
    let requirements = serde_json::to_value(&call.operation.security).unwrap_or_default();
    let names: Vec<_> = requirements
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|requirement| requirement.as_object())
        .map(|requirement| match requirement.keys().next() {
            Some(name) => format!("<code>{}</code>", escape(name)),
            None => "none".to_owned(),
        })
        .collect();
    if names.is_empty() { String::new() } else { format!("<p>Credentials: {}.</p>\n", names.join(" or ")) }
}

fn parameters(parameters: &[RefOr<Parameter>]) -> String {
    let rows: String = parameters
        .iter()
        .filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(parameter_row(parameter)),
            RefOr::Ref(_) => None,
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<h4>Parameters</h4>\n<table><thead><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead>\n\
         <tbody>\n{rows}</tbody></table>\n"
    )
}

fn parameter_row(parameter: &Parameter) -> String {
    let place = match parameter.parameter_in {
        ParameterIn::Path => "path",
        ParameterIn::Header => "header",
        ParameterIn::Cookie => "cookie",
        ParameterIn::Query | ParameterIn::QueryString => "query",
    };
    let needed = if matches!(parameter.required, Required::True) { " <b>required</b>" } else { "" };
    let kind = parameter.schema.as_ref().map(shape::kind).unwrap_or_default();
    let about = text::inline(parameter.description.as_deref().unwrap_or_default());
    let name = escape(&parameter.name);
    format!("<tr><td><code>{name}</code>{needed}</td><td>{place}</td><td>{kind}</td><td>{about}</td></tr>\n")
}

fn body(body: &RefOr<RequestBody>) -> String {
    let RefOr::T(body) = body else { return String::new() };
    let kinds: Vec<_> = body
        .content
        .iter()
        .map(|(media_type, content)| {
            format!("<code>{}</code>: {}", escape(media_type), kind_of_content(content))
        })
        .collect();
    let needed = if matches!(body.required, Some(Required::True)) { "required" } else { "optional" };
    format!("<h4>Body</h4>\n<p>{} ({needed})</p>\n", kinds.join(", "))
}

fn kind_of_content(content: &RefOr<utoipa::openapi::Content>) -> String {
    match content {
        RefOr::T(content) => content.schema.as_ref().map(shape::kind).unwrap_or_default(),
        RefOr::Ref(_) => String::new(),
    }
}

fn answers(call: &Call<'_>) -> String {
    let row = |(status, response): (&String, &RefOr<Response>)| {
        let (about, kind) = answer(response);
        format!("<tr><td>{}</td><td>{about}</td><td>{kind}</td></tr>\n", escape(status))
    };
    let rows: String = call.operation.responses.responses.iter().map(row).collect();
    format!(
        "<h4>Answers</h4>\n<table><thead><tr><th>Status</th><th>When</th><th>What</th></tr></thead>\n\
         <tbody>\n{rows}</tbody></table>\n"
    )
}

/// When an answer comes, and what is in it. The common refusals are components, named by their code.
fn answer(response: &RefOr<Response>) -> (String, String) {
    match response {
        RefOr::Ref(to) => {
            let code = escape(to.ref_location.rsplit('/').next().unwrap_or_default());
            (format!("<a href=\"#errors\"><code>{code}</code></a>"), String::new())
        }
        RefOr::T(response) => {
            let kinds: Vec<_> = response.content.values().map(kind_of_content).collect();
            let headers: Vec<_> =
                response.headers.keys().map(|name| format!("<code>{}</code>", escape(name))).collect();
            let about = text::paragraphs(&response.description);
            (about, format!("{}<p>Headers: {}</p>", kinds.join(" or "), headers.join(", ")))
        }
    }
}
