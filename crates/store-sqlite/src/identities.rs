//! Identities. Who may open which account with one is decided by [`latchkey_domain::identity`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::Email;
use latchkey_domain::identity::{
    Candidate, IdentityRules, IdentityVerdict, ProvenIdentity, ProviderKey, Subject, judge_sign_in,
    keeps_a_way_in,
};
use latchkey_domain::ids::UserId;
use latchkey_domain::mailbox_proof::Proof;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    Identities, IdentityOutcome, LinkIdentity, LinkOutcome, LinkedIdentity, SignInWithIdentity, StoreError,
    StoreResult, UnlinkIdentity, UnlinkOutcome, UsedToken,
};
use rusqlite::{Connection, Row, params};

use crate::accounts::{self, Account, Pending, account_columns, account_tables};
use crate::errors::Fallible;
use crate::proof::prove;
use crate::rows::{Cells, Id};
use crate::statements::{execute, find, list};
use crate::store::SqliteStore;
use crate::{audit, challenges, profiles, sessions, sign_up};

/// Most identities of a user that are listed.
const LISTED: u32 = 1_000;

const FIND_OWNER: &str = concat!(
    "SELECT ",
    account_columns!(),
    " FROM identities AS k JOIN ",
    account_tables!(),
    " WHERE k.provider = ?1 AND k.subject = ?2 AND u.id = k.user_id"
);
const LINK: &str = "
    INSERT INTO identities (provider, subject, user_id, created_at, email) VALUES (?1, ?2, ?3, ?4, ?5)";
const UNLINK: &str = "DELETE FROM identities WHERE provider = ?1 AND subject = ?2 AND user_id = ?3";
const LIST: &str = "
    SELECT provider, subject, email, created_at FROM identities WHERE user_id = ?1
    ORDER BY created_at, provider, subject LIMIT ?2";
const NOTE_TOKEN: &str = "
    INSERT INTO oauth_used_tokens (hash, expires_at) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING";

#[async_trait]
impl Identities for SqliteStore {
    async fn sign_in_with_identity(&self, sign_in: SignInWithIdentity) -> StoreResult<IdentityOutcome> {
        self.write(move |conn| open_with_identity(conn, sign_in)).await
    }

    async fn link_identity(&self, link: LinkIdentity) -> StoreResult<LinkOutcome> {
        self.write(move |conn| link_identity(conn, link)).await
    }

    async fn unlink_identity(&self, unlink: UnlinkIdentity) -> StoreResult<UnlinkOutcome> {
        self.write(move |conn| unlink_identity(conn, unlink)).await
    }

    async fn list_identities(&self, user_id: UserId) -> StoreResult<Vec<LinkedIdentity>> {
        self.read(|conn| list_identities(conn, user_id))
    }
}

/// What stands where an identity wants to sign in, and what it may do.
pub(crate) struct Judged {
    pub(crate) verdict: IdentityVerdict,
    /// The account that it is about, if there is one.
    pub(crate) account: Option<Account>,
}

/// Judges a sign-in as things stand.
pub(crate) fn judge(conn: &Connection, identity: &ProvenIdentity, rules: IdentityRules) -> Fallible<Judged> {
    if let Some(owner) = find_owner(conn, identity)? {
        let verdict = judge_sign_in(identity, Some(&owner.user), None, rules);
        return Ok(Judged { verdict, account: Some(owner) });
    }
    let account = match &identity.email {
        Some(email) => accounts::find_by_key(conn, email.key())?,
        None => None,
    };
    let candidate = account.as_ref().map(|account| Candidate {
        user: &account.user,
        was_ever_verified: account.first_verified_at.is_some(),
    });
    Ok(Judged { verdict: judge_sign_in(identity, None, candidate, rules), account })
}

/// The account that an identity is linked to.
pub(crate) fn find_owner(conn: &Connection, identity: &ProvenIdentity) -> Fallible<Option<Account>> {
    let params = params![identity.provider.as_str(), identity.subject.as_str()];
    find(conn, FIND_OWNER, params, accounts::read_row)
}

fn open_with_identity(conn: &Connection, sign_in: SignInWithIdentity) -> Fallible<IdentityOutcome> {
    if !sign_in.token.map_or(Ok(true), |token| note_token(conn, token))? {
        audit::record(conn, sign_in.events.replayed)?;
        return Ok(IdentityOutcome::Replayed);
    }
    let Judged { verdict, account } = judge(conn, &sign_in.identity, sign_in.rules)?;
    let user_id = account.as_ref().map_or(sign_in.user_id, |account| account.user.id);
    if let IdentityVerdict::Refused(refusal) = verdict {
        let event = AuditEvent { user_id: account.map(|account| account.user.id), ..sign_in.events.refused };
        audit::record(conn, event)?;
        return Ok(IdentityOutcome::Refused(refusal));
    }
    let now = sign_in.session.created_at;
    match (verdict, &account) {
        (IdentityVerdict::Create, _) => create(conn, &sign_in)?,
        (IdentityVerdict::TakeOver, Some(account)) => take_over(conn, account, &sign_in)?,
        (IdentityVerdict::Link, Some(account)) => {
            link(conn, account.user.id, &sign_in.identity, now)?;
            audit::record_in(conn, sign_in.events.linked, user_id, sign_in.session.id)?;
        }
        _ => {}
    }
    sessions::pend_no_more(conn, user_id, now)?;
    sessions::open(conn, user_id, &sign_in.session)?;
    audit::record_in(conn, sign_in.events.signed_in, user_id, sign_in.session.id)?;
    Ok(IdentityOutcome::Opened(Box::new(accounts::user_that_is(conn, user_id)?)))
}

