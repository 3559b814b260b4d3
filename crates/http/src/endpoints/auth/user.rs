//! The JSON form of a user in the responses of account endpoints.

use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::profile::{AvatarUrl, Name};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::{AppMetadata, PASSKEY_PROVIDER, User};
use latchkey_service::Service;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::openapi::fields;

/// A user account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub struct UserBody {
    #[schema(schema_with = fields::shown::<UserId>)]
    id: UserId,
    #[schema(schema_with = fields::shown::<Email>)]
    email: String,
    /// True if the address is verified.
    email_verified: bool,
    /// `email` if a password is set, then the keys of linked identity providers, then `passkey` if there is a usable one.
    providers: Vec<String>,
    #[schema(schema_with = fields::moment_created)]
    created_at: Timestamp,
    #[schema(schema_with = fields::moment_updated)]
    updated_at: Timestamp,
    profile: UserProfileBody,
    #[schema(schema_with = fields::shown::<AppMetadata>)]
    metadata: Map<String, Value>,
}

/// Name and picture in the user's profile. The name is empty if the user has no profile.
#[derive(Serialize, ToSchema)]
#[schema(as = UserProfile)]
pub struct UserProfileBody {
    #[schema(schema_with = fields::shown::<Name>)]
    name: String,
    #[schema(schema_with = fields::shown_or_null::<AvatarUrl>, required)]
    avatar_url: Option<String>,
}

impl UserBody {
    pub(super) fn new(service: &Service, user: &User) -> Self {
        // Nobody can sign in with a passkey that was registered for another domain.
        let is_offered = |way: &&str| *way != PASSKEY_PROVIDER || service.passkeys.has_usable(user);
        let providers = user.providers().into_iter().filter(is_offered).map(str::to_owned).collect();
        let profile = user.profile.as_ref();
        let avatar_url = profile.and_then(|profile| profile.avatar_url.as_ref());
        Self {
            id: user.id,
            email: user.email.as_typed().to_owned(),
            email_verified: user.email_verified,
            providers,
            created_at: user.created_at,
            updated_at: user.updated_at,
            profile: UserProfileBody {
                name: profile.map(|profile| profile.name.as_str().to_owned()).unwrap_or_default(),
                avatar_url: avatar_url.map(|url| url.as_str().to_owned()),
            },
            metadata: user.metadata.as_map().clone(),
        }
    }
}
