//! Tests of the decision on a sign-in with an identity: one per rule.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::fixtures::verified_user;
use crate::time::Timestamp;

const OPEN: IdentityRules = IdentityRules {
    is_sign_up_open: true,
    must_be_verified: false,
    links_by_email: true,
    earlier: LegacyIdentities::Apart,
};
const STRICT: IdentityRules = IdentityRules { must_be_verified: true, ..OPEN };
const CLOSED: IdentityRules = IdentityRules { is_sign_up_open: false, ..OPEN };
const APART: IdentityRules = IdentityRules { links_by_email: false, ..OPEN };

fn user(is_verified: bool, is_banned: bool) -> User {
    let banned_at = is_banned.then_some(Timestamp::from_millis(1));
    User { email_verified: is_verified, banned_at, ..verified_user() }
}

fn identity(email: Option<&str>, is_verified: bool) -> VerifiedIdentity {
    let facts =
        ProviderClaims { subject: "1", email, email_verified: is_verified, ..ProviderClaims::default() };
    VerifiedIdentity::of(ProviderKey::parse("google").unwrap(), facts).unwrap()
}

fn first(is_verified: bool, user: &User, was_ever_verified: bool) -> IdentityVerdict {
    let identity = identity(Some("ada@example.org"), is_verified);
    judge_sign_in(
        &identity,
        None,
        Some(Candidate { user, was_ever_verified, has_unproven_password: false }),
        OPEN,
    )
}

fn refused(refusal: IdentityRefusal) -> IdentityVerdict {
    IdentityVerdict::Refused(refusal)
}

#[test]
fn a_linked_identity_signs_in_whatever_its_address_says() {
    let other = user(true, false);
    let of_email = Some(Candidate { user: &other, was_ever_verified: true, has_unproven_password: false });
    for identity in [identity(None, false), identity(Some("eve@example.org"), true)] {
        let verdict = judge_sign_in(&identity, Some(&user(false, false)), of_email, OPEN);
        assert_eq!(verdict, IdentityVerdict::SignIn);
    }
}

#[test]
fn a_linked_identity_of_a_banned_or_unproven_account_is_refused() {
    let identity = identity(Some("ada@example.org"), true);
    let judge = |user: &User, rules| judge_sign_in(&identity, Some(user), None, rules);
    assert_eq!(judge(&user(true, true), OPEN), refused(IdentityRefusal::Banned));
    assert_eq!(judge(&user(false, false), STRICT), refused(IdentityRefusal::AccountUnverified));
    assert_eq!(judge(&user(true, false), STRICT), IdentityVerdict::SignIn);
}

#[test]
fn only_a_proven_address_links_and_only_to_a_proven_account() {
    assert_eq!(first(true, &user(true, false), true), IdentityVerdict::Link);
    assert_eq!(first(false, &user(true, false), true), refused(IdentityRefusal::SignInToLink));
    assert_eq!(first(false, &user(false, false), false), refused(IdentityRefusal::SignInToLink));
}

#[test]
fn a_never_proven_account_is_taken_over_by_the_proven_owner() {
    assert_eq!(first(true, &user(false, false), false), IdentityVerdict::TakeOver);
    assert_eq!(first(true, &user(false, false), true), refused(IdentityRefusal::SignInToLink));
}

#[test]
fn a_ban_is_told_to_the_proven_owner_alone() {
    assert_eq!(first(true, &user(false, true), false), refused(IdentityRefusal::Banned));
    assert_eq!(first(false, &user(true, true), true), refused(IdentityRefusal::SignInToLink));
}

#[test]
fn address_opens_nothing_at_a_provider_that_does_not_link_by_it() {
    let taken = [(user(true, false), true), (user(false, false), false), (user(true, true), true)];
    for (user, was_ever_verified) in taken {
        for is_verified in [true, false] {
            let identity = identity(Some("ada@example.org"), is_verified);
            let candidate = Candidate { user: &user, was_ever_verified, has_unproven_password: false };
            let verdict = judge_sign_in(&identity, None, Some(candidate), APART);
            assert_eq!(verdict, refused(IdentityRefusal::SignInToLink));
        }
    }
}

#[test]
fn free_address_and_linked_identity_do_not_ask_for_linking_by_address() {
    let identity = identity(Some("ada@example.org"), true);
    assert_eq!(judge_sign_in(&identity, None, None, APART), IdentityVerdict::Create);
    assert_eq!(judge_sign_in(&identity, Some(&user(true, false)), None, APART), IdentityVerdict::SignIn);
}

