//! Sessions: sign-in with its guards, finding, listing, ending. Refresh tokens are in [`crate::refresh`].

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{Limited, Take};
use latchkey_domain::session::{AuthMethod, NewSession, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    BeginPasswordChange, BeginSignIn, ChangePassword, EndedSession, FailedSignIn, LiveSession, OwnProfile,
    RefreshOutcome, RefreshSession, Sessions, SignIn, SignInCandidate, SignInGuard, SignInOutcome,
    StoreResult,
};
use tokio_postgres::Row;

use crate::accounts::{self, account_columns, account_tables};
use crate::audit::record_event_where;
use crate::change_password::{begin_password_change, change_password};
use crate::errors::Fallible;
use crate::guards::{self, Hold, Watch};
use crate::limits::Buckets;
use crate::profiles::profile_columns;
use crate::rows::Cells;
use crate::script::{Answers, Script, Slot};
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::{Value, values};
use crate::{audit, profiles, refresh};

/// What [`read_session`] reads, in its order.
macro_rules! session_columns {
    () => {
        "s.id, s.user_id, s.created_at, s.last_seen_at, s.idle_expires_at, s.absolute_expires_at, s.method,
        s.address, s.user_agent"
    };
}
/// Sessions that live at the moment of a parameter.
macro_rules! living {
    ($now:literal) => {
        concat!("s.ended_at IS NULL AND s.idle_expires_at > ", $now, " AND s.absolute_expires_at > ", $now)
    };
}
/// Ends the living sessions of the tenth parameter's user at the moment of the eleventh, and writes the event of the
/// first nine if there were any. Answers how many.
macro_rules! end_and_record {
    ($which:literal) => {
        concat!(
            "WITH ended AS (
                UPDATE sessions AS s SET ended_at = $11, sealed_successor = NULL, sealed_until = NULL
                WHERE s.user_id = $10 AND ",
            $which,
            " AND ",
            living!("$11"),
            " RETURNING s.id), recorded AS (",
            record_event_where!("EXISTS (SELECT 1 FROM ended)"),
            ") SELECT count(*) FROM ended"
        )
    };
}
pub(crate) use session_columns;

/// Most sessions of a user that are listed.
const LISTED: u32 = 1_000;

const OPEN_SESSION: &str = "
    INSERT INTO sessions (id, user_id, family_hash, current_hash, retired, sealed_successor, sealed_until, method,
        address, user_agent, created_at, last_seen_at, idle_expires_at, absolute_expires_at, ended_at)
    VALUES ($1, $2, $3, $4, '', NULL, NULL, $5, $6, $7, $8, $8, $9, $10, NULL)";
pub(crate) const FIND_LIVE: &str = concat!(
    "SELECT ",
    account_columns!(),
    ", ",
    session_columns!(),
    " FROM sessions AS s CROSS JOIN ",
    account_tables!(),
    " WHERE s.id = $1 AND u.id = s.user_id AND u.banned_at IS NULL AND ",
    living!("$2")
);
const FIND_OWNER: &str = concat!(
    "SELECT s.user_id FROM sessions AS s JOIN users AS u ON u.id = s.user_id
    WHERE s.id = $1 AND u.banned_at IS NULL AND ",
    living!("$2")
);
const FIND_OWN_PROFILE: &str = concat!(
    "SELECT s.user_id, p.user_id IS NOT NULL, ",
    profile_columns!(),
    " FROM sessions AS s JOIN users AS u ON u.id = s.user_id LEFT JOIN profiles AS p ON p.user_id = s.user_id
    WHERE s.id = $1 AND u.banned_at IS NULL AND ",
    living!("$2")
);
const LIST_LIVE: &str = concat!(
    "SELECT ",
    session_columns!(),
    " FROM sessions AS s WHERE s.user_id = $1 AND ",
    living!("$2"),
    " ORDER BY s.created_at DESC, s.id DESC LIMIT $3"
);
const END_ALL: &str = concat!(
    "UPDATE sessions AS s SET ended_at = $2, sealed_successor = NULL, sealed_until = NULL
    WHERE s.user_id = $1 AND ",
    living!("$2")
);
const END_OTHERS: &str = concat!(
    "UPDATE sessions AS s SET ended_at = $2, sealed_successor = NULL, sealed_until = NULL
    WHERE s.user_id = $1 AND s.id <> $3 AND ",
    living!("$2")
);
const END_OWN_AND_RECORD: &str = end_and_record!("s.id = $12");
const END_OTHERS_AND_RECORD: &str = end_and_record!("s.id <> $12");
const PEND_NO_MORE: &str = "
    UPDATE users SET pending = FALSE, updated_at = greatest(updated_at, $2) WHERE id = $1";

