//! Table `challenges`: requests for a second factor or another confirmation, which are not answered yet. The
//! row is deleted when the challenge is used.

use latchkey_domain::challenge::{ChallengeFacts, ChallengeKind, ChallengePurpose, FactorRules};
use latchkey_domain::client::OpenedFor;
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::identity::{Issuer, ProviderKey, Subject, VerifiedIdentity};
use latchkey_domain::ids::{PasskeyId, SessionId, UserId};
use latchkey_domain::profile::Name;
use latchkey_domain::session::{AuthMethods, Level};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{ChallengeTerms, NewChallenge, PasskeyOptions, StoreError, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, statements, values};
use crate::tables::users::{self, Account, account_columns, account_tables};

/// Query for the data of a user that determines which kinds of answers the user's challenges accept. `$user` is an SQL
/// expression for the user's id.
macro_rules! facts_where {
    ($user:literal) => {
        concat!(
            "SELECT u.two_step_at IS NOT NULL,
            (SELECT string_agg(k.rp_id, ' ') FROM passkeys AS k WHERE k.user_id = u.id),
            EXISTS (SELECT 1 FROM totp_factors AS t WHERE t.user_id = u.id AND t.confirmed_at IS NOT NULL),
            EXISTS (SELECT 1 FROM recovery_codes AS r WHERE r.user_id = u.id),
            EXISTS (SELECT 1 FROM credentials AS c WHERE c.user_id = u.id AND c.kind = 'password'),
            u.email_verified, u.deletes_at IS NOT NULL
            FROM users AS u WHERE u.id = ",
            $user
        )
    };
}

pub const TABLE: Table = Table::new(
    "challenges",
    1,
    columns! {
        bytes hash, id user_id, text purpose, text client_type, text methods, id session_id, bytes token_hash,
        text identity_provider, text identity_issuer, text identity_subject, text identity_email,
        flag identity_vouched, flag links_identity, int attempts, int created_at, int expires_at,
        bytes passkey_options, id passkey_id
    },
);

