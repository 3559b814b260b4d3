//! `POST /api/auth/id-token`: sign-in of native apps by the id token that a provider gave them.

use axum::extract::State;
use axum::response::Response;
use latchkey_domain::identity::ProviderKey;
use latchkey_domain::profile::Name;
use latchkey_service::oauth::id_token::IdTokenSignIn;
use serde::Deserialize;
use utoipa::ToSchema;

use super::session::{Saying, session_answer};
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::error::Result;
use crate::openapi::fields;

/// The body of a sign-in by id token.
#[derive(Deserialize, ToSchema)]
pub struct IdTokenRequest {
    #[schema(schema_with = fields::shown::<ProviderKey>)]
    provider: String,
    #[schema(schema_with = fields::id_token)]
    token: String,
    #[schema(schema_with = fields::id_token_nonce)]
    nonce: Option<String>,
    #[schema(schema_with = fields::optional_name)]
    name: Option<Name>,
}

/// `POST /api/auth/id-token`
pub async fn sign_in(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<IdTokenRequest>,
) -> Result<Response> {
    let IdTokenRequest { provider, token, nonce, name } = body;
    let sign_in = IdTokenSignIn { provider, token, nonce, name, client: client.to_domain() };
    let signed_in = app.service.sign_in_with_id_token(sign_in).await?;
    session_answer(&app, client.client_type, signed_in, Saying::Nothing)
}
