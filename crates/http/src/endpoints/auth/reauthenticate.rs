//! `POST /api/auth/reauthenticate`: begins a reauthentication of the signed-in user. The response is a challenge; the
//! correct answer to it gets an access token that permits sensitive changes, such as those of second factors.

use axum::extract::State;
use axum::routing::on;
use http::HeaderMap;

use super::session::ChallengedBody;
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::{Result, codes};
use crate::json::Json;

pub const BEGIN: Endpoint = Endpoint::post("/api/auth/reauthenticate", |method| on(method, begin))
    .named("reauthenticate", "Begin to show again who one is")
    .about(
        "Asks for a second factor if two-step sign-in is on, else for the password, else for a mailed code. \
         `answerChallenge` with the bearer of the same session gives an access token that is fresh; the session itself \
         does not change. A further call replaces the challenge.",
    )
    .access(Access::User)
    .responds::<ChallengedBody>("The challenge.")
    .errors(&[&codes::REAUTHENTICATION_REQUIRED, &codes::TOO_MANY_REQUESTS]);

pub async fn begin(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
) -> Result<Json<ChallengedBody>> {
    let bearer = Credentials::of(&headers).bearer;
    let bearer = bearer.as_ref().map(BearerToken::expose);
    let challenge = app.service.challenges.reauthenticate(bearer, &client.to_sign_in()).await?;
    Ok(Json(challenge.into()))
}
