//! Email codes and links for the round trip tests, with the cookies of browsers and callers.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::limits::Take;
use latchkey_store::{Browser, Consent, NewEmailCode, NewToken, OpenLink, TokenAttempt};
use latchkey_store_suite::conformance::numbered::{at, presented, session, token};

pub(crate) fn link(number: u64) -> NewEmailCode {
    NewEmailCode::Link { token: NewToken { hash: token(number), expires_at: at(600) }, redirect_to: None }
}

/// Token of link 50, redeemed by the caller of session 1.
pub(crate) fn by_token(takes: Vec<Take>, event: AuditEvent) -> TokenAttempt {
    TokenAttempt { token: token(50), email: None, caller: Some(session(1).id), takes, event }
}

/// Link with token 40, opened in the browser of session 1.
pub(crate) fn open_link(consent: Consent, takes: Vec<Take>, event: AuditEvent) -> OpenLink {
    let refresh = presented(&session(1), session(1).refresh);
    let browser = Browser { refresh: Some(refresh), sign_up: Some(token(1)) };
    OpenLink { token: token(40), browser, consent, takes, event, mail: None, now: at(1) }
}
