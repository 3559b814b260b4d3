//! Challenges: requests for a second factor after the first one, or for a reauthentication. Contains the rules of
//! `POST /api/auth/challenges/answer`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::passkey::RpId;
use crate::session::{AuthMethod, AuthMethods, Level};
use crate::shape::{Shape, Shaped};
use crate::tokens::TokenHash;
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

impl ChallengeFacts {
    /// Returns the kinds of answers that a challenge accepts, strongest first.
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

/// Id of a challenge: 256 random bits, 43 characters of base64url. It is a bearer secret that permits an answer, so
/// only its hash is stored.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct ChallengeId([u8; 32]);

impl Shaped for ChallengeId {
    const SENT: Shape = Shape {
        pattern: Some("^[A-Za-z0-9_-]{43}$"),
        ..Shape::new("The id of the challenge.", "Y2hhbGxlbmdlIG9mIDI1NiByYW5kb20gYml0cy4uLi4")
    };
}

impl ChallengeId {
    /// Creates an id from injected randomness.
    #[must_use]
    pub const fn new(random: [u8; 32]) -> Self {
        Self(random)
    }

    /// Parses 43 characters of base64url; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let id = <[u8; 32]>::try_from(bytes.as_slice()).ok().map(Self);
        bytes.zeroize();
        id
    }

