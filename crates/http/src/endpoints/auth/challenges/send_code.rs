//! `POST /api/auth/challenges/send-code`: mails the code of a challenge of kind `email_code`.

use axum::extract::State;
use axum::routing::on;
use http::StatusCode;
use latchkey_domain::challenge::ChallengeId;
use latchkey_domain::locale::Locale;
use latchkey_domain::shape::Shaped;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::challenge_id;
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::email::{MailSent, MailSentBody, mail_sent};
use crate::error::{Result, codes};
use crate::openapi::fields;

/// Request to mail the code of a challenge.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SendChallengeCodeRequest)]
pub struct SendRequest {
    #[schema(schema_with = fields::sent::<ChallengeId>)]
    challenge_id: String,
    #[schema(schema_with = fields::locale)]
    locale: Option<Locale>,
}

pub const SEND: Endpoint = Endpoint::post("/api/auth/challenges/send-code", |method| on(method, send))
    .named("sendChallengeCode", "Mail the code of a challenge")
    .about("For a challenge of kind `email_code`: mails six digits to the address of the account.")
    .access(Access::Public)
    .body::<SendRequest>(|| json!({ "challengeId": ChallengeId::SENT.example }))
    .responds_with::<MailSentBody>(StatusCode::ACCEPTED, "Accepted; the code is mailed.", &[])
    .errors(&[&codes::INVALID_CHALLENGE, &codes::EMAIL_PROVIDER_NOT_CONFIGURED, &codes::TOO_MANY_REQUESTS]);

pub async fn send(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<SendRequest>,
) -> Result<MailSent> {
    let client = client.in_locale(body.locale).to_domain();
    app.service.challenges.send_code(challenge_id(&body.challenge_id)?, &client).await?;
    Ok(mail_sent("The code was mailed."))
}
