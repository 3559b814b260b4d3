//! Decoding of session rows.

use latchkey_domain::refresh::{RefreshState, ReplacedToken};
use latchkey_domain::session::{AuthMethod, Session};
use latchkey_store::{LiveSession, OwnProfile, StoreResult};

use super::RefreshableSession;
use crate::form::Cells;
use crate::tables::{profiles, users};

pub(crate) fn read_live(cells: &mut Cells<'_>) -> StoreResult<LiveSession> {
    let user = users::read_account(cells)?.user;
    Ok(LiveSession { session: read_session(cells)?, user })
}

pub(crate) fn read_own_profile(cells: &mut Cells<'_>) -> StoreResult<OwnProfile> {
    let user_id = cells.of("sessions").id("user_id")?;
    let profile = if cells.is_null() { None } else { Some(Box::new(profiles::read_profile(cells)?)) };
    Ok(OwnProfile { user_id, profile })
}

/// Decodes the next `session_columns`.
pub(crate) fn read_session(cells: &mut Cells<'_>) -> StoreResult<Session> {
    Ok(Session {
        id: cells.of("sessions").id("id")?,
        user_id: cells.id("user_id")?,
        created_at: cells.time("created_at")?,
        last_seen_at: cells.time("last_seen_at")?,
        idle_expires_at: cells.time("idle_expires_at")?,
        absolute_expires_at: cells.time("absolute_expires_at")?,
        method: cells.parsed("method", AuthMethod::from_stored)?,
        client: cells.client()?,
    })
}

pub(crate) fn read_refreshable(cells: &mut Cells<'_>) -> StoreResult<RefreshableSession> {
    let user = users::read_account(cells)?.user;
    let session = read_session(cells)?;
    let current = cells.hash("current_hash")?;
    let retired =
        ReplacedToken::decode_all(&cells.bytes("retired")?).ok_or_else(|| cells.corrupt("retired"))?;
    let ended_at = cells.maybe_time("ended_at")?;
    let sealed_successor = cells.maybe_bytes("sealed_successor")?;
    let state = RefreshState {
        current,
        retired,
        idle_expires_at: session.idle_expires_at,
        absolute_expires_at: session.absolute_expires_at,
        ended_at,
    };
    Ok(RefreshableSession { user, session, state, sealed_successor })
}
