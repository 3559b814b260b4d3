//! The data that a mail is rendered from, and a copy for the templates in which text from users cannot
//! contain links or line breaks.

use latchkey_domain::device::Device;
use latchkey_domain::time::Timestamp;
use serde::Serialize;

use crate::sanitize::{person_name, single_line};
use crate::template::{Need, Template};

/// Data that a mail is rendered from. It has no `Debug`, because it may hold a valid code or link.
#[derive(Clone, PartialEq, Eq)]
pub struct MailContext {
    /// Display name of the service, set by the operator.
    pub service_name: String,
    /// `server.public_url` without a trailing slash.
    pub public_url: String,
    /// Name given by the recipient or by the client that signed up. Untrusted: omitted from the mail if it
    /// resembles a link, an address or a phone number.
    pub recipient_name: Option<String>,
    /// Code to print: six digits, or sixteen characters in groups. Required by `*_code` mails, unused by others.
    pub code: Option<String>,
    /// URL to print, absolute, http or https. Required by `*_link` mails, optional in the mail `sign_in_code`, unused
    /// by others.
    pub link: Option<String>,
    /// Validity of the code or link, in minutes.
    pub expires_in_minutes: u32,
    /// True if several sign-ups with different passwords used this address. Verification removes all these passwords.
    pub contested: bool,
    /// True if the account was usable before its address was verified. Verification then removes the account's
    /// password, sessions and other data, unless the verifying client is signed in to the account.
    pub entered: bool,
    /// True if sign-in by this mail removes the account's password, identities, sessions and public text, because they
    /// may come from someone other than the mailbox's owner.
    pub takes_over: bool,
    /// The action that the mail reports, or the request for its code or link.
    pub event: SecurityEvent,
}

/// A security-relevant action on an account, or a request for a code or link. It has no `Debug`, because it may hold a valid link.
#[derive(Clone, PartialEq, Eq)]
pub struct SecurityEvent {
    /// Time of the action.
    pub at: Timestamp,
    /// Browser and system of the acting client; `None` for an administrator.
    pub device: Option<Device>,
    /// IP address of the acting client; `None` for an administrator.
    pub address: Option<String>,
    /// Name of the identity provider concerned, set by the operator.
    pub provider: Option<String>,
    /// Link that reverses the action; `None` for actions without one.
    pub undo: Option<UndoLink>,
    /// Number of unused recovery codes, after one was used; `None` for other actions.
    pub codes_left: Option<u32>,
}

/// Link that reverses an action on the account. Its button is outlined, and says that the reader did not take the action,
/// so that account owners who did take it do not open the link by habit.
#[derive(Clone, PartialEq, Eq)]
pub struct UndoLink {
    /// URL to print, absolute, http or https.
    pub link: String,
    /// Expiry.
    pub until: Timestamp,
}

/// Error: a field of [`MailContext`] that the template requires is missing or invalid. Holds the field's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MissingField(pub(crate) &'static str);

/// Names of the phrases in `words.md`: short texts that mails share, such as the greeting. Each phrase is
/// one line, and a template of its own.
pub(crate) const PHRASES: [&str; 9] = [
    "greeting",
    "minutes",
    "hours",
    "device",
    "app",
    "unknown_device",
    "button_help",
    "sent_by",
    "no_replies",
];

/// Variables of a mail template. Text from users is reduced to one line without links.
#[derive(Serialize)]
pub(crate) struct TemplateData {
    locale: String,
    service_name: String,
    public_url: String,
    recipient_name: Option<String>,
    code: Option<String>,
    link: Option<String>,
    expires_in_minutes: u32,
    expires_in: String,
    /// The number that the phrases `minutes` and `hours` print.
    n: u32,
    contested: bool,
    time: String,
    browser: Option<&'static str>,
    system: Option<&'static str>,
    device: Option<String>,
    address: Option<String>,
    provider: Option<String>,
    undo_link: Option<String>,
    undo_until: Option<String>,
    codes_left: Option<u32>,
    entered: bool,
    takes_over: bool,
    greeting: String,
    button_help: String,
    sent_by: String,
    no_replies: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
}

