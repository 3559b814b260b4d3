use super::*;

const ALL: [Proof; 7] = [
    Proof::Code(Side::Inside),
    Proof::Code(Side::Outside),
    Proof::Link(Side::Inside),
    Proof::Link(Side::Outside),
    Proof::Reset,
    Proof::Provider,
    Proof::Vouched,
];

/// Created without required verification: it has or had a session.
const ENTERED: Standing = Standing {
    was_ever_verified: false,
    is_pending: false,
    is_contested: false,
    has_credentials: true,
    has_unproven_password: true,
};
const PENDING: Standing = Standing { is_pending: true, ..ENTERED };
const VERIFIED: Standing = Standing { was_ever_verified: true, has_unproven_password: false, ..ENTERED };
/// Verified by a link that a mail scanner may have opened.
const SCANNED: Standing = Standing { was_ever_verified: true, ..ENTERED };
/// Created by an admin without a password.
const SHUT: Standing = Standing { has_credentials: false, has_unproven_password: false, ..ENTERED };

fn is_emptied(proof: Proof, account: Standing) -> bool {
    let effects = VerificationEffects::of(proof, account);
    let goes = [effects.clears_public_text, effects.removes_identities];
    assert!(goes.iter().all(|&text| text == goes[0]), "{proof:?}");
    if proof != Proof::Reset {
        assert_eq!((effects.drops_password, effects.ends_sessions), (goes[0], goes[0]), "{proof:?}");
    }
    goes[0]
}

#[test]
fn the_first_proof_from_outside_leaves_nothing_in_an_account_that_was_entered() {
    for proof in ALL {
        let is_owner_unknown =
            !matches!(proof, Proof::Code(Side::Inside) | Proof::Link(Side::Inside) | Proof::Vouched);
        assert_eq!(is_emptied(proof, ENTERED), is_owner_unknown, "{proof:?}");
    }
}

#[test]
fn verification_leaves_a_pending_account_as_it_is() {
    for side in [Side::Inside, Side::Outside] {
        assert!(!is_emptied(Proof::Code(side), PENDING) && !is_emptied(Proof::Link(side), PENDING));
    }
    assert!(is_emptied(Proof::Reset, PENDING) && is_emptied(Proof::Provider, PENDING));
}

#[test]
fn a_contested_account_is_emptied_by_every_proof() {
    for account in [ENTERED, PENDING] {
        for proof in ALL {
            assert!(is_emptied(proof, Standing { is_contested: true, ..account }), "{proof:?}");
        }
    }
}

#[test]
fn a_verified_account_with_a_proven_password_loses_nothing() {
    for proof in ALL {
        assert!(!is_emptied(proof, VERIFIED), "{proof:?}");
    }
    assert!(VerificationEffects::of(Proof::Reset, VERIFIED).ends_sessions);
}

#[test]
fn reset_and_provider_take_over_where_the_password_is_unproven() {
    for proof in ALL {
        assert_eq!(is_emptied(proof, SCANNED), matches!(proof, Proof::Reset | Proof::Provider), "{proof:?}");
    }
}

#[test]
fn an_account_that_nobody_could_enter_keeps_what_an_admin_gave_it() {
    for proof in ALL {
        assert!(!is_emptied(proof, SHUT), "{proof:?}");
    }
}

#[test]
fn first_proofs_end_what_is_outstanding() {
    for proof in ALL {
        let ends = |account| VerificationEffects::of(proof, account).revokes_codes;
        let takes_over = matches!(proof, Proof::Reset | Proof::Provider);
        assert_eq!(ends(ENTERED), proof != Proof::Vouched, "{proof:?}");
        assert_eq!((ends(PENDING), ends(VERIFIED)), (takes_over, takes_over), "{proof:?}");
    }
}

#[test]
fn a_link_from_outside_proves_no_password() {
    for proof in ALL {
        let proves = VerificationEffects::of(proof, PENDING).proves_password;
        let is_replaced_or_dropped = matches!(proof, Proof::Reset | Proof::Provider);
        assert_eq!(proves, !is_replaced_or_dropped && proof != Proof::Link(Side::Outside), "{proof:?}");
    }
}

#[test]
fn a_link_asks_where_something_would_go_and_the_browser_is_unknown() {
    let contested = Standing { is_contested: true, ..ENTERED };
    for (account, asks) in [
        (ENTERED, true),
        (contested, true),
        (PENDING, false),
        (Standing { is_contested: true, ..PENDING }, false),
        (VERIFIED, false),
        (SCANNED, false),
        (SHUT, false),
    ] {
        assert_eq!(account.needs_confirmation(Side::Outside), asks, "{account:?}");
        assert!(!account.needs_confirmation(Side::Inside), "{account:?}");
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
