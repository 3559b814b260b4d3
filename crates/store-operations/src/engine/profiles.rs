//! Operations that read and change profiles: implementation of [`Profiles`]. Each engine implements the search itself.

use async_trait::async_trait;
use latchkey_domain::ids::UserId;
use latchkey_domain::page::Page;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchQuery;
use latchkey_store::{ProfileHits, Profiles, StoreResult, UpdateProfile, UpdateProfileOutcome};

use super::{Engine, Own};
use crate::form::{Decided, Executor, ProfileWrite, Results, Script, Slot};
use crate::tables::{profiles, sessions, users};

struct Reads {
    user: Slot,
    /// Statement that reads the session's user; `None` if the change requires no live session.
    owner: Option<Slot>,
    profile: Slot,
    /// Statement that finds another user with the requested username; `None` if no username is requested.
    username: Option<Slot>,
}

#[crate::measured]
#[async_trait]
impl<E: Own> Profiles for Engine<E> {
    async fn find_profile(&self, user_id: UserId) -> StoreResult<Option<Profile>> {
        let mut reads = Script::default();
        let found = profiles::find_public(&mut reads, user_id);
        self.read(reads, move |results| profiles::profile(results, found)).await
    }

    async fn update_profile(&self, update: UpdateProfile) -> StoreResult<UpdateProfileOutcome> {
        let UpdateProfile { user_id, session, patch, now, .. } = &update;
        let mut script = Script::default();
        let username = patch.username.as_ref().and_then(Option::as_ref);
        let reads = Reads {
            user: users::lock_by_id(&mut script, *user_id),
            owner: session.map(|session| sessions::find_owner(&mut script, session, *now)),
            profile: profiles::find_by_user(&mut script, *user_id),
            username: username.map(|username| profiles::find_username(&mut script, username, *user_id)),
        };
        self.transact(script, move |results| decide(&update, &reads, results)).await
    }

    async fn search_profiles(&self, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits> {
        Own::search_profiles(&*self.0, query, page).await
    }
}

fn decide(
    update: &UpdateProfile,
    reads: &Reads,
    results: &Results<'_>,
) -> StoreResult<Decided<UpdateProfileOutcome>> {
    if let Some(owner) = reads.owner
        && sessions::owner(results, owner)? != Some(update.user_id)
    {
        return Ok(Decided::Return(UpdateProfileOutcome::NoSession));
    }
    let there = profiles::profile(results, reads.profile)?;
    let is_new = there.is_none();
    let before = match (there, &update.create) {
        (Some(profile), _) => profile,
        (None, Some(new)) if results.any(reads.user)? => new.clone().into_profile(update.user_id, update.now),
        (None, _) => return Ok(Decided::Return(UpdateProfileOutcome::NotFound)),
    };
    if update.if_version.as_ref().is_some_and(|accepted| is_new || !accepted.contains(&before.version)) {
        return Ok(Decided::Return(UpdateProfileOutcome::PreconditionFailed));
    }
    let Ok(after) = update.patch.apply(&before, update.now) else {
        return Ok(Decided::Return(UpdateProfileOutcome::TooLarge));
    };
    // An unchanged username is the user's own. Only a changed one can collide.
    if after.username != before.username
        && let Some(username) = reads.username
        && results.any(username)?
    {
        return Ok(Decided::Return(UpdateProfileOutcome::UsernameTaken));
    }
    let mut writes = Script::default();
    if is_new {
        writes.create_profile(after.clone());
        // A new profile has the version of an imported one, so the account itself tells an undo that it was changed.
        users::touch(&mut writes, update.user_id, update.now);
    } else if after != before {
        writes.write_profile(change(&before, after.clone()));
    }
    Ok(Decided::done(writes, UpdateProfileOutcome::Updated(Box::new(after))))
}

/// Chooses how a changed profile is written. Folding (normalising) its text for search costs more than the
/// write itself, so it is skipped if the text is unchanged.
fn change(before: &Profile, after: Profile) -> ProfileWrite {
    let is_found_alike =
        (&before.name, &before.username, &before.bio) == (&after.name, &after.username, &after.bio);
    if is_found_alike { ProfileWrite::SaveUnsearched(after) } else { ProfileWrite::Save(after) }
}
