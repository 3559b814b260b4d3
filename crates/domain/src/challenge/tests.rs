#![allow(clippy::unwrap_used)]
use super::*;
use ChallengePurpose::{Reauthenticate, Reset, SignIn, Undo};
use SecondFactorPolicy::{Off, Optional, Required};

const PLAIN: ChallengeFacts = ChallengeFacts {
    has_two_step: false,
    has_passkey: false,
    has_totp: false,
    has_recovery_code: false,
    has_password: true,
    email_verified: true,
    is_in_deletion: false,
    level: Level::One,
};
const TWO_STEP: ChallengeFacts =
    ChallengeFacts { has_two_step: true, has_totp: true, has_recovery_code: true, ..PLAIN };

#[test]
fn two_step_is_asked_for_second_factors_alone_at_every_purpose_and_policy() {
    for purpose in [SignIn, Reauthenticate, Reset, Undo] {
        for policy in [Off, Optional, Required] {
            let kinds = TWO_STEP.kinds(purpose, policy);
            assert_eq!(kinds, [ChallengeKind::Totp, ChallengeKind::RecoveryCode], "{purpose:?} {policy:?}");
        }
    }
}

#[test]
fn an_account_without_two_step_enrols_only_where_it_is_required() {
    assert_eq!(PLAIN.kinds(SignIn, Required), [ChallengeKind::Enroll]);
    assert!(PLAIN.kinds(SignIn, Optional).is_empty());
    assert!(
        is_challenged(Level::One, false, Required)
            && is_challenged(Level::One, true, Off)
            && !is_challenged(Level::One, false, Optional)
    );
}

#[test]
fn required_second_factors_permit_sessions_of_level_two_alone() {
    for policy in [Off, Optional] {
        assert!(policy.permits(Level::One) && policy.permits(Level::Two));
    }
    assert!(Required.permits(Level::Two) && !Required.permits(Level::One));
}

#[test]
fn a_sign_in_of_level_2_is_never_challenged() {
    for policy in [Off, Optional, Required] {
        assert!(!is_challenged(Level::Two, true, policy) && !is_challenged(Level::Two, false, policy));
    }
}

#[test]
fn a_passkey_is_the_strongest_answer_and_asked_for_where_two_step_is_on_or_required() {
    let with_passkey = ChallengeFacts { has_passkey: true, ..TWO_STEP };
    let all = [ChallengeKind::Passkey, ChallengeKind::Totp, ChallengeKind::RecoveryCode];
    for purpose in [SignIn, Reauthenticate, Reset, Undo] {
        assert_eq!(with_passkey.kinds(purpose, Optional), all, "{purpose:?}");
    }
    let without_two_step = ChallengeFacts { has_passkey: true, ..PLAIN };
    for purpose in [SignIn, Reset, Undo] {
        assert!(without_two_step.kinds(purpose, Optional).is_empty(), "{purpose:?}");
        assert_eq!(without_two_step.kinds(purpose, Required), [ChallengeKind::Passkey], "{purpose:?}");
    }
    let step_up = [ChallengeKind::Passkey, ChallengeKind::Password];
    assert_eq!(without_two_step.kinds(Reauthenticate, Optional), step_up);
}

#[test]
fn reauthentication_without_two_step_asks_for_the_password_or_a_mailed_code() {
    assert_eq!(PLAIN.kinds(Reauthenticate, Optional), [ChallengeKind::Password]);
    let passwordless = ChallengeFacts { has_password: false, ..PLAIN };
    assert_eq!(passwordless.kinds(Reauthenticate, Optional), [ChallengeKind::EmailCode]);
    let unverified = ChallengeFacts { email_verified: false, ..passwordless };
    assert!(unverified.kinds(Reauthenticate, Optional).is_empty());
}

#[test]
fn an_account_in_deletion_is_restored_after_all_its_factors() {
    let plain = ChallengeFacts { is_in_deletion: true, ..PLAIN };
    for policy in [Off, Optional, Required] {
        assert_eq!(plain.kinds(SignIn, policy), [ChallengeKind::Restore], "{policy:?}");
        let one = ChallengeFacts { is_in_deletion: true, ..TWO_STEP };
        assert_eq!(one.kinds(SignIn, policy), [ChallengeKind::Totp, ChallengeKind::RecoveryCode]);
        let lost = ChallengeFacts { has_totp: false, has_recovery_code: false, ..one };
        assert!(lost.kinds(SignIn, policy).is_empty(), "{policy:?}");
        let two = ChallengeFacts { level: Level::Two, ..one };
        assert_eq!(two.kinds(SignIn, policy), [ChallengeKind::Restore], "{policy:?}");
        assert_eq!(one.kinds(Reset, policy), [ChallengeKind::Totp, ChallengeKind::RecoveryCode]);
    }
    let with_passkey = ChallengeFacts { has_passkey: true, ..plain };
    assert_eq!(with_passkey.kinds(SignIn, Required), [ChallengeKind::Passkey]);
    assert_eq!(with_passkey.kinds(SignIn, Optional), [ChallengeKind::Restore]);
}

