//! Messages of the console: refusals and notices, each with its key in `locales/console.toml`.

use serde::{Deserialize, Serialize};

use crate::message::Wait;

/// A refusal of a request, because of a field of the form or of the form as a whole.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    /// Name of the field; `None` for the form as a whole.
    pub field: Option<&'static str>,
    pub fault: Fault,
}

impl Problem {
    #[must_use]
    pub fn at(field: &'static str, fault: impl Into<Fault>) -> Self {
        Self { field: Some(field), fault: fault.into() }
    }

    #[must_use]
    pub fn whole(fault: impl Into<Fault>) -> Self {
        Self { field: None, fault: fault.into() }
    }
}

/// Reason of a refusal: one that the pages have too, or one of the console alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Fault {
    Shared(crate::message::Fault),
    Own(Refusal),
}

/// Reason of a refusal that only the console has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum Refusal {
    /// The email address belongs to an account.
    AddressTaken,
    /// The typed text is not the one that the page asks for.
    NotConfirmed,
    /// The role may not do this.
    NotAllowed,
    /// The account is an operator's, and protected.
    OperatorProtected,
    /// A rate limit is used up.
    LimitReached { limit: String, wait: Wait },
    /// The act would leave the instance without an owner.
    LastOwner,
    /// The account cannot be an operator.
    Ineligible {
        /// The reason, in words.
        reason: String,
    },
    /// The text is no JSON object, or breaks a rule of metadata.
    InvalidMetadata {
        /// Line of the first error.
        line: u64,
    },
    /// The value does not fit the setting.
    InvalidSetting {
        /// The rule, as `config check` states it.
        rule: String,
    },
    /// File, environment or command line fixed the setting.
    SettingPinned,
    /// The setting has another value than the one that was shown.
    SettingChanged,
    /// The metadata are others than those that were shown.
    MetadataChanged,
    /// A rule refuses the act.
    Because {
        /// The sentence of the API's error.
        reason: String,
    },
    /// A mail with a link has no page to lead to.
    NoTarget,
    /// The person cancelled at the provider.
    ProviderDenied,
    /// The way to the provider and back took too long, or was gone twice.
    ProviderExpired,
    /// The provider does not respond.
    ProviderDown,
    /// The account was changed by someone else in the meantime.
    Changed,
    /// More accounts were chosen than one act may name.
    TooMany { most: u64 },
    /// A list has more rows than a file may have.
    TooManyRows { most: u64 },
    /// No account was chosen.
    NoneChosen,
    /// No file was chosen, or the form was shown again, over which a browser does not keep it.
    ChooseFile,
    /// The file is larger than an upload may be.
    FileTooLarge,
    /// The file is none of the chosen format.
    BadFile {
        /// The rest of a sentence about the file.
        reason: String,
    },
}

impl From<crate::message::Fault> for Fault {
    fn from(fault: crate::message::Fault) -> Self {
        Self::Shared(fault)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Own(refusal)
    }
}

/// Report of a completed act, shown on the next page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum Notice {
    AccountCreated,
    AccountDeleted {
        email: String,
    },
    AccountBanned,
    AccountUnbanned,
    AddressChanged,
    /// Only the spelling of the address changed.
    AddressSpelled,
    /// The address was this one already.
    AddressSame,
    AddressVerified,
    PasswordReplaced,
    /// Nobody is mailed, because the address is not verified or the account is banned.
    PasswordReplacedUnmailed,
    AllSessionsEnded,
    OneSessionEnded,
    MailSent {
        email: String,
    },
    MailRetried,
    LimitsLifted,
    FactorsRemoved,
    FactorRemoved,
    IdentityRemoved,
    /// The identity was not linked any more.
    IdentityGone,
    ProfileTextRemoved,
    MetadataSaved,
    DeletionStopped,
    SettingsSaved,
    SettingsReset,
    KeyReplaced,
    OperatorGranted,
    OperatorChanged,
    OperatorRevoked,
    /// Numbers of accounts that were deleted again, and that stay because they are in use.
    ImportUndone {
        deleted: u64,
        kept: u64,
    },
}
