//! Activation of a grant in the console itself, without the pages under `/auth`. The account shows its activation link, a
//! first factor and a second one, or enrols the second factor here. Then the grant is active and the session is open:
//!
//! 1. [`Console::begin_activation`] with the link, and a password or passkey, gives an [`ActivationStep`].
//! 2. `Challenged` with the kind `enroll`: [`Console::begin_enrolment`] and [`Console::confirm_enrolment`] add a TOTP factor,
//!    or [`Console::begin_passkey_enrolment`] and [`Console::confirm_passkey_enrolment`] a passkey. `Challenged` with other kinds: [`Console::answer_activation`] takes the answer.
//! 3. `Activated`: the session is open, and its token is for the cookie.
//!
//! A wrong link gets the response of wrong credentials. Nothing is open while the grant sleeps.

use latchkey_domain::challenge::ChallengeId;
use latchkey_domain::client::Client;
use latchkey_domain::codes::SixDigitCode;
use latchkey_domain::email::Email;
use latchkey_domain::factors::FactorId;
use latchkey_domain::long_code::LongCode;
use latchkey_domain::password::Password;
use latchkey_domain::session::Level;
use latchkey_domain::tokens::LinkToken;

use super::{Console, ConsoleEntrance};
use crate::challenges::{Answer, Answered};
use crate::error::{Error, Result};
use crate::factors::{BegunTotp, ConfirmedTotp, FactorEnroller, TwoStepOn};
use crate::passkeys::{Assertion, BegunRegistration, Registered, Registration, RegistrationMode};
use crate::refusal::{INVALID_CHALLENGE, INVALID_CREDENTIALS};
use crate::sessions::{Challenge, ConsoleSignIn, ConsoleSignedIn};

/// The first factor with which an account activates its grant.
pub enum ActivationLogin {
    Password {
        email: Email,
        password: Password,
    },
    /// An assertion for the ceremony that [`crate::passkeys::Passkeys::begin_sign_in`] began.
    Passkey {
        ceremony_id: String,
        assertion: Assertion,
    },
}

/// What follows a step of an activation.
pub enum ActivationStep {
    /// The challenge asks for a second factor, or for its enrolment.
    Challenged(Challenge),
    /// The grant is active, and this session is open.
    Activated(Box<ConsoleSignedIn>),
}

/// A grant that was activated by the enrolment of a second factor.
pub struct EnrolledFactor {
    pub session: Box<ConsoleSignedIn>,
    /// The recovery codes of the account, to be shown once.
    pub recovery_codes: Vec<LongCode>,
}

impl Console {
    /// Signs an account in to activate its grant by the link with this token.
    pub async fn begin_activation(
        &self,
        token: &str,
        login: ActivationLogin,
        sign_in: ConsoleSignIn,
        client: &Client,
    ) -> Result<ActivationStep> {
        let link = link(token)?;
        self.operators.adopt(&link, client).await?;
        let from = sign_in.activating(&link).from(client.clone());
        let entrance = match login {
            ActivationLogin::Password { email, password } => {
                self.passwords.sign_in(email, password, from).await?
            }
            ActivationLogin::Passkey { ceremony_id, assertion } => {
                self.passkeys.sign_in(&ceremony_id, assertion, &from).await?
            }
        };
        self.go_on(&link, ConsoleEntrance::of(entrance)?, client).await
    }

    /// Answers the challenge of an activation by a second factor that the account has.
    pub async fn answer_activation(
        &self,
        token: &str,
        answer: Answer,
        sign_in: ConsoleSignIn,
        client: &Client,
    ) -> Result<ActivationStep> {
        let link = link(token)?;
        let from = sign_in.activating(&link).from(client.clone());
        match self.challenges.answer(answer, None, &from).await? {
            Answered::Entered(entrance) => self.go_on(&link, ConsoleEntrance::of(entrance)?, client).await,
            _ => Err(Error::Refused(&INVALID_CHALLENGE)),
        }
    }

    /// Begins to enrol a TOTP factor as the answer to the challenge of an activation.
    pub async fn begin_enrolment(&self, challenge: ChallengeId) -> Result<BegunTotp> {
        self.factors.begin_totp(FactorEnroller::Challenge(challenge), None).await
    }

    /// Confirms the TOTP factor by its first code. The account gets two-step sign-in and recovery codes, and the grant is
    /// active.
    pub async fn confirm_enrolment(
        &self,
        token: &str,
        (challenge, factor, code): (ChallengeId, FactorId, SixDigitCode),
        sign_in: ConsoleSignIn,
        client: &Client,
    ) -> Result<EnrolledFactor> {
        let link = link(token)?;
        let from = sign_in.activating(&link).from(client.clone());
        let enroller = FactorEnroller::Challenge(challenge);
        match self.factors.confirm_totp(enroller, factor, code, &from).await? {
            ConfirmedTotp::TurnedOn(on, _) => self.enrolled(&link, on, client).await,
            ConfirmedTotp::Added(_) => Err(Error::Refused(&INVALID_CHALLENGE)),
        }
    }

    /// Begins to register a passkey as the answer to the challenge of an activation.
    pub async fn begin_passkey_enrolment(&self, challenge: ChallengeId) -> Result<BegunRegistration> {
        let enroller = FactorEnroller::Challenge(challenge);
        self.passkeys.begin_registration(enroller, RegistrationMode::Prompted).await
    }

    /// Registers the passkey with the browser's response, like [`Self::confirm_enrolment`].
    pub async fn confirm_passkey_enrolment(
        &self,
        token: &str,
        (challenge, ceremony_id, registration): (ChallengeId, &str, Registration),
        sign_in: ConsoleSignIn,
        client: &Client,
    ) -> Result<EnrolledFactor> {
        let link = link(token)?;
        let from = sign_in.activating(&link).from(client.clone());
        let enroller = FactorEnroller::Challenge(challenge);
        match self.passkeys.register(enroller, ceremony_id, registration, None, &from).await? {
            Registered::TurnedOn(on, _) => self.enrolled(&link, on, client).await,
            Registered::Added(_) => Err(Error::Refused(&INVALID_CHALLENGE)),
        }
    }

    async fn enrolled(&self, link: &LinkToken, on: TwoStepOn, client: &Client) -> Result<EnrolledFactor> {
        let session = self.activate(link, on.opened.into_console()?, client).await?;
        Ok(EnrolledFactor { session, recovery_codes: on.recovery_codes })
    }

    pub(super) async fn go_on(
        &self,
        link: &LinkToken,
        entrance: ConsoleEntrance,
        client: &Client,
    ) -> Result<ActivationStep> {
        Ok(match entrance {
            ConsoleEntrance::Challenged(challenge) => ActivationStep::Challenged(challenge),
            ConsoleEntrance::SignedIn(session) => {
                ActivationStep::Activated(self.activate(link, *session, client).await?)
            }
        })
    }

    /// Activates the grant of a session that was opened for it. Before that the session opens nothing.
    async fn activate(
        &self,
        link: &LinkToken,
        session: ConsoleSignedIn,
        client: &Client,
    ) -> Result<Box<ConsoleSignedIn>> {
        let ids = (session.user.id, session.session.id);
        let has_shown = session.session.level == Level::Two;
        let rp_id = self.sessions.factor_rules().rp_id.filter(|_| has_shown);
        self.operators.activate_in(ids, link, rp_id, client).await?;
        Ok(Box::new(session))
    }
}

pub(super) fn link(token: &str) -> Result<LinkToken> {
    Ok(LinkToken::parse(token).ok_or(&INVALID_CREDENTIALS)?)
}
