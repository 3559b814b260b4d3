//! Beginning of challenges for a reauthentication in a session or for a password reset. A challenge asks for
//! a second factor or another confirmation. Challenges of sign-ins are begun in [`super::entry`].

use latchkey_domain::challenge::{ChallengeKind, ChallengePurpose};
use latchkey_domain::codes::Purpose;
use latchkey_domain::passkey::Passkey;
use latchkey_domain::session::Level;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    BeginReauthentication, BeginResetChallenge, ChallengeTerms, FoundChallenge, LimitedResult, LinkStatus,
    LiveSession, PasskeyOptions, StoreResult,
};

use super::mail_links::TokenSlots;
use super::takes;
use crate::form::{Decided, Executor, Results, Script};
use crate::tables::challenges::{self, Beginner, Challenge};
use crate::tables::totp_factors::{self, Answering};
use crate::tables::{passkeys, sessions};

/// Reads a challenge, if it can still be answered.
pub(crate) async fn find<E: Executor>(
    engine: &E,
    hash: TokenHash,
    terms: ChallengeTerms,
) -> StoreResult<Option<Box<FoundChallenge>>> {
    let mut script = Script::default();
    let found = challenges::find(&mut script, hash);
    let totp = totp_factors::list_sealed(&mut script, hash);
    let owned = passkeys::list_of_challenge(&mut script, hash);
    let finish = move |results: &Results<'_>| {
        let found = challenges::challenge(results, found)?.filter(|challenge| challenge.is_live(&terms));
        let Some(challenge) = found else { return Ok(None) };
        let totp = totp_factors::answering(results, totp)?;
        let kinds = challenge.kinds(&terms.rules);
        let owned = passkeys::owned(results, owned)?;
        Ok(Some(Box::new(FoundChallenge {
            purpose: challenge.purpose,
            user: challenge.account.user,
            session_id: challenge.session_id,
            opened_for: challenge.opened_for,
            methods: challenge.methods,
            provider: challenge.identity.map(|shown| shown.identity.provider),
            kinds,
            totp: totp.into_iter().map(|Answering { totp, .. }| totp).collect(),
            passkeys: owned.into_usable(terms.rules.rp_id.as_ref()),
            passkey_options: challenge.passkey_options,
            recovery_codes_left: challenge.recovery_codes_left,
            undo_email: challenge.undo_email,
            expires_at: challenge.expires_at,
        })))
    };
    engine.read(script, finish).await
}

/// Stores the WebAuthn challenge of request options for an answer by passkey, and returns the passkeys to choose from.
pub(crate) async fn save_passkey_options<E: Executor>(
    engine: &E,
    hash: TokenHash,
    options: PasskeyOptions,
    terms: ChallengeTerms,
) -> StoreResult<Option<Vec<Passkey>>> {
    let mut reads = Script::default();
    challenges::lock_user(&mut reads, hash);
    let found = challenges::find(&mut reads, hash);
    let owned = passkeys::list_of_challenge(&mut reads, hash);
    engine
        .transact(reads, move |results| {
            let accepts = |challenge: &Challenge| {
                challenge.is_live(&terms) && challenge.kinds(&terms.rules).contains(&ChallengeKind::Passkey)
            };
            if !challenges::challenge(results, found)?.as_ref().is_some_and(accepts) {
                return Ok(Decided::Return(None));
            }
            let usable = passkeys::owned(results, owned)?.into_usable(terms.rules.rp_id.as_ref());
            let mut writes = Script::default();
            challenges::save_passkey_options(&mut writes, hash, options);
            Ok(Decided::done(writes, Some(usable.into_iter().map(|one| one.passkey).collect())))
        })
        .await
}

/// Writes the challenge of a reauthentication. It replaces an earlier challenge of the session.
pub(crate) async fn reauthenticate<E: Executor>(
    engine: &E,
    begin: BeginReauthentication,
) -> LimitedResult<Option<Vec<ChallengeKind>>> {
    let BeginReauthentication { session_id, challenge, takes, rules, level_two_required, now } = begin;
    let purpose = ChallengePurpose::Reauthenticate;
    let mut reads = Script::default();
    let limit = takes::take(&mut reads, &takes, now);
    sessions::lock_user(&mut reads, session_id);
    let live = sessions::find_live(&mut reads, session_id, now);
    let facts = challenges::find_facts_of_session(&mut reads, session_id);
    engine
        .transact(reads, move |results| {
            if let Some(limited) = takes::limited(results, limit)? {
                return Ok(Decided::Return(Err(limited)));
            }
            let Some(LiveSession { session, user }) = results.find(live, sessions::read_live)? else {
                return Ok(Decided::Return(Ok(None)));
            };
            let mut writes = Script::default();
            if let Some(event) = level_two_required.as_ref().filter(|_| session.level == Level::One) {
                sessions::end_own_and_record(&mut writes, user.id, session_id, event.clone(), now)?;
                return Ok(Decided::done(writes, Ok(None)));
            }
            let kinds =
                challenges::kinds(results, facts, (challenge.opened_for, purpose, Level::One), &rules)?;
            if !kinds.is_empty() {
                challenges::delete_of_session(&mut writes, session_id, purpose);
                let beginner = Beginner { session_id: Some(session_id), ..Beginner::default() };
                challenges::insert(&mut writes, user.id, purpose, &challenge, &beginner, now);
            }
            Ok(Decided::done(writes, Ok(Some(kinds))))
        })
        .await
}

/// Writes the challenge of a password reset. It replaces an earlier challenge of the reset token.
pub(crate) async fn reset<E: Executor>(
    engine: &E,
    begin: BeginResetChallenge,
) -> StoreResult<Option<Vec<ChallengeKind>>> {
    let BeginResetChallenge { token: hash, challenge, rules, now } = begin;
    let purpose = ChallengePurpose::Reset;
    let mut reads = Script::default();
    let presented = TokenSlots::lock(&mut reads, hash);
    let facts = challenges::find_facts_of_reset(&mut reads, hash);
    engine
        .transact(reads, move |results| {
            let token = presented.token(results, Purpose::ResetPassword)?;
            let Some(token) = token.filter(|token| token.facts.status(now) == LinkStatus::Good) else {
                return Ok(Decided::Return(None));
            };
            let kinds =
                challenges::kinds(results, facts, (challenge.opened_for, purpose, Level::One), &rules)?;
            let user_id = token.account.user.id;
            let mut writes = Script::default();
            if !kinds.is_empty() {
                challenges::delete_of_token(&mut writes, user_id, hash, purpose);
                let beginner = Beginner { token: Some(&hash), ..Beginner::default() };
                challenges::insert(&mut writes, user_id, purpose, &challenge, &beginner, now);
            }
            Ok(Decided::done(writes, Some(kinds)))
        })
        .await
}