/// Answers whether the token is new.
fn note_token(conn: &Connection, token: UsedToken) -> Fallible<bool> {
    Ok(execute(conn, NOTE_TOKEN, params![token.hash.as_bytes(), token.expires_at.as_millis()])? > 0)
}

fn create(conn: &Connection, sign_in: &SignInWithIdentity) -> Fallible<()> {
    let account = sign_in.account().ok_or(StoreError::Corrupt { table: "users", column: "email" })?;
    accounts::insert(conn, &account, account.email.key().as_str(), Pending::No)?;
    if !account.email_verified {
        sign_up::contest(conn, account.id, account.now)?;
    }
    link(conn, account.id, &sign_in.identity, account.now)?;
    audit::record_in(conn, account.event, account.id, sign_in.session.id)
}

fn take_over(conn: &Connection, account: &Account, sign_in: &SignInWithIdentity) -> Fallible<()> {
    let SignInWithIdentity { identity, session, events, .. } = sign_in;
    let (id, now) = (account.user.id, session.created_at);
    challenges::end_all_of(conn, id, now)?;
    prove(conn, account, Proof::Provider, now)?;
    if let Some(profile) = profiles::find_by_user(conn, id)? {
        profiles::save(conn, &profile.introduced(&identity.name, identity.avatar_url.as_ref(), now))?;
    }
    link(conn, id, identity, now)?;
    for event in [&events.verified, &events.linked] {
        audit::record_in(conn, event.clone(), id, session.id)?;
    }
    Ok(())
}

fn link(conn: &Connection, user_id: UserId, identity: &ProvenIdentity, now: Timestamp) -> Fallible<()> {
    let params = params![
        identity.provider.as_str(),
        identity.subject.as_str(),
        user_id.blob(),
        now.as_millis(),
        identity.email.as_ref().map(Email::as_typed),
    ];
    execute(conn, LINK, params)?;
    accounts::touch(conn, user_id, now)
}

fn link_identity(conn: &Connection, request: LinkIdentity) -> Fallible<LinkOutcome> {
    let LinkIdentity { user_id, session_id, identity, event, now } = request;
    if sessions::find_owner(conn, session_id, now)? != Some(user_id) {
        return Ok(LinkOutcome::Gone);
    }
    match find_owner(conn, &identity)? {
        Some(owner) if owner.user.id == user_id => {}
        Some(_) => return Ok(LinkOutcome::Taken),
        None => {
            link(conn, user_id, &identity, now)?;
            audit::record_in(conn, event, user_id, session_id)?;
        }
    }
    Ok(LinkOutcome::Linked(Box::new(accounts::user_that_is(conn, user_id)?)))
}

fn unlink_identity(conn: &Connection, request: UnlinkIdentity) -> Fallible<UnlinkOutcome> {
    let UnlinkIdentity { user_id, provider, subject, offered, event, now } = request;
    let is_named = |one: &LinkedIdentity| {
        one.provider == provider.as_str()
            && subject.as_ref().map(Subject::as_str).is_none_or(|subject| subject == one.subject)
    };
    let (named, left): (Vec<_>, Vec<_>) = list_identities(conn, user_id)?.into_iter().partition(is_named);
    let Some(account) = accounts::find_by_id(conn, user_id)?.filter(|_| !named.is_empty()) else {
        return Ok(UnlinkOutcome::NotFound);
    };
    let left: Vec<_> = left.iter().filter_map(|one| ProviderKey::parse(&one.provider).ok()).collect();
    if !keeps_a_way_in(account.user.has_password, &left, &offered) {
        return Ok(UnlinkOutcome::LastWayIn);
    }
    for one in named {
        execute(conn, UNLINK, params![one.provider, one.subject, user_id.blob()])?;
    }
    accounts::touch(conn, user_id, now)?;
    audit::record_of(conn, event, user_id)?;
    Ok(UnlinkOutcome::Unlinked(Box::new(accounts::user_that_is(conn, user_id)?)))
}

fn list_identities(conn: &Connection, user_id: UserId) -> Fallible<Vec<LinkedIdentity>> {
    list(conn, LIST, params![user_id.blob(), LISTED], read_linked)
}

fn read_linked(row: &Row<'_>) -> Fallible<LinkedIdentity> {
    let mut cells = Cells::new(row, "identities");
    Ok(LinkedIdentity {
        provider: cells.text("provider")?.to_owned(),
        subject: cells.text("subject")?.to_owned(),
        email: cells.maybe_email("email")?,
        created_at: cells.time("created_at")?,
    })
}
