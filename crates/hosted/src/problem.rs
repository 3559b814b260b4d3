//! Refusals as pages show them: the error of a use case becomes a message at its field, or at the form as a whole.

use std::time::Duration;

use latchkey_domain::password::{LONGEST_PASSWORD, SHORTEST_PASSWORD};
use latchkey_domain::profile::{LONGEST_AVATAR_URL, LONGEST_BIO, LONGEST_NAME};
use latchkey_domain::reason::Reason;
use latchkey_http::error::{ApiError, codes};
use latchkey_pages::{Fault, Problem, Wait};
use latchkey_service::refusal::{INVALID_CHALLENGE, TWO_STEP_REQUIRED};
use latchkey_service::{Error, Refusal};

use crate::errors::PageError;

/// A form that was not accepted.
pub(crate) enum Rejection {
    /// The form is shown again with these problems.
    Form(Box<Refused>),
    /// The refusal is not about the form, and is a page of its own.
    Page(PageError),
}

/// A refused form: status and log fields of the API's error, and the problems to be shown.
pub(crate) struct Refused {
    pub(crate) error: ApiError,
    pub(crate) problems: Vec<Problem>,
}

impl Refused {
    /// A form whose fields cannot be read.
    pub(crate) fn of_fields(problems: Vec<Problem>) -> Self {
        Self { error: ApiError::from(&codes::VALIDATION_ERROR), problems }
    }
}

impl From<PageError> for Rejection {
    fn from(error: PageError) -> Self {
        Self::Page(error)
    }
}

impl From<ApiError> for Rejection {
    fn from(error: ApiError) -> Self {
        Self::Page(error.into())
    }
}

impl From<Error> for Rejection {
    fn from(error: Error) -> Self {
        let problems = problems_of(&error);
        // Its page says why or what to do, and no field is wrong.
        let is_told =
            matches!(&error, Error::Refused(row) if [&INVALID_CHALLENGE, &TWO_STEP_REQUIRED].contains(row));
        let error = ApiError::from(error);
        if problems.is_empty() && !is_told {
            Self::Page(error.into())
        } else {
            Self::Form(Box::new(Refused { error, problems }))
        }
    }
}

impl Rejection {
    /// True if the API has this code for the refusal.
    pub(crate) fn is(&self, code: &str) -> bool {
        match self {
            Self::Form(refused) => refused.error.code == code,
            Self::Page(error) => error.code() == code,
        }
    }

    /// True if the address of the account has to be verified first.
    pub(crate) fn is_unverified(&self) -> bool {
        self.is(codes::EMAIL_NOT_VERIFIED.name)
    }

    /// Changes the problems, where a page shows them in another way.
    #[must_use]
    pub(crate) fn with_problems(mut self, change: impl FnOnce(&mut Vec<Problem>)) -> Self {
        if let Self::Form(refused) = &mut self {
            change(&mut refused.problems);
        }
        self
    }

    /// Shows wrong credentials as a wrong password in this field.
    #[must_use]
    pub(crate) fn of_password(self, field: &'static str) -> Self {
        self.replacing(&Fault::InvalidCredentials, &[Problem::at(field, Fault::WrongPassword)])
    }

    /// Shows other problems in place of those with this fault.
    #[must_use]
    pub(crate) fn replacing(self, fault: &Fault, others: &[Problem]) -> Self {
        self.with_problems(|problems| {
            if problems.iter().any(|problem| problem.fault == *fault) {
                problems.retain(|problem| problem.fault != *fault);
                problems.extend_from_slice(others);
            }
        })
    }

    /// Names the minimum length of a new password, which a refusal does not know.
    #[must_use]
    pub(crate) fn with_least(self, least: usize) -> Self {
        self.with_problems(|problems| {
            for problem in problems {
                if let Fault::TooShort { least: shown } = &mut problem.fault {
                    *shown = least as u64;
                }
            }
        })
    }
}

/// Returns the problems of an error; none if it is not about the form.
fn problems_of(error: &Error) -> Vec<Problem> {
    match error {
        Error::Refused(row) => {
            fault_of_row(row, row.retry_after).into_iter().map(|fault| at(row.field, fault)).collect()
        }
        Error::RefusedWith(row, details) if !details.reasons.is_empty() => {
            let field = details.field.and_then(field_of).unwrap_or("password");
            details.reasons.iter().map(|reason| Problem::at(field, fault_of(field, *reason))).collect()
        }
        Error::RefusedWith(row, details) => {
            let fault = fault_of_row(row, details.retry_after.or(row.retry_after));
            fault.into_iter().map(|fault| at(details.field.or(row.field), fault)).collect()
        }
        Error::Validation { field, reason, .. } => {
            field_of(field).map(|field| Problem::at(field, fault_of(field, *reason))).into_iter().collect()
        }
        Error::StorageUnavailable(_) => {
            let wait = codes::STORAGE_UNAVAILABLE.retry_after.unwrap_or_default();
            vec![Problem::whole(Fault::Busy { wait: Wait(wait) })]
        }
        Error::Internal(_) => Vec::new(),
    }
}

