//! Views of the ways into the own account: address, password, passkeys, two-step sign-in, sessions, providers.

use serde::Serialize;

use super::parts::{PasskeyForm, PasswordRules, ProviderLink, Session, TotpSetup};
use crate::frame::Form;
use crate::message::When;
use crate::view::views;

/// Change of the email address.
#[derive(Debug, Clone, Serialize)]
pub struct ChangeEmail {
    pub email: String,
    pub is_verified: bool,
    /// Takes the new address.
    pub form: Form,
    pub new_email: String,
    pub pending: Option<PendingEmail>,
}

/// A change of address that waits for its codes. The forms' fields are `new_code` and `current_code`.
#[derive(Debug, Clone, Serialize)]
pub struct PendingEmail {
    pub new_email: String,
    pub form: Form,
    pub needs_new: bool,
    pub needs_current: bool,
    pub expires: When,
    pub cancel: Form,
}

/// Change of the password, or the first one.
#[derive(Debug, Clone, Serialize)]
pub struct ChangePassword {
    pub form: Form,
    pub email: String,
    pub has_password: bool,
    pub rules: PasswordRules,
}

/// Passkeys of the account.
#[derive(Debug, Clone, Serialize)]
pub struct Passkeys {
    /// Adds one; `None` where no more can be added.
    pub add: Option<PasskeyForm>,
    pub list: Vec<Passkey>,
    pub rename: Form,
    pub remove: Form,
    /// Id of the passkey whose name is edited.
    pub edited: Option<String>,
    /// `{rpId, userId, allAcceptedCredentialIds}` as JSON, for the browser's own list.
    pub accepted: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Passkey {
    pub id: String,
    pub name: String,
    pub created: When,
    pub last_used: Option<When>,
    /// False for one that was made for another host.
    pub is_usable: bool,
}

/// Two-step sign-in.
#[derive(Debug, Clone, Serialize)]
pub struct TwoStep {
    pub state: TwoStepState,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TwoStepState {
    Off {
        /// Begins the set-up of an app.
        totp: Form,
        /// Turns it on with the passkeys that the account has.
        turn_on: Option<Form>,
    },
    Setup {
        setup: TotpSetup,
    },
    On {
        totp: Vec<Totp>,
        remove: Form,
        /// Begins the set-up of a further app.
        add: Option<Form>,
        codes_left: u64,
        renew: Form,
        /// Turns it off; `None` if the operator requires it.
        off: Option<Form>,
    },
}

/// An authenticator app.
#[derive(Debug, Clone, Serialize)]
pub struct Totp {
    pub id: String,
    pub name: String,
    pub created: When,
    pub last_used: Option<When>,
}

/// Sessions of the account.
#[derive(Debug, Clone, Serialize)]
pub struct Sessions {
    /// The current one first.
    pub list: Vec<Session>,
    pub end: Form,
    /// Ends all but the current one; `None` if there is no other.
    pub end_others: Option<Form>,
    /// Address of the rest of the list.
    pub more: Option<String>,
}

/// Linked identity providers.
#[derive(Debug, Clone, Serialize)]
pub struct Providers {
    pub linked: Vec<LinkedProvider>,
    pub available: Vec<ProviderLink>,
    pub unlink: Form,
}

#[derive(Debug, Clone, Serialize)]
pub struct LinkedProvider {
    pub key: String,
    pub name: String,
    /// Address that the provider gave, if any.
    pub email: Option<String>,
}

views! {
    ChangeEmail "account_email.html"
    ChangePassword "account_password.html"
    Passkeys "account_passkeys.html"
    TwoStep "account_two_step.html"
    Sessions "account_sessions.html"
    Providers "account_providers.html"
}