impl TemplateData {
    /// Sanitises `context` for `template`; a code or link that the mail does not use is dropped.
    pub(crate) fn new(template: Template, locale: &str, context: &MailContext) -> Result<Self, MissingField> {
        let need = template.need;
        let code =
            context.code.as_deref().map(single_line).filter(|code| need.has_code() && !code.is_empty());
        let link = context.link.clone().filter(|link| need.may_have_link() && is_web_link(link));
        let event = &context.event;
        let undo = event.undo.as_ref().filter(|undo| is_web_link(&undo.link));
        if need.has_code() && code.is_none() {
            return Err(MissingField("code"));
        }
        if need == Need::Link && link.is_none() {
            return Err(MissingField("link"));
        }
        Ok(Self {
            locale: locale.to_owned(),
            service_name: single_line(&context.service_name),
            public_url: single_line(&context.public_url),
            recipient_name: context.recipient_name.as_deref().and_then(person_name),
            code,
            link,
            expires_in_minutes: context.expires_in_minutes,
            expires_in: String::new(),
            n: context.expires_in_minutes,
            contested: context.contested,
            time: event.at.to_minute_text(),
            browser: event.device.and_then(|device| device.browser),
            system: event.device.and_then(|device| device.system),
            device: event.device.map(|_| String::new()),
            address: event.address.as_deref().map(single_line),
            provider: event.provider.as_deref().map(single_line),
            undo_link: undo.map(|undo| undo.link.clone()),
            undo_until: undo.map(|undo| undo.until.to_minute_text()),
            codes_left: event.codes_left,
            entered: context.entered,
            takes_over: context.takes_over,
            greeting: String::new(),
            button_help: String::new(),
            sent_by: String::new(),
            no_replies: String::new(),
            subject: None,
        })
    }

    /// Adds the phrases of the language. `render` renders one of [`PHRASES`].
    pub(crate) fn add_phrases<E>(
        &mut self,
        render: impl Fn(&Self, &'static str) -> Result<String, E>,
    ) -> Result<(), E> {
        let minutes = self.expires_in_minutes;
        let is_hours = minutes >= 60 && minutes.is_multiple_of(60);
        self.n = if is_hours { minutes / 60 } else { minutes };
        self.expires_in = render(self, if is_hours { "hours" } else { "minutes" })?;
        if self.device.is_some() {
            self.device = Some(match (self.browser, self.system) {
                (Some(_), Some(_)) => render(self, "device")?,
                (Some(browser), None) => browser.to_owned(),
                (None, Some(_)) => render(self, "app")?,
                (None, None) => render(self, "unknown_device")?,
            });
        }
        self.greeting = render(self, "greeting")?;
        self.button_help = render(self, "button_help")?;
        self.sent_by = render(self, "sent_by")?;
        self.no_replies = render(self, "no_replies")?;
        Ok(())
    }
}

/// Builds sample data for the trial rendering when templates are loaded. `full` sets the optional fields too.
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
        event: SecurityEvent {
            at: Timestamp::from_millis(1_772_445_840_000),
            device: full.then_some(Device { browser: Some("Firefox"), system: Some("Linux") }),
            address: full.then(|| "192.0.2.7".to_owned()),
            provider: full.then(|| "Google".to_owned()),
            undo: full.then(|| UndoLink {
                link: "https://accounts.example.org/api/auth/undo?token=0123456789abcdef".to_owned(),
                until: Timestamp::from_millis(1_772_705_040_000),
            }),
            codes_left: full.then_some(9),
        },
        entered: full,
        takes_over: full,
    }
}

/// True for an http or https URL in printable ASCII that cannot end a line or an HTML attribute.
fn is_web_link(link: &str) -> bool {
    let is_web = link.starts_with("https://") || link.starts_with("http://");
    is_web && link.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>' | b'"'))
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

    fn new(template: Template, context: &MailContext) -> Result<TemplateData, MissingField> {
        TemplateData::new(template, "en", context)
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
        assert_eq!(new(VERIFY_CODE, &context).err(), Some(MissingField("code")));
        assert!(new(VERIFY_LINK, &context).is_ok());
    }

    #[test]
    fn a_link_mail_without_a_link_is_refused() {
        let context = MailContext { link: Some("javascript:alert(1)".to_owned()), ..sample(true) };
        assert_eq!(new(RESET_LINK, &context).err(), Some(MissingField("link")));
    }

    #[test]
    fn a_sign_in_mail_carries_a_code_and_perhaps_a_link() {
        let template = Template::of(MailKind::SignIn, true);
        assert!(new(template, &sample(true)).unwrap().link.is_some());
        let context = MailContext { link: None, ..sample(true) };
        assert!(new(template, &context).unwrap().code.is_some());
        let context = MailContext { code: None, ..sample(true) };
        assert_eq!(new(template, &context).err(), Some(MissingField("code")));
    }

    #[test]
    fn a_code_mail_carries_no_link_and_a_link_mail_no_code() {
        assert!(new(RESET_CODE, &sample(true)).unwrap().link.is_none());
        assert!(new(RESET_LINK, &sample(true)).unwrap().code.is_none());
    }
}
