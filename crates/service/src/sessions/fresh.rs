//! Credentials that permit sensitive changes, called fresh. An access token or page session is fresh if its sign-in or
//! reauthentication (step-up) is recent; if the account has two-step sign-in on, a second factor must have been shown for
//! it. Changes of second factors and of ways to sign in require a fresh one.

use std::time::Duration;

use latchkey_domain::session::Level;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::LiveSession;

use super::Sessions;
use super::authenticate::Caller;
use super::credential::{Authentication, Credential};
use crate::error::{Error, Result};
use crate::refusal::{AUTH_UNAUTHORIZED, REAUTHENTICATION_REQUIRED};

/// A caller with a fresh credential. Only [`Sessions::fresh`] makes one.
pub struct FreshCaller {
    caller: Caller,
    user: Box<User>,
}

impl FreshCaller {
    #[must_use]
    pub const fn caller(&self) -> Caller {
        self.caller
    }

    /// Returns the caller's user as it was read when the token was checked.
    #[must_use]
    pub const fn user(&self) -> &User {
        &self.user
    }
}

/// A verified credential and its live session.
pub(crate) struct Presented {
    pub(crate) by: Authentication,
    pub(crate) live: LiveSession,
}

impl Sessions {
    /// Authenticates a caller like [`Self::authenticate`], and checks that the credential is fresh; fails with
    /// [`REAUTHENTICATION_REQUIRED`] otherwise. For apps freshness is a property of the access token, not of the session:
    /// a reauthentication makes no other token of the session fresh. A page session is fresh as a whole.
    pub async fn fresh(&self, credential: impl Into<Credential<'_>>) -> Result<FreshCaller> {
        let now = self.kernel.now();
        let Presented { by, live } = self.presented(credential.into(), now).await?;
        if !is_fresh(&by, &live.user, self.lifetimes.reauthentication, now) {
            return Err(Error::Refused(&REAUTHENTICATION_REQUIRED));
        }
        Ok(FreshCaller { caller: Caller::of(&by), user: Box::new(live.user) })
    }

    /// Authenticates a caller like [`Self::authenticate`]. If the account has two-step sign-in on, the credential must be
    /// fresh too; fails with [`REAUTHENTICATION_REQUIRED`] otherwise.
    pub async fn fresh_if_two_step(&self, credential: Credential<'_>) -> Result<LiveSession> {
        self.fresh_if(credential, User::has_two_step).await
    }

    /// Authenticates a caller like [`Self::fresh_if_two_step`]. If the account has no password, the credential must be
    /// fresh in any case: there is no current password that the caller would have to enter.
    pub async fn fresh_to_set_password(&self, credential: Credential<'_>) -> Result<LiveSession> {
        self.fresh_if(credential, |user| user.has_two_step() || !user.has_password).await
    }

    async fn fresh_if(
        &self,
        credential: Credential<'_>,
        must_be_fresh: impl Fn(&User) -> bool,
    ) -> Result<LiveSession> {
        let now = self.kernel.now();
        let Presented { by, live } = self.presented(credential, now).await?;
        if must_be_fresh(&live.user) && !is_fresh(&by, &live.user, self.lifetimes.reauthentication, now) {
            return Err(Error::Refused(&REAUTHENTICATION_REQUIRED));
        }
        Ok(live)
    }

    /// Returns the time until which a credential is fresh; `None` if the account has two-step sign-in on and the
    /// credential lacks the second factor.
    pub(crate) fn fresh_until(&self, by: &Authentication, user: &User) -> Option<Timestamp> {
        suffices(by, user).then(|| by.authenticated_at.plus(self.lifetimes.reauthentication))
    }

    /// Authenticates a caller; returns the credential and its live session.
    pub(crate) async fn presented(&self, credential: Credential<'_>, now: Timestamp) -> Result<Presented> {
        let by = self.verify_credential(credential, now).await?;
        if let Credential::Page(page) = credential {
            return Ok(Presented { by, live: page.live.clone() });
        }
        let live = self.kernel.store.find_live_session(by.session_id, now).await?;
        let live = live.filter(|live| live.user.id == by.user_id);
        Ok(Presented { by, live: live.ok_or(&AUTH_UNAUTHORIZED)? })
    }
}

/// True if the credential has level 2 (two factors), or the account has two-step sign-in off.
fn suffices(by: &Authentication, user: &User) -> bool {
    by.level == Level::Two || !user.has_two_step()
}

fn is_fresh(by: &Authentication, user: &User, window: Duration, now: Timestamp) -> bool {
    suffices(by, user) && now.since(by.authenticated_at) <= window
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use latchkey_domain::session::{AuthMethod, AuthMethods, Session};

    use super::*;
    use crate::tokens::VerifiedToken;
    use crate::tokens::access_tokens::TokenNames;
    use crate::tokens::fixtures::{NOW, user_and_session};

    const WINDOW: Duration = Duration::from_mins(10);

    fn token(level: Level) -> Authentication {
        let (user, session) = user_and_session();
        let names = TokenNames { issuer: "https://id.example".to_owned(), audience: "apps".to_owned() };
        let methods = AuthMethods::of(AuthMethod::Password);
        let session = Session { level, methods, ..session };
        VerifiedToken::of(&names.claims(&user, &session, NOW, NOW.plus(WINDOW), [0; 16]), None).into()
    }

    fn user(two_step_at: Option<Timestamp>) -> User {
        User { two_step_at, ..user_and_session().0 }
    }

    #[test]
    fn a_token_is_fresh_to_the_end_of_the_window() {
        let (token, user) = (token(Level::One), user(None));
        assert!(is_fresh(&token, &user, WINDOW, NOW.plus(WINDOW)));
        assert!(!is_fresh(&token, &user, WINDOW, NOW.plus(WINDOW + Duration::from_millis(1))));
    }

    #[test]
    fn an_account_with_two_step_sign_in_needs_a_token_of_level_two() {
        assert!(!is_fresh(&token(Level::One), &user(Some(NOW)), WINDOW, NOW));
        assert!(is_fresh(&token(Level::Two), &user(Some(NOW)), WINDOW, NOW));
        assert!(is_fresh(&token(Level::Two), &user(None), WINDOW, NOW));
    }
}
