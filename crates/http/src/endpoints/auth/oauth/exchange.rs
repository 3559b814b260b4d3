//! `POST /api/auth/oauth/exchange`: the code that came back with the browser becomes a session, or a link to the account
//! of the session that began it.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use latchkey_service::oauth::exchange::Exchanged;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoints::auth::session::{Saying, linked_answer, session_answer};
use crate::error::Result;
use crate::openapi::fields;

/// The body of the exchange.
#[derive(Deserialize, ToSchema)]
#[schema(as = OAuthExchangeRequest)]
pub struct ExchangeRequest {
    #[schema(schema_with = fields::oauth_code)]
    code: String,
    #[serde(alias = "codeVerifier")]
    #[schema(schema_with = fields::code_verifier)]
    code_verifier: String,
}

/// `POST /api/auth/oauth/exchange`
pub async fn exchange(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ExchangeRequest>,
) -> Result<Response> {
    let bearer = Credentials::of(&headers).bearer;
    let bearer = bearer.as_ref().map(BearerToken::expose);
    let (code, verifier) = (body.code.as_str(), body.code_verifier.as_str());
    match app.service.exchange_oauth_code(code, verifier, bearer, &client.to_domain()).await? {
        Exchanged::SignedIn(signed_in) => {
            session_answer(&app, client.client_type, *signed_in, Saying::Nothing)
        }
        Exchanged::Linked { user, access } => Ok(linked_answer(*user, access).into_response()),
    }
}