#[async_trait]
impl Sessions for PostgresStore {
    async fn begin_sign_in(
        &self,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> StoreResult<BeginSignIn> {
        begin_sign_in(self, email, takes, guard, now).await
    }

    async fn begin_password_change(
        &self,
        session: SessionId,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> StoreResult<BeginPasswordChange> {
        begin_password_change(self, session, email, takes, guard, now).await
    }

    async fn sign_in(&self, sign_in: SignIn) -> StoreResult<SignInOutcome> {
        open_after_password(self, &sign_in).await
    }

    async fn fail_sign_in(&self, failed: FailedSignIn) -> StoreResult<Option<Limited>> {
        fail_sign_in(self, &failed).await
    }

    async fn find_live_session(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<LiveSession>> {
        Ok(self.ask(FIND_LIVE, values![id, now]).await?.find(read_live)?)
    }

    async fn find_session_owner(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<UserId>> {
        let found = self.ask(FIND_OWNER, values![id, now]).await?;
        Ok(found.find(|row| Cells::new(row, "sessions").id("user_id"))?)
    }

    async fn find_session_profile(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<OwnProfile>> {
        Ok(self.ask(FIND_OWN_PROFILE, values![id, now]).await?.find(read_own_profile)?)
    }

    async fn is_refresh_token_good(
        &self,
        family: TokenHash,
        presented: TokenHash,
        grace: Duration,
        now: Timestamp,
    ) -> StoreResult<bool> {
        refresh::is_good(self, family, presented, grace, now).await
    }

    async fn refresh_session(&self, refresh: RefreshSession) -> StoreResult<RefreshOutcome> {
        refresh::refresh(self, &refresh).await
    }

    async fn list_sessions(&self, user_id: UserId, now: Timestamp) -> StoreResult<Vec<Session>> {
        let found = self.ask(LIST_LIVE, values![user_id, now, LISTED]).await?;
        Ok(found.list(|row| read_session(&mut Cells::new(row, "sessions")))?)
    }

    async fn end_sessions(&self, which: EndedSession, event: AuditEvent, now: Timestamp) -> StoreResult<u64> {
        match which {
            EndedSession::Own(user_id, id) => {
                let mut writes = Script::default();
                let ended = end_own_and_record(&mut writes, user_id, id, event, now)?;
                Ok(count_ended(&self.write(&writes).await?, ended)?)
            }
            EndedSession::OthersOf(user_id, id) => {
                let mut writes = Script::default();
                // Several rows: whoever else ends several of this user waits here, not amid them.
                accounts::lock_by_id(&mut writes, user_id);
                let values = end_values(user_id, id, event, now)?;
                let ended = writes.add(END_OTHERS_AND_RECORD, values);
                Ok(count_ended(&self.write(&writes).await?, ended)?)
            }
            EndedSession::OfRefreshToken { family, presented, grace } => {
                refresh::end_by_token(self, family, presented, grace, &event, now).await
            }
        }
    }

    async fn change_password(&self, change: ChangePassword) -> StoreResult<SignInOutcome> {
        change_password(self, &change).await
    }
}

/// Reads whose a session is that lives.
pub(crate) fn find_owner(script: &mut Script, id: SessionId, now: Timestamp) -> Slot {
    script.add(FIND_OWNER, values![id, now])
}

/// Whose a session is.
pub(crate) fn owner(answers: &Answers, slot: Slot) -> Fallible<Option<UserId>> {
    answers.find(slot, |row| Cells::new(row, "sessions").id("user_id"))
}

async fn begin_sign_in(
    store: &PostgresStore,
    email: &EmailKey,
    takes: &[Take],
    guard: Option<&SignInGuard>,
    now: Timestamp,
) -> StoreResult<BeginSignIn> {
    let mut reads = Script::default();
    let buckets = Buckets::lock(&mut reads, takes);
    let watch = Watch::over(&mut reads, guard, Hold::Free);
    let found = accounts::find_by_key_evenly(&mut reads, email);
    let judge = |answers: &Answers| -> Fallible<BeginSignIn> {
        if let Some(limited) = watch.judge(answers, guard, now)? {
            return Ok(BeginSignIn::Limited(limited));
        }
        let account = accounts::account_of_key(answers, found, email)?;
        let candidate =
            account.map(|account| SignInCandidate { user: account.user, password: account.password });
        Ok(BeginSignIn::Candidate(candidate.map(Box::new)))
    };
    if takes.is_empty() {
        return Ok(judge(&store.read(&reads).await?)?);
    }
    store
        .transact(&reads, |answers| {
            let mut writes = Script::default();
            match buckets.take_all(answers, &mut writes, takes, now)? {
                Ok(()) => Ok(Step::done(writes, judge(answers)?)),
                Err(limited) => Ok(Step::Answer(BeginSignIn::Limited(limited))),
            }
        })
        .await
}

async fn open_after_password(store: &PostgresStore, sign_in: &SignIn) -> StoreResult<SignInOutcome> {
    let SignIn { user_id, checked, rehashed, session, guard, event } = sign_in;
    let (user_id, now) = (*user_id, session.created_at);
    let mut reads = Script::default();
    let watch = Watch::over(&mut reads, guard.as_ref(), Hold::Locked);
    accounts::lock_by_id(&mut reads, user_id);
    let found = accounts::find_by_id(&mut reads, user_id);
    store
        .transact(&reads, |answers| {
            if let Some(limited) = watch.judge(answers, guard.as_ref(), now)? {
                return Ok(Step::Answer(SignInOutcome::Limited(limited)));
            }
            let is_as_checked = |account: &accounts::Account| {
                !account.user.is_banned() && account.password.as_ref() == Some(checked)
            };
            let Some(account) = accounts::account(answers, found)?.filter(is_as_checked) else {
                return Ok(Step::Answer(SignInOutcome::Gone));
            };
            let mut writes = Script::default();
            if let Some(guard) = guard {
                guards::forgive(&mut writes, guard);
                guards::know_client(&mut writes, guard, now);
            }
            if let Some(rehashed) = rehashed {
                accounts::save_password(&mut writes, user_id, rehashed, now);
            }
            if account.user.is_pending {
                pend_no_more(&mut writes, user_id, now);
            }
            open(&mut writes, user_id, session);
            audit::record_in(&mut writes, event.clone(), user_id, session.id)?;
            let user = accounts::find_by_id(&mut writes, user_id);
            Ok(Step::write(writes, move |answers| {
                Ok(SignInOutcome::Opened(Box::new(accounts::user_that_is(answers, user)?)))
            }))
        })
        .await
}

/// A failure counts even where the limit was used up before it: it was a guess.
async fn fail_sign_in(store: &PostgresStore, failed: &FailedSignIn) -> StoreResult<Option<Limited>> {
    let FailedSignIn { guard, event, now } = failed;
    let mut reads = Script::default();
    let Some(guard) = guard else {
        audit::record(&mut reads, event.clone())?;
        store.write(&reads).await?;
        return Ok(None);
    };
    let watch = Watch::over(&mut reads, Some(guard), Hold::Locked);
    store
        .transact(&reads, |answers| {
            let limited = watch.judge(answers, Some(guard), *now)?;
            let mut writes = Script::default();
            watch.count_failure(answers, &mut writes, guard, *now)?;
            audit::record(&mut writes, event.clone())?;
            Ok(Step::done(writes, limited))
        })
        .await
}

/// A pending account that gets a session is pending no more.
pub(crate) fn pend_no_more(writes: &mut Script, user_id: UserId, now: Timestamp) {
    writes.add(PEND_NO_MORE, values![user_id, now]);
    profiles::show_or_hide(writes, user_id);
}

/// Writes a new session.
pub(crate) fn open(writes: &mut Script, user_id: UserId, session: &NewSession) {
    let values = values![
        session.id,
        user_id,
        &session.family,
        &session.refresh,
        session.method.as_str(),
        session.client.address.to_string(),
        session.client.user_agent.clone(),
        session.created_at,
        session.idle_expires_at,
        session.absolute_expires_at,
    ];
    writes.add(OPEN_SESSION, values);
}

/// Ends a living session of the user, and writes the event if it was one.
pub(crate) fn end_own_and_record(
    writes: &mut Script,
    user_id: UserId,
    id: SessionId,
    event: AuditEvent,
    now: Timestamp,
) -> Fallible<Slot> {
    Ok(writes.add(END_OWN_AND_RECORD, end_values(user_id, id, event, now)?))
}

fn end_values(user_id: UserId, id: SessionId, event: AuditEvent, now: Timestamp) -> Fallible<Vec<Value>> {
    let event = AuditEvent { user_id: Some(user_id), session_id: Some(id), ..event };
    let mut values = audit::event_values(event)?;
    values.extend(values![user_id, now, id]);
    Ok(values)
}

/// How many sessions ended.
pub(crate) fn count_ended(answers: &Answers, slot: Slot) -> Fallible<u64> {
    let count = answers.find(slot, |row| Cells::new(row, "sessions").count("id"))?;
    Ok(u64::from(count.unwrap_or_default()))
}

/// Ends the living sessions of the user but one.
pub(crate) fn end_others(writes: &mut Script, user_id: UserId, kept: SessionId, now: Timestamp) {
    writes.add(END_OTHERS, values![user_id, now, kept]);
}

/// Ends all living sessions of the user.
pub(crate) fn end_all_of(writes: &mut Script, user_id: UserId, now: Timestamp) -> Slot {
    writes.add(END_ALL, values![user_id, now])
}

fn read_live(row: &Row) -> Fallible<LiveSession> {
    let mut cells = Cells::new(row, "users");
    let user = accounts::read_account(&mut cells)?.user;
    let session = read_session(cells.of("sessions"))?;
    Ok(LiveSession { session, user })
}

fn read_own_profile(row: &Row) -> Fallible<OwnProfile> {
    let mut cells = Cells::new(row, "sessions");
    let user_id = cells.id("user_id")?;
    let has_profile = cells.flag("has_profile")?;
    let profile = has_profile.then(|| profiles::read_profile(cells.of("profiles")).map(Box::new));
    Ok(OwnProfile { user_id, profile: profile.transpose()? })
}

/// Reads the [`session_columns`] that come next.
pub(crate) fn read_session(cells: &mut Cells<'_>) -> Fallible<Session> {
    Ok(Session {
        id: cells.id("id")?,
        user_id: cells.id("user_id")?,
        created_at: cells.time("created_at")?,
        last_seen_at: cells.time("last_seen_at")?,
        idle_expires_at: cells.time("idle_expires_at")?,
        absolute_expires_at: cells.time("absolute_expires_at")?,
        method: cells.parsed("method", AuthMethod::from_stored)?,
        client: cells.client()?,
    })
}
