//! What the proof of a mailbox does to its account. Which effects a proof has is decided in the domain.

use latchkey_domain::ids::UserId;
use latchkey_domain::mailbox_proof::{Proof, ProofEffects};
use latchkey_domain::time::Timestamp;
use rusqlite::{Connection, params};

use crate::accounts::{Account, delete_password};
use crate::errors::Fallible;
use crate::profiles::{clear_public_text, show_or_hide};
use crate::rows::Id;
use crate::sessions::end_all_of;
use crate::statements::execute;

const PROVE: &str = "
    UPDATE users SET email_verified = 1, first_verified_at = coalesce(first_verified_at, ?2), pending = 0,
        contested = 0, updated_at = max(updated_at, ?2)
    WHERE id = ?1";
const DELETE_IDENTITIES: &str = "DELETE FROM identities WHERE user_id = ?1";

/// Makes the account's address proven, with all that follows from it. Challenges are the caller's business.
pub(crate) fn prove(conn: &Connection, account: &Account, proof: Proof, now: Timestamp) -> Fallible<()> {
    let id: UserId = account.user.id;
    let effects = ProofEffects::of(proof, account.first_verified_at.is_some(), account.user.is_contested);
    if effects.drops_password {
        delete_password(conn, id)?;
    }
    if effects.clears_public_text {
        clear_public_text(conn, id, now)?;
    }
    if effects.removes_identities {
        execute(conn, DELETE_IDENTITIES, params![id.blob()])?;
    }
    if effects.ends_sessions {
        end_all_of(conn, id, now)?;
    }
    execute(conn, PROVE, params![id.blob(), now.as_millis()])?;
    if account.user.is_pending {
        show_or_hide(conn, id)?;
    }
    Ok(())
}
