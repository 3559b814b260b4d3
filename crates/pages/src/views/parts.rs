//! Parts that several views share.

use std::fmt::Display;

use latchkey_domain::password::PasswordPolicy;
use serde::{Serialize, Serializer};

use crate::frame::Form;
use crate::marks;
use crate::message::{Wait, When};

/// Writes a value of a type that has words, such as a role.
pub(crate) fn word<T: Display, S: Serializer>(word: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(word)
}

/// The app to which a flow returns.
#[derive(Debug, Clone, Serialize)]
pub struct App {
    /// Host of the redirect target, or its scheme if it has no host.
    pub host: String,
    /// URL that cancels the flow and returns to the app; `None` if there is nothing left to cancel.
    pub leave: Option<String>,
}

/// Link that begins a sign-in at an identity provider.
#[derive(Debug, Clone, Serialize)]
pub struct ProviderLink {
    pub name: String,
    pub href: String,
    /// Data of the SVG path of the provider's mark; `None` shows the first letter of the name.
    pub mark: Option<&'static str>,
}

impl ProviderLink {
    /// Makes a link to the provider of a key, with its mark if the key is that of a built-in provider.
    #[must_use]
    pub fn new(key: &str, name: &str, href: String) -> Self {
        Self { name: name.to_owned(), href, mark: marks::mark(key) }
    }
}

/// Form for a WebAuthn ceremony, which only a script can fill.
#[derive(Debug, Clone, Serialize)]
pub struct PasskeyForm {
    pub form: Form,
    /// Id of the ceremony, for the field `ceremony_id`; empty if the flow stores it.
    pub ceremony: String,
    /// Options as JSON: `PublicKeyCredentialCreationOptionsJSON` or `PublicKeyCredentialRequestOptionsJSON`.
    pub options: String,
    /// URL of new `{ceremonyId, options}`, for a page that stays open longer than a ceremony is valid.
    pub renew: Option<String>,
}

/// Form with a field for a mailed code.
#[derive(Debug, Clone, Serialize)]
pub struct CodeForm {
    pub form: Form,
    /// Email address to which the code was sent.
    pub email: String,
    pub send: SendAgain,
}

/// Form that sends a code or link again.
#[derive(Debug, Clone, Serialize)]
pub struct SendAgain {
    pub form: Form,
    /// Time until the next mail can be sent; `None` if at once.
    pub wait: Option<Wait>,
}

/// Rules for a new password, shown before one is entered.
#[derive(Debug, Clone, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub struct PasswordRules {
    pub least: usize,
    pub number: bool,
    pub lowercase: bool,
    pub uppercase: bool,
    pub special: bool,
}

impl From<&PasswordPolicy> for PasswordRules {
    fn from(policy: &PasswordPolicy) -> Self {
        Self {
            least: policy.min_length,
            number: policy.require_number,
            lowercase: policy.require_lowercase,
            uppercase: policy.require_uppercase,
            special: policy.require_special_char,
        }
    }
}

/// A device, described in the reader's language.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Device {
    pub browser: Option<String>,
    pub system: Option<String>,
}

impl From<latchkey_domain::device::Device> for Device {
    fn from(device: latchkey_domain::device::Device) -> Self {
        Self { browser: device.browser.map(str::to_owned), system: device.system.map(str::to_owned) }
    }
}

/// A session of the reader.
#[derive(Debug, Clone, Serialize)]
pub struct Session {
    pub id: String,
    /// Name that its owner gave it.
    pub name: Option<String>,
    pub device: Device,
    pub last_seen: When,
    /// True for the session in which this page is shown.
    pub is_current: bool,
    /// True for a page session, false for a session of an app.
    pub is_pages: bool,
}

/// The set-up of an authenticator app.
#[derive(Debug, Clone, Serialize)]
pub struct TotpSetup {
    /// Form for the first code of the app.
    pub form: Form,
    /// The `otpauth` URI, shown as a QR code.
    pub uri: String,
    /// The secret in groups of characters, to be typed by hand.
    pub secret: String,
    /// URL to which the user returns without the set-up.
    pub back: String,
}
