//! `POST /api/auth/challenges/answer`: answers a challenge and so completes the sign-in, reauthentication, password
//! reset or undo that the challenge was begun for.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::{HeaderMap, StatusCode};
use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_domain::password::Password;
use latchkey_domain::reason::Reason;
use latchkey_domain::shape::Shaped;
use latchkey_service::challenges::{Answer, Answered};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::example::{Example, ExampleBuilder};

use super::challenge_id;
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint, keys_of};
use crate::endpoints::MessageBody;
use crate::endpoints::auth::SessionBody;
use crate::endpoints::auth::email::exchange_reset_password_token::ResetTokenBody;
use crate::endpoints::auth::passkeys::credential;
use crate::endpoints::auth::session::{ChallengedBody, Saying, entrance_answer};
use crate::error::{ApiError, Result, codes};
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::headers::SET_COOKIE;

/// Answer to a challenge.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AnswerChallengeRequest)]
pub struct AnswerRequest {
    #[schema(schema_with = fields::sent::<ChallengeId>)]
    challenge_id: String,
    #[schema(schema_with = fields::challenge_kind)]
    kind: String,
    #[schema(schema_with = fields::challenge_code)]
    code: Option<String>,
    #[schema(schema_with = fields::challenge_password)]
    password: Option<Password>,
    #[schema(schema_with = fields::challenge_passkey)]
    credential: Option<Map<String, Value>>,
}

/// The response to a correct answer. It depends on the purpose of the challenge.
#[derive(ToSchema)]
#[schema(as = ChallengeAnswered)]
#[serde(untagged)]
pub enum AnsweredBody {
    /// After a sign-in: the new session. After a reauthentication: a new access token of the same session.
    Session(SessionBody),
    /// After a sign-in to an account in deletion, once all its factors are given: the challenge of kind `restore`. Or after
    /// the restoral, if a second factor must be enrolled.
    Challenged(ChallengedBody),
    /// After a request to reset the password: the token with which a new password can be set.
    Reset(ResetTokenBody),
    /// After an undo: a message that the change was reversed.
    Message(MessageBody),
}

pub const ANSWER: Endpoint = Endpoint::post("/api/auth/challenges/answer", |method| on(method, answer))
    .named("answerChallenge", "Answer a challenge")
    .about(
        "Completes the sign-in, reauthentication, reset or undo that the challenge was begun for; once. A challenge \
         ends after `auth.challenge_attempts` wrong answers (five by default). The `client_type` of the call that began a sign-in decides between cookie and body. \
         A reauthentication needs a bearer of the session that began it. A sign-in to an account in deletion is answered with \
         a further challenge of kind `restore`; answering that, without another field, restores the account.",
    )
    .access(Access::PublicOrUser)
    .body_of_shapes::<AnswerRequest>(keys_of::<AnswerRequest>, examples)
    .responds_with::<AnsweredBody>(StatusCode::OK, "The answer is right.", &[SET_COOKIE])
    .errors(&[
        &codes::EMAIL_NOT_VERIFIED,
        &codes::INVALID_CHALLENGE,
        &codes::INVALID_CREDENTIALS,
        &codes::INVALID_SECOND_FACTOR,
        &codes::TOO_MANY_REQUESTS,
        &codes::USER_BANNED,
    ]);

pub async fn answer(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    JsonBody(body): JsonBody<AnswerRequest>,
) -> Result<Response> {
    let kind = ChallengeKind::parse(&body.kind).ok_or_else(unknown_kind)?;
    let bearer = Credentials::of(&headers).bearer;
    let answer = Answer {
        challenge: challenge_id(&body.challenge_id)?,
        kind,
        code: body.code,
        password: body.password,
        assertion: match body.credential {
            Some(credential) if kind == ChallengeKind::Passkey => Some(credential::assertion(credential)?),
            _ => None,
        },
    };
    let bearer = bearer.as_ref().map(BearerToken::expose);
    match app.service.challenges.answer(answer, bearer, &client.to_sign_in()).await? {
        Answered::Entered(entrance) => entrance_answer(&app, entrance, Saying::Nothing),
        Answered::Renewed(_) => Err(ApiError::internal("a bearer renewed a page session")),
        Answered::Reauthenticated { user, access } => {
            Ok(Json(SessionBody::stepped_up(&app, &user, access)).into_response())
        }
        Answered::Reset { token, expires_at } => {
            Ok(Json(ResetTokenBody::new(&token, expires_at)).into_response())
        }
        Answered::Undone => {
            let message = "It was undone. Set a new password with the code that was mailed.";
            Ok(Json(MessageBody { message }).into_response())
        }
    }
}

fn unknown_kind() -> ApiError {
    ApiError::validation("kind", "must be one of the kinds of the challenge").reason(Reason::Unknown)
}

fn examples() -> Vec<(&'static str, Example)> {
    let answer = |kind: ChallengeKind, field: &str, value: &str| {
        let body = json!({ "challengeId": ChallengeId::SENT.example, "kind": kind.as_str(), field: value });
        ExampleBuilder::new().value(Some(body)).build()
    };
    vec![
        ("totp", answer(ChallengeKind::Totp, "code", "123456")),
        ("recovery_code", answer(ChallengeKind::RecoveryCode, "code", "8kz4-1m0q-ye7w-v2ah")),
        ("password", answer(ChallengeKind::Password, "password", "correct horse battery")),
        ("email_code", answer(ChallengeKind::EmailCode, "code", "123456")),
    ]
}