statements! {
    INSERT = "
        INSERT INTO challenges (hash, user_id, purpose, client_type, methods, session_id, token_hash, identity_provider,
            identity_issuer, identity_subject, identity_email, identity_vouched, links_identity, attempts, created_at,
            expires_at, passkey_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, $14, $15, $16)";
    DELETE_OF_EVERYBODY: change delete_of_everybody() = "DELETE FROM challenges";
    DELETE_ALL_OF: change delete_all_of(user_id: UserId) = "DELETE FROM challenges WHERE user_id = $1";
    DELETE: change delete(hash: TokenHash) [&hash] = "DELETE FROM challenges WHERE hash = $1";
    /// Deletes the challenges that were begun in a session for this purpose.
    DELETE_OF_SESSION: change delete_of_session(session_id: SessionId, purpose: ChallengePurpose)
        [session_id, purpose.as_str()] = "DELETE FROM challenges WHERE session_id = $1 AND purpose = $2";
    /// Deletes the challenges that were begun with a reset token or undo link for this purpose.
    DELETE_OF_TOKEN: change delete_of_token(user_id: UserId, token: TokenHash, purpose: ChallengePurpose)
        [user_id, &token, purpose.as_str()] =
        "DELETE FROM challenges WHERE user_id = $1 AND token_hash = $2 AND purpose = $3";
    COUNT_ATTEMPT: change count_attempt(hash: TokenHash) [&hash] =
        "UPDATE challenges SET attempts = attempts + 1 WHERE hash = $1";
    SAVE_PASSKEY_OPTIONS: change save_passkey_options(hash: TokenHash, options: PasskeyOptions)
        [&hash, options.0.as_slice()] = "UPDATE challenges SET passkey_options = $2 WHERE hash = $1";
    DROP_PASSKEY_OPTIONS: change drop_passkey_options(hash: TokenHash) [&hash] =
        "UPDATE challenges SET passkey_options = NULL WHERE hash = $1";
    LOCK_USER: read lock_user(hash: TokenHash) [&hash] =
        "SELECT 1 FROM users WHERE id = (SELECT user_id FROM challenges WHERE hash = $1) FOR NO KEY UPDATE";
    FIND: read find(hash: TokenHash) [&hash] = concat!(
        "SELECT ",
        account_columns!(),
        ", ch.purpose, ch.client_type, ch.methods, ch.session_id, ch.identity_provider,
        ch.identity_issuer, ch.identity_subject, ch.identity_email, ch.identity_vouched, ch.links_identity,
        ch.attempts, ch.expires_at, ch.passkey_options, ch.passkey_id,
        EXISTS (SELECT 1 FROM totp_factors AS t WHERE t.user_id = u.id AND t.confirmed_at IS NOT NULL),
        (SELECT count(*) FROM recovery_codes AS r WHERE r.user_id = u.id),
        (SELECT t.email FROM undo_tokens AS t WHERE t.hash = ch.token_hash)
        FROM challenges AS ch CROSS JOIN ",
        account_tables!(),
        " WHERE ch.hash = $1 AND u.id = ch.user_id"
    );
    /// Reads a row if the reset token that began a challenge is still valid.
    FIND_GOOD_RESET_TOKEN: read find_good_reset_token(hash: TokenHash, now: Timestamp)
        [&hash, Purpose::ResetPassword, now] = "
        SELECT 1 FROM challenges AS ch JOIN users AS u ON u.id = ch.user_id JOIN link_tokens AS t
            ON t.hash = ch.token_hash AND t.user_id = u.id AND t.email_key = u.email_key
        WHERE ch.hash = $1 AND t.purpose = $2 AND t.used_at IS NULL AND t.superseded_at IS NULL
            AND t.expires_at > $3";
    /// Reads the user to whom the identity of the first factor is linked.
    FIND_IDENTITY_OWNER: read find_identity_owner(hash: TokenHash) [&hash] = "
        SELECT i.user_id FROM challenges AS ch JOIN identities AS i ON i.provider = ch.identity_provider
            AND i.issuer = ch.identity_issuer AND i.subject = ch.identity_subject
        WHERE ch.hash = $1";
    /// Reads the data of a user that determines which kinds of answers a challenge accepts.
    FIND_FACTS: read find_facts(user_id: UserId) = facts_where!("$1");
    FIND_FACTS_OF_SESSION: read find_facts_of_session(session_id: SessionId) =
        facts_where!("(SELECT user_id FROM sessions WHERE id = $1)");
    FIND_FACTS_OF_RESET: read find_facts_of_reset(token: TokenHash) [&token] =
        facts_where!("(SELECT user_id FROM link_tokens WHERE hash = $1)");
    FIND_FACTS_OF_UNDO: read find_facts_of_undo(token: TokenHash) [&token] =
        facts_where!("(SELECT user_id FROM undo_tokens WHERE hash = $1)");
}

/// What began a challenge: a session, a token or a first factor.
#[derive(Default)]
pub(crate) struct Beginner<'a> {
    /// Session that is reauthenticated; `None` for other purposes.
    pub(crate) session_id: Option<SessionId>,
    /// Hash of the reset token or undo token; `None` for other purposes.
    pub(crate) token: Option<&'a TokenHash>,
    /// Authentication methods of the first factor; `None` for purposes other than sign-in.
    pub(crate) methods: Option<&'a AuthMethods>,
    /// Identity of the first factor; `None` if that was no external identity.
    pub(crate) identity: Option<FirstFactorIdentity<'a>>,
    /// Passkey that was used already in this sign-in; `None` if there was none.
    pub(crate) passkey: Option<PasskeyId>,
}

/// External identity that was the first factor of a sign-in.
pub(crate) struct FirstFactorIdentity<'a> {
    pub(crate) identity: &'a VerifiedIdentity,
    /// True if a right answer to the challenge links the identity to the account.
    pub(crate) is_linked_by_answer: bool,
}

