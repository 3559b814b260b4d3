//! The `User` object (spec 2.4) as account operations show it.

use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use serde::Serialize;
use serde_json::{Map, Value};

/// A user.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserBody {
    id: UserId,
    email: String,
    email_verified: bool,
    providers: Vec<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    profile: UserProfileBody,
    metadata: Map<String, Value>,
}

/// Name and picture of the user's profile; an empty name where there is no profile.
#[derive(Serialize)]
pub struct UserProfileBody {
    name: String,
    avatar_url: Option<String>,
}

impl From<User> for UserBody {
    fn from(user: User) -> Self {
        let providers = user.providers().into_iter().map(str::to_owned).collect();
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
