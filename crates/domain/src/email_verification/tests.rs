use super::*;

const ALL: [Verification; 8] = [
    Verification::Code(VerifiedFrom::Inside),
    Verification::Code(VerifiedFrom::Outside),
    Verification::Link(VerifiedFrom::Inside),
    Verification::Link(VerifiedFrom::Outside),
    Verification::Reset,
    Verification::Provider,
    Verification::Vouched,
    Verification::NewAddress,
];

/// An unverified account of a sign-up without required verification, which has or had a session.
const ENTERED: AccountFacts = AccountFacts {
    was_ever_verified: false,
    is_pending: false,
    is_contested: false,
    has_credentials: true,
    has_unproven_password: true,
};
const PENDING: AccountFacts = AccountFacts { is_pending: true, ..ENTERED };
const VERIFIED: AccountFacts =
    AccountFacts { was_ever_verified: true, has_unproven_password: false, ..ENTERED };
/// An account verified by a link that a mail scanner may have opened.
const SCANNED: AccountFacts = AccountFacts { was_ever_verified: true, ..ENTERED };
/// An unverified account that an admin created without a password.
const SHUT: AccountFacts = AccountFacts { has_credentials: false, has_unproven_password: false, ..ENTERED };

fn is_emptied(proof: Verification, account: AccountFacts) -> bool {
    let effects = VerificationEffects::of(proof, account);
    let goes = [effects.clears_public_text, effects.removes_identities];
    assert!(goes.iter().all(|&text| text == goes[0]), "{proof:?}");
    if proof != Verification::Reset {
        assert_eq!((effects.drops_password, effects.ends_sessions), (goes[0], goes[0]), "{proof:?}");
    }
    goes[0]
}

#[test]
fn the_first_proof_from_outside_leaves_nothing_in_an_account_that_was_entered() {
    for proof in ALL {
        let is_owner_unknown = !matches!(
            proof,
            Verification::Code(VerifiedFrom::Inside)
                | Verification::Link(VerifiedFrom::Inside)
                | Verification::Vouched
                | Verification::NewAddress
        );
        assert_eq!(is_emptied(proof, ENTERED), is_owner_unknown, "{proof:?}");
    }
}

#[test]
fn verification_leaves_a_pending_account_as_it_is() {
    for side in [VerifiedFrom::Inside, VerifiedFrom::Outside] {
        assert!(
            !is_emptied(Verification::Code(side), PENDING) && !is_emptied(Verification::Link(side), PENDING)
        );
    }
    assert!(is_emptied(Verification::Reset, PENDING) && is_emptied(Verification::Provider, PENDING));
}

#[test]
fn a_contested_account_is_emptied_by_every_proof_of_its_address() {
    for account in [ENTERED, PENDING] {
        for proof in ALL {
            let is_of_its_address = proof != Verification::NewAddress;
            let contested = AccountFacts { is_contested: true, ..account };
            assert_eq!(is_emptied(proof, contested), is_of_its_address, "{proof:?}");
        }
    }
}

#[test]
fn a_verified_account_with_a_proven_password_loses_nothing() {
    for proof in ALL {
        assert!(!is_emptied(proof, VERIFIED), "{proof:?}");
    }
    assert!(VerificationEffects::of(Verification::Reset, VERIFIED).ends_sessions);
}

#[test]
fn reset_and_provider_take_over_an_account_with_an_unproven_password() {
    for proof in ALL {
        assert_eq!(
            is_emptied(proof, SCANNED),
            matches!(proof, Verification::Reset | Verification::Provider),
            "{proof:?}"
        );
    }
}

#[test]
fn an_account_without_credentials_keeps_the_data_set_by_an_admin() {
    for proof in ALL {
        assert!(!is_emptied(proof, SHUT), "{proof:?}");
    }
}

#[test]
fn the_first_verification_revokes_outstanding_codes() {
    for proof in ALL {
        let ends = |account| VerificationEffects::of(proof, account).revokes_codes;
        let takes_over =
            matches!(proof, Verification::Reset | Verification::Provider | Verification::NewAddress);
        assert_eq!(ends(ENTERED), proof != Verification::Vouched, "{proof:?}");
        assert_eq!((ends(PENDING), ends(VERIFIED)), (takes_over, takes_over), "{proof:?}");
    }
}

#[test]
fn a_link_from_outside_proves_no_password() {
    for proof in ALL {
        let proves = VerificationEffects::of(proof, PENDING).proves_password;
        let is_replaced_or_dropped = matches!(proof, Verification::Reset | Verification::Provider);
        assert_eq!(
            proves,
            !is_replaced_or_dropped && proof != Verification::Link(VerifiedFrom::Outside),
            "{proof:?}"
        );
    }
}

#[test]
fn a_link_opened_elsewhere_asks_before_it_removes_data() {
    let contested = AccountFacts { is_contested: true, ..ENTERED };
    for (account, asks) in [
        (ENTERED, true),
        (contested, true),
        (PENDING, false),
        (AccountFacts { is_contested: true, ..PENDING }, false),
        (VERIFIED, false),
        (SCANNED, false),
        (SHUT, false),
    ] {
        assert_eq!(account.needs_confirmation(VerifiedFrom::Outside), asks, "{account:?}");
        assert!(!account.needs_confirmation(VerifiedFrom::Inside), "{account:?}");
    }
}

#[test]
fn verified_and_banned_accounts_need_no_verification() {
    assert!(may_receive_code(Purpose::VerifyEmail, false, false));
    assert!(!may_receive_code(Purpose::VerifyEmail, true, false));
    assert!(!may_receive_code(Purpose::VerifyEmail, false, true));
    assert!(may_receive_code(Purpose::ResetPassword, true, false));
    assert!(!may_receive_code(Purpose::ResetPassword, false, true));
}
