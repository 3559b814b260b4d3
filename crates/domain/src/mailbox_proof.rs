//! Who may prove a mailbox, and what the proof does to the account. How it is proven (codes, links) lives in
//! [`crate::codes`] and [`crate::tokens`].

use crate::codes::Purpose;

/// How a mailbox was proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// By a verification code or link.
    Verification,
    /// By a password reset.
    Reset,
    /// By an identity provider that says it proved the address, at the first sign-in with that identity.
    Provider,
}

/// What a proof takes away from the account, besides making its address proven and the account no longer pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ProofEffects {
    /// The password given so far.
    pub drops_password: bool,
    /// The profile's public text ([`crate::profile::Profile::without_public_text`]).
    pub clears_public_text: bool,
    /// Linked identities.
    pub removes_identities: bool,
    /// Sessions opened so far.
    pub ends_sessions: bool,
}

impl ProofEffects {
    /// The effects on an account. Nobody may wait inside an account until its owner proves the mailbox: a contested
    /// account keeps no password, no identity and no session, and the first proof by reset or provider leaves nothing
    /// that was put there before.
    #[must_use]
    pub const fn of(proof: Proof, was_ever_verified: bool, is_contested: bool) -> Self {
        match proof {
            Proof::Verification => Self {
                drops_password: is_contested,
                clears_public_text: is_contested,
                removes_identities: is_contested,
                ends_sessions: is_contested,
            },
            Proof::Reset => Self {
                drops_password: false, // it is replaced
                clears_public_text: !was_ever_verified || is_contested,
                removes_identities: !was_ever_verified,
                ends_sessions: true,
            },
            Proof::Provider => Self {
                drops_password: !was_ever_verified,
                clears_public_text: !was_ever_verified,
                removes_identities: !was_ever_verified,
                ends_sessions: !was_ever_verified,
            },
        }
    }
}

/// Whether an account may have a challenge: verification is for unverified accounts, neither is for banned ones.
#[must_use]
pub const fn may_be_challenged(purpose: Purpose, is_verified: bool, is_banned: bool) -> bool {
    match purpose {
        Purpose::VerifyEmail => !is_verified && !is_banned,
        Purpose::ResetPassword => !is_banned,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verification_takes_away_only_what_a_contested_account_was_given() {
        assert_eq!(ProofEffects::of(Proof::Verification, false, false), ProofEffects::default());
        let contested = ProofEffects::of(Proof::Verification, false, true);
        assert!(contested.drops_password && contested.clears_public_text);
        assert!(contested.removes_identities && contested.ends_sessions);
    }

    #[test]
    fn first_proof_by_reset_leaves_nothing_of_others() {
        let first = ProofEffects::of(Proof::Reset, false, false);
        assert!(first.clears_public_text && first.removes_identities && first.ends_sessions);
        let later = ProofEffects::of(Proof::Reset, true, false);
        assert!(!later.clears_public_text && !later.removes_identities && later.ends_sessions);
    }

    #[test]
    fn first_proof_by_a_provider_leaves_nothing_at_all() {
        let first = ProofEffects::of(Proof::Provider, false, false);
        assert!(first.drops_password && first.clears_public_text);
        assert!(first.removes_identities && first.ends_sessions);
        assert_eq!(ProofEffects::of(Proof::Provider, true, false), ProofEffects::default());
    }

    #[test]
    fn verified_and_banned_accounts_need_no_verification() {
        assert!(may_be_challenged(Purpose::VerifyEmail, false, false));
        assert!(!may_be_challenged(Purpose::VerifyEmail, true, false));
        assert!(!may_be_challenged(Purpose::VerifyEmail, false, true));
        assert!(may_be_challenged(Purpose::ResetPassword, true, false));
        assert!(!may_be_challenged(Purpose::ResetPassword, false, true));
    }
}
