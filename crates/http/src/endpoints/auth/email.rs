//! `/api/auth/email`: verification and password reset.

pub mod exchange_reset_password_token;
mod links;
pub mod reset_password;
pub mod reset_password_link;
pub mod send_reset_password;
pub mod send_verification;
pub mod verify;
pub mod verify_link;

use latchkey_domain::codes::EnteredCode;
use latchkey_domain::email::Email;
use latchkey_domain::redirect::RedirectUrl;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::endpoints::auth::users::OlderOptions;
use crate::openapi::fields;
use latchkey_service::refusal::{INVALID_CODE, Refusal};

/// The body of resendVerificationEmail.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendMailRequest {
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::sent_or_null::<RedirectUrl>)]
    redirect_to: Option<String>,
    options: Option<OlderOptions>,
}

/// The answer: the same for known and unknown addresses.
#[derive(Serialize, ToSchema)]
#[schema(as = MailSent)]
pub struct MailSentBody {
    #[schema(schema_with = fields::success)]
    success: bool,
    #[schema(schema_with = fields::message)]
    message: &'static str,
}

/// A code as sent. What has the form of none is answered like a wrong code, for it is one.
fn code(text: &str) -> Result<EnteredCode, &'static Refusal> {
    EnteredCode::parse(text).map_err(|_| &INVALID_CODE)
}
