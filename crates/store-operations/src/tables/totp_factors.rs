//! Table `totp_factors`: TOTP secrets, sealed by the service. A factor without `confirmed_at` is pending:
//! its user has not entered a code of it yet.

use latchkey_domain::factors::{CONFIRM_ATTEMPTS, FactorId, FactorName, TotpFactor, TotpStep};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{BeginTotp, Enroller, SealedTotp, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, statements, stored_id, values};

/// Maximum number of factors that one statement reads, more than an account can have.
const LISTED: u32 = 100;

/// Query for the confirmed factors of a user, oldest first. `$user` is an SQL expression for the user's id.
macro_rules! confirmed {
    ($columns:literal, $user:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM totp_factors WHERE user_id = ",
            $user,
            " AND confirmed_at IS NOT NULL ORDER BY confirmed_at, id LIMIT $2"
        )
    };
}

stored_id!(FactorId);

pub const TABLE: Table = Table::new(
    "totp_factors",
    1,
    columns! {
        id id, id user_id, text name, bytes secret, int created_at, int confirmed_at, id session_id,
        bytes challenge_hash, int attempts, int expires_at, int last_step, int last_used_at
    },
);

statements! {
    INSERT = "
        INSERT INTO totp_factors (id, user_id, name, secret, created_at, confirmed_at, session_id, challenge_hash,
            attempts, expires_at, last_step, last_used_at)
        VALUES ($1, $2, $3, $4, $5, NULL, $6, $7, 0, $8, NULL, NULL)";
    LIST_OF: read list_of(user_id: UserId) [user_id, LISTED] =
        confirmed!("id, name, confirmed_at, last_used_at", "$1");
    LIST_OF_SESSION: read list_of_session(session_id: SessionId) [session_id, LISTED] =
        confirmed!("id, name, confirmed_at, last_used_at", "(SELECT user_id FROM sessions WHERE id = $1)");
    LIST_OF_CHALLENGE: read list_of_challenge(challenge: TokenHash) [&challenge, LISTED] =
        confirmed!("id, name, confirmed_at, last_used_at", "(SELECT user_id FROM challenges WHERE hash = $1)");
    /// Reads the factors that a challenge may be answered with.
    LIST_SEALED: read list_sealed(challenge: TokenHash) [&challenge, LISTED] =
        confirmed!("id, secret, last_step", "(SELECT user_id FROM challenges WHERE hash = $1)");
    FIND_PENDING: read find_pending(id: FactorId) = "
        SELECT id, secret, user_id, name, session_id, challenge_hash, attempts, expires_at FROM totp_factors
        WHERE id = $1 AND confirmed_at IS NULL";
    COUNT_WRONG_CODE: change count_wrong_code(id: FactorId) =
        "UPDATE totp_factors SET attempts = attempts + 1 WHERE id = $1";
    CONFIRM = "
        UPDATE totp_factors SET confirmed_at = $2, session_id = NULL, challenge_hash = NULL, expires_at = NULL,
            last_step = $3, last_used_at = $2
        WHERE id = $1";
    ACCEPT_STEP = "UPDATE totp_factors SET last_step = $2, last_used_at = $3 WHERE id = $1";
    RENAME = "UPDATE totp_factors SET name = $2 WHERE id = $1";
    DELETE: change delete(id: FactorId) = "DELETE FROM totp_factors WHERE id = $1";
    DELETE_PENDING_OF: change delete_pending_of(user_id: UserId) =
        "DELETE FROM totp_factors WHERE user_id = $1 AND confirmed_at IS NULL";
    /// Deletes the factors of a user that are pending, or that were confirmed at or after `since`.
    DELETE_ADDED_SINCE: change delete_added_since(user_id: UserId, since: Timestamp) =
        "DELETE FROM totp_factors WHERE user_id = $1 AND (confirmed_at IS NULL OR confirmed_at >= $2)";
    DELETE_ALL_OF: change delete_all_of(user_id: UserId) = "DELETE FROM totp_factors WHERE user_id = $1";
}

/// A confirmed TOTP factor with which a challenge may be answered.
pub(crate) struct Answering {
    pub(crate) totp: SealedTotp,
    /// Last accepted time step; `None` if no code was accepted yet.
    pub(crate) last_step: Option<TotpStep>,
}

