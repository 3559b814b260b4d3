//! Challenges: writing them, ending them. Attempts at codes are in [`crate::code_attempts`], links in
//! [`crate::links`], the new password in [`crate::reset`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::codes::Purpose;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::mailbox_proof::may_be_challenged;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{
    BeginReset, Challenges, CodeAttempt, ExchangeOutcome, MailKind, NewChallenge, NewToken, OpenedLink,
    RequestChallenge, RequestOutcome, ResetPassword, StoreResult, TokenAttempt, VerifyOutcome,
};
use rusqlite::{Connection, params};

use crate::accounts::find_by_key_evenly;
use crate::errors::Fallible;
use crate::limits::take_all;
use crate::outbox::{self, Address};
use crate::rows::Id;
use crate::statements::execute;
use crate::store::SqliteStore;
use crate::{code_attempts, links, reset};

const SAVE_CODE: &str = "
    INSERT INTO codes (email_key, purpose, user_id, mac, attempts, created_at, expires_at)
    VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6)
    ON CONFLICT (email_key, purpose) DO UPDATE SET user_id = excluded.user_id, mac = excluded.mac, attempts = 0,
        created_at = excluded.created_at, expires_at = excluded.expires_at";
const DELETE_CODE: &str = "DELETE FROM codes WHERE email_key = ?1 AND purpose = ?2";
const DELETE_CODES_OF: &str = "DELETE FROM codes WHERE user_id = ?1 AND purpose = ?2";
const DELETE_ALL_CODES_OF: &str = "DELETE FROM codes WHERE user_id = ?1";
const SUPERSEDE_LINKS: &str = "
    UPDATE link_tokens SET superseded_at = ?3
    WHERE email_key = ?1 AND purpose = ?2 AND kind = 'link' AND used_at IS NULL AND superseded_at IS NULL
        AND expires_at > ?3";
const SUPERSEDE_TOKENS_OF: &str = "
    UPDATE link_tokens SET superseded_at = ?3
    WHERE user_id = ?1 AND purpose = ?2 AND superseded_at IS NULL AND expires_at > ?3";
const SUPERSEDE_ALL_TOKENS_OF: &str = "
    UPDATE link_tokens SET superseded_at = ?2
    WHERE user_id = ?1 AND used_at IS NULL AND superseded_at IS NULL AND expires_at > ?2";

#[async_trait]
impl Challenges for SqliteStore {
    async fn request_challenge(&self, request: RequestChallenge) -> StoreResult<RequestOutcome> {
        self.write(move |conn| request_challenge(conn, request)).await
    }

    async fn verify_by_code(&self, attempt: CodeAttempt, session: NewSession) -> StoreResult<VerifyOutcome> {
        self.write(move |conn| code_attempts::verify(conn, attempt, &session)).await
    }

    async fn verify_by_token(
        &self,
        attempt: TokenAttempt,
        session: NewSession,
    ) -> StoreResult<VerifyOutcome> {
        self.write(move |conn| links::verify(conn, attempt, &session)).await
    }

