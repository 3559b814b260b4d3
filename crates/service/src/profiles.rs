//! Profiles: a user reads and changes their own profile, and anyone reads public ones. The search is in
//! [`crate::search`].

use std::sync::Arc;

use latchkey_domain::client::ClientAddress;
use latchkey_domain::ids::{ProfileId, UserId};
use latchkey_domain::limits::Rate;
use latchkey_domain::profile::{LARGEST_OBJECT, Name, NewProfile, Profile, ProfilePatch};
use latchkey_domain::reason::Reason;
use latchkey_settings::settings;
use latchkey_store::{UpdateProfile, UpdateProfileOutcome};

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::refusal::{
    AUTH_UNAUTHORIZED, PRECONDITION_FAILED, PROFILE_NOT_FOUND, USER_NOT_FOUND, USERNAME_TAKEN,
};
use crate::sessions::authenticate::NamedCaller;
use crate::sessions::{Credential, Sessions};

/// Tells what happens if a user without a profile changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The change is refused with 404.
    Refuse,
    /// A profile is created with the change.
    Create,
}

settings! {
    /// The rate limits of searches and public profiles.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// The limit on searches and reads of public profiles from one client address.
        "limits.search_per_address" => public_read_address: Rate = "600/1m";
    }
}

pub struct Profiles {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) limits: Limits,
}

impl Profiles {
    /// Takes a token from the token bucket that limits searches and reads of public profiles together, per
    /// client address.
    pub(crate) fn take_public_read(&self, address: ClientAddress) -> Result<()> {
        let rate = self.limits.public_read_address;
        self.kernel.limits.take_here(
            "search and public profile, per address",
            rate,
            address,
            self.kernel.now(),
        )
    }

    /// Returns the profile of the caller.
    pub async fn own(&self, credential: impl Into<Credential<'_>>) -> Result<Profile> {
        let now = self.kernel.now();
        let by = self.sessions.verify_credential(credential.into(), now).await?;
        let own = self.kernel.store.find_session_profile(by.session_id, now).await?;
        let own = own.filter(|own| own.user_id == by.user_id).ok_or(&AUTH_UNAUTHORIZED)?;
        own.profile.map(|profile| *profile).ok_or(Error::Refused(&PROFILE_NOT_FOUND))
    }

    /// Returns the public profile of any user, at a limited rate per client address. Banned and pending users have no
    /// public profile.
    pub async fn public(&self, user_id: UserId, address: ClientAddress) -> Result<Profile> {
        self.take_public_read(address)?;
        self.kernel.store.find_profile(user_id).await?.ok_or(Error::Refused(&USER_NOT_FOUND))
    }

    /// Changes the profile of the authenticated user, if the session is still live. `if_version` has the versions from
    /// `If-Match`.
    pub async fn update(
        &self,
        caller: NamedCaller,
        patch: ProfilePatch,
        if_version: Option<Vec<i64>>,
        missing: Missing,
    ) -> Result<Profile> {
        let now = self.kernel.now();
        let profile = NewProfile {
            id: ProfileId::new(now, self.kernel.id_bytes(now)),
            name: Name::default(),
            avatar_url: None,
        };
        let create = (missing == Missing::Create).then_some(profile);
        let (user_id, session_id) = (caller.0.user_id, caller.0.session_id);
        let update = UpdateProfile { user_id, session: Some(session_id), patch, if_version, create, now };
        match self.kernel.store.update_profile(update).await? {
            UpdateProfileOutcome::Updated(profile) => Ok(*profile),
            UpdateProfileOutcome::NoSession => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
            UpdateProfileOutcome::NotFound => Err(Error::Refused(&PROFILE_NOT_FOUND)),
            UpdateProfileOutcome::PreconditionFailed => Err(Error::Refused(&PRECONDITION_FAILED)),
            UpdateProfileOutcome::UsernameTaken => Err(Error::Refused(&USERNAME_TAKEN)),
            UpdateProfileOutcome::TooLarge => {
                let most = LARGEST_OBJECT / 1024;
                let problem = format!("custom fields must be at most {most} KiB of JSON together");
                Err(Error::validation("profile", Reason::TooLarge, problem))
            }
        }
    }
}
