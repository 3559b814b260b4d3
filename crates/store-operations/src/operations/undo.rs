//! Undo links: the owner of a mailbox reverses a change of the account, which a mail to that mailbox reported. The
//! rules are in [`latchkey_domain::undo`].

use latchkey_domain::challenge::{ChallengePurpose, FactorRules};
use latchkey_domain::codes::Purpose;
use latchkey_domain::limits::Take;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::session::Level;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{LimitedResult, StoreResult, UndoLink, UndoOutcome, UndoWrites, UseUndoLink};

use super::code_lanes::{AskReads, mail_of};
use super::guards::take_and_read;
use super::{delete_account, factors, request_code, takes};
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::challenges::{self, Beginner};
use crate::tables::outbox::{self, Address};
use crate::tables::undo_tokens::{self, Undo};
use crate::tables::{
    audit_events, identities, operators, passkeys, recovery_codes, sessions, sign_up_attempts, totp_factors,
    users,
};

/// Handles of the statements that read an undo token, and whether the client is known to the account, which determines
/// the form of the mailed reset code.
#[derive(Clone, Copy)]
pub(crate) struct UndoReads {
    found: Slot,
    lane: AskReads,
}

impl UndoReads {
    /// Adds the statements that read the undo token that began a challenge. An earlier statement must lock
    /// the user's row.
    pub(crate) fn of_challenge(script: &mut Script, challenge: TokenHash, writes: &UndoWrites) -> Self {
        let found = undo_tokens::find_of_challenge(script, challenge, writes.now);
        Self::of(script, found, writes)
    }

    fn of(script: &mut Script, found: Slot, writes: &UndoWrites) -> Self {
        let purpose = Purpose::ResetPassword;
        Self { found, lane: AskReads::find(script, &writes.email, purpose, &writes.reset) }
    }

    /// Decodes the undo token; `None` if it is not live, or was mailed to another address than the one that
    /// the caller prepared the writes for.
    pub(crate) fn undo(self, results: &Results<'_>, writes: &UndoWrites) -> StoreResult<Option<Undo>> {
        let is_good = |undo: &Undo| undo.is_live(writes.now) && undo.was_mailed_to(&writes.email);
        Ok(undo_tokens::undo(results, self.found)?.filter(is_good))
    }

    /// Reverses the change. Also removes password, later linked identities and later added factors, cancels a
    /// scheduled deletion, ends all sessions, and mails a reset code or link to the owner.
    pub(crate) fn apply(
        self,
        results: &Results<'_>,
        writes: &mut Script,
        undo: &Undo,
        (undo_writes, rules): (&UndoWrites, &FactorRules),
    ) -> StoreResult<()> {
        let UndoWrites { event, reset, reset_mail, mail, left_mail, now, .. } = undo_writes;
        let (left, user, facts, now) = (&undo.left(), undo.restored(), undo.facts(), *now);
        let since = facts.removes_since();
        request_code::end_all_of(writes, user.id, now);
        undo_tokens::delete_since(writes, user.id, facts.happened_at);
        if undo.moves() {
            users::set_email(writes, user.id, &user.email);
            users::prove(writes, user.id, now);
            sign_up_attempts::delete(writes, user.id); // made for the address that the undo removes
            outbox::notify(writes, left, left_mail.as_ref(), MailKind::Undone, now);
        }
        users::delete_password(writes, user.id);
        identities::delete_linked_since(writes, user.id, since);
        passkeys::delete_added_since(writes, user.id, since);
        // The last owner's too: the link is the only way to drive a thief out, who would be that owner. The command line
        // makes a new link.
        operators::sleep(writes, user.id, now);
        if facts.turns_two_step_off() {
            factors::remove_all_of(writes, user.id, now);
        } else {
            totp_factors::delete_added_since(writes, user.id, since);
            recovery_codes::delete_made_since(writes, user.id, since);
            users::end_bare_two_step(writes, user.id, rules.rp_id.as_ref());
        }
        // An account in deletion has no session, so no later change exists: the undo link is about the deletion itself
        // or about an earlier change.
        delete_account::set(writes, user.id, None, now);
        sessions::end_all_of(writes, user.id, now);
        audit_events::record_of(writes, event.clone(), user.id)?;
        let asked = self.lane.asked(results, reset, now)?;
        let (key, purpose) = (user.email.key().as_str(), Purpose::ResetPassword);
        request_code::write(writes, key, purpose, Some(user.id), (reset, asked), now);
        let address = Address::Of(user.id, &user.email);
        outbox::write(writes, &mail_of(reset, reset_mail, asked), MailKind::Reset, address, now);
        outbox::notify(writes, &user, mail.as_ref(), MailKind::Undone, now);
        Ok(())
    }
}

/// Takes tokens from the rate limits, and reads the change that a live undo token reverses.
pub(crate) async fn find<E: Executor>(
    engine: &E,
    hash: TokenHash,
    takes: &[Take],
    now: Timestamp,
) -> LimitedResult<Option<UndoLink>> {
    let mut script = Script::default();
    let limit = takes::take(&mut script, takes, now);
    let found = undo_tokens::find(&mut script, hash, now);
    let finish = move |results: &Results<'_>| {
        if let Some(limited) = takes::limited(results, limit)? {
            return Ok(Err(limited));
        }
        let undo = undo_tokens::undo(results, found)?.filter(|undo| undo.is_live(now));
        Ok(Ok(undo.map(|undo| undo.link)))
    };
    take_and_read(engine, script, finish).await
}

/// Reverses a change, or writes a challenge if a second factor is needed first.
pub(crate) async fn undo<E: Executor>(engine: &E, link: UseUndoLink) -> LimitedResult<UndoOutcome> {
    let UseUndoLink { token, takes, challenge, rules, writes: undo_writes } = link;
    let (now, purpose) = (undo_writes.now, ChallengePurpose::Undo);
    let mut script = Script::default();
    let limit = takes::take(&mut script, &takes, now);
    undo_tokens::lock_user(&mut script, token);
    let facts = challenges::find_facts_of_undo(&mut script, token);
    let found = undo_tokens::find(&mut script, token, now);
    let reads = UndoReads::of(&mut script, found, &undo_writes);
    engine
        .transact(script, move |results| {
            if let Some(limited) = takes::limited(results, limit)? {
                return Ok(Decided::Return(Err(limited)));
            }
            let mut writes = Script::default();
            let Some(undo) = reads.undo(results, &undo_writes)? else {
                return Ok(Decided::done(writes, Ok(UndoOutcome::Refused)));
            };
            if undo.facts().needs_second_factor() {
                let user_id = undo.account.user.id;
                let kinds =
                    challenges::kinds(results, facts, (challenge.opened_for, purpose, Level::One), &rules)?;
                if !kinds.is_empty() {
                    challenges::delete_of_token(&mut writes, user_id, token, purpose);
                    let beginner = Beginner { token: Some(&token), ..Beginner::default() };
                    challenges::insert(&mut writes, user_id, purpose, &challenge, &beginner, now);
                }
                return Ok(Decided::done(writes, Ok(UndoOutcome::Challenged(kinds))));
            }
            reads.apply(results, &mut writes, &undo, (&undo_writes, &rules))?;
            Ok(Decided::done(writes, Ok(UndoOutcome::Undone)))
        })
        .await
}
