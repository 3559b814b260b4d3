//! Verification of an email address. The crate `latchkey_domain` decides what else changes in the account;
//! this file applies it.

use latchkey_domain::email_verification::{Verification, VerificationEffects};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::profile::Profile;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::NewMail;

use super::{factors, request_code};
use crate::form::{ProfileWrite, Script};
use crate::tables::users::{self, Account};
use crate::tables::{identities, outbox, passkeys, profiles, seen_devices, sessions, sign_up_attempts};

/// An account whose email address is to be verified, with its profile. The transaction holds the lock on the
/// user's row.
pub(crate) struct Proven {
    pub(crate) account: Account,
    pub(crate) profile: Option<Profile>,
}

/// Marks the email address as verified, and makes the further changes of the account that `latchkey_domain`
/// decides. If they remove data, `mail` tells the owner.
pub(crate) fn prove(
    writes: &mut Script,
    proven: &Proven,
    proof: Verification,
    mail: Option<&NewMail>,
    now: Timestamp,
) {
    let account = &proven.account;
    let id = account.user.id;
    let standing = account.standing();
    let effects = VerificationEffects::of(proof, standing);
    if effects.revokes_codes {
        request_code::end_all_of(writes, id, now);
    }
    if effects.drops_password {
        users::delete_password(writes, id);
    } else if effects.proves_password && standing.has_unproven_password {
        users::prove_password(writes, id);
    }
    if effects.clears_public_text {
        users::set_locale(writes, id, None);
        if let Some(profile) = &proven.profile {
            writes.write_profile(ProfileWrite::Clear(profile.without_public_text(now)));
        }
    }
    if effects.removes_identities {
        identities::delete_all_of(writes, id);
    }
    if effects.removes_factors {
        factors::remove_all_of(writes, id, now);
        passkeys::delete_all_of(writes, id);
    }
    if effects.ends_sessions {
        sessions::end_all_of(writes, id, now);
    }
    if effects.forgets_devices {
        seen_devices::forget(writes, id);
    }
    users::prove(writes, id, now);
    if account.user.is_pending {
        sign_up_attempts::delete(writes, id);
        profiles::show_or_hide(writes, id);
    }
    if effects.is_notified {
        let user = User { email_verified: true, ..account.user.clone() };
        outbox::notify(writes, &user, mail, MailKind::AccountCleared, now);
    }
}