pub(crate) fn insert(
    writes: &mut Script,
    user_id: UserId,
    purpose: ChallengePurpose,
    challenge: &NewChallenge,
    beginner: &Beginner<'_>,
    now: Timestamp,
) {
    let identity = beginner.identity.as_ref().map(|first| first.identity);
    let values = values![
        &challenge.hash,
        user_id,
        purpose.as_str(),
        challenge.opened_for.as_str(),
        beginner.methods.map(AuthMethods::to_stored).unwrap_or_default(),
        beginner.session_id,
        beginner.token,
        identity.map(|identity| identity.provider.as_str()),
        identity.map(|identity| identity.issuer.as_str()),
        identity.map(|identity| identity.subject.as_str()),
        identity.and_then(|identity| identity.email.as_ref()).map(Email::as_typed),
        identity.is_some_and(|identity| identity.email_verified),
        beginner.identity.as_ref().is_some_and(|first| first.is_linked_by_answer),
        now,
        challenge.expires_at,
        beginner.passkey,
    ];
    writes.change(&INSERT, values);
}

/// Decodes the data read by [`find_facts`]. Returns the kinds of answers that a challenge of this purpose
/// and side accepts. `level` is the authentication level (one factor or two) that the sign-in has reached.
pub(crate) fn kinds(
    results: &Results<'_>,
    slot: Slot,
    (side, purpose, level): (OpenedFor, ChallengePurpose, Level),
    rules: &FactorRules,
) -> StoreResult<Vec<ChallengeKind>> {
    let facts = results.find(slot, |cells| read_facts(cells, level, rules))?;
    let facts = facts.ok_or(StoreError::Corrupt { table: "users", column: "id" })?;
    Ok(facts.kinds_for(side, purpose, rules.policy))
}

fn read_facts(cells: &mut Cells<'_>, level: Level, rules: &FactorRules) -> StoreResult<ChallengeFacts> {
    let has_two_step = cells.of("users").flag("two_step_at")?;
    let passkeys = users::read_passkeys(cells)?;
    Ok(ChallengeFacts {
        has_two_step,
        has_passkey: passkeys.iter().any(|rp_id| Some(rp_id) == rules.rp_id.as_ref()),
        has_totp: cells.of("totp_factors").flag("confirmed_at")?,
        has_recovery_code: cells.of("recovery_codes").flag("mac")?,
        has_password: cells.of("credentials").flag("data")?,
        email_verified: cells.of("users").flag("email_verified")?,
        is_in_deletion: cells.flag("deletes_at")?,
        level,
    })
}

/// A stored challenge, live or not, with its account.
pub(crate) struct Challenge {
    pub(crate) account: Account,
    pub(crate) purpose: ChallengePurpose,
    pub(crate) opened_for: OpenedFor,
    /// Methods of the first factor; `None` for purposes other than sign-in.
    pub(crate) methods: Option<AuthMethods>,
    /// Session that is reauthenticated; `None` for other purposes.
    pub(crate) session_id: Option<SessionId>,
    pub(crate) identity: Option<ShownIdentity>,
    attempts: u32,
    pub(crate) expires_at: Timestamp,
    /// WebAuthn challenge of the request options that were issued last.
    pub(crate) passkey_options: Option<PasskeyOptions>,
    /// Passkey that was used already in this sign-in; `None` if there was none.
    pub(crate) passkey: Option<PasskeyId>,
    has_totp: bool,
    pub(crate) recovery_codes_left: u32,
    /// Address that the mail with the undo link went to; `None` unless an undo link began the challenge.
    pub(crate) undo_email: Option<EmailKey>,
}

/// Identity that was the first factor of a stored challenge.
pub(crate) struct ShownIdentity {
    pub(crate) identity: VerifiedIdentity,
    /// True if a right answer to the challenge links the identity to the account.
    pub(crate) is_linked_by_answer: bool,
}

impl Challenge {
    /// True if the challenge may be answered.
    pub(crate) fn is_live(&self, terms: &ChallengeTerms) -> bool {
        let user = &self.account.user;
        let is_verified = user.email_verified || !terms.must_verify;
        self.attempts < terms.attempts
            && terms.now < self.expires_at
            && !user.is_banned()
            && (is_verified || self.purpose != ChallengePurpose::SignIn)
    }

    /// True if the identity of the first factor is linked to the account, false if the answer links it. `None` if the
    /// identity was unlinked meanwhile, or linked to another account (`owner`).
    pub(crate) fn is_identity_linked(&self, owner: Option<UserId>) -> Option<bool> {
        match (&self.identity, owner) {
            (None, _) => Some(true),
            (Some(_), Some(owner)) => (owner == self.account.user.id).then_some(true),
            (Some(shown), None) => shown.is_linked_by_answer.then_some(false),
        }
    }

