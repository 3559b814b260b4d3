//! Decoding of the rows of accounts: `users` joined with the password, the identities and the profile.

use latchkey_domain::passkey::RpId;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::{AvatarUrl, Name};
use latchkey_domain::user::{AppMetadata, User, UserProfile};
use latchkey_store::StoreResult;

use super::Account;
use crate::form::Cells;

pub(crate) fn read_account(cells: &mut Cells<'_>) -> StoreResult<Account> {
    let id = cells.of("users").id("id")?;
    let email = cells.email("email")?;
    let email_verified = cells.flag("email_verified")?;
    let first_verified_at = cells.maybe_time("first_verified_at")?;
    let is_pending = cells.flag("pending")?;
    let is_contested = cells.flag("contested")?;
    let banned_at = cells.maybe_time("banned_at")?;
    let two_step_at = cells.maybe_time("two_step_at")?;
    let deletes_at = cells.maybe_time("deletes_at")?;
    let metadata = AppMetadata::from_stored(cells.object("metadata")?);
    let created_at = cells.time("created_at")?;
    let updated_at = cells.time("updated_at")?;
    let last_sign_in_at = cells.maybe_time("last_sign_in_at")?;
    let password = cells.of("credentials").maybe_text("data")?.map(PasswordHash::from_phc);
    let has_proven_password = cells.flag("proven")?;
    let identities =
        cells.of("identities").maybe_text("provider")?.as_deref().map(providers).unwrap_or_default();
    let passkeys = read_passkeys(cells)?;
    let profile = read_user_profile(cells.of("profiles"))?;
    let user = User {
        id,
        email,
        email_verified,
        has_password: password.is_some(),
        identities,
        passkeys,
        banned_at,
        two_step_at,
        deletes_at,
        is_pending,
        is_contested,
        metadata,
        created_at,
        updated_at,
        last_sign_in_at,
        profile,
    };
    Ok(Account { user, password, has_proven_password, first_verified_at })
}

/// Decodes the relying party ids of a user's passkeys, which are joined by spaces.
pub(crate) fn read_passkeys(cells: &mut Cells<'_>) -> StoreResult<Vec<RpId>> {
    let joined = cells.of("passkeys").maybe_text("rp_id")?;
    Ok(joined.map(|joined| joined.split(' ').map(RpId::new).collect()).unwrap_or_default())
}

fn read_user_profile(cells: &mut Cells<'_>) -> StoreResult<Option<UserProfile>> {
    let is_there = cells.flag("user_id")?;
    let name = cells.maybe_text("name")?;
    let avatar_url = cells.maybe_text("avatar_url")?.map(AvatarUrl::from_stored);
    match (is_there, name) {
        (false, _) => Ok(None),
        (true, Some(name)) => Ok(Some(UserProfile { name: Name::from_stored(name), avatar_url })),
        (true, None) => Err(cells.corrupt("name")),
    }
}

/// Splits provider keys that are joined by spaces, and removes duplicates: a user can have several identities of one
/// provider.
fn providers(joined: &str) -> Vec<String> {
    let mut providers: Vec<String> = joined.split(' ').map(str::to_owned).collect();
    providers.sort_unstable();
    providers.dedup();
    providers
}
