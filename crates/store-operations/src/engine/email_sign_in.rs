//! Operations of sign-in by mail: implementation of [`EmailSignIns`]. The operations themselves are in
//! [`crate::operations`].

use async_trait::async_trait;
use latchkey_domain::email::Email;
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    CodeAttempt, EmailSignIn, EmailSignIns, LimitedResult, PresentedLink, RequestSignInMail, SignInLink,
    StoreResult, VerifyOutcome,
};

use super::Engine;
use crate::form::Executor;
use crate::operations::{request_sign_in_mail, sign_in_by_mail};

#[crate::measured]
#[async_trait]
impl<E: Executor> EmailSignIns for Engine<E> {
    async fn request_sign_in_mail(&self, request: RequestSignInMail) -> LimitedResult<()> {
        request_sign_in_mail::request(&self.0, request).await
    }

    async fn sign_in_by_code(
        &self,
        attempt: CodeAttempt,
        email: Email,
        sign_in: EmailSignIn,
    ) -> LimitedResult<VerifyOutcome> {
        sign_in_by_mail::by_code(&self.0, attempt, email, sign_in).await
    }

    async fn find_sign_in_link(
        &self,
        token: TokenHash,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<Option<SignInLink>> {
        sign_in_by_mail::find_link(&self.0, token, takes, now).await
    }

    async fn sign_in_by_link(&self, link: PresentedLink, sign_in: EmailSignIn) -> StoreResult<VerifyOutcome> {
        sign_in_by_mail::by_link(&self.0, link, sign_in).await
    }
}
