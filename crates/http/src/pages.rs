//! Small HTML pages: no script, no remote resource, all text escaped. Endpoints write the texts, except those of the
//! pages for mailed links and failed sign-ins, which are here and in the modules below.

mod headers;
mod markup;
mod undo;

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, InvalidHeaderValue};
use http::{HeaderName, HeaderValue, StatusCode};

use crate::error::Shaped;

use headers::HEADERS;
use markup::escape;
pub use markup::{Field, Markup};
pub use undo::{UndoForm, ask_again, ask_for_code, ask_to_undo, dead_undo, undone};

/// The style sheet, inline in every page. [`POLICY`] contains its hash.
const STYLE: &str = include_str!("pages/style.css");

/// Content Security Policy (level 3) that allows the style sheet only: no script, frames, forms or requests.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'sha256-HjusyJ3lqTghjF9/qj9LRwPVxpPWEjj5ZBTxs56ZIyI='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// An HTML page with a title and a Content Security Policy.
pub struct Page {
    pub status: StatusCode,
    /// Plain text, used as title and as heading.
    pub title: String,
    /// The HTML below the heading.
    pub body: Markup,
    policy: HeaderValue,
    /// Seconds after which a browser loads the page again.
    refresh: Option<u8>,
    /// Headers beside the policy.
    headers: &'static [(&'static str, &'static str)],
}

/// The purpose of a link in a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    VerifyEmail,
    ResetPassword,
    SignIn,
}

impl Page {
    /// Creates a page with the strict policy, which allows its style sheet only.
    #[must_use]
    pub fn new(status: StatusCode, title: impl Into<String>, body: Markup) -> Self {
        Self { status, title: title.into(), body, policy: POLICY, refresh: None, headers: &[] }
    }

    /// Replaces the Content Security Policy, for a page that contains a frame.
    #[must_use]
    pub fn policy(mut self, policy: HeaderValue) -> Self {
        self.policy = policy;
        self
    }

    /// Adds the headers of the hosted pages, for a page with a task.
    #[must_use]
    fn with_headers(mut self) -> Self {
        self.headers = &HEADERS;
        self
    }

    /// Lets the browser load the page again after some seconds.
    #[must_use]
    pub fn loaded_again_after(mut self, seconds: u8) -> Self {
        self.refresh = Some(seconds);
        self
    }

    fn html(&self) -> String {
        let refresh =
            self.refresh.map(|seconds| format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">\n"));
        let refresh = refresh.unwrap_or_default();
        let title = escape(&self.title);
        let body = self.body.as_str();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"robots\" content=\"noindex\">\n\
             {refresh}<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n\
             </body>\n</html>\n"
        )
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let html = self.html();
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (CONTENT_SECURITY_POLICY, self.policy),
        ];
        let mut response = (self.status, headers, html).into_response();
        for (name, value) in self.headers {
            let name = HeaderName::from_static(name);
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response.extensions_mut().insert(Shaped); // the middleware must not replace the page by a JSON error
        response
    }
}

/// Builds the page (status 400) for a mailed link that is unknown, used or replaced, and has no redirect target. It
/// does not reveal which of these applies, and states what the user can do next.
#[must_use]
pub fn dead_link(kind: LinkKind, service_name: &str) -> Page {
    let (what, advice) = match kind {
        LinkKind::VerifyEmail => (
            "verify an email address",
            "If your address is verified already, simply sign in. Otherwise go back to the app, ask for a new \
             verification mail, and open the link in the newest one.",
        ),
        LinkKind::SignIn => (
            "sign in",
            "Go back to the app, ask for a new mail to sign in, and open the link in the newest one.",
        ),
        LinkKind::ResetPassword => (
            "reset a password",
            "Go back to the app, ask for a new mail to reset your password, and open the link in the newest one.",
        ),
    };
    let body = Markup::new()
        .paragraph(&format!("This link was meant to {what} at {service_name}. It has expired, was replaced by a newer one, or was not copied whole."))
        .paragraph(advice)
        .paragraph("If you did not ask for this mail, you need not do anything.");
    Page::new(StatusCode::BAD_REQUEST, "This link does not work", body)
}