    /// Returns the kinds of answers that the challenge accepts now.
    pub(crate) fn kinds(&self, rules: &FactorRules) -> Vec<ChallengeKind> {
        let user = &self.account.user;
        let facts = ChallengeFacts {
            has_two_step: user.has_two_step(),
            has_passkey: user.has_usable_passkey(rules.rp_id.as_ref()),
            has_totp: self.has_totp,
            has_recovery_code: self.recovery_codes_left > 0,
            has_password: user.has_password,
            email_verified: user.email_verified,
            is_in_deletion: user.is_in_deletion(),
            level: self.methods.as_ref().map_or(Level::One, AuthMethods::level),
        };
        facts.kinds_for(self.opened_for, self.purpose, rules.policy)
    }
}

pub(crate) fn challenge(results: &Results<'_>, slot: Slot) -> StoreResult<Option<Challenge>> {
    results.find(slot, read_challenge)
}

/// Decodes the user of the identity that was shown as the first factor.
pub(crate) fn identity_owner(results: &Results<'_>, slot: Slot) -> StoreResult<Option<UserId>> {
    results.find(slot, |cells| cells.of("identities").id("user_id"))
}

fn read_challenge(cells: &mut Cells<'_>) -> StoreResult<Challenge> {
    let account = users::read_account(cells)?;
    let purpose = cells.of("challenges").parsed("purpose", ChallengePurpose::parse)?;
    let opened_for = cells.parsed("client_type", OpenedFor::from_stored)?;
    let methods = cells.text("methods")?;
    let methods = if methods.is_empty() {
        None
    } else {
        Some(AuthMethods::from_stored(methods).ok_or_else(|| cells.corrupt("methods"))?)
    };
    Ok(Challenge {
        account,
        purpose,
        opened_for,
        methods,
        session_id: cells.maybe_id("session_id")?,
        identity: read_identity(cells)?,
        attempts: cells.count("attempts")?,
        expires_at: cells.time("expires_at")?,
        passkey_options: read_passkey_options(cells)?,
        passkey: cells.maybe_id("passkey_id")?,
        has_totp: cells.of("totp_factors").flag("confirmed_at")?,
        recovery_codes_left: cells.of("recovery_codes").count("count")?,
        undo_email: cells.of("undo_tokens").maybe_email("email")?.map(|email| email.key().clone()),
    })
}

fn read_passkey_options(cells: &mut Cells<'_>) -> StoreResult<Option<PasskeyOptions>> {
    let stored = cells.maybe_bytes("passkey_options")?;
    let parse = |bytes: Vec<u8>| bytes.try_into().map_err(|_| cells.corrupt("passkey_options"));
    Ok(stored.map(parse).transpose()?.map(PasskeyOptions))
}

/// Decodes the provider identity that was used as the first factor. The name and picture that the provider sent are not
/// stored with the challenge.
fn read_identity(cells: &mut Cells<'_>) -> StoreResult<Option<ShownIdentity>> {
    let provider = cells.maybe_text("identity_provider")?;
    let issuer = cells.maybe_text("identity_issuer")?;
    let subject = cells.maybe_text("identity_subject")?;
    let email = cells.maybe_email("identity_email")?;
    let email_verified = cells.flag("identity_vouched")?;
    let is_linked_by_answer = cells.flag("links_identity")?;
    let (Some(provider), Some(issuer), Some(subject)) = (provider, issuer, subject) else { return Ok(None) };
    let identity = VerifiedIdentity {
        provider: ProviderKey::parse(&provider).map_err(|_| cells.corrupt("identity_provider"))?,
        issuer: Issuer::from_stored(issuer),
        subject: Subject::parse(&subject).ok_or_else(|| cells.corrupt("identity_subject"))?,
        email,
        email_verified,
        name: Name::from_stored(String::new()),
        avatar_url: None,
    };
    Ok(Some(ShownIdentity { identity, is_linked_by_answer }))
}
