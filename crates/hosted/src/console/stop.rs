//! The ways in which a handler of the console ends early.

use axum::response::{IntoResponse, Response};
use latchkey_http::error::ApiError;
use latchkey_pages::console::Frame;

use crate::errors::PageError;

/// The response of a page.
pub(crate) type Outcome = Result<Response, Stop>;

/// What a handler answers in place of what it was asked for.
pub(crate) enum Stop {
    /// An error page; in the frame of the operator, if there is one.
    Error(Box<PageError>, Option<Box<Frame>>),
    /// Another page: the sign-in, or the question for a factor.
    Instead(Box<Response>),
}

/// The frame of an error page, as a response extension.
#[derive(Clone)]
pub(super) struct ErrorFrame(pub(super) Frame);

impl From<PageError> for Stop {
    fn from(error: PageError) -> Self {
        Self::Error(Box::new(error), None)
    }
}

impl From<ApiError> for Stop {
    fn from(error: ApiError) -> Self {
        PageError::from(error).into()
    }
}

impl From<latchkey_service::Error> for Stop {
    fn from(error: latchkey_service::Error) -> Self {
        PageError::from(error).into()
    }
}

impl IntoResponse for Stop {
    fn into_response(self) -> Response {
        match self {
            Self::Error(error, frame) => {
                let mut response = error.into_response();
                if let Some(frame) = frame {
                    response.extensions_mut().insert(ErrorFrame(*frame));
                }
                response
            }
            Self::Instead(response) => *response,
        }
    }
}