fn at(field: Option<&'static str>, fault: Fault) -> Problem {
    let field = match fault {
        Fault::InvalidCode | Fault::InvalidSecondFactor => Some("code"),
        _ => field.and_then(field_of),
    };
    Problem { field, fault }
}

/// Returns the name in forms of a field of the API.
fn field_of(field: &str) -> Option<&'static str> {
    Some(match field {
        "email" | "newEmail" => "email",
        "password" | "newPassword" => "password",
        "currentPassword" => "current_password",
        "name" => "name",
        "username" => "username",
        "bio" => "bio",
        "avatar_url" => "avatar_url",
        "otp" | "code" => "code",
        _ => return None,
    })
}

/// Returns what a refusal says; `None` if no form can act on it.
fn fault_of_row(row: &Refusal, wait: Option<Duration>) -> Option<Fault> {
    let wait = Wait(wait.unwrap_or(Duration::from_secs(1)));
    Some(match row.name {
        "INVALID_CREDENTIALS" => Fault::InvalidCredentials,
        "INVALID_CODE" => Fault::InvalidCode,
        "INVALID_SECOND_FACTOR" => Fault::InvalidSecondFactor,
        "EMAIL_NOT_VERIFIED" => Fault::EmailNotVerified,
        "USER_BANNED" => Fault::Banned,
        "TOO_MANY_REQUESTS" => Fault::Throttled { wait },
        "SERVICE_BUSY" | "STORAGE_UNAVAILABLE" => Fault::Busy { wait },
        "SIGNUP_DISABLED" => Fault::SignUpDisabled,
        "FEATURE_DISABLED" => Fault::FeatureDisabled,
        "EMAIL_PROVIDER_NOT_CONFIGURED" => Fault::NoMail,
        "EMAIL_EXISTS" => Fault::EmailTaken,
        "USERNAME_TAKEN" => Fault::UsernameTaken,
        "INVALID_PASSKEY" => Fault::InvalidPasskey,
        "UNKNOWN_PASSKEY" => Fault::UnknownPasskey,
        "PASSKEY_EXISTS" => Fault::PasskeyExists,
        "TOO_MANY_FACTORS" => Fault::TooManyFactors,
        "LAST_SECOND_FACTOR" => Fault::LastSecondFactor,
        "LAST_SIGN_IN_METHOD" => Fault::LastSignInMethod,
        "LAST_OWNER" => Fault::LastOwner,
        "IDENTITY_TAKEN" => Fault::IdentityTaken,
        "PRECONDITION_FAILED" => Fault::Conflict,
        "REAUTHENTICATION_REQUIRED" => Fault::SignInAgain,
        _ => return None,
    })
}

/// Returns what is wrong with a field.
pub(crate) fn fault_of(field: &str, reason: Reason) -> Fault {
    match reason {
        Reason::Required => Fault::Required,
        Reason::TooShort => Fault::TooShort { least: SHORTEST_PASSWORD as u64 },
        Reason::TooLong | Reason::TooLarge => Fault::TooLong { most: most(field) },
        Reason::Reserved => Fault::UsernameReserved,
        Reason::MissingNumber => Fault::MissingNumber,
        Reason::MissingLowercase => Fault::MissingLowercase,
        Reason::MissingUppercase => Fault::MissingUppercase,
        Reason::MissingSpecialChar => Fault::MissingSpecialChar,
        Reason::TooCommon => Fault::TooCommon,
        Reason::ContainsEmail => Fault::ContainsEmail,
        Reason::ContainsServiceName => Fault::ContainsServiceName,
        _ => match field {
            "email" => Fault::InvalidEmail,
            "username" => Fault::InvalidUsername,
            "avatar_url" => Fault::InvalidUrl,
            "code" => Fault::InvalidCode,
            _ => Fault::InvalidCharacters,
        },
    }
}

/// Returns the maximum length of a field in characters.
fn most(field: &str) -> u64 {
    let most = match field {
        "email" => 254,
        "name" => LONGEST_NAME,
        "bio" => LONGEST_BIO,
        "avatar_url" => LONGEST_AVATAR_URL,
        _ => LONGEST_PASSWORD,
    };
    most as u64
}
