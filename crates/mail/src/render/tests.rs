#![allow(clippy::unwrap_used, clippy::expect_used)]

mod overrides;

use latchkey_domain::mail_kind::MailKind;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::SecurityEvent;

const VERIFY_CODE: Template = Template::of(MailKind::Verify, true);
const VERIFY_LINK: Template = Template::of(MailKind::Verify, false);
const RESET_CODE: Template = Template::of(MailKind::Reset, true);

fn render(template: Template, context: &MailContext) -> Rendered {
    Templates::embedded().unwrap().render(template, &[], context).map_err(|error| error.to_string()).unwrap()
}

/// Text without line breaks.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn named(name: &str) -> MailContext {
    MailContext { recipient_name: Some(name.to_owned()), ..sample(false) }
}

fn override_with(name: &str, content: &str) -> Result<Templates, TemplateError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), content).unwrap();
    Templates::load(folder.path())
}

#[test]
fn every_mail_stands_alone_in_text_and_in_html() {
    for template in Template::ALL.iter().copied() {
        let mail = render(template, &sample(true));
        let needle = match template.need {
            need if need.has_code() => "123456".to_owned(),
            crate::template::Need::Link => sample(true).link.unwrap(),
            _ => "192.0.2.7".to_owned(),
        };
        assert!(mail.text.contains(&needle), "{}: {}", template.name, mail.text);
        assert!(mail.html.replace("&#x2f;", "/").contains(&needle), "{}", template.name);
        let greeting = "Hello Ada Lovelace,";
        assert!(mail.text.contains(&format!("{greeting}\n")) && mail.html.contains(greeting));
        assert!(!mail.subject.contains('\n') && !mail.subject.contains("123456"));
        assert!(
            mail.text
                .lines()
                .all(|line| line.width() <= crate::wrap::COLUMNS || line.starts_with("https://")),
            "{}",
            mail.text
        );
    }
}

#[test]
fn html_is_accessible_and_fetches_nothing() {
    for template in Template::ALL.iter().copied() {
        let html = render(template, &sample(true)).html;
        for part in [
            "<html lang=\"en\">",
            "name=\"viewport\"",
            "<title>",
            "role=\"presentation\"",
            "<h1",
            "color-scheme",
            "word-break:break-word",
        ] {
            assert!(html.contains(part), "{}: {part}", template.name);
        }
        for part in ["<img", "src=", "url(", "@import", "<script", "<link", "<form"] {
            assert!(!html.contains(part), "{}: {part}", template.name);
        }
        assert!(html.matches("href=").count() <= 1);
    }
}

#[test]
fn without_a_name_the_greeting_is_plain() {
    let mail = render(VERIFY_CODE, &sample(false));
    assert!(mail.text.starts_with("Hello,\n") && mail.html.contains(">Hello,<"));
}

#[test]
fn hostile_names_are_escaped_in_html() {
    let mail = render(VERIFY_CODE, &named("<script>alert(1)<\"'&"));
    assert!(!mail.html.contains("<script"), "{}", mail.html);
    assert!(mail.html.contains("&lt;script&gt;alert(1)&lt;&quot;&#x27;&amp;"));
    assert!(mail.text.contains("<script>alert(1)<\"'&"));
}

#[test]
fn hostile_service_names_are_escaped_too() {
    let context = MailContext { service_name: "<b>Acme\r\nBcc: x".to_owned(), ..sample(false) };
    for template in Template::ALL.iter().copied() {
        let mail = render(template, &context);
        assert!(!mail.html.contains("<b>") && mail.html.contains("&lt;b&gt;Acme Bcc: x"));
        assert!(!mail.subject.contains(char::is_control) && mail.subject.contains("<b>Acme Bcc: x"));
    }
}

#[test]
fn template_marks_in_a_name_are_plain_text() {
    let mail = render(RESET_CODE, &named("{{7*7}}{% raw %}"));
    assert!(mail.text.contains("Hello {{7*7}}{% raw %},"), "{}", mail.text);
    assert!(!mail.html.contains("49"));
}

#[test]
fn a_name_cannot_add_lines() {
    let mail = render(VERIFY_CODE, &named("Ada\r\nBcc\n\nYour code\u{2028}is"));
    assert!(mail.text.starts_with("Hello Ada Bcc Your code is,\n\nEnter this code"), "{}", mail.text);
}

#[test]
fn a_name_that_is_a_link_is_left_out() {
    for name in [
        "https://evil.example/prize",
        "visit evil.example",
        "<a href=//evil.example>",
        "call +1 555 0100 200",
    ] {
        let mail = render(Template::of(MailKind::SignUpAttempt, false), &named(name));
        assert!(mail.text.starts_with("Hello,\n"), "{}", mail.text);
        assert!(!mail.html.contains("evil") && !mail.html.contains("555"));
    }
}

#[test]
fn a_contested_address_is_told_that_no_password_survives() {
    for template in [VERIFY_CODE, VERIFY_LINK] {
        let told = render(template, &MailContext { contested: true, ..sample(false) });
        let quiet = render(template, &sample(false));
        for (with, without) in [(told.text, quiet.text), (told.html, quiet.html)] {
            for part in ["signed up more than once", "no password given before is kept", "Forgot password"] {
                assert!(joined(&with).contains(part) && !joined(&without).contains(part), "{part}");
            }
            assert!(joined(&without).contains("Did you not ask for this?"));
        }
    }
}

