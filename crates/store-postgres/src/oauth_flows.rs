//! OAuth flows: states that travel through a provider, and codes for the app.

use async_trait::async_trait;
use latchkey_domain::email::Email;
use latchkey_domain::identity::{IdentityVerdict, ProvenIdentity, ProviderKey, Subject};
use latchkey_domain::profile::{AvatarUrl, Name};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    CodeVerdict, Linker, NewCodeOutcome, NewFlow, NewOAuthCode, OAuthFlows, PresentedCode, StateOutcome,
    StoreResult, StoredCode, TakenCode, TakenFlow,
};
use tokio_postgres::Row;

use crate::errors::Fallible;
use crate::identities::{Concerned, find_owner, owner};
use crate::rows::Cells;
use crate::script::Script;
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::{Value, values};

const CREATE_FLOW: &str = "
    INSERT INTO oauth_flows (state_hash, provider, code_challenge, redirect_to, sealed, link_user_id, link_session_id,
        created_at, expires_at, used_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL)";
const LOCK_FLOW: &str = "
    SELECT redirect_to, used_at, provider, code_challenge, sealed, link_user_id, link_session_id, expires_at
    FROM oauth_flows WHERE state_hash = $1 FOR UPDATE";
const USE_FLOW: &str = "UPDATE oauth_flows SET used_at = $2, sealed = NULL WHERE state_hash = $1";
const CREATE_CODE: &str = "
    INSERT INTO oauth_codes (code_hash, code_challenge, provider, subject, email, email_verified, name, avatar_url,
        link_user_id, link_session_id, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
const LOCK_CODE: &str = "
    SELECT code_challenge, expires_at, link_user_id, link_session_id, provider, subject, email, email_verified, name,
        avatar_url
    FROM oauth_codes WHERE code_hash = $1 FOR UPDATE";
const DELETE_CODE: &str = "DELETE FROM oauth_codes WHERE code_hash = $1";

#[async_trait]
impl OAuthFlows for PostgresStore {
    async fn begin_flow(&self, flow: NewFlow) -> StoreResult<()> {
        self.tell(CREATE_FLOW, flow_values(&flow)).await?;
        Ok(())
    }

    async fn take_flow(&self, state: TokenHash, now: Timestamp) -> StoreResult<StateOutcome> {
        let mut reads = Script::default();
        let found = reads.add(LOCK_FLOW, values![&state]);
        self.transact(&reads, |answers| {
            let outcome = answers.find(found, read_flow)?.unwrap_or(StateOutcome::Unknown);
            let mut writes = Script::default();
            if matches!(outcome, StateOutcome::Taken(_)) {
                writes.add(USE_FLOW, values![&state, now]);
            }
            Ok(Step::done(writes, outcome))
        })
        .await
    }

    async fn save_oauth_code(&self, code: NewOAuthCode) -> StoreResult<NewCodeOutcome> {
        save_code(self, &code).await
    }

    async fn take_oauth_code(&self, presented: PresentedCode) -> StoreResult<TakenCode> {
        take_code(self, &presented).await
    }
}

fn flow_values(flow: &NewFlow) -> Vec<Value> {
    values![
        &flow.state,
        flow.provider.as_str(),
        &flow.code_challenge,
        flow.redirect_to.as_str(),
        flow.sealed.clone(),
        flow.linker.map(|linker| linker.user_id),
        flow.linker.map(|linker| linker.session_id),
        flow.created_at,
        flow.expires_at,
    ]
}

async fn save_code(store: &PostgresStore, code: &NewOAuthCode) -> StoreResult<NewCodeOutcome> {
    let identity = &code.identity;
    let mut reads = Script::default();
    let linked_to = find_owner(&mut reads, identity);
    let concerned = Concerned::find(&mut reads, identity);
    store
        .transact(&reads, |answers| {
            if let Some(linker) = code.linker {
                if owner(answers, linked_to)?.is_some_and(|owner| owner != linker.user_id) {
                    return Ok(Step::Answer(NewCodeOutcome::Taken));
                }
            } else if let IdentityVerdict::Refused(refusal) =
                concerned.judge(answers, identity, code.rules)?.verdict
            {
                return Ok(Step::Answer(NewCodeOutcome::Refused(refusal)));
            }
            Ok(Step::done(Script::of(CREATE_CODE, code_values(code)), NewCodeOutcome::Saved))
        })
        .await
}

fn code_values(code: &NewOAuthCode) -> Vec<Value> {
    let identity = &code.identity;
    values![
        &code.code,
        &code.code_challenge,
        identity.provider.as_str(),
        identity.subject.as_str(),
        identity.email.as_ref().map(Email::as_typed),
        identity.email_verified,
        identity.name.as_str(),
        identity.avatar_url.as_ref().map(AvatarUrl::as_str),
        code.linker.map(|linker| linker.user_id),
        code.linker.map(|linker| linker.session_id),
        code.created_at,
        code.expires_at,
    ]
}

async fn take_code(store: &PostgresStore, presented: &PresentedCode) -> StoreResult<TakenCode> {
    let mut reads = Script::default();
    let found = reads.add(LOCK_CODE, values![&presented.code]);
    store
        .transact(&reads, |answers| {
            let Some((stored, identity)) = answers.find(found, read_code)? else {
                return Ok(Step::Answer(TakenCode::Unknown));
            };
            let taken = match stored.judge(presented) {
                CodeVerdict::NeedsSession => return Ok(Step::Answer(TakenCode::NeedsSession)),
                CodeVerdict::Good => TakenCode::Good { identity: Box::new(identity), linker: stored.linker },
                CodeVerdict::Burnt => TakenCode::Burnt(Box::new(identity)),
            };
            Ok(Step::done(Script::of(DELETE_CODE, values![&presented.code]), taken))
        })
        .await
}

fn read_flow(row: &Row) -> Fallible<StateOutcome> {
    let mut cells = Cells::new(row, "oauth_flows");
    let redirect_to = cells.text("redirect_to")?.to_owned();
    if cells.maybe_time("used_at")?.is_some() {
        return Ok(StateOutcome::Replayed { redirect_to });
    }
    Ok(StateOutcome::Taken(Box::new(TakenFlow {
        redirect_to,
        provider: cells.text("provider")?.to_owned(),
        code_challenge: cells.hash("code_challenge")?,
        sealed: cells.bytes("sealed")?,
        linker: read_linker(&mut cells)?,
        expires_at: cells.time("expires_at")?,
    })))
}

fn read_code(row: &Row) -> Fallible<(StoredCode, ProvenIdentity)> {
    let mut cells = Cells::new(row, "oauth_codes");
    let stored = StoredCode {
        code_challenge: cells.hash("code_challenge")?,
        expires_at: cells.time("expires_at")?,
        linker: read_linker(&mut cells)?,
    };
    let identity = ProvenIdentity {
        provider: cells.parsed("provider", |text| ProviderKey::parse(text).ok())?,
        subject: cells.parsed("subject", Subject::parse)?,
        email: cells.maybe_email("email")?,
        email_verified: cells.flag("email_verified")?,
        name: Name::from_stored(cells.text("name")?.to_owned()),
        avatar_url: cells.maybe_text("avatar_url")?.map(AvatarUrl::from_stored),
    };
    Ok((stored, identity))
}

/// Reads two columns, of a user and of a session.
fn read_linker(cells: &mut Cells<'_>) -> Fallible<Option<Linker>> {
    let user_id = cells.maybe_id("link_user_id")?;
    let session_id = cells.maybe_id("link_session_id")?;
    Ok(user_id.zip(session_id).map(|(user_id, session_id)| Linker { user_id, session_id }))
}
