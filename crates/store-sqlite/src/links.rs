//! Links and reset tokens: their rows, and what a verification link does. Which link is good is decided by
//! [`StoredLink::status`].

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::codes::Purpose;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::mailbox_proof::Proof;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{LinkState, LinkStatus, NewToken, OpenedLink, StoredLink, TokenAttempt, VerifyOutcome};
use rusqlite::{Connection, Row, params};

use crate::accounts::{self, Account, account_columns, account_tables};
use crate::errors::Fallible;
use crate::limits::take_all;
use crate::proof::prove;
use crate::rows::{Cells, Id};
use crate::statements::{execute, find};
use crate::{audit, challenges, sessions};

const CREATE_TOKEN: &str = "
    INSERT INTO link_tokens (hash, purpose, kind, email_key, user_id, redirect_to, created_at, expires_at, used_at,
        superseded_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL, NULL)";
const FIND_TOKEN: &str = concat!(
    "SELECT ",
    account_columns!(),
    ", t.purpose, t.kind, t.email_key, t.redirect_to, t.expires_at, t.used_at, t.superseded_at
    FROM link_tokens AS t JOIN ",
    account_tables!(),
    " WHERE t.hash = ?1 AND u.id = t.user_id"
);
const USE_TOKEN: &str = "UPDATE link_tokens SET used_at = ?2 WHERE hash = ?1 AND used_at IS NULL";

/// How a token came to its bearer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// In a mail.
    Link,
    /// For a code.
    Exchange,
}

impl TokenKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Exchange => "exchange",
        }
    }

    fn from_stored(text: &str) -> Option<Self> {
        [Self::Link, Self::Exchange].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A token that belongs to an account.
pub(crate) struct Token {
    pub(crate) account: Account,
    pub(crate) kind: TokenKind,
    pub(crate) facts: StoredLink,
    pub(crate) redirect_to: Option<String>,
}

/// Writes a link; without a user it is a decoy.
pub(crate) fn insert_link(
    conn: &Connection,
    key: &str,
    purpose: Purpose,
    user_id: Option<UserId>,
    token: &NewToken,
    redirect_to: Option<&str>,
    now: Timestamp,
) -> Fallible<()> {
    let params = params![
        token.hash.as_bytes(),
        purpose.as_str(),
        TokenKind::Link.as_str(),
        key,
        user_id.map(|id| id.blob()),
        redirect_to,
        now.as_millis(),
        token.expires_at.as_millis(),
    ];
    execute(conn, CREATE_TOKEN, params)?;
    Ok(())
}

/// Writes a reset token that was exchanged for a code.
pub(crate) fn insert_exchanged(
    conn: &Connection,
    key: &str,
    user_id: UserId,
    token: &NewToken,
    now: Timestamp,
) -> Fallible<()> {
    let params = params![
        token.hash.as_bytes(),
        Purpose::ResetPassword.as_str(),
        TokenKind::Exchange.as_str(),
        key,
        user_id.blob(),
        None::<&str>,
        now.as_millis(),
        token.expires_at.as_millis(),
    ];
    execute(conn, CREATE_TOKEN, params)?;
    Ok(())
}

/// The token of an account, good or not. Decoys are none.
pub(crate) fn find_token(conn: &Connection, hash: TokenHash, purpose: Purpose) -> Fallible<Option<Token>> {
    let found = find(conn, FIND_TOKEN, params![hash.as_bytes()], read_token)?;
    Ok(found.filter(|token| token.facts.purpose == purpose))
}

/// Notes that the token was used, if that is news.
pub(crate) fn use_token(conn: &Connection, hash: TokenHash, now: Timestamp) -> Fallible<()> {
    execute(conn, USE_TOKEN, params![hash.as_bytes(), now.as_millis()])?;
    Ok(())
}

/// Looks at a mailed link and changes nothing.
pub(crate) fn look_at(
    conn: &Connection,
    hash: TokenHash,
    purpose: Purpose,
    now: Timestamp,
) -> Fallible<OpenedLink> {
    Ok(find_link(conn, hash, purpose)?.map_or(OpenedLink::Unknown, |token| {
        OpenedLink::Known(LinkState { status: token.facts.status(now), redirect_to: token.redirect_to })
    }))
}

/// Opens a verification link in a browser.
pub(crate) fn open(
    conn: &Connection,
    hash: TokenHash,
    takes: &[Take],
    event: AuditEvent,
    now: Timestamp,
) -> Fallible<OpenedLink> {
    if let Err(limited) = take_all(conn, takes, now)? {
        return Ok(OpenedLink::Limited(limited));
    }
    let Some(token) = find_link(conn, hash, Purpose::VerifyEmail)? else {
        return Ok(OpenedLink::Unknown);
    };
    let status = token.facts.status(now);
    if status == LinkStatus::Good && !token.account.user.email_verified {
        verify_with(conn, hash, &token.account, now)?;
        audit::record_of(conn, event, token.account.user.id)?;
    }
    Ok(OpenedLink::Known(LinkState { status, redirect_to: token.redirect_to }))
}

/// Uses a verification link's token directly. The session is opened at the time it was made for.
pub(crate) fn verify(
    conn: &Connection,
    attempt: TokenAttempt,
    session: &NewSession,
) -> Fallible<VerifyOutcome> {
    let TokenAttempt { token: hash, email, takes, event } = attempt;
    let now = session.created_at;
    if let Err(limited) = take_all(conn, &takes, now)? {
        return Ok(VerifyOutcome::Limited(limited));
    }
    let token = find_link(conn, hash, Purpose::VerifyEmail)?;
    let is_of = |user: &User| email.as_ref().is_none_or(|email| email == user.email.key());
    let is_news = |token: &Token| {
        let user = &token.account.user;
        token.facts.status(now) == LinkStatus::Good && !user.email_verified && is_of(user)
    };
    let Some(Token { account, .. }) = token.filter(is_news) else {
        return Ok(VerifyOutcome::Refused);
    };
    let id = account.user.id;
    verify_with(conn, hash, &account, now)?;
    sessions::open(conn, id, session)?;
    audit::record_in(conn, event, id, session.id)?;
    Ok(VerifyOutcome::Verified(Box::new(accounts::user_that_is(conn, id)?)))
}

fn verify_with(conn: &Connection, hash: TokenHash, account: &Account, now: Timestamp) -> Fallible<()> {
    use_token(conn, hash, now)?;
    challenges::delete_code(conn, account.user.email.key().as_str(), Purpose::VerifyEmail)?;
    prove(conn, account, Proof::Verification, now)
}

fn find_link(conn: &Connection, hash: TokenHash, purpose: Purpose) -> Fallible<Option<Token>> {
    Ok(find_token(conn, hash, purpose)?.filter(|token| token.kind == TokenKind::Link))
}

fn read_token(row: &Row<'_>) -> Fallible<Token> {
    let mut cells = Cells::new(row, "users");
    let account = accounts::read_account(&mut cells)?;
    cells.of("link_tokens");
    let purpose = cells.parsed("purpose", Purpose::from_stored)?;
    let kind = cells.parsed("kind", TokenKind::from_stored)?;
    let is_its_address = cells.text("email_key")? == account.user.email.key().as_str();
    let redirect_to = cells.maybe_text("redirect_to")?;
    let facts = StoredLink {
        purpose,
        is_of_account: is_its_address && !account.user.is_banned(),
        expires_at: cells.time("expires_at")?,
        used_at: cells.maybe_time("used_at")?,
        superseded_at: cells.maybe_time("superseded_at")?,
    };
    Ok(Token { account, kind, facts, redirect_to })
}
