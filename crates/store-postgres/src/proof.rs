//! What the proof of a mailbox does to its account. Which effects a proof has is decided in the domain.

use latchkey_domain::mailbox_proof::{Proof, ProofEffects};
use latchkey_domain::profile::Profile;
use latchkey_domain::time::Timestamp;

use crate::accounts::{Account, delete_password};
use crate::errors::Fallible;
use crate::profiles;
use crate::script::Script;
use crate::sessions::end_all_of;
use crate::values::values;

const PROVE: &str = "
    UPDATE users SET email_verified = TRUE, first_verified_at = coalesce(first_verified_at, $2), pending = FALSE,
        contested = FALSE, updated_at = greatest(updated_at, $2)
    WHERE id = $1";
const DELETE_IDENTITIES: &str = "DELETE FROM identities WHERE user_id = $1";

/// An account and its profile, both locked and read.
pub(crate) struct Proven {
    pub(crate) account: Account,
    pub(crate) profile: Option<Profile>,
}

/// Makes the account's address proven, with all that follows from it. Challenges are the caller's business.
pub(crate) fn prove(writes: &mut Script, proven: &Proven, proof: Proof, now: Timestamp) -> Fallible<()> {
    let account = &proven.account;
    let id = account.user.id;
    let effects = ProofEffects::of(proof, account.first_verified_at.is_some(), account.user.is_contested);
    if effects.drops_password {
        delete_password(writes, id);
    }
    if effects.clears_public_text
        && let Some(profile) = &proven.profile
    {
        profiles::save(writes, &profile.without_public_text(now))?;
    }
    if effects.removes_identities {
        writes.add(DELETE_IDENTITIES, values![id]);
    }
    if effects.ends_sessions {
        end_all_of(writes, id, now);
    }
    writes.add(PROVE, values![id, now]);
    if account.user.is_pending {
        profiles::show_or_hide(writes, id);
    }
    Ok(())
}
