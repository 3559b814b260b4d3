//! Views of codes and links by mail: verification, reset, sign-in by mail, invitation.

use serde::Serialize;

use super::parts::{App, CodeForm, PasswordRules, ProviderLink, SendAgain};
use crate::frame::Form;
use crate::view::views;

/// Verification of the address of a sign-up.
#[derive(Debug, Clone, Serialize)]
pub struct Verify {
    pub by: VerifyBy,
    /// Address of the sign-up form, for another email address.
    pub change: String,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum VerifyBy {
    Code { code: CodeForm },
    Link { email: String, send: SendAgain },
}

/// The end of a verify link.
#[derive(Debug, Clone, Serialize)]
pub struct Verified {
    pub is_verified: bool,
    /// Where to go on: the app, or sign-in.
    pub next: String,
    pub app: Option<App>,
}

/// A forgotten password: asks for the address.
#[derive(Debug, Clone, Serialize)]
pub struct Forgot {
    pub form: Form,
    pub email: String,
    pub sign_in: String,
}

/// Password reset, after the mail was asked for.
#[derive(Debug, Clone, Serialize)]
pub struct Reset {
    pub step: ResetStep,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ResetStep {
    Code {
        code: CodeForm,
    },
    Link {
        email: String,
        send: SendAgain,
    },
    /// `account` is the masked address: `a•••@example.org`.
    Password {
        form: Form,
        account: String,
        rules: PasswordRules,
    },
    Dead {
        forgot: String,
    },
    Done {
        sign_in: String,
    },
}

/// Sign-in by mail.
#[derive(Debug, Clone, Serialize)]
pub struct MailCode {
    pub step: MailCodeStep,
    pub sign_in: String,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MailCodeStep {
    Email {
        form: Form,
        email: String,
    },
    Code {
        code: CodeForm,
        change: String,
    },
    /// The mailed link, opened in the browser that began: one press.
    Link {
        form: Form,
        email: String,
    },
    /// The mailed link, opened elsewhere.
    Elsewhere,
    Dead {
        again: String,
    },
}

/// An invitation, opened by its link.
#[derive(Debug, Clone, Serialize)]
pub struct Invitation {
    pub step: InvitationStep,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InvitationStep {
    Open {
        form: Form,
        /// Accepts without a password, to add a passkey next; `None` if passkeys are off.
        without_password: Option<Form>,
        email: String,
        name: String,
        /// The person who invites, if the invitation names one.
        inviter: Option<String>,
        rules: PasswordRules,
        providers: Vec<ProviderLink>,
    },
    Expired,
    Used {
        sign_in: String,
    },
    Revoked,
    /// An account has the address.
    Exists {
        email: String,
        sign_in: String,
    },
}

views! {
    Verify "verify.html"
    Verified "verified.html"
    Forgot "forgot.html"
    Reset "reset.html"
    MailCode "mail_code.html"
    Invitation "invitation.html"
}
