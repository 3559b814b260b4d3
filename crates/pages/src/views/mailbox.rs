//! Views of mailed codes and links: verification, password reset, sign-in by mail, invitation.

use serde::Serialize;

use super::parts::{App, CodeForm, PasswordRules, ProviderLink, SendAgain};
use crate::frame::Form;
use crate::view::views;

/// Verification of the email address of a sign-up.
#[derive(Debug, Clone, Serialize)]
pub struct Verify {
    pub by: VerifyBy,
    /// True for the address of the signed-in account.
    pub is_own: bool,
    /// URL of the sign-up form, to enter another email address; of the account's overview for its own address.
    pub change: String,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum VerifyBy {
    /// No mail was asked for yet. The form sends one.
    Unsent {
        email: String,
        form: Form,
    },
    Code {
        code: CodeForm,
    },
    Link {
        email: String,
        send: SendAgain,
    },
}

/// The page after a verification link was opened.
#[derive(Debug, Clone, Serialize)]
pub struct Verified {
    pub is_verified: bool,
    /// URL at which the user continues: that of the app, of the sign-in, or of the own account.
    pub next: String,
    /// True if `next` is the own account, to which this browser is signed in.
    pub is_signed_in: bool,
    /// URL of the password reset, for an account without a password that works; `None` if none is needed.
    pub forgot: Option<String>,
    pub app: Option<App>,
}

/// Request for a password reset, which asks for the address.
#[derive(Debug, Clone, Serialize)]
pub struct Forgot {
    /// Form for the address; `None` if no mail can be sent.
    pub form: Option<Form>,
    pub email: String,
    pub sign_in: String,
}

/// Password reset, after its mail was requested.
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
    /// Form for the new password. `account` is the masked address: `a•••@example.org`.
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
    /// The mailed link was opened in the browser that requested it. One button completes the sign-in. `email` is the
    /// masked address.
    Link {
        form: Form,
        email: String,
    },
    /// The mailed link was opened in another browser.
    Elsewhere,
    Dead {
        again: String,
    },
    /// The operator switched sign-in by mail off.
    Off,
}

/// An invitation, opened by its mailed link.
#[derive(Debug, Clone, Serialize)]
pub struct Invitation {
    pub step: InvitationStep,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum InvitationStep {
    Open {
        form: Form,
        /// Form that accepts the invitation without a password, to add a passkey next; `None` if
        /// passkeys are off.
        without_password: Option<Form>,
        email: String,
        name: String,
        /// Name of the person who sent the invitation, if it states one.
        inviter: Option<String>,
        rules: PasswordRules,
        providers: Vec<ProviderLink>,
    },
    Expired,
    Used {
        sign_in: String,
    },
    Revoked,
    /// An account with the address exists already.
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
