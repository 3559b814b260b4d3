//! The check of a password that answers the challenge of a reauthentication.

use latchkey_domain::client::Client;
use latchkey_domain::ids::SessionId;
use latchkey_domain::password::{Password, PasswordHash};
use latchkey_domain::sign_in::{Compared, Fit};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::BeginPasswordChange;

use super::Passwords;
use crate::error::{Error, Result};
use crate::refusal::{INVALID_CHALLENGE, INVALID_CREDENTIALS};

impl Passwords {
    /// Compares a password with that of the owner of a live session, and returns the stored hash that it
    /// matches. The rate limits on wrong passwords at sign-in apply. A wrong password counts as a failed
    /// sign-in and gives `Ok(Err(…))` with the error for the client; the outer error is any other failure.
    pub(crate) async fn compare_own(
        &self,
        session: SessionId,
        user: &User,
        password: Password,
        client: &Client,
        now: Timestamp,
    ) -> Result<Result<PasswordHash>> {
        let (begun, guard) = self.begin_change(session, &user.email, client, now).await?;
        // The session ended or the address changed, and either has invalidated the challenge.
        let BeginPasswordChange::Candidate(candidate) = begun else {
            return Err(Error::Refused(&INVALID_CHALLENGE));
        };
        let compared = Compared { own: candidate.password.as_ref(), of_sign_up: None };
        let check = self.compare(user.email.key(), password, compared).await?;
        if let Some(checked) = candidate.password.filter(|_| check.fit == Fit::Own) {
            return Ok(Ok(checked));
        }
        let refusal = ("wrong password", &INVALID_CREDENTIALS);
        Ok(Err(self.fail_sign_in(Some(user.id), guard, client, refusal, now).await?))
    }
}
