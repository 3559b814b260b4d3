//! HTML pages of the undo link in a mail: the page with the form, the same page after a refused form, and the page with
//! the outcome.

use http::{HeaderValue, StatusCode};
use latchkey_domain::undo::UndoableEvent;
use latchkey_service::undo::UndoLink;

use super::{Field, Markup, POLICY, Page};

const ACTION: &str = "/api/auth/undo";

/// Values that the form contains when the page is shown.
#[derive(Default)]
pub struct UndoForm<'a> {
    pub token: &'a str,
    /// The email address that the user typed before; empty at first.
    pub email: &'a str,
    /// The reason for which the form is shown again; `None` at first.
    pub problem: Option<&'a str>,
}

/// Builds the page that a valid undo link opens. It says what was changed and when, and what an undo does, and has the
/// form.
#[must_use]
pub fn ask_to_undo(form: &UndoForm<'_>, link: UndoLink, service_name: &str) -> Page {
    let (what, title) = match link.event {
        UndoableEvent::TwoStepOn => {
            ("Two-step sign-in was turned on for your account", "Undo two-step sign-in?")
        }
        UndoableEvent::PasskeyAdded => ("A passkey was added to your account", "Remove the passkey?"),
        UndoableEvent::EmailChanged => {
            ("Another email address was given to your account", "Undo the new email address?")
        }
        UndoableEvent::DeletionScheduled => ("Your account was deleted", "Restore your account?"),
    };
    let when = link.happened_at.to_minute_text();
    let body = Markup::new()
        .paragraph(&format!(
            "{what} at {service_name} on {when}. If it was not you, undo it here. Then:"
        ))
        .list(&[
            "Your account has the email address again that the mail came to.",
            "Two-step sign-in is off, unless it was on before.",
            "Passkeys, authenticator apps and sign-ins with other providers that were added since the day before are removed.",
            "The password no longer works, and all sessions are signed out.",
            "If the account is being deleted, it is restored.",
            "You get a mail to set a new password.",
        ]);
    let body = with_form(body, form, None)
        .quiet("Was it you? Then close this page. Nothing was changed.")
        .quiet("The address is asked for so that a link alone, without the mailbox, changes nothing.");
    page(StatusCode::OK, title, body)
}

/// Builds the page (status 400) that shows the form again after its input was refused.
#[must_use]
pub fn ask_again(form: &UndoForm<'_>) -> Page {
    page(StatusCode::BAD_REQUEST, "Nothing was changed yet", with_form(Markup::new(), form, None))
}

/// Builds the page that asks for a second factor too. The status is 400 if a code was refused before, and 200
/// otherwise.
#[must_use]
pub fn ask_for_code(form: &UndoForm<'_>) -> Page {
    let body = Markup::new().paragraph(
        "Your account had two-step sign-in before already. Enter the current code of your authenticator app, or one of \
         your recovery codes.",
    );
    let code = Field::Text {
        name: "code",
        label: "Code of the app, or recovery code",
        value: "",
        kind: "text",
        autocomplete: "one-time-code",
    };
    let status = if form.problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    page(status, "One more step", with_form(body, form, Some(code)))
}

/// Builds the page that confirms the undo.
#[must_use]
pub fn undone(service_name: &str) -> Page {
    let body = Markup::new()
        .paragraph(&format!(
            "The change of your account at {service_name} was taken back. The password no longer works, and all sessions \
             were signed out."
        ))
        .paragraph("A mail is on its way to you. Set a new password with it, one that you use nowhere else.");
    Page::new(StatusCode::OK, "It was undone", body).with_headers()
}

/// Builds the page (status 400) for an undo link that is unknown, used or expired.
#[must_use]
pub fn dead_undo(service_name: &str) -> Page {
    let body = Markup::new()
        .paragraph(&format!(
            "This link was meant to undo a change of an account at {service_name}. It has expired, was used, or was not \
             copied whole. Nothing was changed."
        ))
        .paragraph(&format!(
            "Does someone else use your account? Set a new password with “Forgot password” in the app. If that asks for a \
             code that you do not have, ask the people who run {service_name} for help."
        ));
    Page::new(StatusCode::BAD_REQUEST, "This link does not work", body).with_headers()
}

fn with_form(body: Markup, form: &UndoForm<'_>, code: Option<Field<'_>>) -> Markup {
    let body = form.problem.into_iter().fold(body, Markup::alert);
    let token = Field::Hidden { name: "token", value: form.token };
    let email = Field::Text {
        name: "email",
        label: "Email address that the mail came to",
        value: form.email,
        kind: "email",
        autocomplete: "email",
    };
    let fields: Vec<_> = [token, email].into_iter().chain(code).collect();
    body.form(ACTION, &fields, "Undo")
}

/// Builds a page whose Content Security Policy allows its form to be sent to this service.
fn page(status: StatusCode, title: &str, body: Markup) -> Page {
    let policy =
        String::from_utf8_lossy(POLICY.as_bytes()).replace("form-action 'none'", "form-action 'self'");
    let policy = HeaderValue::try_from(policy).unwrap_or(POLICY);
    Page::new(status, title, body).policy(policy).with_headers()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use axum::response::IntoResponse;
    use http::header::CONTENT_SECURITY_POLICY;
    use latchkey_domain::time::Timestamp;

    use super::*;

    #[test]
    fn question_says_what_happened_and_when_and_posts_to_this_service_alone() {
        let token = "ab".repeat(32);
        let form = UndoForm { token: &token, ..UndoForm::default() };
        let link = UndoLink {
            event: UndoableEvent::TwoStepOn,
            happened_at: Timestamp::from_millis(1_772_445_840_000),
        };
        let page = ask_to_undo(&form, link, "Acme & Co");
        let html = page.html();
        for part in ["2026-03-02 10:04 UTC", "Acme &amp; Co", "Two-step sign-in was turned on", &token] {
            assert!(html.contains(part), "{part}");
        }
        assert!(!html.contains("name=\"code\"") && !html.contains("role=\"alert\""));
        let response = page.into_response();
        let policy = response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains("form-action 'self'") && policy.contains("frame-ancestors 'none'"));
        assert!(policy.contains("default-src 'none'") && !policy.contains("script"));
    }

    #[test]
    fn question_about_a_passkey_names_it() {
        let link = UndoLink { event: UndoableEvent::PasskeyAdded, happened_at: Timestamp::from_millis(0) };
        let page = ask_to_undo(&UndoForm::default(), link, "Acme");
        for part in ["A passkey was added to your account at Acme on", "Remove the passkey?"] {
            assert!(page.html().contains(part), "{part}");
        }
    }

    #[test]
    fn form_is_shown_again_with_the_typed_address_and_the_reason() {
        let form = UndoForm { token: "t", email: "\"ada", problem: Some("Wrong <code>.") };
        for (page, has_code) in [(ask_again(&form), false), (ask_for_code(&form), true)] {
            let html = page.html();
            assert_eq!(page.status, StatusCode::BAD_REQUEST);
            assert!(html.contains("value=\"&quot;ada\"") && html.contains("Wrong &lt;code&gt;."));
            assert_eq!(html.contains("name=\"code\""), has_code);
        }
    }
}
