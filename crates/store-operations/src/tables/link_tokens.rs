//! Table `link_tokens`: tokens of mailed links, and reset tokens issued in exchange for a code. [`StoredLink::status`]
//! decides whether a token is valid. A link for sign-in can belong to an address without an account. It belongs to one
//! of two lanes: it was requested by a client from which the account signed in recently, or by another client.

use latchkey_domain::code_window::Lane;
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::session::Level;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::words;
use latchkey_store::{LinkState, NewSignInLink, NewToken, StoreResult, StoredLink};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, statements, values};
use crate::tables::profiles::profile_columns;
use crate::tables::users::{self, Account, account_columns, account_tables};

pub const TABLE: Table = Table::new(
    "link_tokens",
    1,
    columns! {
        bytes hash, text purpose, text kind, text email_key, id user_id, text redirect_to, int created_at,
        int expires_at, int used_at, int superseded_at, int level, int lane, bytes code_challenge, text email
    },
);

statements! {
    CREATE_TOKEN = "
        INSERT INTO link_tokens (hash, purpose, kind, email_key, user_id, redirect_to, created_at, expires_at, used_at,
            superseded_at, level)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL, $9)";
    CREATE_SIGN_IN_LINK: change create_sign_in_link(
        email: &Email, user_id: Option<UserId>, lane: Lane, link: &NewSignInLink, now: Timestamp
    ) [
        &link.token.hash, Purpose::SignIn, TokenKind::Link.as_str(), email.key(), user_id, link.redirect_to.as_deref(),
        now, link.token.expires_at, i64::from(Level::One.as_number()), lane.as_number(), &link.code_challenge,
        email.as_typed()
    ] = "
        INSERT INTO link_tokens (hash, purpose, kind, email_key, user_id, redirect_to, created_at, expires_at, used_at,
            superseded_at, level, lane, code_challenge, email)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL, $9, $10, $11, $12)";
    /// Reads a link for sign-in, valid or not, and the account that its address has now, if any.
    FIND_SIGN_IN_LINK: read find_sign_in_link(hash: TokenHash) [&hash, Purpose::SignIn] = "
        SELECT t.email_key, t.email, t.user_id, t.code_challenge, t.redirect_to, t.expires_at, t.used_at, t.superseded_at,
            u.id
        FROM link_tokens AS t LEFT JOIN users AS u ON u.email_key = t.email_key
        WHERE t.hash = $1 AND t.purpose = $2";
    LOCK_TOKEN: read lock_token(hash: TokenHash) [&hash] =
        "SELECT 1 FROM link_tokens WHERE hash = $1 FOR NO KEY UPDATE";
    /// Invalidates the links for sign-in of an email address that one group of clients requested (known to the account,
    /// or others).
    SUPERSEDE_LINKS_IN_LANE: change supersede_links_in_lane(key: &str, purpose: Purpose, lane: Lane, now: Timestamp)
        [key, purpose, now, lane.as_number()] = "
        UPDATE link_tokens SET superseded_at = $3
        WHERE email_key = $1 AND purpose = $2 AND lane = $4 AND used_at IS NULL AND superseded_at IS NULL
            AND expires_at > $3";
    /// Marks the links of an email address and purpose as used, whichever clients requested them.
    USE_LINKS: change use_links(key: &str, purpose: Purpose, now: Timestamp) = "
        UPDATE link_tokens SET used_at = $3
        WHERE email_key = $1 AND purpose = $2 AND used_at IS NULL AND superseded_at IS NULL";
    LOCK_USER: read lock_user(hash: TokenHash) [&hash] = "
        SELECT 1 FROM users WHERE id = (SELECT user_id FROM link_tokens WHERE hash = $1) FOR NO KEY UPDATE";
    /// Reads a token, valid or not, and its account. A token without an account is not found; such tokens are written
    /// only so that response times are equal.
    FIND_TOKEN: read find_token(hash: TokenHash) [&hash] = concat!(
        "SELECT ",
        account_columns!(),
        ", t.purpose, t.kind, t.email_key, t.redirect_to, t.expires_at, t.used_at, t.superseded_at,
        t.level FROM link_tokens AS t CROSS JOIN ",
        account_tables!(),
        " WHERE t.hash = $1 AND u.id = t.user_id"
    );
    FIND_PROFILE: read find_profile(hash: TokenHash) [&hash] = concat!(
        "SELECT ",
        profile_columns!(),
        " FROM profiles AS p JOIN link_tokens AS t ON t.user_id = p.user_id WHERE t.hash = $1"
    );
    USE_TOKEN: change use_token(hash: TokenHash, now: Timestamp) [&hash, now] =
        "UPDATE link_tokens SET used_at = $2 WHERE hash = $1 AND used_at IS NULL";
    /// Invalidates the links of an email address and purpose that are neither used nor expired.
    SUPERSEDE_LINKS: change supersede_links(key: &str, purpose: Purpose, now: Timestamp)
        [key, purpose, now, TokenKind::Link.as_str()] = "
        UPDATE link_tokens SET superseded_at = $3
        WHERE email_key = $1 AND purpose = $2 AND kind = $4 AND used_at IS NULL AND superseded_at IS NULL
            AND expires_at > $3";
    DELETE_ALL_OF: change delete_all_of(user_id: UserId) = "DELETE FROM link_tokens WHERE user_id = $1";
    /// Invalidates a user's tokens of a purpose, used verification links included. The rows are retained, so that a
    /// page can show the status of an invalidated link.
    SUPERSEDE_TOKENS_OF: change supersede_tokens_of(user_id: UserId, purpose: Purpose, now: Timestamp) = "
        UPDATE link_tokens SET superseded_at = $3
        WHERE user_id = $1 AND purpose = $2 AND superseded_at IS NULL AND expires_at > $3";
    /// Invalidates the tokens of a user for which a second factor was shown.
    SUPERSEDE_LEVEL_TWO_OF: change supersede_level_two_of(user_id: UserId, now: Timestamp)
        [user_id, now, i64::from(Level::Two.as_number())] = "
        UPDATE link_tokens SET superseded_at = $2
        WHERE user_id = $1 AND level = $3 AND used_at IS NULL AND superseded_at IS NULL AND expires_at > $2";
    /// Invalidates all tokens that are neither used nor expired.
    SUPERSEDE_OF_EVERYBODY: change supersede_of_everybody(now: Timestamp) = "
        UPDATE link_tokens SET superseded_at = $1
        WHERE used_at IS NULL AND superseded_at IS NULL AND expires_at > $1";
    /// Invalidates all tokens of a user that are neither used nor expired.
    SUPERSEDE_ALL_TOKENS_OF: change supersede_all_tokens_of(user_id: UserId, now: Timestamp) = "
        UPDATE link_tokens SET superseded_at = $2
        WHERE user_id = $1 AND used_at IS NULL AND superseded_at IS NULL AND expires_at > $2";
}

