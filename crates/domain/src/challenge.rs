//! Challenges: requests for a second factor after the first one, or for a reauthentication. Contains the rules of
//! `POST /api/auth/challenges/answer`.

use serde::{Deserialize, Serialize};

use crate::client::OpenedFor;
use crate::passkey::RpId;
use crate::session::{AuthMethod, AuthMethods, Level};
use crate::shape::{Shape, Shaped};
use crate::tokens::secret_of_256_bits;
use crate::words;

words! {
    /// Purpose of a challenge. It is stored with the challenge, so an answer cannot serve another purpose.
    pub enum ChallengePurpose {
        /// Second factor of a sign-in whose first factor was right.
        SignIn = "sign_in",
        /// Reauthentication (step-up) of the owner of a live session.
        Reauthenticate = "reauthenticate",
        /// Second factor before a password reset of an account with two-step sign-in.
        Reset = "reset",
        /// Second factor before an undo link takes effect, for an account that had two-step sign-in before the change
        /// to be reversed and still has it.
        Undo = "undo",
    }
}

words! {
    /// Kind of an answer to a challenge, strongest first. The string is its name in requests and responses.
    pub enum ChallengeKind {
        /// An assertion by a passkey.
        Passkey = "passkey",
        /// The current code of a TOTP factor.
        Totp = "totp",
        /// An unused recovery code.
        RecoveryCode = "recovery_code",
        /// The password, for reauthentication of an account without two-step sign-in.
        Password = "password",
        /// A mailed code, for reauthentication of an account that has neither two-step sign-in nor a password.
        EmailCode = "email_code",
        /// Enrolment of a TOTP factor or passkey during a sign-in, if the operator requires two-step sign-in and the
        /// account has neither two-step sign-in nor a passkey.
        Enroll = "enroll",
        /// Restoral of an account in deletion, once all factors of its sign-in are given.
        Restore = "restore",
    }
}

impl ChallengeKind {
    /// Returns the authentication method that a right answer proves, if it is not a passkey; `None` for a restoral.
    const fn method(self) -> Option<AuthMethod> {
        Some(match self {
            Self::Passkey => AuthMethod::SyncedPasskey, // the weaker claim: the passkey itself is not known here
            Self::Totp | Self::EmailCode | Self::Enroll => AuthMethod::OneTimeCode,
            Self::RecoveryCode => AuthMethod::RecoveryCode,
            Self::Password => AuthMethod::Password,
            Self::Restore => return None,
        })
    }

    /// True if a right answer proves a second factor, so that a session or token has level 2.
    #[must_use]
    pub const fn is_second_factor(self) -> bool {
        matches!(self, Self::Passkey | Self::Totp | Self::RecoveryCode | Self::Enroll)
    }

    /// Returns the authentication methods and the level after a right answer of this kind. `passkey` is the method of
    /// the passkey that was used or enrolled ([`AuthMethod::of_passkey`]); `None` if there was none.
    #[must_use]
    pub fn raise(
        self,
        passkey: Option<AuthMethod>,
        methods: AuthMethods,
        level: Level,
    ) -> (AuthMethods, Level) {
        let methods = match passkey.or_else(|| self.method()) {
            Some(method) => methods.with(method),
            None => methods,
        };
        if self.is_second_factor() {
            (methods.with(AuthMethod::MultiFactor), Level::Two)
        } else {
            (methods, level)
        }
    }
}

words! {
    /// Operator's policy for second factors: setting `auth.second_factor`.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SecondFactorPolicy {
        /// Users cannot enrol second factors. Accounts with two-step sign-in are still challenged.
        Off = "off",
        /// Users decide whether they turn on two-step sign-in.
        Optional = "optional",
        /// Users without two-step sign-in must enrol a second factor at the next sign-in.
        Required = "required",
    }
}

impl SecondFactorPolicy {
    /// True if a session of this level may get new access tokens.
    #[must_use]
    pub const fn permits(self, level: Level) -> bool {
        !matches!((self, level), (Self::Required, Level::One))
    }
}

/// Operator's current rules for second factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactorRules {
    /// Policy for second factors.
    pub policy: SecondFactorPolicy,
    /// Relying party id for which passkeys must be registered to be usable; `None` if the host of the service cannot
    /// have passkeys.
    pub rp_id: Option<RpId>,
}

/// Facts about an account that determine which kinds of answers its challenges accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ChallengeFacts {
    /// True if two-step sign-in is on.
    pub has_two_step: bool,
    /// True if the account has a passkey registered for the relying party id of the service.
    pub has_passkey: bool,
    /// True if the account has a confirmed TOTP factor.
    pub has_totp: bool,
    /// True if the account has an unused recovery code.
    pub has_recovery_code: bool,
    /// True if the account has a password.
    pub has_password: bool,
    /// True if the account's email address is verified.
    pub email_verified: bool,
    /// True if the account is in deletion.
    pub is_in_deletion: bool,
    /// Level reached by the factors of a sign-in so far; one for other purposes.
    pub level: Level,
}

