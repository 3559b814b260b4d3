//! Table `profiles`. Profiles are written as a [`crate::form::ProfileWrite`], so that engines can update their search
//! index.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::{ProfileId, UserId};
use latchkey_domain::profile::{AvatarUrl, Bio, Metadata, Name, Profile, Username};
use latchkey_domain::search::SearchText;
use latchkey_store::StoreResult;

use super::audit_events::{event_values, record_event_where};
use super::users::key_or_any;
use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, Value, clean, object_text, statements, stored_id, values};

/// Columns of a profile, in the order in which [`read_profile`] decodes them.
#[macro_export]
macro_rules! profile_columns {
    () => {
        "p.id, p.user_id, p.name, p.username, p.avatar_url, p.bio, p.metadata, p.custom, p.created_at, p.updated_at,
        p.version"
    };
}
pub(crate) use crate::profile_columns;

macro_rules! create {
    ($more_columns:literal, $more_values:literal) => {
        concat!(
            "INSERT INTO profiles (id, user_id, created_at, updated_at, version, searchable, folded_name,
                folded_username, folded_bio, name, username, avatar_url, bio, metadata, custom",
            $more_columns,
            ") VALUES ($1, $2, $3, $4, $5, (SELECT banned_at IS NULL AND NOT pending AND deletes_at IS NULL FROM users WHERE id = $2), $6, $7,
                $8, $9, $10, $11, $12, $13, $14",
            $more_values,
            ")"
        )
    };
}
macro_rules! save {
    ($more:literal) => {
        concat!(
            "UPDATE profiles SET updated_at = $2, version = $3, folded_name = $4, folded_username = $5, folded_bio = $6,
                name = $7, username = $8, avatar_url = $9, bio = $10, metadata = $11, custom = $12",
            $more,
            " WHERE user_id = $1"
        )
    };
}

stored_id!(ProfileId);

pub const TABLE: Table = Table::new(
    "profiles",
    1,
    columns! {
        id id, id user_id, int created_at, int updated_at, int version, flag searchable, text folded_name,
        text folded_username, text folded_bio, text name, text username, text avatar_url, text bio, text metadata,
        text custom
    },
);

statements! {
    FIND: read find_by_user(user_id: UserId) =
        concat!("SELECT ", profile_columns!(), " FROM profiles AS p WHERE p.user_id = $1");
    /// Reads the profile of a user, unless the user is banned or pending, or the account's deletion is
    /// scheduled.
    FIND_PUBLIC: read find_public(user_id: UserId) =
        concat!("SELECT ", profile_columns!(), " FROM profiles AS p WHERE p.user_id = $1 AND p.searchable");
    /// Reads the profile of the user with an email address. Without such a user, another profile is read, so that both
    /// cases cost the same; [`profile_of`] discards the other profile.
    FIND_BY_KEY_OR_ANY: read find_by_key_at_constant_cost(email: &EmailKey) =
        concat!("SELECT ", profile_columns!(), " FROM profiles AS p WHERE p.user_id = ", key_or_any!());
    /// Inserts a profile. The parameters are those of [`create_values`]. The profile is visible in search
    /// unless its user is banned or pending, or the account's deletion is scheduled.
    CREATE = create!("", "");
    /// Updates a profile. The parameters are those of [`save_values`].
    SAVE = save!("");
    /// Updates the columns that are not searchable. The parameters are those of [`save_unsearched_values`].
    SAVE_UNSEARCHED = "
        UPDATE profiles SET updated_at = $2, version = $3, avatar_url = $4, metadata = $5, custom = $6
        WHERE user_id = $1";
    /// Makes a profile visible in search, or hides it if its user is banned or pending, or the account's
    /// deletion is scheduled.
    SHOW_OR_HIDE: change show_or_hide(user_id: UserId) = "
        UPDATE profiles
        SET searchable = (SELECT banned_at IS NULL AND NOT pending AND deletes_at IS NULL FROM users WHERE id = $1)
        WHERE user_id = $1";
    /// Reads a row if another user has the username.
    FIND_USERNAME: read find_username(username: &Username, user_id: UserId) [username.as_str(), user_id] =
        "SELECT 1 FROM profiles WHERE username = $1 AND user_id <> $2";
    DELETE = "DELETE FROM profiles WHERE user_id = $1";
    /// Writes an audit event if the user has a profile. It must precede [`DELETE`].
    RECORD_DELETION = record_event_where!("EXISTS (SELECT 1 FROM profiles WHERE user_id = $11)");
}

