//! Messages to people: refusals and notices, each with its key in the files of languages and the
//! values of its placeholders.

use std::time::Duration;

use latchkey_domain::time::Timestamp;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A point in time in a view. Templates print it with the functions `moment` and `ago`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When(pub Timestamp);

/// A duration in a message, printed in words. The script of the pages counts it down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait(pub Duration);

/// Keys under which templates see the milliseconds of a [`When`] and the seconds of a [`Wait`].
pub(crate) const AT: &str = "at";
pub(crate) const SECONDS: &str = "seconds";

impl Serialize for When {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        single(serializer, AT, self.0.as_millis())
    }
}

impl Serialize for Wait {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let seconds = self.0.as_secs() + u64::from(self.0.subsec_nanos() > 0);
        single(serializer, SECONDS, i64::try_from(seconds).unwrap_or(i64::MAX))
    }
}

fn single<S: Serializer>(serializer: S, key: &str, number: i64) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(key, &number)?;
    map.end()
}

/// A refusal of a request, because of a field of the form or of the form as a whole.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    /// Name of the field; `None` for the form as a whole.
    pub field: Option<&'static str>,
    pub fault: Fault,
}

impl Problem {
    #[must_use]
    pub const fn at(field: &'static str, fault: Fault) -> Self {
        Self { field: Some(field), fault }
    }

    #[must_use]
    pub const fn whole(fault: Fault) -> Self {
        Self { field: None, fault }
    }
}

/// Takes the field from each problem that the page does not show at it. Shown as problems of the whole form, they are told
/// whatever fields the page has. Returns true if there was one.
pub(crate) fn loosen<'a>(html: &str, fields: impl Iterator<Item = &'a mut Option<&'static str>>) -> bool {
    let mut is_any_lost = false;
    for field in fields {
        let is_lost = field.is_some_and(|field| !html.contains(&format!("id=\"{field}-fault\"")));
        if is_lost {
            *field = None;
        }
        is_any_lost |= is_lost;
    }
    is_any_lost
}

/// Reason of a refusal. Its text is in the table `fault` of each language.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum Fault {
    // Reasons that concern a field.
    Required,
    InvalidEmail,
    InvalidCharacters,
    InvalidUrl,
    InvalidUsername,
    TooShort { least: u64 },
    TooLong { most: u64 },
    TooCommon,
    ContainsEmail,
    ContainsServiceName,
    MissingNumber,
    MissingLowercase,
    MissingUppercase,
    MissingSpecialChar,
    EmailTaken,
    SameEmail,
    UsernameTaken,
    UsernameReserved,
    WrongPassword,
    InvalidCode,
    InvalidSecondFactor,
    InvalidRecoveryCode,
    // Reasons that concern the form as a whole.
    InvalidCredentials,
    EmailNotVerified,
    Banned,
    Throttled { wait: Wait },
    Busy { wait: Wait },
    SignUpDisabled,
    FeatureDisabled,
    NoMail,
    InvalidPasskey,
    UnknownPasskey,
    PasskeyExists,
    TooManyFactors,
    LastSecondFactor,
    LastSignInMethod,
    LastOwner,
    IdentityTaken,
    Conflict,
    SignInAgain,
}

/// Report of a completed action. Its text is in the table `notice` of each language, and is shown on
/// the next page.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum Notice {
    Saved,
    CodeSent,
    EmailVerified,
    EmailChanged,
    EmailChangeCancelled,
    PasswordChanged,
    PasskeyAdded,
    PasskeyRemoved,
    TotpAdded,
    TotpRemoved,
    TwoStepOn,
    TwoStepOff,
    SessionEnded,
    SessionsEnded,
    ProviderLinked {
        provider: String,
    },
    ProviderUnlinked {
        provider: String,
    },
    DeletionCancelled,
    /// The person showed again who they are, and can now repeat what they were about to do.
    Confirmed,
    /// As [`Self::Confirmed`], but what was typed was too long to be kept.
    ConfirmedNotKept,
    /// The page session of another account was ended by this sign-in.
    OtherAccountLeft {
        email: String,
    },
}

impl Notice {
    /// Returns the notice with this key; `None` for an unknown one, and for one with values.
    #[must_use]
    pub fn parse(key: &str) -> Option<Self> {
        Some(match key {
            "saved" => Self::Saved,
            "code_sent" => Self::CodeSent,
            "email_verified" => Self::EmailVerified,
            "email_changed" => Self::EmailChanged,
            "email_change_cancelled" => Self::EmailChangeCancelled,
            "password_changed" => Self::PasswordChanged,
            "passkey_added" => Self::PasskeyAdded,
            "passkey_removed" => Self::PasskeyRemoved,
            "totp_added" => Self::TotpAdded,
            "totp_removed" => Self::TotpRemoved,
            "two_step_on" => Self::TwoStepOn,
            "two_step_off" => Self::TwoStepOff,
            "session_ended" => Self::SessionEnded,
            "sessions_ended" => Self::SessionsEnded,
            "deletion_cancelled" => Self::DeletionCancelled,
            "confirmed" => Self::Confirmed,
            "confirmed_not_kept" => Self::ConfirmedNotKept,
            _ => return None,
        })
    }
}
