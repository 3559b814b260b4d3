//! Identities for the round trip tests.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::identity::{
    IdentityRules, LegacyIdentities, ProviderClaims, ProviderKey, VerifiedIdentity,
};
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{IdentityEvents, Linker, NewFlow, SignInWithIdentity, UsedToken};

use latchkey_store_suite::conformance::numbered::{at, email, entry, event, mail, session, token, user_id};

/// Google subject with the verified address of a number's account.
pub(crate) fn identity(subject: &str, number: u64) -> VerifiedIdentity {
    let address = email(number);
    let email = Some(address.as_typed());
    let facts = ProviderClaims { subject, email, email_verified: true, ..ProviderClaims::default() };
    VerifiedIdentity::of(ProviderKey::parse("google").unwrap(), facts).unwrap()
}

/// Sign-in that opens a number's session; `next` yields unused numbers.
pub(crate) fn with_identity(
    next: fn() -> u64,
    subject: &str,
    number: u64,
    session_number: u64,
) -> SignInWithIdentity {
    let one = || -> AuditEvent { event(next()) };
    SignInWithIdentity {
        identity: identity(subject, number),
        rules: IdentityRules {
            is_sign_up_open: true,
            must_be_verified: false,
            links_by_email: true,
            earlier: LegacyIdentities::Apart,
        },
        token: Some(UsedToken { hash: token(next()), expires_at: at(600) }),
        user_id: user_id(next()),
        profile_id: None,
        entry: entry(session(session_number)),
        events: IdentityEvents {
            signed_up: one(),
            verified: one(),
            linked: one(),
            signed_in: one(),
            refused: one(),
            replayed: one(),
        },
        mail: Some(mail(next())),
    }
}

pub(crate) fn flow(state: TokenHash, linker: Option<Linker>) -> NewFlow {
    NewFlow {
        state,
        provider: ProviderKey::parse("google").unwrap(),
        code_challenge: token(1),
        redirect_to: "https://app.example/".to_owned(),
        sealed: vec![1; 80],
        linker,
        created_at: at(0),
        expires_at: at(600),
    }
}
