//! Password reset: check of the reset token, and its use with a new password.

use latchkey_domain::codes::Purpose;
use latchkey_domain::email_verification::Verification;
use latchkey_domain::limits::Take;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::session::Level;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    BeginReset, LimitedResult, LinkStatus, ResetOutcome, ResetPassword, ResetSubject, StoreResult,
};

use super::guards::take_and_read;
use super::mail_links::TokenSlots;
use super::prove_mailbox::prove;
use super::takes;
use crate::form::{Decided, Executor, Results, Script};
use crate::tables::link_tokens::{self, Token};
use crate::tables::outbox::{self, Address};
use crate::tables::{audit_events, identities, sign_up_attempts, users};

/// Takes tokens from the rate limits and returns the user of a valid reset token.
pub(crate) async fn begin<E: Executor>(
    engine: &E,
    hash: TokenHash,
    takes: &[Take],
    now: Timestamp,
) -> LimitedResult<BeginReset> {
    let mut script = Script::default();
    let limit = takes::take(&mut script, takes, now);
    let found = link_tokens::find_token(&mut script, hash);
    let last_sign_up = sign_up_attempts::find_by_token(&mut script, hash);
    let finish = move |results: &Results<'_>| {
        if let Some(limited) = takes::limited(results, limit)? {
            return Ok(Err(limited));
        }
        let token = link_tokens::token(results, found, Purpose::ResetPassword)?;
        let Some(token) = token.filter(|token| is_good(token, now)) else {
            return Ok(Ok(BeginReset::Refused));
        };
        let needs_second_factor = needs_second_factor(&token);
        let user = token.account.user;
        let last_sign_up = sign_up_attempts::last_sign_up(results, last_sign_up, user.id)?;
        // A pending account loses this hash when its address is verified.
        let last_sign_up = last_sign_up.filter(|_| !user.is_pending);
        let subject = ResetSubject { user_id: user.id, email: user.email, last_sign_up, needs_second_factor };
        Ok(Ok(BeginReset::Good(subject)))
    };
    take_and_read(engine, script, finish).await
}

/// Sets the password, marks the token as used and verifies the email address. Changes nothing if the
/// token is not valid or a second factor is needed.
pub(crate) async fn reset<E: Executor>(engine: &E, reset: ResetPassword) -> StoreResult<ResetOutcome> {
    let ResetPassword { token: hash, password, event, mail, cleared, now } = reset;
    let mut reads = Script::default();
    let presented = TokenSlots::lock(&mut reads, hash);
    engine
        .transact(reads, move |results| {
            let found = presented.token(results, Purpose::ResetPassword)?;
            let Some(token) = found.filter(|token| is_good(token, now)) else {
                return Ok(Decided::Return(ResetOutcome::Refused));
            };
            if needs_second_factor(&token) {
                return Ok(Decided::Return(ResetOutcome::NeedsSecondFactor));
            }
            let id = token.account.user.id;
            let proven = presented.proven(results, token.account)?;
            let mut writes = Script::default();
            link_tokens::use_token(&mut writes, hash, now);
            prove(&mut writes, &proven, Verification::Reset, cleared.as_ref(), now);
            identities::delete_strange(&mut writes, id);
            users::save_password(&mut writes, id, &password, true, now);
            sign_up_attempts::forget_incomparable(&mut writes, id, &password);
            audit_events::record_of(&mut writes, event.clone(), id)?;
            if let Some(mail) = &mail {
                // The reset token came by mail, so the email address is verified now.
                let address = Address::Of(id, &proven.account.user.email);
                outbox::write(&mut writes, mail, MailKind::PasswordWasReset, address, now);
            }
            let user = users::find_by_id(&mut writes, id);
            Ok(Decided::write(writes, move |results| {
                Ok(ResetOutcome::Reset(Box::new(users::user_that_is(results, user)?)))
            }))
        })
        .await
}

fn is_good(token: &Token, now: Timestamp) -> bool {
    token.facts.status(now) == LinkStatus::Good
}

fn needs_second_factor(token: &Token) -> bool {
    token.account.user.has_two_step() && token.level == Level::One
}
