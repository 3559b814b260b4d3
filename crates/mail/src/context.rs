//! Data of a mail, and its sanitised view for templates.

use latchkey_domain::time::Timestamp;
use serde::Serialize;

use crate::sanitize::{person_name, single_line};
use crate::template::{Need, Template};

/// Data of a mail. No `Debug`, because it may hold a live code or link.
#[derive(Clone, PartialEq, Eq)]
pub struct MailContext {
    /// Display name of the service, set by the operator.
    pub service_name: String,
    /// `server.public_url` without a trailing slash.
    pub public_url: String,
    /// Name given by the recipient or by the client that signed up. Untrusted: omitted from the mail if it
    /// resembles a link, an address or a phone number.
    pub recipient_name: Option<String>,
    /// Six digits, or sixteen characters in groups; required by `*_code` mails, unused by others.
    pub code: Option<String>,
    /// An absolute http or https URL; required by `*_link` mails. In a sign-up attempt the optional sign-in
    /// page.
    pub link: Option<String>,
    /// Validity of the code or link, in minutes.
    pub expires_in_minutes: u32,
    /// The address was signed up several times with different passwords, none of which survives verification.
    pub contested: bool,
    /// The account may have been used before verification: its data is removed unless the verifying client is
    /// signed in to it.
    pub entered: bool,
    /// The reported action; required by security notifications, unused by others.
    pub event: Option<SecurityEvent>,
}

/// A security-relevant action on the recipient's account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityEvent {
    /// Time of the action.
    pub at: Timestamp,
    /// Device of the acting client, from a fixed vocabulary; `None` for an administrator.
    pub device: Option<String>,
    /// IP address of the acting client; `None` for an administrator.
    pub address: Option<String>,
    /// Name of the identity provider concerned, set by the operator.
    pub provider: Option<String>,
}

/// Error: a required field is missing or unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MissingField(pub(crate) &'static str);

/// Template variables. User text is reduced to one line without links.
#[derive(Serialize)]
pub(crate) struct TemplateData {
    service_name: String,
    public_url: String,
    recipient_name: Option<String>,
    code: Option<String>,
    link: Option<String>,
    expires_in_minutes: u32,
    expires_in: String,
    contested: bool,
    time: Option<String>,
    device: Option<String>,
    address: Option<String>,
    provider: Option<String>,
    entered: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
}

impl TemplateData {
    /// Sanitises `context` for `template`; a code or link that the mail does not use is dropped.
    pub(crate) fn new(template: Template, context: &MailContext) -> Result<Self, MissingField> {
        let need = template.need;
        let code =
            context.code.as_deref().map(single_line).filter(|code| need == Need::Code && !code.is_empty());
        let may_have_link = matches!(need, Need::Link | Need::Nothing);
        let link = context.link.clone().filter(|link| may_have_link && is_web_link(link));
        let event = context.event.as_ref().filter(|_| need == Need::Event);
        if need == Need::Code && code.is_none() {
            return Err(MissingField("code"));
        }
        if need == Need::Link && link.is_none() {
            return Err(MissingField("link"));
        }
        if need == Need::Event && event.is_none() {
            return Err(MissingField("event"));
        }

        Ok(Self {
            service_name: single_line(&context.service_name),
            public_url: single_line(&context.public_url),
            recipient_name: context.recipient_name.as_deref().and_then(person_name),
            code,
            link,
            expires_in_minutes: context.expires_in_minutes,
            expires_in: duration_in_words(context.expires_in_minutes),
            contested: context.contested,
            time: event.map(|event| time_in_words(event.at)),
            device: event.and_then(|event| event.device.as_deref()).map(single_line),
            address: event.and_then(|event| event.address.as_deref()).map(single_line),
            provider: event.and_then(|event| event.provider.as_deref()).map(single_line),
            entered: context.entered,
            subject: None,
        })
    }
}

