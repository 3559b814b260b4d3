//! Table `passkeys`: registered WebAuthn credentials. The user handle of an account is in `users`.

use latchkey_domain::factors::FactorName;
use latchkey_domain::ids::{PasskeyId, SessionId, UserId};
use latchkey_domain::passkey::{
    Aaguid, CredentialId, Passkey, PasskeyState, Passkeys, RpId, Transports, UserHandle,
};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{Enroller, NewPasskey, StoreResult, VerifiablePasskey};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, statements, stored_id, values};
use crate::tables::users::{self, Account, account_columns, account_tables};

/// Maximum number of passkeys that one statement reads, more than an account can have.
const LISTED: u32 = 100;

/// Columns of a passkey with the user handle of its account, in the order in which [`read_owned`] decodes them.
macro_rules! owned_columns {
    () => {
        "u.user_handle, k.id, k.credential_id, k.rp_id, k.name, k.aaguid, k.transports, k.backup_eligible,
        k.backed_up, k.created_at, k.last_used_at, k.public_key, k.counter"
    };
}
/// Query for the user handle and the passkeys of a user, oldest first. `$user` is an SQL expression for the user's id.
macro_rules! owned {
    ($user:literal) => {
        concat!(
            "SELECT ",
            owned_columns!(),
            " FROM users AS u LEFT JOIN passkeys AS k ON k.user_id = u.id WHERE u.id = ",
            $user,
            " ORDER BY k.created_at, k.id LIMIT $2"
        )
    };
}
/// Query for a passkey with its account.
macro_rules! found {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            account_columns!(),
            ", ",
            owned_columns!(),
            " FROM passkeys AS k CROSS JOIN ",
            account_tables!(),
            " WHERE u.id = k.user_id AND ",
            $condition
        )
    };
}

stored_id!(PasskeyId);

pub const TABLE: Table = Table::new(
    "passkeys",
    1,
    columns! {
        id id, id user_id, bytes credential_id, bytes public_key, text rp_id, text name, bytes aaguid, text transports,
        int counter, flag backup_eligible, flag backed_up, int created_at, int last_used_at
    },
);

statements! {
    INSERT = "
        INSERT INTO passkeys (id, user_id, credential_id, public_key, rp_id, name, aaguid, transports, counter,
            backup_eligible, backed_up, created_at, last_used_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, NULL)";
    /// Saves the user handle of an account that has none.
    SAVE_HANDLE = "UPDATE users SET user_handle = $2 WHERE id = $1 AND user_handle IS NULL";
    LIST_OF: read list_of(user_id: UserId) [user_id, LISTED] = owned!("$1");
    LIST_OF_SESSION: read list_of_session(session_id: SessionId) [session_id, LISTED] =
        owned!("(SELECT user_id FROM sessions WHERE id = $1)");
    LIST_OF_CHALLENGE: read list_of_challenge(challenge: TokenHash) [&challenge, LISTED] =
        owned!("(SELECT user_id FROM challenges WHERE hash = $1)");
    FIND_CREDENTIAL: read find_credential(id: &CredentialId) [id.as_bytes()] =
        "SELECT 1 FROM passkeys WHERE credential_id = $1";
    FIND_BY_CREDENTIAL: read find_by_credential(id: &CredentialId, rp_id: &RpId) [id.as_bytes(), rp_id.as_str()] =
        found!("k.credential_id = $1 AND k.rp_id = $2");
    FIND: read find(id: PasskeyId) = found!("k.id = $1");
    LOCK_USER: read lock_user(id: PasskeyId) =
        "SELECT 1 FROM users WHERE id = (SELECT user_id FROM passkeys WHERE id = $1) FOR NO KEY UPDATE";
    /// Stores the signature counter and backup state of an accepted assertion. The transaction must hold the
    /// lock on the user's row.
    ACCEPT: change accept(id: PasskeyId, state: PasskeyState, now: Timestamp)
        [id, state.counter, state.is_backed_up, now] =
        "UPDATE passkeys SET counter = $2, backed_up = $3, last_used_at = $4 WHERE id = $1";
    RENAME: change rename(id: PasskeyId, name: &FactorName) [id, name.as_str()] =
        "UPDATE passkeys SET name = $2 WHERE id = $1";
    DELETE: change delete(id: PasskeyId) = "DELETE FROM passkeys WHERE id = $1";
    DELETE_ADDED_SINCE: change delete_added_since(user_id: UserId, since: Timestamp) =
        "DELETE FROM passkeys WHERE user_id = $1 AND created_at >= $2";
    DELETE_ALL_OF: change delete_all_of(user_id: UserId) = "DELETE FROM passkeys WHERE user_id = $1";
    /// Counts the passkeys that have another relying party id than this one; all passkeys if the id is null.
    COUNT_OTHERS: read count_others(rp_id: Option<&RpId>) [rp_id.map(RpId::as_str)] =
        "SELECT count(*) FROM passkeys WHERE rp_id IS DISTINCT FROM $1";
}

