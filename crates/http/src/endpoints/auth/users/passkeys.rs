//! `/api/auth/users/{id}/passkeys/{passkeyId}`: a user's passkeys, for an admin.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Party;

use crate::admin_input::{AdminBody, NoKeys};
use crate::app::App;
use crate::caller::Admin;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::endpoints::auth::passkeys::passkey_id;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::parameters;
use crate::path::{PathTexts, user_id};

pub const REMOVE: Endpoint =
    Endpoint::delete("/api/auth/users/{id}/passkeys/{passkeyId}", |method| on(method, remove))
        .named("removeUserPasskey", "Remove a passkey of a user")
        .about("Ends the sessions that the passkey opened. The user gets a mail.")
        .access(Access::Admin)
        .parameters(&[parameters::id::<UserId>, parameters::passkey_id])
        .no_body()
        .responds::<MessageBody>("The passkey is removed.")
        .errors(&[&codes::NOT_FOUND, &codes::USER_NOT_FOUND, &codes::OPERATOR_PROTECTED, &codes::LAST_OWNER]);

pub async fn remove(
    State(app): State<App>,
    Admin(client): Admin,
    PathTexts(user, passkey): PathTexts,
    _: AdminBody<NoKeys>,
) -> Result<Json<MessageBody>> {
    let (user, passkey) = (user_id(&user)?, passkey_id(&passkey)?);
    app.service.passkeys.remove_of(user, passkey, Party::Admin, &client.to_domain()).await?;
    Ok(Json(MessageBody { message: "The passkey was removed, and the sessions that it opened ended." }))
}