/// Statement [`CREATE`] with PostgreSQL's additional column `trigrams`, whose value follows those of
/// [`create_values`].
pub const CREATE_WITH_TRIGRAMS: &str = create!(", trigrams", ", $15");
/// Statement [`CREATE_WITH_TRIGRAMS`] for several profiles, with one array per column. The trigrams are texts of arrays.
pub const CREATE_ALL_WITH_TRIGRAMS: &str = "
    INSERT INTO profiles (id, user_id, created_at, updated_at, version, searchable, folded_name, folded_username,
        folded_bio, name, username, avatar_url, bio, metadata, custom, trigrams)
    SELECT r.id, r.user_id, r.created_at, r.updated_at, r.version,
        (SELECT banned_at IS NULL AND NOT pending AND deletes_at IS NULL FROM users WHERE id = r.user_id),
        r.folded_name, r.folded_username, r.folded_bio, r.name, r.username, r.avatar_url, r.bio, r.metadata, r.custom,
        r.trigrams::int4[]
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) AS r (id, user_id, created_at,
        updated_at, version, folded_name, folded_username, folded_bio, name, username, avatar_url, bio, metadata, custom,
        trigrams)";
/// Statement [`SAVE`] with PostgreSQL's additional column `trigrams`, whose value follows those of [`save_values`].
pub const SAVE_WITH_TRIGRAMS: &str = save!(", trigrams = $13");

pub(crate) fn profile(results: &Results<'_>, slot: Slot) -> StoreResult<Option<Profile>> {
    results.find(slot, read_profile)
}

/// Decodes a profile; `None` if there is none or it belongs to another user.
pub(crate) fn profile_of(results: &Results<'_>, slot: Slot, user_id: UserId) -> StoreResult<Option<Profile>> {
    Ok(profile(results, slot)?.filter(|profile| profile.user_id == user_id))
}

/// Deletes a user's profile, and writes the event if there was one. The transaction must hold the lock on the
/// user's row, so that both statements see the same profile. The affected rows tell whether there was a
/// profile.
pub(crate) fn delete_and_record(
    writes: &mut Script,
    user_id: UserId,
    event: AuditEvent,
) -> StoreResult<Slot> {
    let mut values = event_values(AuditEvent { user_id: Some(user_id), ..event })?;
    values.extend(values![user_id]);
    writes.change(&RECORD_DELETION, values);
    Ok(writes.change(&DELETE, values![user_id]))
}

/// Returns the searchable text of a profile: name, username and bio, folded (normalised) for comparison.
#[must_use]
pub fn searched_text(profile: &Profile) -> SearchText {
    let username = profile.username.as_ref().map(Username::as_str);
    let bio = profile.bio.as_ref().map(Bio::as_str);
    let text = SearchText::of(profile.name.as_str(), username, bio);
    SearchText { name: clean(text.name), username: clean(text.username), bio: clean(text.bio) }
}

pub fn create_values(profile: &Profile) -> StoreResult<Vec<Value>> {
    created_values(profile, searched_text(profile))
}

/// Returns the values of [`create_values`] of a profile whose searchable text is folded already.
pub(crate) fn created_values(profile: &Profile, searched: SearchText) -> StoreResult<Vec<Value>> {
    let mut values =
        values![profile.id, profile.user_id, profile.created_at, profile.updated_at, profile.version];
    values.reserve_exact(10);
    values.extend(text_values(profile, searched)?);
    Ok(values)
}

pub fn save_values(profile: &Profile) -> StoreResult<Vec<Value>> {
    let mut values = values![profile.user_id, profile.updated_at, profile.version];
    values.reserve_exact(10);
    values.extend(text_values(profile, searched_text(profile))?);
    Ok(values)
}

fn text_values(profile: &Profile, searched: SearchText) -> StoreResult<[Value; 9]> {
    Ok([
        searched.name.into(),
        searched.username.into(),
        searched.bio.into(),
        profile.name.as_str().into(),
        profile.username.as_ref().map(Username::as_str).into(),
        profile.avatar_url.as_ref().map(AvatarUrl::as_str).into(),
        profile.bio.as_ref().map(Bio::as_str).into(),
        object_text(profile.metadata.as_map())?.into(),
        object_text(&profile.custom)?.into(),
    ])
}

pub fn save_unsearched_values(profile: &Profile) -> StoreResult<Vec<Value>> {
    Ok(values![
        profile.user_id,
        profile.updated_at,
        profile.version,
        profile.avatar_url.as_ref().map(AvatarUrl::as_str),
        object_text(profile.metadata.as_map())?,
        object_text(&profile.custom)?,
    ])
}

pub fn read_profile(cells: &mut Cells<'_>) -> StoreResult<Profile> {
    let cells = cells.of("profiles");
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