/// Sample data for the trial rendering at load, with or without the optional parts.
pub(crate) fn sample(full: bool) -> MailContext {
    MailContext {
        service_name: "Latchkey".to_owned(),
        public_url: "https://accounts.example.org".to_owned(),
        recipient_name: full.then(|| "Ada Lovelace".to_owned()),
        code: Some("123456".to_owned()),
        link: Some(
            "https://accounts.example.org/api/auth/email/verify-link?token=0123456789abcdef".to_owned(),
        ),
        expires_in_minutes: 10,
        contested: full,
        event: Some(SecurityEvent {
            at: Timestamp::from_millis(1_772_445_840_000),
            device: full.then(|| "Firefox on Linux".to_owned()),
            address: full.then(|| "192.0.2.7".to_owned()),
            provider: full.then(|| "Google".to_owned()),
        }),
        entered: full,
    }
}

/// True for an http or https URL in printable ASCII that cannot end a line or an HTML attribute.
fn is_web_link(link: &str) -> bool {
    let is_web = link.starts_with("https://") || link.starts_with("http://");
    is_web && link.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>' | b'"'))
}

/// `2026-03-02 10:04 UTC`, unambiguous in every locale.
fn time_in_words(at: Timestamp) -> String {
    let text = at.to_rfc3339();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        _ => text,
    }
}

/// `10 minutes`, `1 hour`, `24 hours`: whole hours as hours, the rest as minutes.
fn duration_in_words(minutes: u32) -> String {
    let (count, unit) = if minutes >= 60 && minutes.is_multiple_of(60) {
        (minutes / 60, "hour")
    } else {
        (minutes, "minute")
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use latchkey_domain::mail_kind::MailKind;

    use super::*;

    const VERIFY_CODE: Template = Template::of(MailKind::Verify, true);
    const VERIFY_LINK: Template = Template::of(MailKind::Verify, false);
    const RESET_CODE: Template = Template::of(MailKind::Reset, true);
    const RESET_LINK: Template = Template::of(MailKind::Reset, false);

    #[test]
    fn whole_hours_are_said_in_hours() {
        let said = [1, 10, 60, 90, 1440].map(duration_in_words);
        assert_eq!(said, ["1 minute", "10 minutes", "1 hour", "90 minutes", "24 hours"]);
    }

    #[test]
    fn a_mail_about_an_act_without_one_is_refused() {
        let context = MailContext { event: None, ..sample(true) };
        assert_eq!(
            TemplateData::new(Template::of(MailKind::PasswordChanged, false), &context).err(),
            Some(MissingField("event"))
        );
        assert!(TemplateData::new(VERIFY_CODE, &sample(true)).unwrap().time.is_none());
    }

    #[test]
    fn a_time_is_said_to_the_minute() {
        assert_eq!(time_in_words(Timestamp::from_millis(1_772_445_899_999)), "2026-03-02 10:04 UTC");
    }

    #[test]
    fn only_web_addresses_are_links() {
        assert!(is_web_link("https://a.example/api?token=00&x=1"));
        assert!(is_web_link("http://localhost:8700/x"));
        for link in [
            "",
            "javascript:alert(1)",
            "https://a.example/ b",
            "https://a.example/\r\nBcc: x",
            "https://a/\"",
        ] {
            assert!(!is_web_link(link), "{link:?}");
        }
    }

    #[test]
    fn a_code_mail_without_a_code_is_refused() {
        let context = MailContext { code: None, ..sample(true) };
        assert_eq!(TemplateData::new(VERIFY_CODE, &context).err(), Some(MissingField("code")));
        assert!(TemplateData::new(VERIFY_LINK, &context).is_ok());
    }

    #[test]
    fn a_link_mail_without_a_link_is_refused() {
        let context = MailContext { link: Some("javascript:alert(1)".to_owned()), ..sample(true) };
        assert_eq!(TemplateData::new(RESET_LINK, &context).err(), Some(MissingField("link")));
        assert!(
            TemplateData::new(Template::of(MailKind::SignUpAttempt, false), &context).unwrap().link.is_none()
        );
    }

    #[test]
    fn a_code_mail_carries_no_link_and_a_link_mail_no_code() {
        assert!(TemplateData::new(RESET_CODE, &sample(true)).unwrap().link.is_none());
        assert!(TemplateData::new(RESET_LINK, &sample(true)).unwrap().code.is_none());
    }
}
