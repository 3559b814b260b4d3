//! Profiles: reading and changing them. Finding them by words is in [`crate::search`].

use async_trait::async_trait;
use latchkey_domain::ids::UserId;
use latchkey_domain::page::Page;
use latchkey_domain::profile::{AvatarUrl, Bio, Metadata, Name, Profile, Username};
use latchkey_domain::search::{SearchQuery, SearchText};
use latchkey_domain::time::Timestamp;
use latchkey_store::{ProfileHits, Profiles, StoreResult, UpdateProfile, UpdateProfileOutcome};
use rusqlite::{Connection, Row, params};

use crate::errors::Fallible;
use crate::rows::{Cells, Id, object_text};
use crate::statements::{execute, find};
use crate::store::SqliteStore;
use crate::{search, sessions};

/// What [`read_row`] reads, in its order.
macro_rules! profile_columns {
    () => {
        "id, user_id, name, username, avatar_url, bio, metadata, custom, created_at, updated_at, version"
    };
}
pub(crate) use profile_columns;

const FIND_PROFILE: &str = concat!("SELECT ", profile_columns!(), " FROM profiles WHERE user_id = ?1");
const CREATE_PROFILE: &str = "
    INSERT INTO profiles (id, user_id, created_at, updated_at, version, searchable, folded_name, folded_username,
        folded_bio, name, username, avatar_url, bio, metadata, custom)
    VALUES (?1, ?2, ?3, ?4, ?5, (SELECT banned_at IS NULL AND pending = 0 FROM users WHERE id = ?2), ?6, ?7, ?8, ?9, ?10, ?11, ?12,
        ?13, ?14)";
const UPDATE_PROFILE: &str = "
    UPDATE profiles SET updated_at = ?2, version = ?3, folded_name = ?4, folded_username = ?5, folded_bio = ?6,
        name = ?7, username = ?8, avatar_url = ?9, bio = ?10, metadata = ?11, custom = ?12
    WHERE user_id = ?1";
const UPDATE_UNSEARCHED: &str = "
    UPDATE profiles SET updated_at = ?2, version = ?3, avatar_url = ?4, metadata = ?5, custom = ?6 WHERE user_id = ?1";
const SHOW_OR_HIDE: &str = "
    UPDATE profiles SET searchable = (SELECT banned_at IS NULL AND pending = 0 FROM users WHERE id = ?1)
    WHERE user_id = ?1";
const DELETE_PROFILE: &str = "DELETE FROM profiles WHERE user_id = ?1";
const COUNT_USERS: &str = "SELECT 1 FROM users WHERE id = ?1";
const FIND_USERNAME: &str = "SELECT 1 FROM profiles WHERE username = ?1 AND user_id <> ?2";

#[async_trait]
impl Profiles for SqliteStore {
    async fn find_profile(&self, user_id: UserId) -> StoreResult<Option<Profile>> {
        self.read(|conn| find_by_user(conn, user_id))
    }

    async fn update_profile(&self, update: UpdateProfile) -> StoreResult<UpdateProfileOutcome> {
        self.write(move |conn| update_profile(conn, update)).await
    }

