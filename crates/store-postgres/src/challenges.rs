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

use crate::limits::Buckets;
use crate::outbox::{self, Address};
use crate::script::Script;
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::values;
use crate::{accounts, code_attempts, links, reset};

const SAVE_CODE: &str = "
    INSERT INTO codes (email_key, purpose, user_id, mac, attempts, created_at, expires_at)
    VALUES ($1, $2, $3, $4, 0, $5, $6)
    ON CONFLICT (email_key, purpose) DO UPDATE SET user_id = excluded.user_id, mac = excluded.mac, attempts = 0,
        created_at = excluded.created_at, expires_at = excluded.expires_at";
const DELETE_CODE: &str = "DELETE FROM codes WHERE email_key = $1 AND purpose = $2";
const DELETE_CODES_OF: &str = "DELETE FROM codes WHERE user_id = $1 AND purpose = $2";
const DELETE_ALL_CODES_OF: &str = "DELETE FROM codes WHERE user_id = $1";
const SUPERSEDE_LINKS: &str = "
    UPDATE link_tokens SET superseded_at = $3
    WHERE email_key = $1 AND purpose = $2 AND kind = 'link' AND used_at IS NULL AND superseded_at IS NULL
        AND expires_at > $3";
const SUPERSEDE_TOKENS_OF: &str = "
    UPDATE link_tokens SET superseded_at = $3
    WHERE user_id = $1 AND purpose = $2 AND superseded_at IS NULL AND expires_at > $3";
const SUPERSEDE_ALL_TOKENS_OF: &str = "
    UPDATE link_tokens SET superseded_at = $2
    WHERE user_id = $1 AND used_at IS NULL AND superseded_at IS NULL AND expires_at > $2";

#[async_trait]
impl Challenges for PostgresStore {
    async fn request_challenge(&self, request: RequestChallenge) -> StoreResult<RequestOutcome> {
        request_challenge(self, &request).await
    }

    async fn verify_by_code(&self, attempt: CodeAttempt, session: NewSession) -> StoreResult<VerifyOutcome> {
        code_attempts::verify(self, &attempt, &session).await
    }

    async fn verify_by_token(
        &self,
        attempt: TokenAttempt,
        session: NewSession,
    ) -> StoreResult<VerifyOutcome> {
        links::verify(self, &attempt, &session).await
    }

    async fn open_verify_link(
        &self,
        token: TokenHash,
        takes: &[Take],
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<OpenedLink> {
        links::open(self, token, takes, &event, now).await
    }

    async fn look_at_link(
        &self,
        token: TokenHash,
        purpose: Purpose,
        takes: &[Take],
        now: Timestamp,
    ) -> StoreResult<OpenedLink> {
        links::look_at(self, token, purpose, takes, now).await
    }

    async fn exchange_reset_code(
        &self,
        attempt: CodeAttempt,
        token: NewToken,
    ) -> StoreResult<ExchangeOutcome> {
        code_attempts::exchange(self, &attempt, &token).await
    }

    async fn begin_reset(&self, token: TokenHash, takes: &[Take], now: Timestamp) -> StoreResult<BeginReset> {
        reset::begin(self, token, takes, now).await
    }

    async fn reset_password(&self, reset: ResetPassword) -> StoreResult<Option<User>> {
        reset::reset_password(self, &reset).await
    }
}

/// The same statements whether or not the address may have the challenge.
async fn request_challenge(store: &PostgresStore, request: &RequestChallenge) -> StoreResult<RequestOutcome> {
    let RequestChallenge { email, purpose, takes, challenge, mail, now } = request;
    let (purpose, now) = (*purpose, *now);
    let mut reads = Script::default();
    let buckets = Buckets::lock(&mut reads, takes);
    accounts::lock_by_key_evenly(&mut reads, email);
    let found = accounts::find_by_key_evenly(&mut reads, email);
    store
        .transact(&reads, |answers| {
            let mut writes = Script::default();
            if let Err(limited) = buckets.take_all(answers, &mut writes, takes, now)? {
                return Ok(Step::Answer(RequestOutcome::Limited(limited)));
            }
            let account = accounts::account_of_key(answers, found, email)?;
            let eligible = account
                .as_ref()
                .map(|account| &account.user)
                .filter(|user| may_be_challenged(purpose, user.email_verified, user.is_banned()));
            let address = eligible.map_or(Address::Decoy(email), |user| Address::Of(user.id, &user.email));
            write(&mut writes, email.as_str(), purpose, address.user_id(), challenge, now);
            let kind = match purpose {
                Purpose::VerifyEmail => MailKind::Verify,
                Purpose::ResetPassword => MailKind::Reset,
            };
            outbox::write(&mut writes, mail, kind, address, now);
            Ok(Step::done(writes, RequestOutcome::Accepted))
        })
        .await
}

/// Writes the one live challenge of an address and purpose; the one before ends. Without a user it is a decoy.
pub(crate) fn write(
    writes: &mut Script,
    key: &str,
    purpose: Purpose,
    user_id: Option<UserId>,
    challenge: &NewChallenge,
    now: Timestamp,
) {
    match challenge {
        NewChallenge::Code { mac, expires_at } => {
            writes.add(SAVE_CODE, values![key, purpose, user_id, mac, now, *expires_at]);
            writes.add(SUPERSEDE_LINKS, values![key, purpose, now]);
        }
        NewChallenge::Link { token, redirect_to } => {
            delete_code(writes, key, purpose);
            writes.add(SUPERSEDE_LINKS, values![key, purpose, now]);
            links::insert_link(writes, key, purpose, user_id, token, redirect_to.as_deref(), now);
        }
    }
}

/// Ends the code of an address and purpose.
pub(crate) fn delete_code(writes: &mut Script, key: &str, purpose: Purpose) {
    writes.add(DELETE_CODE, values![key, purpose]);
}

/// Ends the codes of a user and purpose.
pub(crate) fn delete_codes_of(writes: &mut Script, user_id: UserId, purpose: Purpose) {
    writes.add(DELETE_CODES_OF, values![user_id, purpose]);
}

/// Ends the live links and exchanged tokens of a user and purpose, used verification links too. Their rows stay, so
/// that they can be told.
pub(crate) fn supersede_tokens_of(writes: &mut Script, user_id: UserId, purpose: Purpose, now: Timestamp) {
    writes.add(SUPERSEDE_TOKENS_OF, values![user_id, purpose, now]);
}

/// Ends every outstanding code and token of a user. A used verification link is not outstanding.
pub(crate) fn end_all_of(writes: &mut Script, user_id: UserId, now: Timestamp) {
    writes.add(DELETE_ALL_CODES_OF, values![user_id]);
    writes.add(SUPERSEDE_ALL_TOKENS_OF, values![user_id, now]);
}
