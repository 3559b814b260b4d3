//! Refusals as the console shows them: those of the pages, and those that only operators meet.

use latchkey_http::error::ApiError;
use latchkey_http::error::codes::ErrorCode;
use latchkey_pages::Fault;
use latchkey_pages::console::{Fault as ConsoleFault, Problem, Refusal};
use latchkey_service::Error;
use latchkey_service::refusal::{
    EMAIL_EXISTS, EMAIL_PROVIDER_NOT_CONFIGURED, IMPORT_NOT_UNDOABLE, IMPORT_RUNNING, INVALID_OAUTH_CODE,
    LAST_OWNER, LAST_SIGN_IN_METHOD, MAIL_NOT_RETRIED, MAIL_NOT_SENT, OPERATOR_PROTECTED,
    PRECONDITION_FAILED, PROVIDER_NOT_CONFIGURED, PROVIDER_UNAVAILABLE,
};

use super::stop::Stop;
use crate::errors::PageError;
use crate::problem;

/// Refusals whose messages are shown as they are.
const TOLD: [&ErrorCode; 6] = [
    &MAIL_NOT_SENT,
    &MAIL_NOT_RETRIED,
    &EMAIL_PROVIDER_NOT_CONFIGURED,
    &LAST_SIGN_IN_METHOD,
    &IMPORT_RUNNING,
    &IMPORT_NOT_UNDOABLE,
];

/// A form that was not accepted.
pub(crate) enum Rejection {
    /// The form is shown again with these problems.
    Form(Box<Refused>),
    /// Another page is shown.
    Stop(Stop),
}

/// A refused form: status and log fields of the API's error, and the problems to be shown.
pub(crate) struct Refused {
    pub(crate) error: ApiError,
    pub(crate) problems: Vec<Problem>,
}

impl Rejection {
    /// Refuses a form because of what was typed: 400.
    pub(crate) fn of(problem: Problem) -> Self {
        problem::Refused::of_fields(Vec::new()).with(vec![problem])
    }

    /// True if the API has this code for the refusal.
    pub(crate) fn is(&self, code: &str) -> bool {
        matches!(self, Self::Form(refused) if refused.error.code == code)
    }

    /// Names the minimum length of a new password, which a refusal does not know.
    #[must_use]
    pub(crate) fn with_least(self, least: usize) -> Self {
        self.with_problems(|problems| {
            for problem in problems {
                if let ConsoleFault::Shared(Fault::TooShort { least: shown }) = &mut problem.fault {
                    *shown = least as u64;
                }
            }
        })
    }

    /// Names the limit that is used up. Only operators are told it.
    #[must_use]
    pub(super) fn naming_limit(mut self) -> Self {
        if let Self::Form(refused) = &mut self
            && let Some(limit) = refused.error.limit_name()
        {
            for problem in &mut refused.problems {
                if let ConsoleFault::Shared(Fault::Throttled { wait }) = problem.fault {
                    problem.fault = Refusal::LimitReached { limit: limit.to_owned(), wait }.into();
                }
            }
        }
        self
    }

    /// Changes the problems, where a page shows them in another way.
    #[must_use]
    pub(crate) fn with_problems(mut self, change: impl FnOnce(&mut Vec<Problem>)) -> Self {
        if let Self::Form(refused) = &mut self {
            change(&mut refused.problems);
        }
        self
    }
}

impl Refused {
    /// Refuses a form with the status of an error, in the words of the console.
    pub(crate) fn of(error: impl Into<ApiError>, problem: Problem) -> Rejection {
        Rejection::Form(Box::new(Self { error: error.into(), problems: vec![problem] }))
    }
}

impl problem::Refused {
    fn with(self, problems: Vec<Problem>) -> Rejection {
        Rejection::Form(Box::new(Refused { error: self.error, problems }))
    }
}

impl From<problem::Rejection> for Rejection {
    fn from(rejection: problem::Rejection) -> Self {
        match rejection {
            problem::Rejection::Form(refused) => {
                let shared = refused
                    .problems
                    .iter()
                    .map(|problem| Problem { field: problem.field, fault: problem.fault.clone().into() });
                let problems = shared.collect();
                refused.with(problems)
            }
            problem::Rejection::Page(error) => Self::Stop(error.into()),
        }
    }
}

impl From<Error> for Rejection {
    fn from(error: Error) -> Self {
        let own = match &error {
            Error::Refused(row) => own(row),
            Error::Validation { field: "redirectTo", .. } => Some(Problem::whole(Refusal::NoTarget)),
            _ => None,
        };
        match own {
            Some(problem) => Refused::of(error, problem),
            None => problem::Rejection::from(error).into(),
        }
    }
}

/// Returns the console's own word for a refusal.
fn own(row: &ErrorCode) -> Option<Problem> {
    if *row == PROVIDER_UNAVAILABLE {
        return Some(Problem::whole(Refusal::ProviderDown));
    }
    let is = |code: &ErrorCode| row.name == code.name;
    if TOLD.iter().any(|code| is(code)) {
        return Some(Problem::whole(Refusal::Because { reason: row.message.to_owned() }));
    }
    if is(&EMAIL_EXISTS) {
        return Some(Problem::at("email", Refusal::AddressTaken));
    }
    let known = [
        (&OPERATOR_PROTECTED, Refusal::OperatorProtected),
        (&LAST_OWNER, Refusal::LastOwner),
        (&PRECONDITION_FAILED, Refusal::Changed),
        (&INVALID_OAUTH_CODE, Refusal::ProviderExpired),
        (&PROVIDER_NOT_CONFIGURED, Refusal::ProviderDown),
    ];
    let found = known.into_iter().find(|(code, _)| is(code));
    found.map(|(_, refusal)| Problem::whole(refusal))
}

impl From<Stop> for Rejection {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<PageError> for Rejection {
    fn from(error: PageError) -> Self {
        Self::Stop(error.into())
    }
}

impl From<ApiError> for Rejection {
    fn from(error: ApiError) -> Self {
        Self::Stop(error.into())
    }
}
