//! `POST /api/auth/email/verify`: verifies an address by a code or, for older clients, by the token of a link.

use axum::extract::State;
use axum::response::Response;
use axum::routing::on;
use http::StatusCode;
use latchkey_domain::email::Email;
use latchkey_domain::reason::Reason;
use latchkey_domain::tokens::LinkToken;
use latchkey_service::mailbox::verify_email::VerificationProof;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::code;
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::SignInBody;
use crate::endpoints::auth::session::{Saying, entrance_answer};
use crate::error::codes;
use crate::error::{ApiError, Result};
use crate::openapi::fields;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::parameters;

/// Request body of the operation `verifyEmail`.
#[derive(Deserialize, ToSchema)]
#[schema(as = VerifyEmailRequest)]
pub struct VerifyRequest {
    #[schema(schema_with = fields::optional_email)]
    email: Option<Email>,
    #[schema(schema_with = fields::code_or_link_token)]
    otp: String,
}

pub const VERIFY: Endpoint = Endpoint::post("/api/auth/email/verify", |method| on(method, verify))
    .named("verifyEmail", "Verify an address")
    .about(
        "Proves the address by the code of the mail and opens a session. The older variant sends the token of a \
         link as `otp`, without `email`; that opens a session only if this very call verifies the address. The first \
         verification of an account that was in use before takes password, identities, sessions and public text out of \
         it, unless the call carries the bearer of a live session of that account.",
    )
    .access(Access::Public)
    .parameters(&[parameters::client_type])
    .body::<VerifyRequest>(|| json!({ "email": "ada@example.org", "otp": "123456" }))
    .responds_with::<SignInBody>(StatusCode::OK, "The address is verified. The session is open, or a second factor is needed.", &[SET_COOKIE])
    .errors(&[&codes::INVALID_CODE, &codes::TOO_MANY_REQUESTS]);

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
    let entrance = app.service.mailbox.verify_email(proof, bearer, client.to_sign_in()).await?;
    entrance_answer(&app, entrance, Saying::Nothing)
}
