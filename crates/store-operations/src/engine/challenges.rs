//! Operations on challenges, which ask for a second factor or another confirmation before a sign-in,
//! reauthentication, password reset or undo is completed: implementation of [`Challenges`].

use async_trait::async_trait;
use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::passkey::Passkey;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    AnswerChallenge, Answered, BeginReauthentication, BeginResetChallenge, ChallengeTerms, Challenges,
    FoundChallenge, LimitedResult, PasskeyOptions, StoreResult,
};

use super::Engine;
use crate::form::Executor;
use crate::operations::{answer_challenge, begin_challenge};

#[crate::measured]
#[async_trait]
impl<E: Executor> Challenges for Engine<E> {
    async fn find_challenge(
        &self,
        challenge: TokenHash,
        terms: ChallengeTerms,
    ) -> StoreResult<Option<Box<FoundChallenge>>> {
        begin_challenge::find(&self.0, challenge, terms).await
    }

    async fn save_passkey_options(
        &self,
        challenge: TokenHash,
        options: PasskeyOptions,
        terms: ChallengeTerms,
    ) -> StoreResult<Option<Vec<Passkey>>> {
        begin_challenge::save_passkey_options(&self.0, challenge, options, terms).await
    }

    async fn answer_challenge(&self, answer: AnswerChallenge) -> LimitedResult<Answered> {
        answer_challenge::answer(&self.0, answer).await
    }

    async fn begin_reauthentication(
        &self,
        begin: BeginReauthentication,
    ) -> LimitedResult<Option<Vec<ChallengeKind>>> {
        begin_challenge::reauthenticate(&self.0, begin).await
    }

    async fn begin_reset_challenge(
        &self,
        begin: BeginResetChallenge,
    ) -> StoreResult<Option<Vec<ChallengeKind>>> {
        begin_challenge::reset(&self.0, begin).await
    }
}