#[test]
fn issuer_is_a_visible_text_or_empty_and_never_the_unknown_one() {
    for good in ["", "https://accounts.google.com", &"a".repeat(1024)] {
        assert_eq!(Issuer::parse(good).unwrap().as_str(), good);
    }
    for bad in ["?", "a b", "a\0", "ä", &"a".repeat(1025)] {
        assert!(Issuer::parse(bad).is_none(), "{bad:?}");
    }
    assert!(Issuer::unknown().is_unknown() && !Issuer::parse("").unwrap().is_unknown());
}

#[test]
fn an_account_is_created_if_sign_up_and_address_allow_it() {
    let judge = |identity: &VerifiedIdentity, rules| judge_sign_in(identity, None, None, rules);
    let (proven, unproven) = (identity(Some("a@b.org"), true), identity(Some("a@b.org"), false));
    assert_eq!(judge(&proven, STRICT), IdentityVerdict::Create);
    assert_eq!(judge(&unproven, OPEN), IdentityVerdict::Create);
    assert_eq!(judge(&unproven, STRICT), refused(IdentityRefusal::EmailUnproven));
    assert_eq!(judge(&proven, CLOSED), refused(IdentityRefusal::SignUpClosed));
    assert_eq!(judge(&identity(None, true), OPEN), refused(IdentityRefusal::NoEmail));
}

#[test]
fn unproven_address_is_refused_alike_whether_it_is_taken_or_free() {
    let unproven = identity(Some("ada@example.org"), false);
    for account in [user(true, false), user(false, false), user(true, true)] {
        let taken = Some(Candidate {
            user: &account,
            was_ever_verified: account.email_verified,
            has_unproven_password: false,
        });
        for rules in [STRICT, CLOSED] {
            let free = judge_sign_in(&unproven, None, None, rules);
            assert_eq!(free, refused(IdentityRefusal::EmailUnproven));
            assert_eq!(judge_sign_in(&unproven, None, taken, rules), free);
        }
    }
}

#[test]
fn console_makes_and_links_no_account() {
    use IdentityVerdict::{Create, Link, SignIn, TakeOver};
    for verdict in [Create, Link, TakeOver] {
        assert_eq!(verdict.in_console(), refused(IdentityRefusal::SignInToLink));
    }
    for verdict in [SignIn, refused(IdentityRefusal::Banned)] {
        assert_eq!(verdict.in_console(), verdict);
    }
}

#[test]
fn provider_claims_are_sanitised() {
    let long = format!("  A\u{0}\n{}", "b".repeat(200));
    let facts = ProviderClaims {
        issuer: "",
        subject: "1",
        email: Some("no address"),
        email_verified: true,
        name: Some(&long),
        avatar_url: Some("javascript:alert(1)"),
    };
    let identity = VerifiedIdentity::of(ProviderKey::parse("x").unwrap(), facts).unwrap();
    assert!(identity.email.is_none() && !identity.email_verified && identity.avatar_url.is_none());
    assert_eq!(identity.name.as_str().chars().count(), LONGEST_NAME);
    for subject in ["", "a\0", &"a".repeat(256)] {
        assert!(Subject::parse(subject).is_none(), "{subject:?}");
    }
}

#[test]
fn keys_are_plain_and_no_words_of_the_interface() {
    assert!(ProviderKey::parse("my-idp_2").is_ok());
    for bad in [
        "",
        "Google",
        "a b",
        "a/b",
        "ä",
        &"a".repeat(65),
        "email",
        "passkey",
        "password",
        "anonymous",
        "configs",
        "custom",
    ] {
        assert!(ProviderKey::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a_verified_account_with_an_unproven_password_is_taken_over() {
    let identity = identity(Some("ada@example.org"), true);
    let judge = |user: &User| {
        let candidate = Candidate { user, was_ever_verified: true, has_unproven_password: true };
        judge_sign_in(&identity, None, Some(candidate), OPEN)
    };
    assert_eq!(judge(&user(true, false)), IdentityVerdict::TakeOver);
    assert_eq!(judge(&user(true, true)), refused(IdentityRefusal::Banned));
    assert_eq!(judge(&user(false, false)), refused(IdentityRefusal::SignInToLink));
}