/// Passkeys of an account with the data that an assertion is verified with.
pub(crate) struct Owned {
    pub(crate) user_handle: Option<UserHandle>,
    pub(crate) passkeys: Vec<VerifiablePasskey>,
}

impl Owned {
    /// Returns the data about the passkeys that their owner may see.
    pub(crate) fn into_own(self) -> Passkeys {
        let passkeys = self.passkeys.into_iter().map(|one| one.passkey).collect();
        Passkeys { user_handle: self.user_handle, passkeys }
    }

    /// Returns the passkeys registered for this relying party id; none if the id is `None`.
    pub(crate) fn into_usable(self, rp_id: Option<&RpId>) -> Vec<VerifiablePasskey> {
        self.passkeys.into_iter().filter(|one| Some(&one.passkey.rp_id) == rp_id).collect()
    }
}

/// Reads the passkeys of the account that registers a further one in a session or a challenge.
pub(crate) fn list_of_enroller(script: &mut Script, enroller: &Enroller) -> Slot {
    match enroller {
        Enroller::Session(user_id, _) => list_of(script, *user_id),
        Enroller::Challenge(challenge, _) => list_of_challenge(script, *challenge),
    }
}

pub(crate) fn insert(writes: &mut Script, user_id: UserId, passkey: &NewPasskey, now: Timestamp) {
    let values = values![
        passkey.id,
        user_id,
        passkey.credential_id.as_bytes(),
        passkey.public_key.as_slice(),
        passkey.rp_id.as_str(),
        passkey.name.as_str(),
        passkey.aaguid.as_bytes().as_slice(),
        passkey.transports.to_stored(),
        passkey.state.counter,
        passkey.is_backup_eligible,
        passkey.state.is_backed_up,
        now,
    ];
    writes.change(&INSERT, values);
}

pub(crate) fn save_handle(writes: &mut Script, user_id: UserId, handle: UserHandle) {
    writes.change(&SAVE_HANDLE, values![user_id, handle.as_bytes().as_slice()]);
}

/// Decodes the user handle and the passkeys of a user.
pub(crate) fn owned(results: &Results<'_>, slot: Slot) -> StoreResult<Owned> {
    let mut owned = Owned { user_handle: None, passkeys: Vec::new() };
    for (user_handle, passkey) in results.list(slot, read_owned)? {
        owned.user_handle = user_handle;
        owned.passkeys.extend(passkey);
    }
    Ok(owned)
}

/// Decodes a passkey with its account.
pub(crate) fn with_account(
    results: &Results<'_>,
    slot: Slot,
) -> StoreResult<Option<(VerifiablePasskey, Account)>> {
    let found = results.find(slot, |cells| {
        let account = users::read_account(cells)?;
        Ok((read_owned(cells)?.1, account))
    })?;
    Ok(found.and_then(|(passkey, account)| Some((passkey?, account))))
}

/// Decodes the user handle and, if the row has one, the passkey.
fn read_owned(cells: &mut Cells<'_>) -> StoreResult<(Option<UserHandle>, Option<VerifiablePasskey>)> {
    let handle = cells.of("users").maybe_bytes("user_handle")?;
    let parse = |bytes: Vec<u8>| UserHandle::parse(&bytes).ok_or_else(|| cells.corrupt("user_handle"));
    let handle = handle.map(parse).transpose()?;
    if cells.is_null() {
        return Ok((handle, None));
    }
    let user_handle = handle.ok_or_else(|| cells.corrupt("user_handle"))?;
    let passkey = read_passkey(cells.of("passkeys"))?;
    let public_key = cells.bytes("public_key")?;
    let counter = cells.count("counter")?;
    Ok((handle, Some(VerifiablePasskey { passkey, public_key, counter, user_handle })))
}

/// Decodes a passkey with its public key, after the user handle of its account.
pub(crate) fn read_verifiable(cells: &mut Cells<'_>) -> StoreResult<VerifiablePasskey> {
    read_owned(cells)?.1.ok_or_else(|| cells.corrupt("id"))
}

fn read_passkey(cells: &mut Cells<'_>) -> StoreResult<Passkey> {
    Ok(Passkey {
        id: cells.id("id")?,
        credential_id: CredentialId::parse(&cells.bytes("credential_id")?)
            .map_err(|_| cells.corrupt("credential_id"))?,
        rp_id: RpId::new(cells.text("rp_id")?),
        name: FactorName::from_stored(cells.text("name")?.to_owned()),
        aaguid: cells.array("aaguid").map(Aaguid::new)?,
        transports: Transports::from_stored(cells.text("transports")?),
        is_backup_eligible: cells.flag("backup_eligible")?,
        is_backed_up: cells.flag("backed_up")?,
        created_at: cells.time("created_at")?,
        last_used_at: cells.maybe_time("last_used_at")?,
    })
}
