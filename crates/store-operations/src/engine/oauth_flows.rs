//! Operations on sign-ins at an identity provider (OAuth), and on the one-time codes that the service then
//! issues to the app: implementation of [`OAuthFlows`].

use async_trait::async_trait;
use latchkey_domain::identity::IdentityVerdict;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    CodeVerdict, NewCodeOutcome, NewFlow, NewOAuthCode, OAuthFlows, PresentedCode, StateOutcome, StoreResult,
    TakenCode,
};

use super::Engine;
use crate::form::{Decided, Executor, Repeat, Results, Script, Slot};
use crate::operations::identities::Concerned;
use crate::tables::identities::{self, Sought};
use crate::tables::{oauth_codes, oauth_flows};

#[crate::measured]
#[async_trait]
impl<E: Executor> OAuthFlows for Engine<E> {
    async fn begin_flow(&self, flow: NewFlow) -> StoreResult<()> {
        let mut script = Script::default();
        oauth_flows::insert(&mut script, &flow);
        self.write(script, Repeat::Never, |_| Ok(())).await
    }

    async fn take_flow(&self, state: TokenHash, now: Timestamp) -> StoreResult<StateOutcome> {
        // Anyone can invent a `state`. An invalid one is refused by a read, so that it does not occupy
        // SQLite's single writer.
        if E::HAS_ONE_WRITER {
            let mut script = Script::default();
            let found = oauth_flows::find(&mut script, &state);
            let outcome = self.read(script, move |results| oauth_flows::outcome(results, found)).await?;
            if !matches!(outcome, StateOutcome::Taken(_)) {
                return Ok(outcome);
            }
        }
        let mut script = Script::default();
        let found = oauth_flows::lock(&mut script, &state);
        self.transact(script, move |results| {
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

    async fn save_oauth_code(&self, code: NewOAuthCode) -> StoreResult<NewCodeOutcome> {
        let mut script = Script::default();
        let sought = Sought { identity: &code.identity, earlier: code.rules.earlier };
        let owner = identities::find_owner(&mut script, sought);
        let concerned = Concerned::find(&mut script, sought, code.created_at);
        self.transact(script, move |results| decide_code(&code, owner, concerned, results)).await
    }

    /// Uses up a one-time code that the service issued to the app after a sign-in at a provider. If the code
    /// is for linking the identity to a signed-in user, and the request has no session, the code stays valid.
    async fn take_oauth_code(&self, presented: PresentedCode) -> StoreResult<TakenCode> {
        let mut script = Script::default();
        let found = oauth_codes::lock(&mut script, &presented.code);
        self.transact(script, move |results| {
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
