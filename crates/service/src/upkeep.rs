//! Periodic maintenance: deletes expired rows, rotates the signing key, and writes the audit events of
//! requests that rate limits refused. Deletion and rotation pause after a jump of the system clock, because
//! they cannot be undone.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::clock_watch::{ClockVerdict, ClockWatch, PROBATION};
use latchkey_domain::operator::Party;
use latchkey_domain::time::Timestamp;
use latchkey_settings::settings;
use latchkey_store::{DueDeletion, FinishedDeletion};

use crate::error::Result;
use crate::kernel::Kernel;
use crate::sessions::Sessions;

/// Maximum rounds of deletion in one call of `purge`, so that the call ends.
const ROUNDS: u32 = 100;

settings! {
    /// The retention of pending accounts and of audit events.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The longest time from the last sign-up for an address until it is verified. Then the pending account is
        /// deleted, and the address is free again. For the same time the password of a sign-up for a taken address is
        /// stored (as a hash), so that a sign-in with it gets the same response as for a free address.
        "auth.pending_ttl" => pending: Duration = "30d";
        /// The retention of audit events. Failures without an account (wrong passwords for unknown addresses, refused
        /// admin keys) are deleted after 30 days.
        "audit.retention" => audit_event: Duration = "400d";
    }
}

/// Part of what is deleted in each round.
#[derive(Clone, Copy)]
enum Part {
    Rows,
    Events,
    SignUps,
    Accounts,
}

pub struct Upkeep {
    kernel: Arc<Kernel>,
    sessions: Arc<Sessions>,
    lifetimes: Lifetimes,
    clock_watch: Mutex<ClockWatch>,
}

impl Upkeep {
    pub(crate) fn new(kernel: Arc<Kernel>, sessions: Arc<Sessions>, lifetimes: Lifetimes) -> Self {
        let clock_watch = Mutex::new(ClockWatch::new(kernel.now(), kernel.clock.steady()));
        Self { kernel, sessions, lifetimes, clock_watch }
    }

    /// Writes the audit events of requests that rate limits refused. Until then these are collected in
    /// memory.
    pub async fn record_refusals(&self) -> Result<()> {
        self.kernel.record_refusals().await
    }

    /// Renews the statistics if they are about a minute old.
    pub async fn count_statistics_if_due(&self) -> Result<()> {
        self.kernel.count_statistics_if_due().await
    }

    /// Rotates the signing key if it is older than the rotation interval, unless the clock jumped recently. Returns
    /// `true` if this call replaced the key.
    pub async fn rotate_signing_key_if_due(&self) -> Result<bool> {
        let Some(due_at) = self.sessions.rotation_due_at()? else { return Ok(false) };
        if self.trusted_now().is_none_or(|now| now < due_at) {
            return Ok(false);
        }
        self.sessions.rotate_signing_key(Party::System, None).await
    }

    /// Deletes expired rows in rounds; returns the number of rows. A part that fails holds up no other, and its error is
    /// returned at the end. After a jump of the system clock nothing is deleted during [`PROBATION`].
    pub async fn purge(&self) -> Result<u64> {
        let (mut deleted, mut failure) = (0, None);
        let mut parts = vec![Part::Rows, Part::Events, Part::SignUps, Part::Accounts];
        for _ in 0..ROUNDS {
            // Each round checks the clock again, because it can jump between two rounds.
            let Some(now) = self.trusted_now() else { return failure.map_or(Ok(deleted), Err) };
            let (before, mut going_on) = (deleted, Vec::new());
            for part in parts {
                match self.purge_part(part, now).await {
                    Ok(rows) => {
                        deleted += rows;
                        going_on.push(part);
                    }
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            if deleted == before {
                break;
            }
            parts = going_on;
        }
        self.kernel.limits.sweep(self.kernel.now());
        failure.map_or(Ok(deleted), Err)
    }

    async fn purge_part(&self, part: Part, now: Timestamp) -> Result<u64> {
        let Self { kernel, lifetimes, .. } = self;
        Ok(match part {
            Part::Rows => kernel.store.purge(now).await?,
            Part::Events => kernel.store.purge_events(lifetimes.audit_event, now).await?,
            Part::SignUps => kernel.store.purge_sign_ups(now.minus(lifetimes.pending)).await?,
            Part::Accounts => self.finish_deletions(now).await?,
        })
    }

    /// Deletes accounts for good whose grace period is over, unless their owners restored them. Returns their number.
    async fn finish_deletions(&self, now: Timestamp) -> Result<u64> {
        let due = self.kernel.store.list_due_deletions(now).await?;
        if due.is_empty() {
            return Ok(0);
        }
        let finished = |DueDeletion { user_id, locale }| {
            let event = self.kernel.event(AuditKind::UserDeleted, Actor::System, None, now);
            let mail = self.kernel.notification_of_deletion(None, locale, now)?;
            Ok(FinishedDeletion { user_id, event, mail })
        };
        let due = due.into_iter().map(finished).collect::<Result<_>>()?;
        let deleted = self.kernel.store.finish_deletions(due, now).await?;
        self.kernel.mails.wake();
        Ok(deleted)
    }

    /// Returns the current time, for changes that cannot be undone; `None` during [`PROBATION`] after a jump of the
    /// clock.
    fn trusted_now(&self) -> Option<Timestamp> {
        let (now, steady) = (self.kernel.now(), self.kernel.clock.steady());
        let verdict = self.clock_watch.lock().unwrap_or_else(PoisonError::into_inner).sample(now, steady);
        match verdict {
            ClockVerdict::Jumped { by_ms } => tracing::warn!(
                seconds = by_ms / 1000,
                wait_minutes = PROBATION.as_secs() / 60,
                "the system clock jumped: nothing is deleted and no key rotated until it has been steady; check the \
                 time service (NTP) of this machine"
            ),
            ClockVerdict::Trusted => {
                tracing::info!("the system clock has been steady again: upkeep resumes");
            }
            ClockVerdict::Steady | ClockVerdict::OnProbation => {}
        }
        verdict.is_trusted().then_some(now)
    }
}