#[test]
fn a_sign_in_mail_says_where_its_link_works_and_what_it_removes() {
    let template = Template::of(MailKind::SignIn, true);
    let full = render(template, &sample(true));
    let plain = render(template, &MailContext { link: None, ..sample(false) });
    for (with, without) in [(full.text, plain.text), (full.html, plain.html)] {
        for part in ["verify-link?token", "in the browser in which you asked", "Signing in removes them"] {
            assert!(joined(&with).contains(part) && !joined(&without).contains(part), "{part}");
        }
        assert!(joined(&with).contains("123456") && joined(&without).contains("123456"));
    }
}

#[test]
fn every_mail_tells_time_device_and_address() {
    for template in Template::ALL.iter().copied() {
        let mail = render(template, &sample(true));
        for body in [&mail.text, &mail.html] {
            for part in ["2026-03-02 10:04 UTC", "Firefox on Linux", "192.0.2.7"] {
                assert!(body.contains(part), "{}: {part}", template.name);
            }
            let is_undoable = ["two_step_on", "passkey_added", "email_changed", "deletion_scheduled"]
                .contains(&template.name);
            assert_eq!(body.contains("undo?token="), is_undoable, "{}", template.name);
        }
        let mail = render(template, &sample(false));
        for body in [&mail.text, &mail.html] {
            assert!(body.contains("10:04 UTC") && !body.contains("Firefox") && !body.contains("IP address:"));
        }
    }
}

#[test]
fn an_ipv6_address_breaks_at_its_colons_alone() {
    let event = SecurityEvent { address: Some("2001:db8::7<".to_owned()), ..sample(true).event };
    let context = MailContext { event, ..sample(true) };
    for template in [RESET_CODE, Template::of(MailKind::NewDevice, false)] {
        let mail = render(template, &context);
        assert!(mail.text.contains("2001:db8::7<"), "{}", mail.text);
        assert!(mail.html.contains("2001:<wbr>db8:<wbr>:<wbr>7&lt;"), "{}", mail.html);
    }
}

#[test]
fn the_undo_link_has_its_last_minute_and_an_outlined_button() {
    let template = Template::of(MailKind::TwoStepOn, false);
    let link = "https://accounts.example.org/api/auth/undo?token=0123456789abcdef";
    let mail = render(template, &sample(true));
    assert!(mail.text.contains(&format!("\n\n{link}\n\n")), "{}", mail.text);
    assert!(
        mail.html.replace("&#x2f;", "/").contains(&format!("<a class=\"outlined\" href=\"{link}\"")),
        "{}",
        mail.html
    );
    assert!(
        mail.html.contains(">This was not me</a>") && mail.html.contains("If the button"),
        "{}",
        mail.html
    );
    assert!(!mail.text.contains("This was not me"), "{}", mail.text);
    for body in [&mail.text, &mail.html] {
        assert!(body.contains("Take it back by") && body.contains("2026-03-05 10:04 UTC"), "{body}");
    }
    let mail = render(template, &sample(false));
    for body in [&mail.text, &mail.html] {
        assert!(!body.contains("undo?") && body.contains("Ask the people who run"), "{body}");
    }
}

#[test]
fn the_number_of_recovery_codes_left_is_stated() {
    let with = |left| {
        let event = SecurityEvent { codes_left: left, ..sample(true).event };
        let context = MailContext { event, ..sample(true) };
        render(Template::of(MailKind::RecoveryCodeUsed, false), &context)
    };
    for (left, words, advice) in [
        (Some(9), "9 unused codes are left.", "nothing to do"),
        (Some(1), "One unused code is left.", "nothing to do"),
        (Some(0), "It was the last one.", "make new codes now"),
        (None, "Each code works once.", "nothing to do"),
    ] {
        let mail = with(left);
        for body in [mail.text, mail.html] {
            let body = joined(&body);
            assert!(body.contains(words) && body.contains(advice), "{left:?}: {body}");
        }
    }
}

#[test]
fn mails_about_identities_name_the_provider() {
    for template in
        [Template::of(MailKind::IdentityLinked, false), Template::of(MailKind::IdentityUnlinked, false)]
    {
        assert!(render(template, &sample(true)).text.contains("sign-in with Google was"));
        assert!(render(template, &sample(false)).html.contains(" with an identity provider was"));
    }
}

#[test]
fn a_code_of_groups_is_smaller_so_that_it_stays_on_one_line() {
    let long = MailContext { code: Some("0123-4567-89ab-cdef".to_owned()), ..sample(true) };
    for template in [VERIFY_CODE, RESET_CODE] {
        let mail = render(template, &long);
        assert!(mail.text.contains("\n    0123-4567-89ab-cdef\n"), "{}", mail.text);
        assert!(
            mail.html.contains("font-size:18px;line-height:1.2;") && !mail.html.contains("font-size:32px")
        );
        assert!(render(template, &sample(true)).html.contains("font-size:32px"));
    }
}

#[test]
fn a_missing_code_is_an_error() {
    let context = MailContext { code: None, ..sample(true) };
    let error = Templates::embedded().unwrap().render(VERIFY_CODE, &[], &context).err().unwrap();
    assert_eq!(error.to_string(), "the mail verify_code needs a valid code");
}
