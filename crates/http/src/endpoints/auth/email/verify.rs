//! `POST /api/auth/email/verify`: verifyEmail, by code or (older variant) by the token of a link.

use axum::extract::State;
use axum::response::Response;
use latchkey_domain::email::Email;
use latchkey_domain::reason::Reason;
use latchkey_domain::tokens::LinkToken;
use latchkey_service::verify_email::VerificationProof;
use serde::Deserialize;
use utoipa::ToSchema;

use super::code;
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoints::auth::session::{Saying, session_answer};
use crate::error::{ApiError, Result};
use crate::openapi::fields;

/// The body of verifyEmail.
#[derive(Deserialize, ToSchema)]
#[schema(as = VerifyEmailRequest)]
pub struct VerifyRequest {
    #[schema(schema_with = fields::optional_email)]
    email: Option<Email>,
    #[schema(schema_with = fields::code_or_link_token)]
    otp: String,
}

/// `POST /api/auth/email/verify`
pub async fn verify(
    State(app): State<App>,
    client: ClientInfo,
    credentials: Credentials,
    JsonBody(body): JsonBody<VerifyRequest>,
) -> Result<Response> {
    let proof = match (LinkToken::parse(&body.otp), body.email) {
        (Some(token), email) => VerificationProof::Link(token, email),
        (None, Some(email)) => VerificationProof::Code(email, code(&body.otp)?),
        (None, None) => {
            let problem = "is required with a code";
            return Err(ApiError::validation("email", problem).reason(Reason::Required));
        }
    };
    let bearer = credentials.bearer.as_ref().map(BearerToken::expose);
    let signed_in = app.service.verify_email(proof, bearer, client.to_domain()).await?;
    session_answer(&app, client.client_type, signed_in, Saying::Nothing)
}