#[test]
fn a_restoral_shows_no_factor() {
    let shown = AuthMethods::of(AuthMethod::Password).with(AuthMethod::OneTimeCode);
    let shown = shown.with(AuthMethod::MultiFactor);
    let (methods, level) = ChallengeKind::Restore.raise(None, shown.clone(), shown.level());
    assert_eq!((methods, level), (shown, Level::Two));
}

#[test]
fn a_second_factor_raises_the_level_and_a_password_does_not() {
    let raise = |kind: ChallengeKind, first| kind.raise(None, AuthMethods::of(first), Level::One);
    let (methods, level) = raise(ChallengeKind::Totp, AuthMethod::Password);
    assert_eq!((methods.to_stored().as_str(), level), ("pwd otp mfa", Level::Two));
    let (methods, level) = raise(ChallengeKind::RecoveryCode, AuthMethod::Federated);
    assert_eq!((methods.to_stored().as_str(), level), ("fed rcv mfa", Level::Two));
    let (methods, level) = raise(ChallengeKind::Totp, AuthMethod::OneTimeCode);
    assert_eq!((methods.to_stored().as_str(), level), ("otp mfa", Level::Two));
    let (methods, level) = raise(ChallengeKind::Password, AuthMethod::Federated);
    assert_eq!((methods.to_stored().as_str(), level), ("fed pwd", Level::One));
    let synced = Some(AuthMethod::of_passkey(true));
    let first = AuthMethods::of(AuthMethod::Password);
    let (methods, level) = ChallengeKind::Passkey.raise(synced, first, Level::One);
    assert_eq!((methods.to_stored().as_str(), level), ("pwd swk mfa", Level::Two));
}

#[test]
fn an_id_is_43_characters_and_reads_back() {
    let id = ChallengeId::new([7; 32]);
    assert_eq!(id.expose().len(), 43);
    assert_eq!(ChallengeId::parse(&id.expose()).unwrap().hash(), id.hash());
    for text in ["", "abc", &"A".repeat(42), &"A".repeat(44), &"=".repeat(43)] {
        assert!(ChallengeId::parse(text).is_none(), "{text:?}");
    }
}

#[test]
fn the_console_asks_for_every_second_factor_whatever_the_policy_says() {
    let with_passkey = ChallengeFacts { has_passkey: true, ..PLAIN };
    for policy in [Off, Optional, Required] {
        for side in [OpenedFor::Console, OpenedFor::Activation] {
            for purpose in [SignIn, Reauthenticate] {
                assert_eq!(
                    TWO_STEP.kinds_for(side, purpose, policy),
                    [ChallengeKind::Totp, ChallengeKind::RecoveryCode]
                );
                assert_eq!(with_passkey.kinds_for(side, purpose, policy), [ChallengeKind::Passkey]);
            }
        }
        let plain = |side, purpose| PLAIN.kinds_for(side, purpose, policy);
        assert!(plain(OpenedFor::Console, SignIn).is_empty(), "a sign-in enrols nothing");
        assert_eq!(plain(OpenedFor::Activation, SignIn), [ChallengeKind::Enroll]);
        assert_eq!(plain(OpenedFor::Console, Reauthenticate), [ChallengeKind::Password]);
    }
}

#[test]
fn no_mail_and_no_restoral_opens_the_console() {
    let passwordless = ChallengeFacts { has_password: false, ..PLAIN };
    assert!(passwordless.kinds_for(OpenedFor::Console, Reauthenticate, Optional).is_empty());
    let in_deletion = ChallengeFacts { is_in_deletion: true, ..PLAIN };
    assert!(in_deletion.kinds_for(OpenedFor::Console, SignIn, Optional).is_empty());
}

#[test]
fn a_sign_in_to_the_console_is_challenged_for_a_factor_that_the_account_has() {
    assert!(is_challenged_in_console(Level::One, true, false));
    assert!(is_challenged_in_console(Level::One, false, true));
    assert!(!is_challenged_in_console(Level::One, false, false));
    assert!(!is_challenged_in_console(Level::Two, true, true));
}