/// Builds the page that asks for confirmation before an email address is verified. It is shown if the account was used
/// before the verification, by another browser than this one: the verification would remove the account's password,
/// sessions, linked identities and profile texts. After the confirmation the browser goes to `target`.
pub fn ask_to_verify(
    token: &str,
    target: Option<&str>,
    service_name: &str,
) -> Result<Page, InvalidHeaderValue> {
    let body = Markup::new()
        .paragraph(&format!(
            "Somebody made an account with your email address at {service_name} and used it before the address was \
             verified. Your click makes the account yours, and for your safety takes out of it what was put there so far:"
        ))
        .list(&[
            "its password",
            "accounts at other providers that it can be entered with",
            "all its sessions: whoever is signed in is signed out",
            "the name, picture and text of its public profile",
        ])
        .button("/api/auth/email/verify-link", ("token", token), "Verify and remove")
        .paragraph("Afterwards, set a password of your own with “Forgot password” in the app.")
        .quiet(
            "Was it you? Then open the link of the mail in the browser in which you are signed in: you keep everything.",
        )
        .quiet("If you did not ask for this mail, close this page. Nothing was changed.");
    Ok(Page::new(StatusCode::OK, "Verify your email address", body).policy(form_policy(target)?))
}

/// Builds the Content Security Policy of a page with a form: the strict policy with another `form-action`. Browsers
/// apply `form-action` to redirects after the form too, so it allows any web address, and the app's own scheme if
/// `target` has one.
fn form_policy(target: Option<&str>) -> Result<HeaderValue, InvalidHeaderValue> {
    let scheme = target.and_then(|target| target.split_once(':')).map(|(scheme, _)| scheme);
    let app = scheme.filter(|scheme| !["http", "https"].contains(scheme));
    let allowed = app.map_or_else(|| "*".to_owned(), |scheme| format!("* {scheme}:"));
    let strict = POLICY;
    let policy = String::from_utf8_lossy(strict.as_bytes());
    HeaderValue::try_from(policy.replace("form-action 'none'", &format!("form-action {allowed}")))
}

/// Builds the page (status 400) for a failed sign-in through an identity provider, if the service does not know to
/// which app it should redirect the browser. `message` states the cause in our own words, not in the provider's.
#[must_use]
pub fn dead_sign_in(message: &str, service_name: &str) -> Page {
    let body = Markup::new().paragraph(message).paragraph(&format!(
        "Nothing was changed at {service_name}. Go back to the app and sign in there once more."
    ));
    Page::new(StatusCode::BAD_REQUEST, "This sign-in cannot be finished", body)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn policy_names_the_style_and_no_script() {
        let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
        let policy = POLICY.to_str().unwrap().to_owned();
        assert!(policy.contains(&format!("'sha256-{hash}'")), "sha256-{hash}");
        assert!(!policy.contains("script") && !policy.contains("unsafe"));
    }

    #[test]
    fn text_is_escaped() {
        let page =
            Page::new(StatusCode::OK, "<b>", Markup::new().paragraph("</p><script>alert('1')</script>&\""));
        let html = page.html();
        assert!(html.contains("<title>&lt;b&gt;</title>"));
        assert!(html.contains("<p>&lt;/p&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;</p>"));
    }

    #[test]
    fn page_that_asks_has_one_form_and_its_policy_lets_it_go_to_the_app() {
        let token = "ab".repeat(32);
        for (target, allowed) in [
            (Some("https://app.example/done"), "form-action *;"),
            (Some("myapp://callback"), "form-action * myapp:;"),
            (None, "form-action *;"),
        ] {
            let page = ask_to_verify(&token, target, "Acme & Co").unwrap();
            let html = page.html();
            assert_eq!(
                html.matches("<form method=\"post\" action=\"/api/auth/email/verify-link\">").count(),
                1
            );
            assert!(
                html.contains(&format!("name=\"token\" value=\"{token}\"")) && html.contains("Acme &amp; Co")
            );
            let response = page.into_response();
            assert_eq!(response.status(), StatusCode::OK);
            let policy = response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
            assert!(policy.contains(allowed) && policy.contains("default-src 'none'"), "{policy}");
            assert!(!policy.contains("script") && policy.contains("frame-ancestors 'none'"), "{policy}");
        }
    }

    #[test]
    fn dead_link_is_400_and_says_what_to_do() {
        for kind in [LinkKind::VerifyEmail, LinkKind::ResetPassword, LinkKind::SignIn] {
            let page = dead_link(kind, "Acme & Co");
            assert!(page.html().contains("ask for a new") && page.html().contains("Acme &amp; Co"));
            let response = page.into_response();
            assert_eq!(response.status(), StatusCode::BAD_REQUEST);
            assert_eq!(response.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
        }
    }
}
