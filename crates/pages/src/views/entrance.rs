//! Views of sign-in, sign-up, return to the app, and sign-out.

use serde::Serialize;

use super::parts::{App, PasskeyForm, PasswordRules, ProviderLink};
use crate::frame::{Address, Form};
use crate::view::views;

/// Sign-in by provider, password or passkey. With a page session in this browser, a single button continues with it.
#[derive(Debug, Clone, Serialize)]
pub struct SignIn {
    /// Form for email address and password; `None` if users can sign in through providers only.
    pub form: Option<Form>,
    pub email: String,
    /// True if "Keep me signed in here" is ticked.
    pub is_kept: bool,
    pub providers: Vec<ProviderLink>,
    pub passkey: Option<PasskeyForm>,
    /// URL of the password reset; `None` if no mail can be sent.
    pub forgot: Option<String>,
    /// URL of sign-in by mailed code; `None` if that is off.
    pub mail_code: Option<String>,
    /// URL of sign-up; `None` if that is disabled.
    pub sign_up: Option<String>,
    /// URL at which the address can be verified. It is shown with the refusal of an account that must be verified
    /// first.
    pub verify: Option<String>,
    pub resume: Option<Resume>,
    pub app: Option<App>,
}

/// Sign-in to a further app with the page session of this browser.
#[derive(Debug, Clone, Serialize)]
pub struct Resume {
    pub form: Form,
    pub email: String,
    /// URL of the full sign-in, for another account.
    pub other: String,
}

/// Sign-up.
#[derive(Debug, Clone, Serialize)]
pub struct SignUp {
    /// Form for name, email address and password; `None` if sign-up is disabled.
    pub form: Option<Form>,
    pub name: String,
    pub email: String,
    /// True if the email address cannot be edited, because the invitation determines it.
    pub is_email_fixed: bool,
    pub rules: PasswordRules,
    pub providers: Vec<ProviderLink>,
    pub sign_in: String,
    pub app: Option<App>,
}

/// The end of a flow: the return to the app.
#[derive(Debug, Clone, Serialize)]
pub struct Continue {
    pub step: ContinueStep,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ContinueStep {
    /// The page is shown for the first time. The script continues to the target by itself.
    Go { target: Address, host: String },
    /// The page was shown before. The target contains no code any more.
    Shown { target: Address, host: String },
    /// The ticket belongs to another browser.
    Foreign,
}

/// The return from an identity provider without a sign-in, or without a link to the own account.
#[derive(Debug, Clone, Serialize)]
pub struct ProviderReturn {
    pub provider: String,
    pub outcome: ProviderOutcome,
    /// URL of a new attempt with the provider.
    pub retry: Option<String>,
    /// URL of a sign-in that leads to the linked providers; `None` if the provider need not be linked.
    pub link: Option<String>,
    /// True if the provider was to be linked to the own account.
    pub is_link: bool,
    /// URL of the sign-in; of the linked providers if one was to be linked.
    pub other: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderOutcome {
    /// The user or the provider denied the sign-in.
    Denied,
    /// The provider does not assert that the address is verified, or the identity may not be linked by it. A user with
    /// an account can sign in and link the identity.
    Unverified,
    /// The provider sent no usable response.
    Down,
    /// The return came too late, came twice, or came in another browser.
    Expired,
}

/// Sign-out, and the page after it.
#[derive(Debug, Clone, Serialize)]
pub struct SignOut {
    /// Form that ends the page session; `None` if there is none any more.
    pub form: Option<Form>,
    /// Form that also ends the sessions of all apps that were opened with the page session.
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