    /// Returns the plain id, for a response.
    #[must_use]
    pub fn expose(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Returns the hash to be stored.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use ChallengePurpose::{Reauthenticate, Reset, SignIn, Undo};
    use SecondFactorPolicy::{Off, Optional, Required};

    const PLAIN: ChallengeFacts = ChallengeFacts {
        has_two_step: false,
        has_passkey: false,
        has_totp: false,
        has_recovery_code: false,
        has_password: true,
        email_verified: true,
        is_in_deletion: false,
        level: Level::One,
    };
    const TWO_STEP: ChallengeFacts =
        ChallengeFacts { has_two_step: true, has_totp: true, has_recovery_code: true, ..PLAIN };

    #[test]
    fn two_step_is_asked_for_second_factors_alone_at_every_purpose_and_policy() {
        for purpose in [SignIn, Reauthenticate, Reset, Undo] {
            for policy in [Off, Optional, Required] {
                let kinds = TWO_STEP.kinds(purpose, policy);
                assert_eq!(
                    kinds,
                    [ChallengeKind::Totp, ChallengeKind::RecoveryCode],
                    "{purpose:?} {policy:?}"
                );
            }
        }
    }

    #[test]
    fn an_account_without_two_step_enrols_only_where_it_is_required() {
        assert_eq!(PLAIN.kinds(SignIn, Required), [ChallengeKind::Enroll]);
        assert!(PLAIN.kinds(SignIn, Optional).is_empty());
        assert!(
            is_challenged(Level::One, false, Required)
                && is_challenged(Level::One, true, Off)
                && !is_challenged(Level::One, false, Optional)
        );
    }

    #[test]
    fn required_second_factors_permit_sessions_of_level_two_alone() {
        for policy in [Off, Optional] {
            assert!(policy.permits(Level::One) && policy.permits(Level::Two));
        }
        assert!(Required.permits(Level::Two) && !Required.permits(Level::One));
    }

    #[test]
    fn a_sign_in_of_level_2_is_never_challenged() {
        for policy in [Off, Optional, Required] {
            assert!(!is_challenged(Level::Two, true, policy) && !is_challenged(Level::Two, false, policy));
        }
    }

    #[test]
    fn a_passkey_is_the_strongest_answer_and_asked_for_where_two_step_is_on_or_required() {
        let with_passkey = ChallengeFacts { has_passkey: true, ..TWO_STEP };
        let all = [ChallengeKind::Passkey, ChallengeKind::Totp, ChallengeKind::RecoveryCode];
        for purpose in [SignIn, Reauthenticate, Reset, Undo] {
            assert_eq!(with_passkey.kinds(purpose, Optional), all, "{purpose:?}");
        }
        let without_two_step = ChallengeFacts { has_passkey: true, ..PLAIN };
        for purpose in [SignIn, Reset, Undo] {
            assert!(without_two_step.kinds(purpose, Optional).is_empty(), "{purpose:?}");
            assert_eq!(without_two_step.kinds(purpose, Required), [ChallengeKind::Passkey], "{purpose:?}");
        }
        let step_up = [ChallengeKind::Passkey, ChallengeKind::Password];
        assert_eq!(without_two_step.kinds(Reauthenticate, Optional), step_up);
    }

    #[test]
    fn reauthentication_without_two_step_asks_for_the_password_or_a_mailed_code() {
        assert_eq!(PLAIN.kinds(Reauthenticate, Optional), [ChallengeKind::Password]);
        let passwordless = ChallengeFacts { has_password: false, ..PLAIN };
        assert_eq!(passwordless.kinds(Reauthenticate, Optional), [ChallengeKind::EmailCode]);
        let unverified = ChallengeFacts { email_verified: false, ..passwordless };
        assert!(unverified.kinds(Reauthenticate, Optional).is_empty());
    }

    #[test]
    fn an_account_in_deletion_is_restored_after_all_its_factors() {
        let plain = ChallengeFacts { is_in_deletion: true, ..PLAIN };
        for policy in [Off, Optional, Required] {
            assert_eq!(plain.kinds(SignIn, policy), [ChallengeKind::Restore], "{policy:?}");
            let one = ChallengeFacts { is_in_deletion: true, ..TWO_STEP };
            assert_eq!(one.kinds(SignIn, policy), [ChallengeKind::Totp, ChallengeKind::RecoveryCode]);
            let lost = ChallengeFacts { has_totp: false, has_recovery_code: false, ..one };
            assert!(lost.kinds(SignIn, policy).is_empty(), "{policy:?}");
            let two = ChallengeFacts { level: Level::Two, ..one };
            assert_eq!(two.kinds(SignIn, policy), [ChallengeKind::Restore], "{policy:?}");
            assert_eq!(one.kinds(Reset, policy), [ChallengeKind::Totp, ChallengeKind::RecoveryCode]);
        }
        let with_passkey = ChallengeFacts { has_passkey: true, ..plain };
        assert_eq!(with_passkey.kinds(SignIn, Required), [ChallengeKind::Passkey]);
        assert_eq!(with_passkey.kinds(SignIn, Optional), [ChallengeKind::Restore]);
    }

    #[test]
    fn a_restoral_shows_no_factor() {
        let shown = AuthMethods::of(AuthMethod::Password).with(AuthMethod::OneTimeCode);
        let shown = shown.with(AuthMethod::MultiFactor);
        let (methods, level) = ChallengeKind::Restore.raise(None, shown.clone(), shown.level());
        assert_eq!((methods, level), (shown, Level::Two));
    }

    #[test]
    fn a_second_factor_raises_the_level_and_a_password_does_not() {
        let raise = |kind: ChallengeKind, first| kind.raise(None, AuthMethods::of(first), Level::One);
        let (methods, level) = raise(ChallengeKind::Totp, AuthMethod::Password);
        assert_eq!((methods.to_stored().as_str(), level), ("pwd otp mfa", Level::Two));
        let (methods, level) = raise(ChallengeKind::RecoveryCode, AuthMethod::Federated);
        assert_eq!((methods.to_stored().as_str(), level), ("fed rcv mfa", Level::Two));
        let (methods, level) = raise(ChallengeKind::Totp, AuthMethod::OneTimeCode);
        assert_eq!((methods.to_stored().as_str(), level), ("otp mfa", Level::Two));
        let (methods, level) = raise(ChallengeKind::Password, AuthMethod::Federated);
        assert_eq!((methods.to_stored().as_str(), level), ("fed pwd", Level::One));
        let synced = Some(AuthMethod::of_passkey(true));
        let first = AuthMethods::of(AuthMethod::Password);
        let (methods, level) = ChallengeKind::Passkey.raise(synced, first, Level::One);
        assert_eq!((methods.to_stored().as_str(), level), ("pwd swk mfa", Level::Two));
    }

    #[test]
    fn an_id_is_43_characters_and_reads_back() {
        let id = ChallengeId::new([7; 32]);
        assert_eq!(id.expose().len(), 43);
        assert_eq!(ChallengeId::parse(&id.expose()).unwrap().hash(), id.hash());
        for text in ["", "abc", &"A".repeat(42), &"A".repeat(44), &"=".repeat(43)] {
            assert!(ChallengeId::parse(text).is_none(), "{text:?}");
        }
    }
}
