//! Properties of identities: sanitised claims satisfy the types, and no combination of facts grants more than the
//! rules.
#![allow(clippy::unwrap_used, missing_docs)]

use latchkey_domain::identity::{
    Candidate, IdentityRules, IdentityVerdict, Issuer, LegacyIdentities, ProviderClaims, ProviderKey,
    Subject, VerifiedIdentity, judge_sign_in,
};
use latchkey_domain::profile::{AvatarUrl, Name};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use proptest::prelude::*;

mod fixtures;

use fixtures::verified_user;

fn google() -> ProviderKey {
    ProviderKey::parse("google").unwrap()
}

fn user(is_verified: bool, is_banned: bool) -> User {
    let banned_at = is_banned.then_some(Timestamp::from_millis(1));
    User { email_verified: is_verified, banned_at, ..verified_user() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn foreign_facts_always_fit(
        issuer in any::<String>(),
        subject in any::<String>(),
        email in proptest::option::of(any::<String>()),
        email_verified in any::<bool>(),
        name in proptest::option::of(".{0,300}"),
        avatar_url in proptest::option::of(any::<String>()),
    ) {
        let facts = ProviderClaims {
            issuer: &issuer,
            subject: &subject,
            email: email.as_deref(),
            email_verified,
            name: name.as_deref(),
            avatar_url: avatar_url.as_deref(),
        };
        let identity = VerifiedIdentity::of(google(), facts);
        prop_assert_eq!(identity.is_some(), Issuer::parse(&issuer).is_some() && Subject::parse(&subject).is_some());
        if let Some(identity) = identity {
            prop_assert!(Name::parse(identity.name.as_str()).is_ok());
            prop_assert!(identity.avatar_url.is_none_or(|url| AvatarUrl::parse(url.as_str()).is_ok()));
            prop_assert!(identity.email.is_some() || !identity.email_verified);
        }
    }

    #[test]
    fn a_key_reads_back_or_is_none(text in "[a-zA-Z0-9_./ -]{0,70}") {
        if let Ok(key) = ProviderKey::parse(&text) {
            prop_assert_eq!(key.as_str(), text.as_str());
            prop_assert!(!text.contains(['/', '.', ' ']) && text.len() <= 64);
        }
    }

    #[test]
    fn no_combination_of_facts_opens_more_than_the_rules_say(bits in any::<[bool; 11]>()) {
        let [has_email, is_proven, has_owner, has_account, is_verified, was_verified, is_banned, is_open, must, links, is_squat] =
            bits;
        let facts = ProviderClaims {
            subject: "1",
            email: has_email.then_some("ada@example.org"),
            email_verified: is_proven,
            ..ProviderClaims::default()
        };
        let identity = VerifiedIdentity::of(google(), facts).unwrap();
        let there = user(is_verified, is_banned);
        let candidate = Candidate {
            user: &there,
            was_ever_verified: was_verified || is_verified,
            has_unproven_password: is_squat,
        };
        let rules = IdentityRules {
            is_sign_up_open: is_open,
            must_be_verified: must,
            links_by_email: links,
            earlier: LegacyIdentities::Apart,
        };

        let verdict = judge_sign_in(
            &identity,
            has_owner.then_some(&there),
            (has_account && has_email).then_some(candidate),
            rules,
        );

        let is_about_the_account = has_owner || (has_account && has_email);
        match verdict {
            IdentityVerdict::SignIn => prop_assert!(has_owner && !is_banned && (is_verified || !must)),
            IdentityVerdict::Link => {
                prop_assert!(!has_owner && links && is_proven && is_verified && !is_squat && !is_banned);
            }
            IdentityVerdict::TakeOver => {
                let may_be_hijacked = if is_verified { is_squat } else { !was_verified };
                prop_assert!(!has_owner && links && is_proven && may_be_hijacked && !is_banned);
            }
            IdentityVerdict::Create => {
                prop_assert!(!is_about_the_account && has_email && is_open && (is_proven || !must));
            }
            IdentityVerdict::Refused(_) => {}
        }
    }
}
