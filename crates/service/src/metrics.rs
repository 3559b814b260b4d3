//! Metrics of the use cases: who got in by which method, refreshes, challenges, mails, and calls of providers. The
//! gauges of the whole service come from the statistics, which upkeep counts every minute.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::statistics::Counts;
use latchkey_domain::words;
use latchkey_domain::words::Word;
use latchkey_metrics::{About, Counter, Family, Named, Page};
use latchkey_oauth::ProviderError;
use latchkey_store::MailFate;
use tracing::Instrument;

use crate::error::{Error, Result};

const SIGN_UPS: About = About { name: "sign_ups", help: "Sign-ups by method and outcome." };
const SIGN_INS: About = About {
    name: "sign_ins",
    help: "Sign-ins by method and outcome of the first factor. The session that a sign-up opens is no sign-in.",
};
const REFRESHES: About = About { name: "refreshes", help: "Refreshes of sessions by outcome." };
const CHALLENGES: About = About { name: "challenges", help: "Answers to challenges by kind and outcome." };
const MAILS: About = About { name: "mails", help: "Attempts to send a mail by template and outcome." };
const BACKUPS: About = About { name: "backups", help: "Backups of the schedule by outcome." };
const PROVIDERS: About = About {
    name: "provider_requests",
    help: "Steps of a sign-in at an identity provider by outcome; documents may come from the cache.",
};

/// Maximum number of providers with series of their own.
const MOST_PROVIDERS: usize = 64;

words! {
    /// Way in to an account.
    pub(crate) enum Method {
        Password = "password",
        MailCode = "mail_code",
        MailLink = "mail_link",
        /// A provider, by redirect.
        Provider = "provider",
        /// A provider, by the `id_token` of a native app.
        IdToken = "id_token",
        Passkey = "passkey",
    }
}

words! {
    /// Outcome of a sign-up or sign-in.
    pub(crate) enum EntranceOutcome {
        /// A session was opened.
        Opened = "opened",
        /// A challenge asks for a second factor.
        Challenged = "challenged",
        /// The sign-up waits for the verification of its address.
        Pending = "pending",
        Refused = "refused",
        /// A rate or guess limit refused it.
        Limited = "limited",
        /// The service failed, or was too busy.
        Failed = "failed",
    }
}

words! {
    /// Outcome of a call.
    pub(crate) enum Outcome {
        Succeeded = "succeeded",
        Refused = "refused",
        /// A rate or guess limit refused it.
        Limited = "limited",
        /// The service failed, or was too busy.
        Failed = "failed",
    }
}

words! {
    /// Outcome of an attempt to send a mail.
    enum MailOutcome {
        Sent = "sent",
        Retried = "retried",
        Dead = "dead",
    }
}

words! {
    /// Outcome of a step at a provider.
    enum ProviderOutcome {
        Answered = "answered",
        /// The provider refused the user's code, or the token was invalid. Clients can cause it.
        Refused = "refused",
        /// The provider is down, answers against its documentation, or is configured wrongly.
        Failed = "failed",
    }
}

words! {
    /// Outcome of a backup that the service makes itself.
    pub enum BackupOutcome {
        Made = "made",
        Failed = "failed",
    }
}

/// The metrics that use cases record.
pub(crate) struct Metrics {
    sign_ups: Family<(Method, EntranceOutcome), Counter>,
    sign_ins: Family<(Method, EntranceOutcome), Counter>,
    refreshes: Family<(Outcome,), Counter>,
    challenges: Family<(ChallengeKind, Outcome), Counter>,
    mails: Family<(MailKind, MailOutcome), Counter>,
    providers: Named,
    backups: Family<(BackupOutcome,), Counter>,
    /// The newest statistics that this instance read; `None` before upkeep ran.
    counts: ArcSwapOption<Counts>,
}

impl Default for Metrics {
    fn default() -> Self {
        let by = |about, labels| Family::of_pairs(about, labels, Counter::default);
        Self {
            sign_ups: by(SIGN_UPS, ["method", "outcome"]),
            sign_ins: by(SIGN_INS, ["method", "outcome"]),
            refreshes: Family::of_words(REFRESHES, "outcome", Counter::default),
            challenges: Family::of_pairs(CHALLENGES, ["kind", "outcome"], Counter::default),
            mails: Family::of_pairs(MAILS, ["template", "outcome"], Counter::default),
            providers: Named::with_outcome::<ProviderOutcome>(PROVIDERS, "provider", MOST_PROVIDERS),
            backups: Family::of_words(BACKUPS, "outcome", Counter::default),
            counts: ArcSwapOption::empty(),
        }
    }
}

