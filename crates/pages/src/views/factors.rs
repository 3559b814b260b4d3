//! Views of second factors: the challenge, enrolment, recovery codes.

use latchkey_domain::challenge::ChallengePurpose;
use serde::Serialize;

use super::parts::{CodeForm, PasskeyForm, TotpSetup, word};
use crate::frame::Form;
use crate::message::When;
use crate::view::views;

/// A challenge, with one of the kinds of answers that it accepts.
#[derive(Debug, Clone, Serialize)]
pub struct Challenge {
    #[serde(serialize_with = "word")]
    pub purpose: ChallengePurpose,
    pub step: ChallengeStep,
    /// The other kinds of answers that the challenge accepts.
    pub others: Vec<Another>,
    /// URL that cancels the challenge.
    pub cancel: String,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ChallengeStep {
    Passkey {
        passkey: PasskeyForm,
    },
    Totp {
        form: Form,
    },
    RecoveryCode {
        form: Form,
    },
    Password {
        form: Form,
        email: String,
    },
    EmailCode {
        code: CodeForm,
        /// False before the first code is asked for.
        is_sent: bool,
    },
    /// The account is in deletion, and signing in restores it.
    Restore {
        form: Form,
        deletes: When,
    },
    /// The challenge was used, has expired or has too many wrong answers.
    Over {
        start: String,
    },
}

/// Another kind of answer to a challenge.
#[derive(Debug, Clone, Serialize)]
pub struct Another {
    /// `passkey`, `totp`, `recovery_code`, `password` or `email_code`.
    pub kind: &'static str,
    pub href: String,
}

/// Enrolment of a second factor that the operator requires.
#[derive(Debug, Clone, Serialize)]
pub struct Enroll {
    pub step: EnrollStep,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EnrollStep {
    /// A choice of the kind of factor. `totp` begins the set-up of an authenticator app.
    Choose {
        passkey: Option<PasskeyForm>,
        totp: Form,
        cancel: String,
    },
    Totp {
        setup: TotpSetup,
    },
}

/// New recovery codes, shown once.
#[derive(Debug, Clone, Serialize)]
pub struct RecoveryCodes {
    pub codes: Vec<String>,
    pub next: Next,
}

/// The way on from a page.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Next {
    /// URL of the next page.
    Link(String),
    /// Form that completes what led here.
    Act(Form),
}

/// The page after a sign-in with a recovery code, which states the number of unused codes.
#[derive(Debug, Clone, Serialize)]
pub struct CodesLeft {
    pub left: u64,
    pub next: Next,
}

views! {
    Challenge "challenge.html"
    Enroll "enroll.html"
    RecoveryCodes "recovery_codes.html"
    CodesLeft "codes_left.html"
}
