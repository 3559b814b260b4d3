//! Profiles: reading one's own and others', changing one's own.

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
use crate::sessions::Sessions;
use crate::sessions::authenticate::NamedCaller;

/// Treatment of a user without a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The change is refused.
    Refuse,
    /// The profile is made.
    Create,
}

settings! {
    /// The rate limits of public reads.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// Searches and public profiles from one address.
        "limits.search_per_address" => public_read_address: Rate = "600/1m";
    }
}

/// The use cases of profiles.
pub struct Profiles {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) limits: Limits,
}

impl Profiles {
    /// Takes from the bucket of searches and public profiles.
    pub(crate) fn take_public_read(&self, address: ClientAddress) -> Result<()> {
        let rate = self.limits.public_read_address;
        self.kernel.limits.take_here(
            "search and public profile, per address",
            rate,
            address,
            self.kernel.now(),
        )
    }

    /// The profile of the bearer of a good token whose session lives.
    pub async fn own(&self, bearer: Option<&str>) -> Result<Profile> {
        let now = self.kernel.now();
        let token = self.sessions.good_token(bearer, now).await?;
        let own = self.kernel.store.find_session_profile(token.session_id, now).await?;
        let own = own.filter(|own| own.user_id == token.user_id).ok_or(&AUTH_UNAUTHORIZED)?;
        own.profile.map(|profile| *profile).ok_or(Error::Refused(&PROFILE_NOT_FOUND))
    }

    /// Anybody's profile, for somebody at this address. Banned and pending users have none.
    pub async fn public(&self, user_id: UserId, address: ClientAddress) -> Result<Profile> {
        self.take_public_read(address)?;
        self.kernel.store.find_profile(user_id).await?.ok_or(Error::Refused(&USER_NOT_FOUND))
    }

    /// Changes the profile of whom a good token names, if the session lives.
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
