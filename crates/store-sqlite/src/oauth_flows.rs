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
use rusqlite::{Connection, Row, params};

use crate::errors::Fallible;
use crate::identities::{Judged, find_owner, judge};
use crate::rows::{Cells, Id};
use crate::statements::{execute, find};
use crate::store::SqliteStore;

const CREATE_FLOW: &str = "
    INSERT INTO oauth_flows (state_hash, provider, code_challenge, redirect_to, sealed, link_user_id, link_session_id,
        created_at, expires_at, used_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, NULL)";
const FIND_FLOW: &str = "
    SELECT redirect_to, used_at, provider, code_challenge, sealed, link_user_id, link_session_id, expires_at
    FROM oauth_flows WHERE state_hash = ?1";
const USE_FLOW: &str = "UPDATE oauth_flows SET used_at = ?2, sealed = NULL WHERE state_hash = ?1";
const CREATE_CODE: &str = "
    INSERT INTO oauth_codes (code_hash, code_challenge, provider, subject, email, email_verified, name, avatar_url,
        link_user_id, link_session_id, created_at, expires_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
const FIND_CODE: &str = "
    SELECT code_challenge, expires_at, link_user_id, link_session_id, provider, subject, email, email_verified, name,
        avatar_url
    FROM oauth_codes WHERE code_hash = ?1";
const DELETE_CODE: &str = "DELETE FROM oauth_codes WHERE code_hash = ?1";

#[async_trait]
impl OAuthFlows for SqliteStore {
    async fn begin_flow(&self, flow: NewFlow) -> StoreResult<()> {
        self.write(move |conn| begin_flow(conn, &flow)).await
    }

    async fn take_flow(&self, state: TokenHash, now: Timestamp) -> StoreResult<StateOutcome> {
        // Anybody can invent a state; only one that is there is worth a turn of the one writer.
        match self.read(|conn| find(conn, FIND_FLOW, params![state.as_bytes()], read_flow))? {
            None => Ok(StateOutcome::Unknown),
            Some(replayed @ StateOutcome::Replayed { .. }) => Ok(replayed),
            Some(_) => self.write(move |conn| take_flow(conn, state, now)).await,
        }
    }

    async fn save_oauth_code(&self, code: NewOAuthCode) -> StoreResult<NewCodeOutcome> {
        self.write(move |conn| save_code(conn, &code)).await
    }

    async fn take_oauth_code(&self, presented: PresentedCode) -> StoreResult<TakenCode> {
        self.write(move |conn| take_code(conn, &presented)).await
    }
}

fn begin_flow(conn: &Connection, flow: &NewFlow) -> Fallible<()> {
    let params = params![
        flow.state.as_bytes(),
        flow.provider.as_str(),
        flow.code_challenge.as_bytes(),
        flow.redirect_to,
        flow.sealed,
        flow.linker.map(|linker| linker.user_id.blob()),
        flow.linker.map(|linker| linker.session_id.blob()),
        flow.created_at.as_millis(),
        flow.expires_at.as_millis(),
    ];
    execute(conn, CREATE_FLOW, params)?;
    Ok(())
}

fn take_flow(conn: &Connection, state: TokenHash, now: Timestamp) -> Fallible<StateOutcome> {
    let found = find(conn, FIND_FLOW, params![state.as_bytes()], read_flow)?;
    if let Some(StateOutcome::Taken(_)) = &found {
        execute(conn, USE_FLOW, params![state.as_bytes(), now.as_millis()])?;
    }
    Ok(found.unwrap_or(StateOutcome::Unknown))
}

fn save_code(conn: &Connection, code: &NewOAuthCode) -> Fallible<NewCodeOutcome> {
    let identity = &code.identity;
    if let Some(linker) = code.linker {
        if find_owner(conn, identity)?.is_some_and(|owner| owner.user.id != linker.user_id) {
            return Ok(NewCodeOutcome::Taken);
        }
    } else if let Judged { verdict: IdentityVerdict::Refused(refusal), .. } =
        judge(conn, identity, code.rules)?
    {
        return Ok(NewCodeOutcome::Refused(refusal));
    }
    let params = params![
        code.code.as_bytes(),
        code.code_challenge.as_bytes(),
        identity.provider.as_str(),
        identity.subject.as_str(),
        identity.email.as_ref().map(Email::as_typed),
        identity.email_verified,
        identity.name.as_str(),
        identity.avatar_url.as_ref().map(AvatarUrl::as_str),
        code.linker.map(|linker| linker.user_id.blob()),
        code.linker.map(|linker| linker.session_id.blob()),
        code.created_at.as_millis(),
        code.expires_at.as_millis(),
    ];
    execute(conn, CREATE_CODE, params)?;
    Ok(NewCodeOutcome::Saved)
}

fn take_code(conn: &Connection, presented: &PresentedCode) -> Fallible<TakenCode> {
    let Some((stored, identity)) = find(conn, FIND_CODE, params![presented.code.as_bytes()], read_code)?
    else {
        return Ok(TakenCode::Unknown);
    };
    let verdict = stored.judge(presented);
    if verdict == CodeVerdict::NeedsSession {
        return Ok(TakenCode::NeedsSession);
    }
    execute(conn, DELETE_CODE, params![presented.code.as_bytes()])?;
    Ok(match verdict {
        CodeVerdict::Good => TakenCode::Good { identity: Box::new(identity), linker: stored.linker },
        CodeVerdict::Burnt | CodeVerdict::NeedsSession => TakenCode::Burnt(Box::new(identity)),
    })
}

fn read_flow(row: &Row<'_>) -> Fallible<StateOutcome> {
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

fn read_code(row: &Row<'_>) -> Fallible<(StoredCode, ProvenIdentity)> {
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
