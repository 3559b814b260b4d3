//! Profiles: reading and changing them. Finding them by words is in [`crate::search`].

use async_trait::async_trait;
use latchkey_domain::ids::UserId;
use latchkey_domain::page::Page;
use latchkey_domain::profile::{AvatarUrl, Bio, Metadata, Name, Profile, Username};
use latchkey_domain::search::{SearchQuery, SearchText};
use latchkey_store::{ProfileHits, Profiles, StoreResult, UpdateProfile, UpdateProfileOutcome};
use tokio_postgres::Row;

use crate::accounts::{self, key_or_any};
use crate::errors::Fallible;
use crate::rows::{Cells, object_text};
use crate::script::{Answers, Script, Slot};
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::{Value, clean, values};
use crate::{search, sessions, trigrams};

/// What [`read_profile`] reads, in its order.
macro_rules! profile_columns {
    () => {
        "p.id, p.user_id, p.name, p.username, p.avatar_url, p.bio, p.metadata, p.custom, p.created_at, p.updated_at,
        p.version"
    };
}
pub(crate) use profile_columns;

const FIND_PROFILE: &str = concat!("SELECT ", profile_columns!(), " FROM profiles AS p WHERE p.user_id = $1");
const FIND_BY_KEY_OR_ANY: &str =
    concat!("SELECT ", profile_columns!(), " FROM profiles AS p WHERE p.user_id = ", key_or_any!());
const CREATE_PROFILE: &str = "
    INSERT INTO profiles (id, user_id, created_at, updated_at, version, searchable, folded_name, folded_username,
        folded_bio, name, username, avatar_url, bio, metadata, custom, trigrams)
    VALUES ($1, $2, $3, $4, $5, (SELECT banned_at IS NULL AND NOT pending FROM users WHERE id = $2), $6, $7, $8,
        $9, $10, $11, $12, $13, $14, $15)";
const UPDATE_PROFILE: &str = "
    UPDATE profiles SET updated_at = $2, version = $3, folded_name = $4, folded_username = $5, folded_bio = $6,
        name = $7, username = $8, avatar_url = $9, bio = $10, metadata = $11, custom = $12, trigrams = $13
    WHERE user_id = $1";
const SHOW_OR_HIDE: &str = "
    UPDATE profiles SET searchable = (SELECT banned_at IS NULL AND NOT pending FROM users WHERE id = $1)
    WHERE user_id = $1";
const FIND_USERNAME: &str = "SELECT 1 FROM profiles WHERE username = $1 AND user_id <> $2";

#[async_trait]
impl Profiles for PostgresStore {
    async fn find_profile(&self, user_id: UserId) -> StoreResult<Option<Profile>> {
        Ok(self.ask(FIND_PROFILE, values![user_id]).await?.find(read_row)?)
    }

    async fn update_profile(&self, update: UpdateProfile) -> StoreResult<UpdateProfileOutcome> {
        update_profile(self, &update).await
    }

