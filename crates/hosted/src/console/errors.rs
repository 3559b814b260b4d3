//! Error pages of the console.

use latchkey_pages::console::Frame;
use latchkey_pages::console::views::{ErrorCause, ErrorPage};
use latchkey_pages::{TemplateError, When, views};

use super::state::Console;
use super::stop::ErrorFrame;
use crate::errors::{ErrorPages, Failed};

impl ErrorPages for Console {
    fn error_page(&self, failed: &Failed<'_>) -> Result<String, TemplateError> {
        let view = ErrorPage { cause: cause(&failed.cause()), request_id: failed.request_id() };
        let frame = failed.extension::<ErrorFrame>().map(|ErrorFrame(frame)| frame.clone());
        self.templates.render(&frame.unwrap_or_else(|| Frame::new(When(self.service.now()))), &view)
    }
}

/// Returns the console's word for the cause.
fn cause(cause: &views::ErrorCause) -> ErrorCause {
    match cause {
        views::ErrorCause::NotFound => ErrorCause::NotFound,
        views::ErrorCause::StaleForm => ErrorCause::StaleForm,
        views::ErrorCause::Forbidden => ErrorCause::NotAllowed,
        views::ErrorCause::WrongHost => ErrorCause::WrongHost,
        views::ErrorCause::Throttled { wait } => ErrorCause::Throttled { wait: *wait },
        views::ErrorCause::Busy { wait } => ErrorCause::Busy { wait: *wait },
        views::ErrorCause::Internal => ErrorCause::Internal,
        _ => ErrorCause::BadRequest,
    }
}
