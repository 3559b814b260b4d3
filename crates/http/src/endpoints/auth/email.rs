//! `/api/auth/email`: verification and change of addresses, password reset, and mails for sign-in.

pub mod change;
pub mod exchange_reset_password_token;
mod links;
pub mod reset_password;
pub mod reset_password_link;
pub mod send_otp;
pub mod send_reset_password;
pub mod send_verification;
pub mod sign_in_link;
pub mod verify;
pub mod verify_link;

use http::StatusCode;
use latchkey_domain::codes::EnteredCode;
use latchkey_domain::email::Email;
use latchkey_domain::locale::Locale;
use latchkey_domain::redirect::RedirectUrl;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::users::OlderOptions;
use crate::error::codes;
use crate::json::Json;
use crate::openapi::fields;
use latchkey_service::refusal::{INVALID_CODE, Refusal};

/// Request body of the operation `resendVerificationEmail`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendMailRequest {
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::sent_or_null::<RedirectUrl>)]
    redirect_to: Option<String>,
    #[schema(schema_with = fields::locale)]
    locale: Option<Locale>,
    options: Option<OlderOptions>,
}

/// The response to a request for a mail. It is the same for known and unknown addresses.
#[derive(Serialize, ToSchema)]
#[schema(as = MailSent)]
pub struct MailSentBody {
    #[schema(schema_with = fields::success)]
    success: bool,
    #[schema(schema_with = fields::message)]
    message: &'static str,
}

/// Response of an endpoint that mails a code or link.
pub(super) type MailSent = (StatusCode, Json<MailSentBody>);

pub(super) const fn mail_sent(message: &'static str) -> MailSent {
    (StatusCode::ACCEPTED, Json(MailSentBody { success: true, message }))
}

/// Sets the access, response and errors of an endpoint that mails a code or link.
const fn mails(endpoint: Endpoint) -> Endpoint {
    endpoint
        .access(Access::Public)
        .responds_with::<MailSentBody>(
            StatusCode::ACCEPTED,
            "Accepted; a mail is sent if the address has an account for it.",
            &[],
        )
        .errors(&[
            &codes::REDIRECT_NOT_ALLOWED,
            &codes::EMAIL_PROVIDER_NOT_CONFIGURED,
            &codes::TOO_MANY_REQUESTS,
        ])
}

/// Parses a code from a request. A malformed code gets the same error as a wrong one.
pub(super) fn code(text: &str) -> Result<EnteredCode, &'static Refusal> {
    EnteredCode::parse(text).map_err(|_| &INVALID_CODE)
}
