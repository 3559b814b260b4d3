//! Accounts.

use async_trait::async_trait;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::{
    Accounts, BeginSignUp, CreateOutcome, LimitedResult, NewAccount, PendingSignUp, SignUpOutcome,
    StoreResult,
};

use super::Engine;
use crate::form::Executor;
use crate::operations::{accounts, purge_sign_ups, sign_up};

#[async_trait]
impl<E: Executor> Accounts for Engine<E> {
    async fn begin_sign_up(
        &self,
        email: &EmailKey,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<BeginSignUp> {
        sign_up::begin(&self.0, email, takes, now).await
    }

    async fn create_account(&self, account: NewAccount) -> StoreResult<CreateOutcome> {
        accounts::create_account(&self.0, account).await
    }

    async fn sign_up_pending(&self, sign_up: PendingSignUp) -> StoreResult<SignUpOutcome> {
        sign_up::sign_up_pending(&self.0, sign_up).await
    }

    async fn find_user(&self, id: UserId) -> StoreResult<Option<User>> {
        accounts::find_user(&self.0, id).await
    }

    async fn find_user_by_email(&self, email: &EmailKey) -> StoreResult<Option<User>> {
        accounts::find_user_by_email(&self.0, email).await
    }

    async fn purge_sign_ups(&self, until: Timestamp) -> StoreResult<u64> {
        purge_sign_ups::purge_sign_ups(&self.0, until).await
    }
}