impl Metrics {
    /// Counts a sign-up by password, and returns its result.
    pub(crate) fn sign_up<T>(
        &self,
        outcome: impl FnOnce(&T) -> EntranceOutcome,
        result: Result<T>,
    ) -> Result<T> {
        let outcome = result.as_ref().map_or_else(EntranceOutcome::of_error, outcome);
        self.sign_ups.of((Method::Password, outcome)).count();
        result
    }

    /// Counts a way in by its outcome: as a sign-up if it created the account, else as a sign-in.
    pub(crate) fn entrance(&self, method: Method, is_sign_up: bool, outcome: EntranceOutcome) {
        let family = if is_sign_up { &self.sign_ups } else { &self.sign_ins };
        family.of((method, outcome)).count();
    }

    /// Counts a refresh, and returns its result.
    pub(crate) fn refresh<T>(&self, result: Result<T>) -> Result<T> {
        self.refreshes.of((Outcome::of_result(&result),)).count();
        result
    }

    /// Counts an answer to a challenge, and returns the result.
    pub(crate) fn challenge<T>(&self, kind: ChallengeKind, result: Result<T>) -> Result<T> {
        self.challenges.of((kind, Outcome::of_result(&result))).count();
        result
    }

    /// Counts an attempt to send a mail.
    pub(crate) fn mail(&self, kind: MailKind, fate: &MailFate) {
        let outcome = match fate {
            MailFate::Sent => MailOutcome::Sent,
            MailFate::RetryAt { .. } => MailOutcome::Retried,
            MailFate::Dead { .. } => MailOutcome::Dead,
        };
        self.mails.of((kind, outcome)).count();
    }

    /// Makes a step at a provider, counts it, and returns its result. `key` is that of a configured provider.
    pub(crate) async fn provider<T>(
        &self,
        key: &str,
        step: impl Future<Output = Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        let result = step.instrument(tracing::info_span!(target: "traces", "provider", provider = key)).await;
        let outcome = match &result {
            Ok(_) => ProviderOutcome::Answered,
            Err(ProviderError::IdTokenRefused(_) | ProviderError::IssuerMixUp) => ProviderOutcome::Refused,
            Err(ProviderError::Refused { error, .. }) if error == "invalid_grant" => ProviderOutcome::Refused,
            Err(_) => ProviderOutcome::Failed,
        };
        self.providers.count(key, outcome.index());
        result
    }

    /// Counts a backup of the schedule.
    pub(crate) fn backup(&self, outcome: BackupOutcome) {
        self.backups.of((outcome,)).count();
    }

    /// Replaces the statistics of the whole service.
    pub(crate) fn set_counts(&self, counts: Counts) {
        self.counts.store(Some(counts.into()));
    }

    /// Returns the statistics of the whole service; `None` before upkeep ran.
    pub(crate) fn counts(&self) -> Option<Arc<Counts>> {
        self.counts.load_full()
    }

    /// Writes what the use cases recorded.
    pub(crate) fn write(&self, page: &mut Page) {
        for family in [&self.sign_ups, &self.sign_ins] {
            family.write(page);
        }
        self.refreshes.write(page);
        self.challenges.write(page);
        self.mails.write(page);
        self.providers.write(page);
        self.backups.write(page);
    }

    /// Returns the largest number of series of [`Self::write`].
    pub(crate) fn most_series(&self) -> usize {
        self.sign_ups.most_series()
            + self.sign_ins.most_series()
            + self.refreshes.most_series()
            + self.challenges.most_series()
            + self.mails.most_series()
            + self.providers.most_series()
            + self.backups.most_series()
    }
}

impl Outcome {
    fn of_result<T>(result: &Result<T>) -> Self {
        result.as_ref().map_or_else(Self::of, |_| Self::Succeeded)
    }

    fn of(error: &Error) -> Self {
        match error {
            Error::Refused(refusal) | Error::RefusedWith(refusal, _) => match refusal.status {
                429 => Self::Limited,
                500.. => Self::Failed,
                _ => Self::Refused,
            },
            Error::Validation { .. } => Self::Refused,
            Error::StorageUnavailable(_) | Error::Internal(_) => Self::Failed,
        }
    }
}

impl EntranceOutcome {
    pub(crate) fn of_error(error: &Error) -> Self {
        Outcome::of(error).into()
    }
}

impl From<Outcome> for EntranceOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Succeeded => Self::Opened,
            Outcome::Refused => Self::Refused,
            Outcome::Limited => Self::Limited,
            Outcome::Failed => Self::Failed,
        }
    }
}
