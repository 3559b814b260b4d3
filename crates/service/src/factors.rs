//! Second factors: TOTP, recovery codes and two-step sign-in. This file has the rate limits, the lifetimes
//! and the keys derived from the server secret; the use cases are in the modules below. Challenges, which ask
//! for a second factor, are in [`crate::challenges`].

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use latchkey_domain::account_limits::SecondFactorLimits;
use latchkey_domain::challenge::{ChallengeKind, SecondFactorPolicy};
use latchkey_domain::client::{Client, OpenedFor};
use latchkey_domain::codes::{CodeMac, SixDigitCode};
use latchkey_domain::email_change::{EmailChange, EmailChangeId};
use latchkey_domain::factors::{FactorId, Factors as OwnFactors, TotpFactor, TotpStep};
use latchkey_domain::guess_limits::{self, SecondFactorGuard};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{LimitKey, Rate, Take};
use latchkey_domain::locale::Locale;
use latchkey_domain::long_code::LongCode;
use latchkey_domain::session::Level;
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_settings::{Kind, settings};
use latchkey_store::SealedTotp;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::passwords::Passwords;
use crate::refusal::FEATURE_DISABLED;
use crate::secrets::{CannotDerive, KeyUse, SealingKey, ServerSecret};
use crate::sessions::{Opened, Sessions};

mod enroller;
mod enrolment;
mod own;
mod recovery_codes;
mod reset;
mod totp;

pub use enroller::FactorEnroller;
pub(crate) use enroller::gone;
pub use latchkey_store::AccountFactors;
pub(crate) use own::changed;
use totp::TotpSecret;
pub(crate) use totp::bound_to as totp_binding;

settings! {
    /// The rate limits of second factors.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// Limits of wrong second factors (TOTP and recovery codes together): of one account from one client address;
        /// of one account from all addresses; and of one account in a row, without a success in between. Above the
        /// latter two, only addresses from which the account signed in during the last
        /// limits.sign_in_known_address_age may try.
        "limits.second_factor_per_account_and_address" => pair: Rate = "10/1h";
        "limits.second_factor_per_account" => account: Rate = "30/24h";
        "limits.second_factor_in_a_row" => in_a_row: u32 [1..=1_000_000] = 100;
        /// The limit on reauthentications that one session begins.
        "limits.reauthentication_per_session" => reauthentication: Rate = "20/15m";
    }
}

settings! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The lifetime of the undo link in the mail that two-step sign-in was turned on, or that a passkey was added while
        /// it is off. "0s": no link.
        "auth.undo_factor_ttl" => undo: Duration [Kind::DurationOrZero] = "72h";
    }
}

/// The use cases of second factors: enrol, list, rename and remove them, and turn two-step sign-in on or off.
pub struct Factors {
    kernel: Arc<Kernel>,
    sessions: Arc<Sessions>,
    passwords: Arc<Passwords>,
    limits: Limits,
    lifetimes: Lifetimes,
    /// The key that seals the secrets of TOTP factors.
    totp_key: SealingKey,
    /// The HMAC key of recovery codes.
    codes_key: hmac::Key,
}

impl Factors {
    /// Decrypts the secret of a TOTP factor for an export, in Base32.
    pub(crate) fn reveal(&self, user: UserId, factor: FactorId, sealed: &[u8]) -> Result<String> {
        let secret = TotpSecret::open(&self.totp_key, (user, factor), sealed);
        Ok(secret.map_err(Error::internal)?.to_base32())
    }
}

/// A TOTP factor whose enrolment has begun. Its first correct code confirms it; until then it is not asked for at
/// sign-in.
pub struct BegunTotp {
    pub factor_id: FactorId,
    /// The TOTP secret in Base32 without padding.
    pub secret: String,
    /// The `otpauth` URI with the TOTP secret, for authenticator apps.
    pub uri: String,
    /// Time at which the factor is deleted unless it was confirmed before.
    pub expires_at: Timestamp,
}

/// Outcome of turning two-step sign-in on: all sessions were ended, and a new one was opened for the caller.
pub struct TwoStepOn {
    pub opened: Opened,
    pub recovery_codes: Vec<LongCode>,
}

/// Outcome of confirming a TOTP factor with its first correct code.
pub enum ConfirmedTotp {
    /// The factor was added and turned two-step sign-in on.
    TurnedOn(TwoStepOn, TotpFactor),
    /// The factor was added. Two-step sign-in was already on before.
    Added(TotpFactor),
}

/// Outcome of a request to turn two-step sign-in on or off.
pub enum TwoStepSet {
    TurnedOn(TwoStepOn),
    TurnedOff,
    /// Two-step sign-in already had the requested state. Nothing changed.
    Unchanged,
}

/// The account of a signed-in user with its second factors, and the authentication level and times of the
/// presented access token.
pub struct Account {
    pub user: User,
    pub factors: OwnFactors,
    /// Authentication level of the access token.
    pub level: Level,
    /// Time of the sign-in or reauthentication for which the access token was issued.
    pub auth_time: Timestamp,
    /// Time until which the token permits changes that need a recent sign-in; `None` if the account has two-step
    /// sign-in on and no second factor was shown for the token.
    pub fresh_until: Option<Timestamp>,
    /// Kinds of answers that a reauthentication accepts, strongest first.
    pub reauthenticate_with: Vec<ChallengeKind>,
    /// Change of address that is not completed; `None` if there is none.
    pub email_change: Option<EmailChange>,
    /// Id of the change, if the presented session began it and may confirm it.
    pub own_change: Option<EmailChangeId>,
    /// Language of the account's mails; `None` uses the language of the request that causes a mail.
    pub locale: Option<Locale>,
}

