//! Facts about the page.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::*;

fn html() -> String {
    page(&api(), "http://localhost:8700")
}

#[test]
fn policy_names_the_style_and_no_script() {
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    let policy = POLICY.to_str().unwrap().to_owned();
    assert!(policy.contains(&format!("'sha256-{hash}'")), "sha256-{hash}");
    assert!(!policy.contains("script") && !policy.contains("unsafe"));
}

#[test]
fn page_runs_and_loads_nothing() {
    let html = html();
    for forbidden in ["<script", "<link", "<img", "<iframe", " src=", " style=", "javascript:", " onclick"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn every_operation_is_there_with_an_example() {
    let html = html();
    let api = api();
    let calls = api.paths.paths.iter().flat_map(|(path, item)| calls_of(path, item));
    for call in calls {
        let id = call.operation.operation_id.as_deref().unwrap();
        assert!(html.contains(&format!("<article id=\"{id}\">")), "{id}");
        assert!(html.contains(&format!("curl -X {} &#39;http://localhost:8700/", call.method)), "{id}");
    }
}

#[test]
fn every_link_has_its_target() {
    let html = html();
    for link in html.split("href=\"#").skip(1) {
        let target = link.split('"').next().unwrap();
        assert!(html.contains(&format!("id=\"{target}\"")), "{target}");
    }
}

#[test]
fn commands_carry_credentials_and_bodies() {
    let html = html();
    assert!(html.contains("-H &#39;Authorization: Bearer ADMIN_KEY&#39;"));
    assert!(html.contains("/api/auth/refresh?client_type=server&#39;"));
    assert!(html.contains("/api/profiles/search?q=ada&#39;"));
    assert!(html.contains("/api/auth/sessions?others=true&#39;"));
}

#[test]
fn text_is_escaped_and_back_quotes_are_code() {
    assert_eq!(text::inline("a `<b>` & c"), "a <code>&lt;b&gt;</code> &amp; c");
    assert_eq!(text::paragraphs("a\n\nb"), "<p>a</p>\n<p>b</p>\n");
}
