//! Operations on email codes, mailed links and reset tokens: implementation of [`EmailCodes`]. The operations
//! themselves are in [`crate::operations`].

use async_trait::async_trait;
use latchkey_domain::codes::Purpose;
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    BeginReset, CodeAttempt, EmailCodes, Entry, ExchangeOutcome, LimitedResult, NewToken, OpenLink,
    OpenedLink, RequestEmailCode, ResetOutcome, ResetPassword, SendEmailCode, SentEmailCode, StoreResult,
    TokenAttempt, VerifyOutcome,
};

use super::Engine;
use crate::form::Executor;
use crate::operations::{mail_links, request_code, reset_password, verify_code};

#[crate::measured]
#[async_trait]
impl<E: Executor> EmailCodes for Engine<E> {
    async fn request_email_code(&self, request: RequestEmailCode) -> LimitedResult<()> {
        request_code::request(&self.0, request).await
    }

    async fn send_email_code(&self, send: SendEmailCode) -> LimitedResult<SentEmailCode> {
        request_code::send(&self.0, send).await
    }

    async fn verify_by_code(&self, attempt: CodeAttempt, entry: Entry) -> LimitedResult<VerifyOutcome> {
        verify_code::verify(&self.0, attempt, entry).await
    }

    async fn verify_by_token(&self, attempt: TokenAttempt, entry: Entry) -> LimitedResult<VerifyOutcome> {
        mail_links::verify(&self.0, attempt, entry).await
    }

    async fn open_verify_link(&self, link: OpenLink) -> LimitedResult<OpenedLink> {
        mail_links::open(&self.0, link).await
    }

    async fn inspect_link(
        &self,
        token: TokenHash,
        purpose: Purpose,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<OpenedLink> {
        mail_links::inspect(&self.0, token, purpose, takes, now).await
    }

    async fn exchange_reset_code(
        &self,
        attempt: CodeAttempt,
        token: NewToken,
    ) -> LimitedResult<ExchangeOutcome> {
        verify_code::exchange(&self.0, attempt, token).await
    }

    async fn begin_reset(
        &self,
        token: TokenHash,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<BeginReset> {
        reset_password::begin(&self.0, token, takes, now).await
    }

    async fn use_email_code(&self, attempt: CodeAttempt, purpose: Purpose) -> LimitedResult<bool> {
        verify_code::redeem(&self.0, attempt, purpose).await
    }

    async fn reset_password(&self, reset: ResetPassword) -> StoreResult<ResetOutcome> {
        reset_password::reset(&self.0, reset).await
    }
}