impl Factors {
    pub(crate) fn new(
        kernel: Arc<Kernel>,
        sessions: Arc<Sessions>,
        passwords: Arc<Passwords>,
        secret: &ServerSecret,
        limits: Limits,
        lifetimes: Lifetimes,
    ) -> Result<Self, CannotDerive> {
        let (totp_key, codes_key) =
            (secret.sealing_key(KeyUse::TotpSecrets)?, secret.hmac_key(KeyUse::RecoveryCodes)?);
        Ok(Self { kernel, sessions, passwords, limits, lifetimes, totp_key, codes_key })
    }

    /// Returns the limits on wrong second factors of an account: from this client, and from all clients. `None` if rate
    /// limits are switched off.
    pub(crate) fn guard(&self, user: &User, client: &Client) -> Option<SecondFactorGuard> {
        if !self.kernel.limits.is_enabled() {
            return None;
        }
        let (id, network) = (user.id.to_string(), client.address.network_text());
        let SecondFactorLimits { account, account_rate, pair_rate, in_a_row, most_in_a_row } =
            self.account_limits(user.id);
        Some(SecondFactorGuard {
            pair: LimitKey::new("second factor pair", &[&id, &network]),
            pair_rate,
            account,
            account_rate,
            in_a_row,
            most_in_a_row,
            known_client: guess_limits::known_client(user.email.key(), client.address),
        })
    }

    /// Returns the limits on wrong second factors of an account.
    pub(crate) fn account_limits(&self, user_id: UserId) -> SecondFactorLimits {
        let id = user_id.to_string();
        SecondFactorLimits {
            account: LimitKey::new("second factor account", &[&id]),
            account_rate: self.limits.account,
            pair_rate: self.limits.pair,
            in_a_row: LimitKey::new("second factor in a row", &[&id]),
            most_in_a_row: self.limits.in_a_row,
        }
    }

    /// Returns a request for one token from the token bucket that limits the reauthentications of a session;
    /// empty if rate limits are switched off.
    pub(crate) fn reauthentication_takes(&self, session: SessionId) -> Vec<Take> {
        if !self.kernel.limits.is_enabled() {
            return Vec::new();
        }
        let limit = "reauthentication, per session";
        let key = LimitKey::new(limit, &[&session.to_string()]);
        vec![Take { key, rate: self.limits.reauthentication, limit }]
    }

    /// Seals the secret of a TOTP factor from elsewhere; `None` if its length is none of
    /// [`TOTP_SECRET`](latchkey_domain::imports::TOTP_SECRET).
    pub(crate) fn seal_totp(&self, secret: &[u8], of: (UserId, FactorId)) -> Option<Vec<u8>> {
        TotpSecret::of_bytes(secret)?.seal(&self.totp_key, &*self.kernel.entropy, of).ok()
    }

    /// Returns the factor that a TOTP code matches, with the code's time step; `None` if the code matches none of the
    /// given factors at `now`.
    pub(crate) fn match_totp(
        &self,
        user: UserId,
        factors: &[SealedTotp],
        code: &SixDigitCode,
        now: Timestamp,
    ) -> Result<Option<(FactorId, TotpStep)>> {
        let mut matched = None;
        for SealedTotp { id, secret } in factors {
            let secret = TotpSecret::open(&self.totp_key, (user, *id), secret).map_err(Error::internal)?;
            matched = matched.or(secret.step_of(code, now).map(|step| (*id, step)));
        }
        Ok(matched)
    }

    /// Computes the MAC of a recovery code, which is its stored form.
    pub(crate) fn recovery_code_mac(&self, user: UserId, code: &LongCode) -> CodeMac {
        recovery_codes::mac(&self.codes_key, user, code)
    }

    /// Returns the methods of sign-in that the service offers.
    pub(crate) fn sign_in_offer(&self) -> SignInOffer {
        self.sessions.sign_in_offer()
    }

    /// Returns the time for which a client is known to an account after a sign-in; `None` if rate limits are off.
    pub(crate) fn known_client_age(&self) -> Option<Duration> {
        self.sessions.known_client_age()
    }

    /// Checks that a factor may be enrolled on this side. The policy for users does not concern the activation of a grant.
    fn check_permitted(&self, opened_for: Option<OpenedFor>) -> Result<()> {
        match opened_for {
            Some(OpenedFor::Activation) => Ok(()),
            Some(OpenedFor::App(_) | OpenedFor::Pages | OpenedFor::Console) | None => self.check_enabled(),
        }
    }

    /// Checks that the operator permits users to enrol second factors.
    fn check_enabled(&self) -> Result<()> {
        match self.kernel.settings.load().values.second_factor {
            SecondFactorPolicy::Off => Err(Error::Refused(&FEATURE_DISABLED)),
            SecondFactorPolicy::Optional | SecondFactorPolicy::Required => Ok(()),
        }
    }
}
