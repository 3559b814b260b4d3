//! Views of sign-in, sign-up, the return to the app, and sign-out.

use serde::Serialize;

use super::parts::{App, PasskeyForm, PasswordRules, ProviderLink};
use crate::frame::{Address, Form};
use crate::view::views;

/// Sign-in: providers, password, passkey. Or one press, if this browser has a page session.
#[derive(Debug, Clone, Serialize)]
pub struct SignIn {
    /// Takes email address and password; `None` if providers are the only way in.
    pub form: Option<Form>,
    pub email: String,
    /// True if "Keep me signed in here" is ticked.
    pub is_kept: bool,
    pub providers: Vec<ProviderLink>,
    pub passkey: Option<PasskeyForm>,
    pub forgot: String,
    /// Address of sign-in by mailed code, if it is on.
    pub mail_code: Option<String>,
    /// Address of sign-up, unless it is disabled.
    pub sign_up: Option<String>,
    /// Address that verifies, shown beside the refusal of an account that has to be verified first.
    pub verify: Option<String>,
    pub resume: Option<Resume>,
    pub app: Option<App>,
}

/// Sign-in to a further app with the page session of this browser.
#[derive(Debug, Clone, Serialize)]
pub struct Resume {
    pub form: Form,
    pub email: String,
    /// Address of the whole sign-in, for another account.
    pub other: String,
}

/// Sign-up.
#[derive(Debug, Clone, Serialize)]
pub struct SignUp {
    /// Takes name, email address and password; `None` if sign-up is disabled.
    pub form: Option<Form>,
    pub name: String,
    pub email: String,
    /// True if the address stands: it was invited.
    pub is_email_fixed: bool,
    pub rules: PasswordRules,
    pub providers: Vec<ProviderLink>,
    pub sign_in: String,
    pub app: Option<App>,
}

/// The end of a flow: the way back to the app.
#[derive(Debug, Clone, Serialize)]
pub struct Continue {
    pub step: ContinueStep,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ContinueStep {
    /// Shown for the first time: the script goes on by itself.
    Go { target: Address, host: String },
    /// Shown before: the target has no code any more.
    Shown { target: Address, host: String },
    /// The ticket is of another browser.
    Foreign,
}

/// The return from an identity provider that signed no one in.
#[derive(Debug, Clone, Serialize)]
pub struct ProviderReturn {
    pub provider: String,
    pub outcome: ProviderOutcome,
    /// Address that tries the provider again.
    pub retry: Option<String>,
    pub sign_in: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderOutcome {
    /// The person said no, or the provider did.
    Denied,
    /// The provider does not vouch for the address, or it may not be linked: who has an account signs in and links it.
    Unverified,
    /// The provider gave no usable response.
    Down,
    /// The return is late, used, or of another browser.
    Expired,
}

/// Sign-out, and the page after it.
#[derive(Debug, Clone, Serialize)]
pub struct SignOut {
    /// Ends the page session; `None` if there is none any more.
    pub form: Option<Form>,
    /// Ends it with all sessions of apps that were opened from it.
    pub everywhere: Option<Form>,
    pub email: String,
    pub sign_in: String,
    pub app: Option<App>,
}

views! {
    SignIn "sign_in.html"
    SignUp "sign_up.html"
    Continue "continue.html"
    ProviderReturn "provider_return.html"
    SignOut "sign_out.html"
}
