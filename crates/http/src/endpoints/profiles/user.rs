//! `GET /api/profiles/{userId}`: the public profile of any user.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::{ProfileId, UserId};
use latchkey_domain::profile::{AvatarUrl, Bio, Name, Profile, Username};
use latchkey_domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::parameters;
use crate::path::{PathText, user_id};

/// A public profile, as shown to other users and in search results.
#[derive(Serialize, ToSchema)]
#[schema(as = PublicProfile)]
pub struct PublicProfileBody {
    #[schema(schema_with = fields::shown::<ProfileId>)]
    id: ProfileId,
    #[schema(schema_with = fields::shown::<UserId>)]
    auth_id: UserId,
    #[schema(schema_with = fields::shown::<Name>)]
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::shown::<Username>)]
    username: Option<String>,
    #[schema(schema_with = fields::shown_or_null::<AvatarUrl>, required)]
    avatar_url: Option<String>,
    #[schema(schema_with = fields::shown_or_null::<Bio>, required)]
    bio: Option<String>,
    #[schema(schema_with = fields::moment_created)]
    created_at: Timestamp,
}

impl From<Profile> for PublicProfileBody {
    fn from(profile: Profile) -> Self {
        Self {
            id: profile.id,
            auth_id: profile.user_id,
            name: profile.name.into_string(),
            username: profile.username.map(Username::into_string),
            avatar_url: profile.avatar_url.map(AvatarUrl::into_string),
            bio: profile.bio.map(Bio::into_string),
            created_at: profile.created_at,
        }
    }
}

pub const GET: Endpoint = Endpoint::get("/api/profiles/{userId}", |method| on(method, get))
    .named("getPublicProfile", "Read a user's public profile")
    .about(HIDDEN)
    .access(Access::Public)
    .parameters(&[parameters::profile_user_id])
    .responds::<PublicProfileBody>("The public fields of the profile.")
    .errors(&[&codes::USER_NOT_FOUND, &codes::TOO_MANY_REQUESTS]);

/// Endpoint description that says which users have no public profile.
pub(crate) const HIDDEN: &str =
    "Banned users have no public profile, nor have those who signed up and did not verify their address yet.";

pub async fn get(
    State(app): State<App>,
    client: ClientInfo,
    PathText(id): PathText,
) -> Result<Json<PublicProfileBody>> {
    Ok(Json(app.service.profiles.public(user_id(&id)?, client.address()).await?.into()))
}