    async fn open_verify_link(
        &self,
        token: TokenHash,
        takes: &[Take],
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<OpenedLink> {
        let takes = takes.to_vec();
        self.write(move |conn| links::open(conn, token, &takes, event, now)).await
    }

    async fn look_at_link(
        &self,
        token: TokenHash,
        purpose: Purpose,
        takes: &[Take],
        now: Timestamp,
    ) -> StoreResult<OpenedLink> {
        if takes.is_empty() {
            return self.read(|conn| links::look_at(conn, token, purpose, now));
        }
        let takes = takes.to_vec();
        self.write(move |conn| match take_all(conn, &takes, now)? {
            Ok(()) => links::look_at(conn, token, purpose, now),
            Err(limited) => Ok(OpenedLink::Limited(limited)),
        })
        .await
    }

    async fn exchange_reset_code(
        &self,
        attempt: CodeAttempt,
        token: NewToken,
    ) -> StoreResult<ExchangeOutcome> {
        self.write(move |conn| code_attempts::exchange(conn, attempt, token)).await
    }

    async fn begin_reset(&self, token: TokenHash, takes: &[Take], now: Timestamp) -> StoreResult<BeginReset> {
        if takes.is_empty() {
            return self.read(|conn| reset::begin(conn, token, now));
        }
        let takes = takes.to_vec();
        self.write(move |conn| match take_all(conn, &takes, now)? {
            Ok(()) => reset::begin(conn, token, now),
            Err(limited) => Ok(BeginReset::Limited(limited)),
        })
        .await
    }

    async fn reset_password(&self, reset: ResetPassword) -> StoreResult<Option<User>> {
        self.write(move |conn| reset::reset_password(conn, reset)).await
    }
}

/// The same statements whether or not the address may have the challenge.
fn request_challenge(conn: &Connection, request: RequestChallenge) -> Fallible<RequestOutcome> {
    let RequestChallenge { email, purpose, takes, challenge, mail, now } = request;
    if let Err(limited) = take_all(conn, &takes, now)? {
        return Ok(RequestOutcome::Limited(limited));
    }
    let account = find_by_key_evenly(conn, &email)?;
    let eligible = account
        .as_ref()
        .map(|account| &account.user)
        .filter(|user| may_be_challenged(purpose, user.email_verified, user.is_banned()));
    let address = eligible.map_or(Address::Decoy(&email), |user| Address::Of(user.id, &user.email));
    write(conn, email.as_str(), purpose, address.user_id(), &challenge, now)?;
    let kind = match purpose {
        Purpose::VerifyEmail => MailKind::Verify,
        Purpose::ResetPassword => MailKind::Reset,
    };
    outbox::write(conn, &mail, kind, address, now)?;
    Ok(RequestOutcome::Accepted)
}

/// Writes the one live challenge of an address and purpose; the one before ends. Without a user it is a decoy.
pub(crate) fn write(
    conn: &Connection,
    key: &str,
    purpose: Purpose,
    user_id: Option<UserId>,
    challenge: &NewChallenge,
    now: Timestamp,
) -> Fallible<()> {
    let user = user_id.map(|id| id.blob());
    execute(conn, SUPERSEDE_LINKS, params![key, purpose.as_str(), now.as_millis()])?;
    match challenge {
        NewChallenge::Code { mac, expires_at } => {
            let expires_at = expires_at.as_millis();
            let params = params![key, purpose.as_str(), user, mac.as_bytes(), now.as_millis(), expires_at];
            execute(conn, SAVE_CODE, params)?;
        }
        NewChallenge::Link { token, redirect_to } => {
            delete_code(conn, key, purpose)?;
            links::insert_link(conn, key, purpose, user_id, token, redirect_to.as_deref(), now)?;
        }
    }
    Ok(())
}

/// Ends the code of an address and purpose.
pub(crate) fn delete_code(conn: &Connection, key: &str, purpose: Purpose) -> Fallible<()> {
    execute(conn, DELETE_CODE, params![key, purpose.as_str()])?;
    Ok(())
}

/// Ends the codes of a user and purpose.
pub(crate) fn delete_codes_of(conn: &Connection, user_id: UserId, purpose: Purpose) -> Fallible<()> {
    execute(conn, DELETE_CODES_OF, params![user_id.blob(), purpose.as_str()])?;
    Ok(())
}

/// Ends the live links and exchanged tokens of a user and purpose, used verification links too. Their rows stay, so
/// that they can be told.
pub(crate) fn supersede_tokens_of(
    conn: &Connection,
    user_id: UserId,
    purpose: Purpose,
    now: Timestamp,
) -> Fallible<()> {
    execute(conn, SUPERSEDE_TOKENS_OF, params![user_id.blob(), purpose.as_str(), now.as_millis()])?;
    Ok(())
}

/// Ends every outstanding code and token of a user. A used verification link is not outstanding.
pub(crate) fn end_all_of(conn: &Connection, user_id: UserId, now: Timestamp) -> Fallible<()> {
    execute(conn, DELETE_ALL_CODES_OF, params![user_id.blob()])?;
    execute(conn, SUPERSEDE_ALL_TOKENS_OF, params![user_id.blob(), now.as_millis()])?;
    Ok(())
}
