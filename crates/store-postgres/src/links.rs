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
use latchkey_store::{
    LinkState, LinkStatus, NewToken, OpenedLink, StoreResult, StoredLink, TokenAttempt, VerifyOutcome,
};
use tokio_postgres::Row;

use crate::accounts::{self, Account, account_columns, account_tables};
use crate::errors::Fallible;
use crate::limits::{Buckets, Taking};
use crate::profiles::{self, profile_columns};
use crate::proof::{Proven, prove};
use crate::rows::Cells;
use crate::script::{Answers, Script, Slot};
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::values;
use crate::{audit, challenges, sessions};

const CREATE_TOKEN: &str = "
    INSERT INTO link_tokens (hash, purpose, kind, email_key, user_id, redirect_to, created_at, expires_at, used_at,
        superseded_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL)";
const LOCK_USER: &str = "
    SELECT 1 FROM users AS u JOIN link_tokens AS t ON t.user_id = u.id WHERE t.hash = $1
    FOR NO KEY UPDATE OF u";
const FIND_TOKEN: &str = concat!(
    "SELECT ",
    account_columns!(),
    ", t.purpose, t.kind, t.email_key, t.redirect_to, t.expires_at, t.used_at, t.superseded_at
    FROM link_tokens AS t CROSS JOIN ",
    account_tables!(),
    " WHERE t.hash = $1 AND u.id = t.user_id"
);
const FIND_PROFILE: &str = concat!(
    "SELECT ",
    profile_columns!(),
    " FROM profiles AS p JOIN link_tokens AS t ON t.user_id = p.user_id WHERE t.hash = $1"
);
const USE_TOKEN: &str = "UPDATE link_tokens SET used_at = $2 WHERE hash = $1 AND used_at IS NULL";

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

/// Where a token, its account and its profile are found.
#[derive(Clone, Copy)]
pub(crate) struct Presented {
    token: Slot,
    profile: Slot,
}

impl Presented {
    /// Locks the account of a token and reads all three.
    pub(crate) fn lock(reads: &mut Script, hash: TokenHash) -> Self {
        reads.add(LOCK_USER, values![&hash]);
        Self { token: find_token(reads, hash), profile: reads.add(FIND_PROFILE, values![&hash]) }
    }

    /// The token, if it is of this purpose.
    pub(crate) fn token(self, answers: &Answers, purpose: Purpose) -> Fallible<Option<Token>> {
        token(answers, self.token, purpose)
    }

    /// The account of the token with its profile, for a proof.
    pub(crate) fn proven(self, answers: &Answers, account: Account) -> Fallible<Proven> {
        Ok(Proven { account, profile: profiles::profile(answers, self.profile)? })
    }
}

/// Writes a link; without a user it is a decoy.
pub(crate) fn insert_link(
    writes: &mut Script,
    key: &str,
    purpose: Purpose,
    user_id: Option<UserId>,
    token: &NewToken,
    redirect_to: Option<&str>,
    now: Timestamp,
) {
    let kind = TokenKind::Link.as_str();
    let values = values![&token.hash, purpose, kind, key, user_id, redirect_to, now, token.expires_at];
    writes.add(CREATE_TOKEN, values);
}

/// Writes a reset token that was exchanged for a code.
pub(crate) fn insert_exchanged(
    writes: &mut Script,
    key: &str,
    user_id: UserId,
    token: &NewToken,
    now: Timestamp,
) {
    let (purpose, kind) = (Purpose::ResetPassword, TokenKind::Exchange.as_str());
    let values = values![&token.hash, purpose, kind, key, user_id, None::<&str>, now, token.expires_at];
    writes.add(CREATE_TOKEN, values);
}

/// Looks for the token of an account, good or not. Decoys are none.
pub(crate) fn find_token(reads: &mut Script, hash: TokenHash) -> Slot {
    reads.add(FIND_TOKEN, values![&hash])
}

/// The token that was found, if it is of this purpose.
pub(crate) fn token(answers: &Answers, slot: Slot, purpose: Purpose) -> Fallible<Option<Token>> {
    Ok(answers.find(slot, read_token)?.filter(|token| token.facts.purpose == purpose))
}

/// Notes that the token was used, if that is news.
pub(crate) fn use_token(writes: &mut Script, hash: TokenHash, now: Timestamp) {
    writes.add(USE_TOKEN, values![&hash, now]);
}

