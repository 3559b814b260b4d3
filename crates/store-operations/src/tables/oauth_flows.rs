//! Table `oauth_flows`: running sign-ins at a provider, found by the hash of their `state` parameter.

use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{Linker, NewFlow, StateOutcome, StoreResult, TakenFlow};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Slot, statements};

macro_rules! find_flow {
    () => {
        "
    SELECT redirect_to, used_at, provider, code_challenge, sealed, link_user_id, link_session_id, expires_at
    FROM oauth_flows WHERE state_hash = $1"
    };
}

pub const TABLE: Table = Table::new(
    "oauth_flows",
    1,
    columns! {
        bytes state_hash, text provider, bytes code_challenge, text redirect_to, bytes sealed, id link_user_id,
        id link_session_id, int created_at, int expires_at, int used_at
    },
);

statements! {
    CREATE: change insert(flow: &NewFlow) [
        &flow.state, flow.provider.as_str(), &flow.code_challenge, flow.redirect_to.as_str(), flow.sealed.clone(),
        flow.linker.map(|linker| linker.user_id), flow.linker.map(|linker| linker.session_id), flow.created_at,
        flow.expires_at
    ] = "
    INSERT INTO oauth_flows (state_hash, provider, code_challenge, redirect_to, sealed, link_user_id, link_session_id,
        created_at, expires_at, used_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL)";
    FIND: read find(state: &TokenHash) = find_flow!();
    LOCK: read lock(state: &TokenHash) = concat!(find_flow!(), " FOR UPDATE");
    /// Marks a flow as used and deletes its secrets.
    USE: change mark_used(state: &TokenHash, now: Timestamp) =
        "UPDATE oauth_flows SET used_at = $2, sealed = NULL WHERE state_hash = $1";
    /// Marks all flows as used: browsers that come back are sent on to their app, with an error.
    USE_OF_EVERYBODY: change mark_used_of_everybody(now: Timestamp) =
        "UPDATE oauth_flows SET used_at = $1, sealed = NULL WHERE used_at IS NULL";
}

pub(crate) fn outcome(results: &Results<'_>, slot: Slot) -> StoreResult<StateOutcome> {
    Ok(results.find(slot, read_flow)?.unwrap_or(StateOutcome::Unknown))
}

fn read_flow(cells: &mut Cells<'_>) -> StoreResult<StateOutcome> {
    let redirect_to = cells.of("oauth_flows").text("redirect_to")?.to_owned();
    if cells.maybe_time("used_at")?.is_some() {
        return Ok(StateOutcome::Replayed { redirect_to });
    }
    Ok(StateOutcome::Taken(Box::new(TakenFlow {
        redirect_to,
        provider: cells.text("provider")?.to_owned(),
        code_challenge: cells.hash("code_challenge")?,
        sealed: cells.bytes("sealed")?,
        linker: read_linker(cells)?,
        expires_at: cells.time("expires_at")?,
    })))
}

/// Decodes two columns, `link_user_id` and `link_session_id`: the user and session that requested to link the
/// identity. Returns `None` if one of them is null.
pub(crate) fn read_linker(cells: &mut Cells<'_>) -> StoreResult<Option<Linker>> {
    let user_id = cells.maybe_id("link_user_id")?;
    let session_id = cells.maybe_id("link_session_id")?;
    Ok(user_id.zip(session_id).map(|(user_id, session_id)| Linker { user_id, session_id }))
}
