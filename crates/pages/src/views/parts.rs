//! Parts that several views share.

use latchkey_domain::password::PasswordPolicy;
use serde::Serialize;

use crate::frame::Form;
use crate::message::{Wait, When};

/// The app that a flow returns to.
#[derive(Debug, Clone, Serialize)]
pub struct App {
    /// Host of the redirect target, or its scheme if it has no host.
    pub host: String,
    /// Address that gives the flow up and leads back to the app; `None` where nothing is left to give up.
    pub leave: Option<String>,
}

/// The way to an identity provider.
#[derive(Debug, Clone, Serialize)]
pub struct ProviderLink {
    pub name: String,
    pub href: String,
}

/// A form that only a script fills: a WebAuthn ceremony.
#[derive(Debug, Clone, Serialize)]
pub struct PasskeyForm {
    pub form: Form,
    /// Id of the ceremony, field `ceremony_id`; empty where the flow has it.
    pub ceremony: String,
    /// Options as JSON: `PublicKeyCredentialCreationOptionsJSON` or `PublicKeyCredentialRequestOptionsJSON`.
    pub options: String,
    /// Address of fresh `{ceremonyId, options}`, for a page that stays open longer than a ceremony lives.
    pub renew: Option<String>,
}

/// A form with a field for a mailed code.
#[derive(Debug, Clone, Serialize)]
pub struct CodeForm {
    pub form: Form,
    /// Address that the code was sent to.
    pub email: String,
    /// True where a code may have letters: the keyboard of a phone then has them too.
    pub has_letters: bool,
    pub send: SendAgain,
}

/// The form that sends a code or link again.
#[derive(Debug, Clone, Serialize)]
pub struct SendAgain {
    pub form: Form,
    /// Time until the next mail can be sent; `None` if at once.
    pub wait: Option<Wait>,
}

/// Rules for a new password, as text before it is typed.
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

/// A device, in the words of the reader's language.
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
    /// True for the session that shows this page.
    pub is_current: bool,
    /// True for a session of these pages, false for one of an app.
    pub is_pages: bool,
}

/// The set-up of an authenticator app.
#[derive(Debug, Clone, Serialize)]
pub struct TotpSetup {
    /// Takes the first code of the app.
    pub form: Form,
    /// The `otpauth` URI, shown as a QR code.
    pub uri: String,
    /// The secret in groups, to be typed.
    pub secret: String,
    /// Where one goes without it.
    pub back: String,
}