/// True if a sign-in with the right first factor leads to a challenge for a second factor instead of a session. A
/// sign-in of level 2 is not asked for further factors.
#[must_use]
pub const fn is_challenged(level: Level, has_two_step: bool, policy: SecondFactorPolicy) -> bool {
    matches!(level, Level::One) && (has_two_step || matches!(policy, SecondFactorPolicy::Required))
}

/// True if a sign-in to the console with the right first factor leads to a challenge. A second factor of the account is
/// always asked for. `enrols` is true if the account must have one, and may enrol it now.
#[must_use]
pub const fn is_challenged_in_console(level: Level, has_factor: bool, enrols: bool) -> bool {
    matches!(level, Level::One) && (has_factor || enrols)
}

impl ChallengeFacts {
    /// Returns the kinds of answers that a challenge of this side accepts, strongest first.
    #[must_use]
    pub fn kinds_for(
        &self,
        side: OpenedFor,
        purpose: ChallengePurpose,
        policy: SecondFactorPolicy,
    ) -> Vec<ChallengeKind> {
        match side {
            OpenedFor::App(_) | OpenedFor::Pages => self.kinds(purpose, policy),
            OpenedFor::Console | OpenedFor::Activation => self.console_kinds(side, purpose),
        }
    }

    /// Returns the kinds for the console: every second factor of the account, whatever the policy for users says. The
    /// password is accepted for a reauthentication of an account without second factor. Only the activation of a grant
    /// enrols a factor, and mail never answers.
    fn console_kinds(self, side: OpenedFor, purpose: ChallengePurpose) -> Vec<ChallengeKind> {
        let has_factor = self.has_two_step || self.has_passkey;
        let is_offered = |kind: &ChallengeKind| match kind {
            ChallengeKind::Passkey => self.has_passkey,
            ChallengeKind::Totp => self.has_two_step && self.has_totp,
            ChallengeKind::RecoveryCode => self.has_two_step && self.has_recovery_code,
            ChallengeKind::Password => {
                purpose == ChallengePurpose::Reauthenticate && !has_factor && self.has_password
            }
            ChallengeKind::Enroll => {
                purpose == ChallengePurpose::SignIn && side == OpenedFor::Activation && !has_factor
            }
            ChallengeKind::EmailCode | ChallengeKind::Restore => false,
        };
        ChallengeKind::ALL.iter().copied().filter(is_offered).collect()
    }

    /// Returns the kinds of answers that a challenge of an app or of the pages accepts, strongest first.
    #[must_use]
    pub fn kinds(&self, purpose: ChallengePurpose, policy: SecondFactorPolicy) -> Vec<ChallengeKind> {
        let is_required = matches!(policy, SecondFactorPolicy::Required);
        if purpose == ChallengePurpose::SignIn && self.is_in_deletion && !self.lacks_factor(policy) {
            return vec![ChallengeKind::Restore];
        }
        let is_offered = |kind: &ChallengeKind| match kind {
            ChallengeKind::Passkey => {
                let is_asked =
                    self.has_two_step || is_required || purpose == ChallengePurpose::Reauthenticate;
                is_asked && self.has_passkey
            }
            ChallengeKind::Totp => self.has_two_step && self.has_totp,
            ChallengeKind::RecoveryCode => self.has_two_step && self.has_recovery_code,
            ChallengeKind::Password => {
                purpose == ChallengePurpose::Reauthenticate && !self.has_two_step && self.has_password
            }
            ChallengeKind::EmailCode => {
                purpose == ChallengePurpose::Reauthenticate
                    && !self.has_two_step
                    && !self.has_password
                    && self.email_verified
            }
            ChallengeKind::Enroll => {
                purpose == ChallengePurpose::SignIn && is_required && !self.has_two_step && !self.has_passkey
            }
            ChallengeKind::Restore => false,
        };
        ChallengeKind::ALL.iter().copied().filter(is_offered).collect()
    }

    /// True if the sign-in lacks a factor of the account that must be shown now. A factor that must still be enrolled
    /// does not count: it is asked for after the restoral, because an account in deletion cannot enrol one.
    const fn lacks_factor(self, policy: SecondFactorPolicy) -> bool {
        let has_factor = self.has_two_step || self.has_passkey;
        has_factor && is_challenged(self.level, self.has_two_step, policy)
    }
}

secret_of_256_bits!(
    /// Id of a challenge. It is a bearer secret that permits an answer, so only its hash is stored.
    ChallengeId
);

impl Shaped for ChallengeId {
    const SENT: Shape = Shape {
        pattern: Some("^[A-Za-z0-9_-]{43}$"),
        ..Shape::new("The id of the challenge.", "Y2hhbGxlbmdlIG9mIDI1NiByYW5kb20gYml0cy4uLi4")
    };
}

#[cfg(test)]
mod tests;