/// Looks at a mailed link and changes nothing but the limits.
pub(crate) async fn look_at(
    store: &PostgresStore,
    hash: TokenHash,
    purpose: Purpose,
    takes: &[Take],
    now: Timestamp,
) -> StoreResult<OpenedLink> {
    let mut script = Script::default();
    let taking = Taking::add(&mut script, takes, now);
    let slot = find_token(&mut script, hash);
    let answers = store.repeat(&script).await?;
    if let Err(limited) = taking.outcome(&answers, takes, now)? {
        return Ok(OpenedLink::Limited(limited));
    }
    let link = token(&answers, slot, purpose)?.filter(|token| token.kind == TokenKind::Link);
    Ok(link.map_or(OpenedLink::Unknown, |token| {
        OpenedLink::Known(LinkState { status: token.facts.status(now), redirect_to: token.redirect_to })
    }))
}

/// Opens a verification link in a browser.
pub(crate) async fn open(
    store: &PostgresStore,
    hash: TokenHash,
    takes: &[Take],
    event: &AuditEvent,
    now: Timestamp,
) -> StoreResult<OpenedLink> {
    let mut reads = Script::default();
    let buckets = Buckets::lock(&mut reads, takes);
    let presented = Presented::lock(&mut reads, hash);
    store
        .transact(&reads, |answers| {
            let mut writes = Script::default();
            if let Err(limited) = buckets.take_all(answers, &mut writes, takes, now)? {
                return Ok(Step::Answer(OpenedLink::Limited(limited)));
            }
            let Some(token) = verify_link(answers, presented)? else {
                return Ok(Step::done(writes, OpenedLink::Unknown));
            };
            let status = token.facts.status(now);
            if status == LinkStatus::Good && !token.account.user.email_verified {
                let id = token.account.user.id;
                let proven = presented.proven(answers, token.account)?;
                verify_with(&mut writes, hash, &proven, now)?;
                audit::record_of(&mut writes, event.clone(), id)?;
            }
            let known = OpenedLink::Known(LinkState { status, redirect_to: token.redirect_to });
            Ok(Step::done(writes, known))
        })
        .await
}

/// Uses a verification link's token directly. The session is opened at the time it was made for.
pub(crate) async fn verify(
    store: &PostgresStore,
    attempt: &TokenAttempt,
    session: &NewSession,
) -> StoreResult<VerifyOutcome> {
    let TokenAttempt { token: hash, email, takes, event } = attempt;
    let now = session.created_at;
    let mut reads = Script::default();
    let buckets = Buckets::lock(&mut reads, takes);
    let presented = Presented::lock(&mut reads, *hash);
    let is_of = |user: &User| email.as_ref().is_none_or(|email| email == user.email.key());
    store
        .transact(&reads, |answers| {
            let mut writes = Script::default();
            if let Err(limited) = buckets.take_all(answers, &mut writes, takes, now)? {
                return Ok(Step::Answer(VerifyOutcome::Limited(limited)));
            }
            let is_news = |token: &Token| {
                let user = &token.account.user;
                token.facts.status(now) == LinkStatus::Good && !user.email_verified && is_of(user)
            };
            let Some(token) = verify_link(answers, presented)?.filter(is_news) else {
                return Ok(Step::done(writes, VerifyOutcome::Refused));
            };
            let id = token.account.user.id;
            let proven = presented.proven(answers, token.account)?;
            verify_with(&mut writes, *hash, &proven, now)?;
            sessions::open(&mut writes, id, session);
            audit::record_in(&mut writes, event.clone(), id, session.id)?;
            let user = accounts::find_by_id(&mut writes, id);
            Ok(Step::write(writes, move |answers| {
                Ok(VerifyOutcome::Verified(Box::new(accounts::user_that_is(answers, user)?)))
            }))
        })
        .await
}

fn verify_link(answers: &Answers, presented: Presented) -> Fallible<Option<Token>> {
    Ok(presented.token(answers, Purpose::VerifyEmail)?.filter(|token| token.kind == TokenKind::Link))
}

fn verify_with(writes: &mut Script, hash: TokenHash, proven: &Proven, now: Timestamp) -> Fallible<()> {
    challenges::delete_code(writes, proven.account.user.email.key().as_str(), Purpose::VerifyEmail);
    use_token(writes, hash, now);
    prove(writes, proven, Proof::Verification, now)
}

fn read_token(row: &Row) -> Fallible<Token> {
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
