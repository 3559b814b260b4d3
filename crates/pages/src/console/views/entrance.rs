//! Views of the ways in: sign-in, confirmation, activation of a grant.

use serde::Serialize;

use crate::frame::Form;
use crate::view::views;
use crate::views::{PasskeyForm, PasswordRules, ProviderLink, SendAgain, TotpSetup};

/// Sign-in of an operator: by passkey, or by password and a second factor that [`Confirm`] asks for.
#[derive(Debug, Clone, Serialize)]
pub struct SignIn {
    pub passkey: Option<PasskeyForm>,
    pub form: Form,
    /// The typed email address.
    pub email: String,
    /// Providers of `console.providers`.
    pub providers: Vec<ProviderLink>,
    /// A form that came after the end of its session and waits for the sign-in, sealed; `None` if there is none.
    pub kept: Option<String>,
    /// True if a form came after the end of its session and could not be kept.
    pub is_lost: bool,
}

/// A question for a factor.
#[derive(Debug, Clone, Serialize)]
pub struct Confirm {
    pub purpose: Purpose,
    pub step: ConfirmStep,
    /// Other ways to answer.
    pub others: Vec<ConfirmWay>,
    /// The submitted form that waits for the answer, sealed; `None` if there is none.
    pub kept: Option<String>,
    /// True if that form has a file, which is not kept.
    pub lacks_file: bool,
    /// URL that cancels the question.
    pub cancel: String,
}

/// Reason of a question for a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The second step of a sign-in.
    SignIn,
    /// An act that needs a recent proof. Its form is kept.
    StepUp,
    /// The activation of a grant.
    Activate,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ConfirmStep {
    Passkey {
        passkey: PasskeyForm,
    },
    Totp {
        form: Form,
    },
    RecoveryCode {
        form: Form,
    },
    /// An account without second factor, which only development permits.
    Password {
        form: Form,
        /// Address of the account, for password managers.
        email: String,
    },
    /// The attempts are used up, or too much time has passed.
    Over {
        start: String,
    },
}

/// Another way to answer.
#[derive(Debug, Clone, Serialize)]
pub struct ConfirmWay {
    /// `passkey`, `totp`, `recovery_code` or `password`.
    pub kind: &'static str,
    /// Form that asks for it. It carries the kept form along.
    pub form: Form,
}

/// Activation of a grant by its one-time link.
#[derive(Debug, Clone, Serialize)]
pub struct Activate {
    pub step: ActivateStep,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ActivateStep {
    /// The owner of the account signs in.
    SignIn {
        passkey: Option<PasskeyForm>,
        form: Form,
        /// The typed email address.
        email: String,
    },
    /// The link is for an address without an account: a password makes it.
    Create {
        email: String,
        form: Form,
        rules: PasswordRules,
        /// URL of the sign-in, for an address that has an account by now.
        sign_in: String,
    },
    /// The mailed code verifies the address.
    Verify {
        email: String,
        form: Form,
        send: SendAgain,
        sign_in: String,
    },
    /// The account has no second factor: a choice of the kind to add.
    Enroll {
        passkey: Option<PasskeyForm>,
        totp: Form,
    },
    Totp {
        setup: TotpSetup,
    },
    /// The grant is active. The recovery codes of the new factor are shown once.
    Codes {
        codes: Vec<String>,
        /// Form that forgets the codes and goes on.
        next: Form,
    },
    /// The link was used, has expired, or was opened in another browser.
    Dead,
}

views! {
    SignIn "console/sign_in.html"
    Confirm "console/confirm.html"
    Activate "console/activate.html"
}