    async fn search_profiles(&self, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits> {
        search::search(self, query, page).await
    }
}

async fn update_profile(store: &PostgresStore, update: &UpdateProfile) -> StoreResult<UpdateProfileOutcome> {
    let mut reads = Script::default();
    let user = accounts::lock_by_id(&mut reads, update.user_id);
    let owner = update.session.map(|session| sessions::find_owner(&mut reads, session, update.now));
    let there = find_by_user(&mut reads, update.user_id);
    // A username that stays is the user's own, so only a new one can be somebody else's.
    let taken = update
        .patch
        .username
        .as_ref()
        .and_then(Option::as_ref)
        .map(|username| reads.add(FIND_USERNAME, values![username.as_str(), update.user_id]));
    store
        .transact(&reads, |answers| {
            if let Some(slot) = owner
                && sessions::owner(answers, slot)? != Some(update.user_id)
            {
                return Ok(Step::Answer(UpdateProfileOutcome::NoSession));
            }
            let is_taken = taken.is_some_and(|slot| answers.any(slot));
            decide(update, answers.any(user), profile(answers, there)?, is_taken)
        })
        .await
}

fn decide(
    update: &UpdateProfile,
    has_user: bool,
    there: Option<Profile>,
    is_taken: bool,
) -> Fallible<Step<UpdateProfileOutcome>> {
    let is_new = there.is_none();
    let before = match (there, &update.create) {
        (Some(profile), _) => profile,
        (None, Some(new)) if has_user => new.clone().into_profile(update.user_id, update.now),
        (None, _) => return Ok(Step::Answer(UpdateProfileOutcome::NotFound)),
    };
    if update.if_version.as_ref().is_some_and(|accepted| is_new || !accepted.contains(&before.version)) {
        return Ok(Step::Answer(UpdateProfileOutcome::PreconditionFailed));
    }
    let Ok(after) = update.patch.apply(&before, update.now) else {
        return Ok(Step::Answer(UpdateProfileOutcome::TooLarge));
    };
    if is_taken {
        return Ok(Step::Answer(UpdateProfileOutcome::UsernameTaken));
    }
    let mut writes = Script::default();
    if is_new {
        insert(&mut writes, &after)?;
    } else if after != before {
        save(&mut writes, &after)?;
    }
    Ok(Step::done(writes, UpdateProfileOutcome::Updated(Box::new(after))))
}

pub(crate) fn find_by_user(script: &mut Script, user_id: UserId) -> Slot {
    script.add(FIND_PROFILE, values![user_id])
}

/// The profile of the user of an address; where there is none, another one, which [`profile_of`] drops.
pub(crate) fn find_by_key_evenly(script: &mut Script, email: &latchkey_domain::email::EmailKey) -> Slot {
    script.add(FIND_BY_KEY_OR_ANY, values![email])
}

/// The profile that was found.
pub(crate) fn profile(answers: &Answers, slot: Slot) -> Fallible<Option<Profile>> {
    answers.find(slot, read_row)
}

/// The profile that was found, if it is this user's.
pub(crate) fn profile_of(answers: &Answers, slot: Slot, user_id: UserId) -> Fallible<Option<Profile>> {
    Ok(profile(answers, slot)?.filter(|profile| profile.user_id == user_id))
}

/// Writes a new profile; search finds it unless its user is banned or pending.
pub(crate) fn insert(writes: &mut Script, profile: &Profile) -> Fallible<()> {
    let folded = folded(profile);
    let trigrams = trigrams::of_text(&folded);
    let values = values![
        profile.id,
        profile.user_id,
        profile.created_at,
        profile.updated_at,
        profile.version,
        folded.name,
        folded.username,
        folded.bio,
        profile.name.as_str(),
        profile.username.as_ref().map(Username::as_str),
        profile.avatar_url.as_ref().map(AvatarUrl::as_str),
        profile.bio.as_ref().map(Bio::as_str),
        object_text(profile.metadata.as_map())?,
        object_text(&profile.custom)?,
        Value::Trigrams(trigrams),
    ];
    writes.add(CREATE_PROFILE, values);
    Ok(())
}

/// Writes an existing profile anew.
pub(crate) fn save(writes: &mut Script, profile: &Profile) -> Fallible<()> {
    let folded = folded(profile);
    let trigrams = trigrams::of_text(&folded);
    let values = values![
        profile.user_id,
        profile.updated_at,
        profile.version,
        folded.name,
        folded.username,
        folded.bio,
        profile.name.as_str(),
        profile.username.as_ref().map(Username::as_str),
        profile.avatar_url.as_ref().map(AvatarUrl::as_str),
        profile.bio.as_ref().map(Bio::as_str),
        object_text(profile.metadata.as_map())?,
        object_text(&profile.custom)?,
        Value::Trigrams(trigrams),
    ];
    writes.add(UPDATE_PROFILE, values);
    Ok(())
}

/// Lets search find the user's profile, or not, by what the user's row says now.
pub(crate) fn show_or_hide(writes: &mut Script, user_id: UserId) {
    writes.add(SHOW_OR_HIDE, values![user_id]);
}

/// What search compares, as it can be kept.
fn folded(profile: &Profile) -> SearchText {
    let username = profile.username.as_ref().map(Username::as_str);
    let bio = profile.bio.as_ref().map(Bio::as_str);
    let text = SearchText::of(profile.name.as_str(), username, bio);
    SearchText { name: clean(text.name), username: clean(text.username), bio: clean(text.bio) }
}

/// Reads a row of [`profile_columns`].
fn read_row(row: &Row) -> Fallible<Profile> {
    read_profile(&mut Cells::new(row, "profiles"))
}

/// Reads the [`profile_columns`] that come next.
pub(crate) fn read_profile(cells: &mut Cells<'_>) -> Fallible<Profile> {
    Ok(Profile {
        id: cells.id("id")?,
        user_id: cells.id("user_id")?,
        name: Name::from_stored(cells.text("name")?.to_owned()),
        username: cells.maybe_text("username")?.map(Username::from_stored),
        avatar_url: cells.maybe_text("avatar_url")?.map(AvatarUrl::from_stored),
        bio: cells.maybe_text("bio")?.map(Bio::from_stored),
        metadata: Metadata::from_stored(cells.object("metadata")?),
        custom: cells.object("custom")?,
        created_at: cells.time("created_at")?,
        updated_at: cells.time("updated_at")?,
        version: cells.int("version")?,
    })
}
