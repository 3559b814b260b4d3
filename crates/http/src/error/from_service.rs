//! Conversion of a refusal or failure of a use case into an [`ApiError`](super::ApiError).

use latchkey_service::{Error, Refusal};

use super::{ApiError, codes, status_of};

impl From<&'static Refusal> for ApiError {
    fn from(row: &'static Refusal) -> Self {
        let error = Self {
            code: row.name,
            status: status_of(row),
            message: row.message.into(),
            next_action: row.next_action.into(),
            retry_after: row.retry_after,
            details: None,
            source: None,
        };
        row.field.into_iter().fold(error, Self::field)
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(row) => row.into(),
            Error::RefusedWith(row, details) => {
                let mut error = Self::new(row, details.message);
                error.retry_after = details.retry_after.or(error.retry_after);
                error = details.field.into_iter().fold(error, Self::field);
                error = details.limit.into_iter().fold(error, Self::limit);
                details.reasons.into_iter().fold(error, Self::reason)
            }
            Error::Validation { field, reason, problem } => Self::validation(field, &problem).reason(reason),
            Error::StorageUnavailable(source) => Self::from(&codes::STORAGE_UNAVAILABLE).caused_by(source),
            Error::Internal(source) => Self::internal(source),
        }
    }
}
