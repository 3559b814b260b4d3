//! OAuth flows and their authorization codes.

use latchkey_domain::identity::IdentityVerdict;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    CodeVerdict, NewCodeOutcome, NewFlow, NewOAuthCode, PresentedCode, StateOutcome, StoreResult, TakenCode,
};

use super::identities::Concerned;
use crate::form::{Decided, Executor, Repeat, Results, Script, Slot};
use crate::tables::identities::{self, Sought};
use crate::tables::{oauth_codes, oauth_flows};

pub(crate) async fn begin<E: Executor>(engine: &E, flow: NewFlow) -> StoreResult<()> {
    let mut script = Script::default();
    oauth_flows::insert(&mut script, &flow);
    engine.write(script, Repeat::Never, |_| Ok(())).await
}

/// Takes a flow by its `state`, once.
pub(crate) async fn take<E: Executor>(
    engine: &E,
    state: TokenHash,
    now: Timestamp,
) -> StoreResult<StateOutcome> {
    // Anyone can invent a `state`: only an existing one is worth a turn of the single writer.
    if E::HAS_ONE_WRITER {
        let mut script = Script::default();
        let found = oauth_flows::find(&mut script, &state);
        let outcome = engine.read(script, move |results| oauth_flows::outcome(results, found)).await?;
        if !matches!(outcome, StateOutcome::Taken(_)) {
            return Ok(outcome);
        }
    }
    let mut script = Script::default();
    let found = oauth_flows::lock(&mut script, &state);
    engine
        .transact(script, move |results| {
            let outcome = oauth_flows::outcome(results, found)?;
            if !matches!(outcome, StateOutcome::Taken(_)) {
                return Ok(Decided::Return(outcome));
            }
            let mut writes = Script::default();
            oauth_flows::mark_used(&mut writes, &state, now);
            Ok(Decided::done(writes, outcome))
        })
        .await
}

/// Writes a code, unless its exchange would be refused at present.
pub(crate) async fn save_code<E: Executor>(engine: &E, code: NewOAuthCode) -> StoreResult<NewCodeOutcome> {
    let mut script = Script::default();
    let sought = Sought { identity: &code.identity, earlier: code.rules.earlier };
    let owner = identities::find_owner(&mut script, sought);
    let concerned = Concerned::find(&mut script, sought);
    engine.transact(script, move |results| decide_code(&code, owner, concerned, results)).await
}

fn decide_code(
    code: &NewOAuthCode,
    owner: Slot,
    concerned: Concerned,
    results: &Results<'_>,
) -> StoreResult<Decided<NewCodeOutcome>> {
    if let Some(linker) = code.linker {
        if identities::owner(results, owner)?.is_some_and(|owned| owned.owner != linker.user_id) {
            return Ok(Decided::Return(NewCodeOutcome::Taken));
        }
    } else if let IdentityVerdict::Refused(refusal) =
        concerned.judge(results, &code.identity, code.rules)?.verdict
    {
        return Ok(Decided::Return(NewCodeOutcome::Refused(refusal)));
    }
    let mut writes = Script::default();
    oauth_codes::insert(&mut writes, code);
    Ok(Decided::done(writes, NewCodeOutcome::Saved))
}

/// Takes a code, once.
pub(crate) async fn take_code<E: Executor>(engine: &E, presented: PresentedCode) -> StoreResult<TakenCode> {
    let mut script = Script::default();
    let found = oauth_codes::lock(&mut script, &presented.code);
    engine
        .transact(script, move |results| {
            let Some((stored, identity)) = results.find(found, oauth_codes::read_code)? else {
                return Ok(Decided::Return(TakenCode::Unknown));
            };
            let taken = match stored.judge(&presented) {
                CodeVerdict::NeedsSession => return Ok(Decided::Return(TakenCode::NeedsSession)),
                CodeVerdict::Good => TakenCode::Good { identity: Box::new(identity), linker: stored.linker },
                CodeVerdict::Burnt => TakenCode::Burnt(Box::new(identity)),
            };
            let mut writes = Script::default();
            oauth_codes::delete(&mut writes, &presented.code);
            Ok(Decided::done(writes, taken))
        })
        .await
}
