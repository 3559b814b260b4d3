//! Table `oauth_codes`: one-time codes that the service issues to the app after a sign-in at a provider, each
//! with the identity that the provider asserted.

use latchkey_domain::email::Email;
use latchkey_domain::identity::{Issuer, ProviderKey, Subject, VerifiedIdentity};
use latchkey_domain::profile::{AvatarUrl, Name};
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{NewOAuthCode, StoreResult, StoredCode};

use crate::bulk::{Table, columns};
use crate::form::{Cells, statements};
use crate::tables::oauth_flows::read_linker;

pub const TABLE: Table = Table::new(
    "oauth_codes",
    1,
    columns! {
        bytes code_hash, bytes code_challenge, text provider, text subject, text email, flag email_verified,
        text name, text avatar_url, id link_user_id, id link_session_id, int created_at, int expires_at, text issuer
    },
);

statements! {
    CREATE: change insert(code: &NewOAuthCode) [
        &code.code, &code.code_challenge, code.identity.provider.as_str(), code.identity.subject.as_str(),
        code.identity.email.as_ref().map(Email::as_typed), code.identity.email_verified, code.identity.name.as_str(),
        code.identity.avatar_url.as_ref().map(AvatarUrl::as_str), code.linker.map(|linker| linker.user_id),
        code.linker.map(|linker| linker.session_id), code.created_at, code.expires_at, code.identity.issuer.as_str()
    ] = "
    INSERT INTO oauth_codes (code_hash, code_challenge, provider, subject, email, email_verified, name, avatar_url,
        link_user_id, link_session_id, created_at, expires_at, issuer)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    LOCK: read lock(code: &TokenHash) = "
    SELECT code_challenge, expires_at, link_user_id, link_session_id, provider, issuer, subject, email, email_verified,
        name, avatar_url
    FROM oauth_codes WHERE code_hash = $1 FOR UPDATE";
    DELETE_OF_EVERYBODY: change delete_of_everybody() = "DELETE FROM oauth_codes";
    DELETE: change delete(code: &TokenHash) = "DELETE FROM oauth_codes WHERE code_hash = $1";
}

pub(crate) fn read_code(cells: &mut Cells<'_>) -> StoreResult<(StoredCode, VerifiedIdentity)> {
    cells.of("oauth_codes");
    let stored = StoredCode {
        code_challenge: cells.hash("code_challenge")?,
        expires_at: cells.time("expires_at")?,
        linker: read_linker(cells)?,
    };
    let identity = VerifiedIdentity {
        provider: cells.parsed("provider", |text| ProviderKey::parse(text).ok())?,
        issuer: Issuer::from_stored(cells.text("issuer")?.to_owned()),
        subject: cells.parsed("subject", Subject::parse)?,
        email: cells.maybe_email("email")?,
        email_verified: cells.flag("email_verified")?,
        name: Name::from_stored(cells.text("name")?.to_owned()),
        avatar_url: cells.maybe_text("avatar_url")?.map(AvatarUrl::from_stored),
    };
    Ok((stored, identity))
}
