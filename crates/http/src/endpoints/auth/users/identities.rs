//! `DELETE /api/auth/users/{id}/identities/{provider}`: unlinks a user's identities of a provider, for an admin.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Party;

use crate::admin_input::{AdminBody, NoKeys};
use crate::app::App;
use crate::caller::AdminWith;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::parameters;
use crate::path::{PathTexts, user_id};

pub const UNLINK: Endpoint =
    Endpoint::delete("/api/auth/users/{id}/identities/{provider}", |method| on(method, unlink))
        .named("unlinkUserIdentity", "Unlink a user's identities of a provider")
        .about(
            "All of that provider, or the one with `subject`. Never the last way in: set a password first. The sessions \
             that they opened end. The user gets a mail.",
        )
        .access(Access::Admin)
        .parameters(&[parameters::id::<UserId>, parameters::provider, parameters::subject])
        .no_body()
        .responds::<MessageBody>("The identities are unlinked.")
        .errors(&[
            &codes::NOT_FOUND,
            &codes::USER_NOT_FOUND,
            &codes::LAST_SIGN_IN_METHOD,
            &codes::OPERATOR_PROTECTED,
        ]);

pub async fn unlink(
    State(app): State<App>,
    admin: AdminWith,
    PathTexts(user, provider): PathTexts,
    _: AdminBody<NoKeys>,
) -> Result<Json<MessageBody>> {
    let subject = admin.query.knowing(&["subject"])?.optional("subject")?;
    let (id, client) = (user_id(&user)?, admin.client.to_domain());
    let identity = (provider.as_str(), subject.as_deref());
    app.service.admin.unlink_identity(id, identity, Party::Admin, Some(&client)).await?;
    Ok(Json(MessageBody {
        message: "The identities were unlinked, and the sessions that they opened ended.",
    }))
}