    async fn search_profiles(&self, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits> {
        let query = query.clone();
        let found = self.read_long(move |conn| search::search(conn, &query, page)).await?;
        if found.is_slow {
            self.catch_up();
        }
        Ok(found.hits)
    }
}

fn update_profile(conn: &Connection, update: UpdateProfile) -> Fallible<UpdateProfileOutcome> {
    let UpdateProfile { user_id, session, patch, if_version, create, now } = update;
    if let Some(session) = session
        && sessions::find_owner(conn, session, now)? != Some(user_id)
    {
        return Ok(UpdateProfileOutcome::NoSession);
    }
    let there = find_by_user(conn, user_id)?;
    let is_new = there.is_none();
    let before = match (there, create) {
        (Some(profile), _) => profile,
        (None, Some(new)) if has_user(conn, user_id)? => new.into_profile(user_id, now),
        (None, _) => return Ok(UpdateProfileOutcome::NotFound),
    };
    if if_version.is_some_and(|accepted| is_new || !accepted.contains(&before.version)) {
        return Ok(UpdateProfileOutcome::PreconditionFailed);
    }
    let Ok(after) = patch.apply(&before, now) else {
        return Ok(UpdateProfileOutcome::TooLarge);
    };
    if after.username != before.username && is_username_taken(conn, &after)? {
        return Ok(UpdateProfileOutcome::UsernameTaken);
    }
    if is_new {
        insert(conn, &after)?;
    } else if after != before {
        save_change(conn, &before, &after)?;
    }
    Ok(UpdateProfileOutcome::Updated(Box::new(after)))
}

pub(crate) fn find_by_user(conn: &Connection, user_id: UserId) -> Fallible<Option<Profile>> {
    find(conn, FIND_PROFILE, params![user_id.blob()], read_row)
}

/// Writes a new profile; search finds it unless its user is banned or pending.
pub(crate) fn insert(conn: &Connection, profile: &Profile) -> Fallible<()> {
    let folded = folded(profile);
    let params = params![
        profile.id.blob(),
        profile.user_id.blob(),
        profile.created_at.as_millis(),
        profile.updated_at.as_millis(),
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
    ];
    execute(conn, CREATE_PROFILE, params)?;
    Ok(())
}

/// Writes an existing profile anew.
pub(crate) fn save(conn: &Connection, profile: &Profile) -> Fallible<()> {
    let folded = folded(profile);
    let params = params![
        profile.user_id.blob(),
        profile.updated_at.as_millis(),
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
    ];
    execute(conn, UPDATE_PROFILE, params)?;
    Ok(())
}

/// Writes what changed. Folding the text for search costs more than the write, so it is left out where it would come to
/// the same.
fn save_change(conn: &Connection, before: &Profile, after: &Profile) -> Fallible<()> {
    let is_found_alike =
        (&before.name, &before.username, &before.bio) == (&after.name, &after.username, &after.bio);
    if !is_found_alike {
        return save(conn, after);
    }
    let params = params![
        after.user_id.blob(),
        after.updated_at.as_millis(),
        after.version,
        after.avatar_url.as_ref().map(AvatarUrl::as_str),
        object_text(after.metadata.as_map())?,
        object_text(&after.custom)?,
    ];
    execute(conn, UPDATE_UNSEARCHED, params)?;
    Ok(())
}

/// Leaves nothing of the public text.
pub(crate) fn clear_public_text(conn: &Connection, user_id: UserId, now: Timestamp) -> Fallible<()> {
    let Some(profile) = find_by_user(conn, user_id)? else { return Ok(()) };
    save(conn, &profile.without_public_text(now))?;
    search::pending::take_up_of(conn, user_id)
}

/// Lets search find the user's profile, or not, by what the user's row says now.
pub(crate) fn show_or_hide(conn: &Connection, user_id: UserId) -> Fallible<()> {
    execute(conn, SHOW_OR_HIDE, params![user_id.blob()])?;
    Ok(())
}

/// Answers whether there was one.
pub(crate) fn delete(conn: &Connection, user_id: UserId) -> Fallible<bool> {
    Ok(execute(conn, DELETE_PROFILE, params![user_id.blob()])? > 0)
}

fn has_user(conn: &Connection, user_id: UserId) -> Fallible<bool> {
    Ok(find(conn, COUNT_USERS, params![user_id.blob()], |_| Ok(()))?.is_some())
}

fn is_username_taken(conn: &Connection, profile: &Profile) -> Fallible<bool> {
    let Some(username) = &profile.username else { return Ok(false) };
    let params = params![username.as_str(), profile.user_id.blob()];
    Ok(find(conn, FIND_USERNAME, params, |_| Ok(()))?.is_some())
}

/// What search compares. The index would stop reading at a NUL, which no text from outside has.
fn folded(profile: &Profile) -> SearchText {
    let username = profile.username.as_ref().map(Username::as_str);
    let bio = profile.bio.as_ref().map(Bio::as_str);
    let text = SearchText::of(profile.name.as_str(), username, bio);
    let clean = |text: String| if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text };
    SearchText { name: clean(text.name), username: clean(text.username), bio: clean(text.bio) }
}

/// Reads a row of [`profile_columns`].
pub(crate) fn read_row(row: &Row<'_>) -> Fallible<Profile> {
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