words! {
    pub(crate) enum TokenKind {
        /// Token in a mailed link.
        Link = "link",
        /// Token issued in exchange for a code.
        Exchange = "exchange",
    }
}

/// A stored link for sign-in.
pub(crate) struct SignInToken {
    pub(crate) email: Email,
    pub(crate) code_challenge: TokenHash,
    pub(crate) state: LinkState,
}

pub(crate) struct Token {
    pub(crate) account: Account,
    pub(crate) kind: TokenKind,
    pub(crate) facts: StoredLink,
    pub(crate) redirect_to: Option<String>,
    /// Authentication level of the token: two if a second factor was shown for it, otherwise one.
    pub(crate) level: Level,
}

/// Inserts the token of a mailed link. A token without a user is never valid; it is written so that response times are
/// equal.
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
    let values = values![
        &token.hash,
        purpose,
        kind,
        key,
        user_id,
        redirect_to,
        now,
        token.expires_at,
        i64::from(Level::One.as_number())
    ];
    writes.change(&CREATE_TOKEN, values);
}

/// Inserts a reset token, issued in exchange for a code (authentication level one) or for a second factor
/// (level two).
pub(crate) fn insert_exchanged(
    writes: &mut Script,
    key: &str,
    user_id: UserId,
    (token, level): (&NewToken, Level),
    now: Timestamp,
) {
    let (purpose, kind) = (Purpose::ResetPassword, TokenKind::Exchange.as_str());
    let level = i64::from(level.as_number());
    let values =
        values![&token.hash, purpose, kind, key, user_id, None::<&str>, now, token.expires_at, level];
    writes.change(&CREATE_TOKEN, values);
}

pub(crate) fn token(results: &Results<'_>, slot: Slot, purpose: Purpose) -> StoreResult<Option<Token>> {
    Ok(results.find(slot, read_token)?.filter(|token| token.facts.purpose == purpose))
}

/// Decodes a link for sign-in with its status at `now`. The link is superseded if, since it was mailed, its address has
/// gone to another account or has lost its account.
pub(crate) fn sign_in_link(
    results: &Results<'_>,
    slot: Slot,
    now: Timestamp,
) -> StoreResult<Option<SignInToken>> {
    results.find(slot, |cells| {
        let key = cells.of("link_tokens").email("email_key")?;
        let email = cells.maybe_email("email")?.unwrap_or(key);
        let mailed_to: Option<UserId> = cells.maybe_id("user_id")?;
        let code_challenge = cells.hash("code_challenge")?;
        let redirect_to = cells.maybe_text("redirect_to")?;
        let (expires_at, used_at) = (cells.time("expires_at")?, cells.maybe_time("used_at")?);
        let superseded_at = cells.maybe_time("superseded_at")?;
        let owner = cells.of("users").maybe_id("id")?;
        let is_of_account = mailed_to == owner;
        let facts =
            StoredLink { purpose: Purpose::SignIn, is_of_account, expires_at, used_at, superseded_at };
        let state = LinkState { status: facts.status(now), redirect_to };
        Ok(SignInToken { email, code_challenge, state })
    })
}

fn read_token(cells: &mut Cells<'_>) -> StoreResult<Token> {
    let account = users::read_account(cells)?;
    cells.of("link_tokens");
    let purpose = cells.parsed("purpose", Purpose::parse)?;
    let kind = cells.parsed("kind", TokenKind::parse)?;
    let is_its_address = cells.text("email_key")? == account.user.email.key().as_str();
    let redirect_to = cells.maybe_text("redirect_to")?;
    let facts = StoredLink {
        purpose,
        is_of_account: is_its_address && account.user.accepts_mailed_tokens(),
        expires_at: cells.time("expires_at")?,
        used_at: cells.maybe_time("used_at")?,
        superseded_at: cells.maybe_time("superseded_at")?,
    };
    let level = Level::from_number(cells.int("level")?).ok_or_else(|| cells.corrupt("level"))?;
    Ok(Token { account, kind, facts, redirect_to, level })
}
