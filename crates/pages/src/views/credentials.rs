//! Views of the ways to sign in to the own account: address, password, passkeys, two-step sign-in, sessions,
//! providers.

use serde::Serialize;

use super::parts::{PasskeyForm, PasswordRules, ProviderLink, SendAgain, Session, TotpSetup};
use crate::frame::Form;
use crate::message::When;
use crate::view::views;

/// Change of the email address.
#[derive(Debug, Clone, Serialize)]
pub struct ChangeEmail {
    pub email: String,
    pub is_verified: bool,
    /// Form that requests a change to the entered address; `None` if no mail can be sent.
    pub form: Option<Form>,
    pub new_email: String,
    pub pending: Option<PendingEmail>,
}

/// A change of address that waits for its codes. Their fields are `new_code` and `current_code`.
#[derive(Debug, Clone, Serialize)]
pub struct PendingEmail {
    pub new_email: String,
    /// Form for the codes; `None` if the change was begun in another session, which alone can finish it.
    pub form: Option<Form>,
    pub needs_new: bool,
    pub needs_current: bool,
    pub expires: When,
    /// Form that sends new codes; `None` as above.
    pub send: Option<SendAgain>,
    pub cancel: Form,
}

/// Change of the password, or a first password for an account without one.
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
    /// Way to add a passkey; `None` if none can be added.
    pub add: Option<AddPasskey>,
    pub list: Vec<Passkey>,
    pub rename: Form,
    pub remove: Form,
    /// Id of the passkey whose name is being edited.
    pub edited: Option<String>,
    /// JSON `{rpId, userId, allAcceptedCredentialIds}`, with which the browser updates its passkey manager.
    pub accepted: Option<String>,
}

/// Way to add a passkey.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AddPasskey {
    /// Form that leads to this page with [`Self::Ready`]: after a recent sign-in, and the first time.
    Begin { form: Form },
    /// Form that the browser's passkey fills in. `is_asked`: the button was pressed before this page was loaded, so the
    /// script goes on by itself.
    Ready { passkey: PasskeyForm, is_asked: bool },
    /// The operator switched passkeys off.
    Off,
}

#[derive(Debug, Clone, Serialize)]
pub struct Passkey {
    pub id: String,
    pub name: String,
    pub created: When,
    pub last_used: Option<When>,
    /// False for a passkey that was registered for another domain.
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
        /// Form that begins the set-up of an authenticator app; `None` if the operator switched second factors off.
        totp: Option<Form>,
        /// Form that turns two-step sign-in on with the passkeys of the account; `None` if it has none, or as above.
        turn_on: Option<Form>,
    },
    Setup {
        setup: TotpSetup,
    },
    On {
        totp: Vec<Totp>,
        remove: Form,
        /// Form that begins the set-up of a further authenticator app; `None` if no more can be added.
        add: Option<Form>,
        codes_left: u64,
        renew: Form,
        /// Form that turns two-step sign-in off; `None` if the operator requires it.
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
    /// Sessions, the current one first.
    pub list: Vec<Session>,
    pub end: Form,
    /// Form that ends all sessions but the current one; `None` if there is no other.
    pub end_others: Option<Form>,
    /// URL of the rest of the list; `None` if the list is complete.
    pub more: Option<String>,
}

/// Linked identity providers.
#[derive(Debug, Clone, Serialize)]
pub struct Providers {
    pub linked: Vec<LinkedProvider>,
    /// Providers that can be linked, with the links that lead to them.
    pub available: Vec<ProviderLink>,
    /// Form that asks for the recent sign-in without which the links do not work; `None` if there was one.
    pub confirm: Option<Form>,
    pub unlink: Form,
}

#[derive(Debug, Clone, Serialize)]
pub struct LinkedProvider {
    pub key: String,
    /// Identifier of the person at the provider.
    pub subject: String,
    pub name: String,
    /// Email address that the provider stated, if any.
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
