//! Table `page_codes`: codes by which an app gets a session of its own from a page session.

use latchkey_domain::identity::{IdentityId, Issuer, ProviderKey, Subject};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{FoundPageCode, NewPageCode, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Cells, statements};
use crate::is_live;
use crate::tables::sessions::{read_live, session_columns};
use crate::tables::users::{account_columns, account_tables};

pub const TABLE: Table = Table::new(
    "page_codes",
    1,
    columns! { bytes code_hash, bytes code_challenge, id session_id, text redirect_to, int created_at, int expires_at },
);

statements! {
    /// Stores a code, if its page session is live.
    CREATE: change insert(code: &NewPageCode) [
        &code.code, &code.code_challenge, code.session_id, code.redirect_to.clone(), code.created_at, code.expires_at
    ] = concat!(
        "INSERT INTO page_codes (code_hash, code_challenge, session_id, redirect_to, created_at, expires_at)
        SELECT $1, $2, $3, $4, $5, $6 FROM sessions AS s JOIN users AS u ON u.id = s.user_id
        WHERE s.id = $3 AND s.kind = 'pages' AND u.banned_at IS NULL AND ",
        is_live!("$5")
    );
    /// Reads a code with its live page session.
    FIND: read find(code: &TokenHash, now: Timestamp) = concat!(
        "SELECT ",
        account_columns!(),
        ", ",
        session_columns!(),
        ", s.identity_provider, s.identity_issuer, s.identity_subject, s.passkey_id, pc.redirect_to
        FROM page_codes AS pc CROSS JOIN sessions AS s CROSS JOIN ",
        account_tables!(),
        " WHERE pc.code_hash = $1 AND pc.expires_at > $2 AND s.id = pc.session_id AND s.kind = 'pages'
            AND u.id = s.user_id AND u.banned_at IS NULL AND ",
        is_live!("$2")
    );
    LOCK: read lock(code: &TokenHash) =
        "SELECT code_challenge, session_id, expires_at FROM page_codes WHERE code_hash = $1 FOR UPDATE";
    DELETE_OF_EVERYBODY: change delete_of_everybody() = "DELETE FROM page_codes";
    /// Deletes the codes of a user that have not expired. The index is by expiry, and few have not.
    DELETE_ALL_OF: change delete_all_of(user_id: UserId, now: Timestamp) =
        "DELETE FROM page_codes
        WHERE expires_at > $2 AND session_id IN (SELECT id FROM sessions WHERE user_id = $1)";
    DELETE: change delete(code: &TokenHash) = "DELETE FROM page_codes WHERE code_hash = $1";
}

/// Columns of a code that determine whether an exchange succeeds.
pub(crate) struct StoredPageCode {
    pub(crate) code_challenge: TokenHash,
    pub(crate) session_id: SessionId,
    pub(crate) expires_at: Timestamp,
}

pub(crate) fn read_stored(cells: &mut Cells<'_>) -> StoreResult<StoredPageCode> {
    cells.of("page_codes");
    Ok(StoredPageCode {
        code_challenge: cells.hash("code_challenge")?,
        session_id: cells.id("session_id")?,
        expires_at: cells.time("expires_at")?,
    })
}

pub(crate) fn read_found(cells: &mut Cells<'_>) -> StoreResult<FoundPageCode> {
    let page = read_live(cells)?;
    let provider = cells.of("sessions").maybe_text("identity_provider")?;
    let issuer = cells.maybe_text("identity_issuer")?;
    let subject = cells.maybe_text("identity_subject")?;
    let identity = match (provider, issuer, subject) {
        (Some(provider), Some(issuer), Some(subject)) => Some(IdentityId {
            provider: ProviderKey::parse(&provider).map_err(|_| cells.corrupt("identity_provider"))?,
            issuer: Issuer::from_stored(issuer),
            subject: Subject::parse(&subject).ok_or_else(|| cells.corrupt("identity_subject"))?,
        }),
        _ => None,
    };
    let passkey = cells.maybe_id("passkey_id")?;
    let redirect_to = cells.of("page_codes").text("redirect_to")?.to_owned();
    Ok(FoundPageCode { page, identity, passkey, redirect_to })
}