/// A factor that is not confirmed yet, with the session or challenge that began it.
pub(crate) struct Pending {
    pub(crate) totp: SealedTotp,
    pub(crate) user_id: UserId,
    pub(crate) name: FactorName,
    session_id: Option<SessionId>,
    challenge: Option<TokenHash>,
    pub(crate) attempts: u32,
    expires_at: Timestamp,
}

impl Pending {
    /// True if the factor belongs to this account, was begun by this session or challenge, and has not
    /// expired.
    pub(crate) fn is_of(&self, user_id: UserId, enroller: &Enroller, now: Timestamp) -> bool {
        let is_its_own = match enroller {
            Enroller::Session(_, session_id) => self.session_id == Some(*session_id),
            Enroller::Challenge(challenge, _) => self.challenge == Some(*challenge),
        };
        is_its_own && self.user_id == user_id && now < self.expires_at && self.attempts < CONFIRM_ATTEMPTS
    }
}

/// Reads the confirmed factors of the account that enrols a further one in a session or a challenge.
pub(crate) fn list_of_enroller(script: &mut Script, enroller: &Enroller) -> Slot {
    match enroller {
        Enroller::Session(user_id, _) => list_of(script, *user_id),
        Enroller::Challenge(challenge, _) => list_of_challenge(script, *challenge),
    }
}

/// Inserts a pending factor.
pub(crate) fn insert(writes: &mut Script, user_id: UserId, begin: &BeginTotp) {
    let (session_id, challenge) = match &begin.enroller {
        Enroller::Session(_, session_id) => (Some(*session_id), None),
        Enroller::Challenge(challenge, _) => (None, Some(challenge)),
    };
    let BeginTotp { id, name, secret, expires_at, now, .. } = begin;
    let values =
        values![*id, user_id, name.as_str(), secret.as_slice(), *now, session_id, challenge, *expires_at];
    writes.change(&INSERT, values);
}

pub(crate) fn confirm(writes: &mut Script, id: FactorId, step: TotpStep, now: Timestamp) {
    writes.change(&CONFIRM, values![id, now, step.0]);
}

/// Stores the time step of an accepted code. The step must be later than the stored one, and the transaction
/// must hold the lock on the user's row.
pub(crate) fn accept_step(writes: &mut Script, id: FactorId, step: TotpStep, now: Timestamp) {
    writes.change(&ACCEPT_STEP, values![id, step.0, now]);
}

pub(crate) fn rename(writes: &mut Script, id: FactorId, name: &FactorName) {
    writes.change(&RENAME, values![id, name.as_str()]);
}

pub(crate) fn factors(results: &Results<'_>, slot: Slot) -> StoreResult<Vec<TotpFactor>> {
    results.list(slot, |cells| {
        Ok(TotpFactor {
            id: cells.of("totp_factors").id("id")?,
            name: FactorName::from_stored(cells.text("name")?.to_owned()),
            created_at: cells.time("confirmed_at")?,
            last_used_at: cells.maybe_time("last_used_at")?,
        })
    })
}

pub(crate) fn answering(results: &Results<'_>, slot: Slot) -> StoreResult<Vec<Answering>> {
    results.list(slot, |cells| {
        let totp = read_sealed(cells)?;
        Ok(Answering { totp, last_step: cells.maybe_int("last_step")?.map(TotpStep) })
    })
}

pub(crate) fn pending(results: &Results<'_>, slot: Slot) -> StoreResult<Option<Pending>> {
    results.find(slot, |cells| {
        Ok(Pending {
            totp: read_sealed(cells)?,
            user_id: cells.id("user_id")?,
            name: FactorName::from_stored(cells.text("name")?.to_owned()),
            session_id: cells.maybe_id("session_id")?,
            challenge: cells.maybe_hash("challenge_hash")?,
            attempts: cells.count("attempts")?,
            expires_at: cells.time("expires_at")?,
        })
    })
}

fn read_sealed(cells: &mut Cells<'_>) -> StoreResult<SealedTotp> {
    Ok(SealedTotp { id: cells.of("totp_factors").id("id")?, secret: cells.bytes("secret")? })
}
