//! `/api/auth/profiles`: reading and changing a profile in its flat form (operations `getProfile` and `setProfile`).
//! Custom fields are at the top level. For older clients, responses repeat the fields nested under `profile`.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::profile::{AvatarUrl, Bio, Name, Profile, ProfilePatch, READ_ONLY_KEYS, Username};
use latchkey_domain::reason::Reason;
use latchkey_service::profiles::Missing;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::body::{Patch, ProfileBody, from_object};
use crate::caller::NamedUser;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::profiles::user::HIDDEN;
use crate::error::{ApiError, Result, codes};
use crate::json::Json;
use crate::openapi::parameters;
use crate::openapi::shapes::{FlatProfile, SetProfileRequest};
use crate::path::{PathText, user_id};

/// Fields of a `setProfile` request. Every key without a field of its own is a custom field.
#[derive(Deserialize)]
struct FlatPatch {
    #[serde(default)]
    name: Patch<Name>,
    #[serde(default)]
    username: Patch<Username>,
    #[serde(default)]
    avatar_url: Patch<AvatarUrl>,
    #[serde(default)]
    bio: Patch<Bio>,
    #[serde(flatten)]
    custom: Map<String, Value>,
}

pub const GET: Endpoint = Endpoint::get("/api/auth/profiles/{userId}", |method| on(method, get))
    .named("getProfile", "Read a user's public profile, flat")
    .about(HIDDEN)
    .access(Access::Public)
    .parameters(&[parameters::profile_user_id])
    .responds::<FlatProfile>("The profile with its custom fields.")
    .errors(&[&codes::USER_NOT_FOUND, &codes::TOO_MANY_REQUESTS]);

pub async fn get(State(app): State<App>, client: ClientInfo, PathText(id): PathText) -> Result<Json<Value>> {
    let profile = app.service.profiles.public(user_id(&id)?, client.address()).await?;
    Ok(Json(flat(&profile)))
}

pub const SET: Endpoint = Endpoint::patch("/api/auth/profiles/current", |method| on(method, set))
    .named("setProfile", "Change one's own flat profile")
    .about(
        "Merges the keys present, one level deep, and makes the profile where there is none. Bodies are at most 256 KiB.",
    )
    .access(Access::User)
    .profile_body::<SetProfileRequest>(
        || vec!["profile", "name", "username", "avatar_url", "bio"],
        || json!({ "profile": { "favourite_colour": "green", "name": "Ada Lovelace" } }),
    )
    .responds::<FlatProfile>("The profile after the change.")
    .errors(&[&codes::USERNAME_TAKEN]);

pub async fn set(
    State(app): State<App>,
    user: NamedUser,
    body: Result<ProfileBody<Map<String, Value>>>,
) -> Result<Json<Value>> {
    let patch = match body.and_then(|ProfileBody(body)| patch(body)) {
        Ok(patch) => patch,
        Err(refusal) => return Err(user.refusal(&app, refusal).await),
    };
    let profile = app.service.profiles.update(user.0, patch, None, Missing::Create).await?;
    Ok(Json(flat(&profile)))
}

fn patch(mut body: Map<String, Value>) -> Result<ProfilePatch> {
    match body.remove("profile") {
        Some(Value::Object(nested)) => flat_patch(nested).map_err(|error| error.within("profile")),
        Some(_) => Err(ApiError::validation("profile", "must be an object").reason(Reason::WrongType)),
        None if body.is_empty() => {
            Err(ApiError::validation("profile", "is required").reason(Reason::Required))
        }
        None => flat_patch(body),
    }
}

fn flat_patch(mut fields: Map<String, Value>) -> Result<ProfilePatch> {
    for key in READ_ONLY_KEYS {
        fields.remove(key);
    }
    let flat: FlatPatch = from_object(fields)?;
    let name = flat.name.not_null("name", "must be a string")?;
    Ok(ProfilePatch {
        name,
        username: flat.username.into(),
        avatar_url: flat.avatar_url.into(),
        bio: flat.bio.into(),
        metadata: None,
        custom: flat.custom,
    })
}

pub(super) fn flat(profile: &Profile) -> Value {
    let mut fields = profile.custom.clone();
    fields.insert("name".to_owned(), json!(profile.name.as_str()));
    if let Some(username) = &profile.username {
        fields.insert("username".to_owned(), json!(username.as_str()));
    }
    fields.insert("avatar_url".to_owned(), json!(profile.avatar_url.as_ref().map(AvatarUrl::as_str)));
    fields.insert("bio".to_owned(), json!(profile.bio.as_ref().map(Bio::as_str)));
    fields.insert("createdAt".to_owned(), json!(profile.created_at));
    fields.insert("updatedAt".to_owned(), json!(profile.updated_at));
    let nested = fields.clone();
    fields.insert("id".to_owned(), json!(profile.user_id));
    fields.insert("profile".to_owned(), Value::Object(nested));
    Value::Object(fields)
}
