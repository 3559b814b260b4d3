//! Password reset: presenting a reset token, and using it up for a new password.

use latchkey_domain::codes::Purpose;
use latchkey_domain::limits::Take;
use latchkey_domain::mailbox_proof::Proof;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{BeginReset, LinkStatus, ResetPassword, ResetSubject, StoreResult};

use crate::limits::Taking;
use crate::links::{Presented, find_token, token, use_token};
use crate::proof::prove;
use crate::script::Script;
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::{accounts, audit, challenges};

/// Whether a reset token is good, and for whom.
pub(crate) async fn begin(
    store: &PostgresStore,
    hash: TokenHash,
    takes: &[Take],
    now: Timestamp,
) -> StoreResult<BeginReset> {
    let mut script = Script::default();
    let taking = Taking::add(&mut script, takes, now);
    let slot = find_token(&mut script, hash);
    let answers = store.repeat(&script).await?;
    if let Err(limited) = taking.outcome(&answers, takes, now)? {
        return Ok(BeginReset::Limited(limited));
    }
    let good = token(&answers, slot, Purpose::ResetPassword)?
        .filter(|token| token.facts.status(now) == LinkStatus::Good);
    Ok(good.map_or(BeginReset::Refused, |token| {
        let user = token.account.user;
        BeginReset::Good(ResetSubject { user_id: user.id, email: user.email })
    }))
}

/// Sets the password and uses the token up.
pub(crate) async fn reset_password(
    store: &PostgresStore,
    reset: &ResetPassword,
) -> StoreResult<Option<User>> {
    let ResetPassword { token: hash, password, event, now } = reset;
    let now = *now;
    let mut reads = Script::default();
    let presented = Presented::lock(&mut reads, *hash);
    store
        .transact(&reads, |answers| {
            let good = presented
                .token(answers, Purpose::ResetPassword)?
                .filter(|token| token.facts.status(now) == LinkStatus::Good);
            let Some(token) = good else { return Ok(Step::Answer(None)) };
            let id = token.account.user.id;
            let proven = presented.proven(answers, token.account)?;
            let mut writes = Script::default();
            use_token(&mut writes, *hash, now);
            challenges::end_all_of(&mut writes, id, now);
            prove(&mut writes, &proven, Proof::Reset, now)?;
            accounts::save_password(&mut writes, id, password, now);
            audit::record_of(&mut writes, event.clone(), id)?;
            let user = accounts::find_by_id(&mut writes, id);
            Ok(Step::write(writes, move |answers| accounts::user_that_is(answers, user).map(Some)))
        })
        .await
}
