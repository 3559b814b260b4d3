//! `/api/profiles/me`: the signed-in user's own profile.

use axum::routing::on;
use std::convert::Infallible;

use axum::extract::{FromRequestParts, State};
use axum::response::{IntoResponse, Response};
use http::header::{ETAG, HeaderValue, IF_MATCH};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use latchkey_domain::ids::{ProfileId, UserId};
use latchkey_domain::profile::{AvatarUrl, Bio, Metadata, Name, Profile, ProfilePatch, Username};
use latchkey_domain::time::Timestamp;
use latchkey_service::profiles::Missing;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::{Patch, ProfileBody};
use crate::caller::{NamedUser, trace_user};
use crate::endpoint::{Access, Endpoint, keys_of};
use crate::entity_tags::EntityTags;
use crate::error::{ApiError, Result, codes};
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::{headers, parameters};

/// A profile, as shown to its owner.
#[derive(Serialize, ToSchema)]
#[schema(as = ProfileRecord)]
pub struct ProfileRecordBody {
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
    #[schema(schema_with = fields::shown::<Metadata>)]
    metadata: Map<String, Value>,
    #[schema(schema_with = fields::moment_created)]
    created_at: Timestamp,
    #[schema(schema_with = fields::moment_updated)]
    updated_at: Timestamp,
}

/// Request to change the user's own profile. Absent keys stay unchanged.
#[derive(Deserialize, ToSchema)]
pub struct UpdateProfileRequest {
    #[serde(default)]
    #[schema(schema_with = fields::sent::<Name>)]
    name: Patch<Name>,
    #[serde(default)]
    #[schema(schema_with = fields::removable::<Username>)]
    username: Patch<Username>,
    #[serde(default)]
    #[schema(schema_with = fields::removable::<AvatarUrl>)]
    avatar_url: Patch<AvatarUrl>,
    #[serde(default)]
    #[schema(schema_with = fields::removable::<Bio>)]
    bio: Patch<Bio>,
    #[serde(default)]
    #[schema(schema_with = fields::sent::<Metadata>)]
    metadata: Patch<Metadata>,
}

impl From<Profile> for ProfileRecordBody {
    fn from(profile: Profile) -> Self {
        Self {
            id: profile.id,
            auth_id: profile.user_id,
            name: profile.name.into_string(),
            username: profile.username.map(Username::into_string),
            avatar_url: profile.avatar_url.map(AvatarUrl::into_string),
            bio: profile.bio.map(Bio::into_string),
            metadata: profile.metadata.into_map(),
            created_at: profile.created_at,
            updated_at: profile.updated_at,
        }
    }
}

pub const GET: Endpoint = Endpoint::get("/api/profiles/me", |method| on(method, get))
    .named("getOwnProfile", "Read one's own profile")
    .access(Access::User)
    .responds_with::<ProfileRecordBody>(StatusCode::OK, "The whole profile.", &[headers::ETAG])
    .errors(&[&codes::PROFILE_NOT_FOUND]);

pub async fn get(State(app): State<App>, credentials: Credentials) -> Result<Response> {
    let bearer = credentials.bearer.as_ref().map(BearerToken::expose);
    let profile = app.service.profiles.own(bearer).await?;
    trace_user(&app, profile.user_id);
    answer(profile)
}

pub const PATCH: Endpoint = Endpoint::patch("/api/profiles/me", |method| on(method, patch))
    .named("updateOwnProfile", "Change one's own profile")
    .about(
        "Only the keys present change; `metadata` replaces the whole object. On any refusal nothing changes. Bodies \
         are at most 256 KiB.",
    )
    .access(Access::User)
    .parameters(&[parameters::if_match])
    .profile_body::<UpdateProfileRequest>(
        keys_of::<UpdateProfileRequest>,
        || json!({ "bio": "First programmer.", "name": "Ada Lovelace" }),
    )
    .responds_with::<ProfileRecordBody>(StatusCode::OK, "The profile after the change.", &[headers::ETAG])
    .errors(&[&codes::PROFILE_NOT_FOUND, &codes::USERNAME_TAKEN, &codes::PRECONDITION_FAILED]);

pub async fn patch(
    State(app): State<App>,
    user: NamedUser,
    IfMatch(if_version): IfMatch,
    body: Result<ProfileBody<UpdateProfileRequest>>,
) -> Result<Response> {
    let patch = match body.and_then(|ProfileBody(body)| change(body)) {
        Ok(patch) => patch,
        Err(refusal) => return Err(user.refusal(&app, refusal).await),
    };
    answer(app.service.profiles.update(user.0, patch, if_version, Missing::Refuse).await?)
}

fn change(body: UpdateProfileRequest) -> Result<ProfilePatch> {
    Ok(ProfilePatch {
        name: body.name.not_null("name", "must be a string")?,
        username: body.username.into(),
        avatar_url: body.avatar_url.into(),
        bio: body.bio.into(),
        metadata: body.metadata.not_null("metadata", "must be an object")?,
        custom: Map::new(),
    })
}

fn answer(profile: Profile) -> Result<Response> {
    let tag = HeaderValue::try_from(entity_tag(profile.version)).map_err(ApiError::internal)?;
    Ok(([(ETAG, tag)], Json(ProfileRecordBody::from(profile))).into_response())
}

fn entity_tag(version: i64) -> String {
    format!("\"v{version}\"")
}

/// Extractor of the header `If-Match`: the profile versions that the request accepts, `None` for any version.
pub struct IfMatch(Option<Vec<i64>>);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self(if_match(&parts.headers)))
    }
}

/// Returns the versions that `If-Match` accepts (RFC 9110 section 13.1.1): `None` (any version) without the header or
/// for `*`. A weak or unknown tag accepts no version.
fn if_match(headers: &HeaderMap) -> Option<Vec<i64>> {
    let EntityTags::Listed(tags) = EntityTags::of(headers, &IF_MATCH)? else { return None };
    // Only the exact text that the service sends for a version counts: `"v01"` is not version 1.
    let version = |tag: &str| {
        let version = tag.strip_prefix("\"v")?.strip_suffix('"')?.parse().ok()?;
        (entity_tag(version) == tag).then_some(version)
    };
    Some(tags.into_iter().filter_map(version).collect())
}
