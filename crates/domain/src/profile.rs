//! Profiles: one per user. The owner can read all of a profile, other users all but the metadata. Field types are in
//! `fields`.

pub(crate) mod fields;

use serde_json::{Map, Value};

pub use fields::{
    AvatarUrl, Bio, InvalidAvatarUrl, InvalidUsername, LARGEST_OBJECT, LONGEST_AVATAR_URL, LONGEST_BIO,
    LONGEST_NAME, Metadata, Name, READ_ONLY_KEYS, TooLarge, Username, check_object_size,
};

use crate::id::id;
use crate::time::Timestamp;
use crate::user::UserId;

id! {
    /// Id of a profile: `id` of the profile API.
    ProfileId, "The id of the profile; not that of its user."
}

/// A stored profile: public fields, and the metadata that only the owner can read.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Id of the profile; not that of its user.
    pub id: ProfileId,
    /// Id of the profile's user.
    pub user_id: UserId,
    /// Display name, at most 100 characters; empty if not set.
    pub name: Name,
    /// Handle, unique over all profiles; `None` if not set.
    pub username: Option<Username>,
    /// URL of a picture; `None` if not set.
    pub avatar_url: Option<AvatarUrl>,
    /// Text about the user, at most 1,000 characters; `None` if not set.
    pub bio: Option<Bio>,
    /// Free-form JSON that only the owner can read, at most 16 KiB as text.
    pub metadata: Metadata,
    /// Public custom fields: free-form JSON under keys other than those of the fixed fields, together at most 16 KiB.
    pub custom: Map<String, Value>,
    /// Time at which the profile was created.
    pub created_at: Timestamp,
    /// Time of the last change of the profile.
    pub updated_at: Timestamp,
    /// Version of the profile, counted from 1. It is the source of the entity tag (`ETag`, RFC 9110).
    pub version: i64,
}

/// A profile to be created.
#[derive(Debug, Clone, PartialEq)]
pub struct NewProfile {
    /// Id of the new profile.
    pub id: ProfileId,
    /// Display name; empty if none was given.
    pub name: Name,
    /// URL of a picture; `None` if none was given.
    pub avatar_url: Option<AvatarUrl>,
}

impl NewProfile {
    /// Completes the profile with its user and the default of every other field.
    #[must_use]
    pub fn into_profile(self, user_id: UserId, now: Timestamp) -> Profile {
        Profile {
            id: self.id,
            user_id,
            name: self.name,
            username: None,
            avatar_url: self.avatar_url,
            bio: None,
            metadata: Metadata::default(),
            custom: Map::new(),
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }
}

/// A partial update of a profile. `None` leaves a field unchanged, and `Some(None)` clears it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProfilePatch {
    /// New display name; `None` leaves it unchanged.
    pub name: Option<Name>,
    /// New handle, unique over all profiles. `Some(None)` clears it, `None` leaves it unchanged.
    pub username: Option<Option<Username>>,
    /// New URL of a picture. `Some(None)` clears it, `None` leaves it unchanged.
    pub avatar_url: Option<Option<AvatarUrl>>,
    /// New text about the user. `Some(None)` clears it, `None` leaves it unchanged.
    pub bio: Option<Option<Bio>>,
    /// Free-form JSON that replaces the previous object as a whole; `None` leaves it unchanged.
    pub metadata: Option<Metadata>,
    /// Custom fields to set, by key. The JSON value `null` deletes the key; keys not named are unchanged.
    pub custom: Map<String, Value>,
}

impl ProfilePatch {
    /// True if the update changes no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the profile after the update. Fails if its custom fields together exceed 16 KiB of JSON. An empty
    /// update does not increment the version.
    pub fn apply(&self, profile: &Profile, now: Timestamp) -> Result<Profile, TooLarge> {
        let mut changed = profile.clone();
        if self.is_empty() {
            return Ok(changed);
        }
        set(&mut changed.name, self.name.as_ref());
        set(&mut changed.username, self.username.as_ref());
        set(&mut changed.avatar_url, self.avatar_url.as_ref());
        set(&mut changed.bio, self.bio.as_ref());
        set(&mut changed.metadata, self.metadata.as_ref());
        for (key, value) in &self.custom {
            if value.is_null() {
                changed.custom.remove(key);
            } else {
                changed.custom.insert(key.clone(), value.clone());
            }
        }
        check_object_size(&changed.custom)?;
        changed.updated_at = now.max(profile.updated_at);
        changed.version += 1;
        Ok(changed)
    }
}

fn set<T: Clone>(field: &mut T, patch: Option<&T>) {
    if let Some(value) = patch {
        field.clone_from(value);
    }
}

impl Profile {
    /// Returns the profile with the name and picture of an identity. If the provider sends neither, the profile is
    /// unchanged.
    #[must_use]
    pub fn with_provider_data(&self, name: &Name, avatar_url: Option<&AvatarUrl>, now: Timestamp) -> Self {
        if name.as_str().is_empty() && avatar_url.is_none() {
            return self.clone();
        }
        Self {
            name: name.clone(),
            avatar_url: avatar_url.cloned(),
            updated_at: now.max(self.updated_at),
            version: self.version + 1,
            ..self.clone()
        }
    }

    /// Returns the profile without its public text, which an attacker may have written. Used at the first email
    /// verification of an account.
    #[must_use]
    pub fn without_public_text(&self, now: Timestamp) -> Self {
        Self {
            name: Name::default(),
            username: None,
            avatar_url: None,
            bio: None,
            custom: Map::new(),
            updated_at: now.max(self.updated_at),
            version: self.version + 1,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn profile() -> Profile {
        let user = UserId::new(Timestamp::from_millis(1), [1; 10]);
        let id = ProfileId::new(Timestamp::from_millis(1), [2; 10]);
        let new = NewProfile { id, name: Name::parse("Ada").unwrap(), avatar_url: None };
        new.into_profile(user, Timestamp::from_millis(1))
    }

    #[test]
    fn a_patch_changes_only_what_it_names() {
        let patch = ProfilePatch { bio: Some(Some(Bio::parse("Hi").unwrap())), ..ProfilePatch::default() };
        let changed = patch.apply(&profile(), Timestamp::from_millis(9)).unwrap();
        assert_eq!(changed.name.as_str(), "Ada");
        assert_eq!(changed.bio.unwrap().as_str(), "Hi");
        assert_eq!((changed.version, changed.updated_at.as_millis()), (2, 9));
    }

    #[test]
    fn an_empty_patch_changes_nothing() {
        assert_eq!(ProfilePatch::default().apply(&profile(), Timestamp::from_millis(9)).unwrap(), profile());
    }

    #[test]
    fn custom_fields_merge_and_null_deletes() {
        let mut before = profile();
        before.custom = json!({"a": 1, "b": 2}).as_object().unwrap().clone();
        let custom = json!({"b": null, "c": [3]}).as_object().unwrap().clone();
        let after = ProfilePatch { custom, ..ProfilePatch::default() }
            .apply(&before, Timestamp::from_millis(9))
            .unwrap();
        assert_eq!(Value::Object(after.custom), json!({"a": 1, "c": [3]}));
    }

    #[test]
    fn custom_fields_are_bounded_together() {
        let mut before = profile();
        before.custom = json!({"a": "x".repeat(9000)}).as_object().unwrap().clone();
        let custom = json!({"b": "x".repeat(9000)}).as_object().unwrap().clone();
        let patch = ProfilePatch { custom, ..ProfilePatch::default() };
        assert_eq!(patch.apply(&before, Timestamp::from_millis(9)), Err(TooLarge));
    }
}
