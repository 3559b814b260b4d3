//! Upkeep: deleting what is past its use. It goes by the time of day, so it waits while that clock has just jumped.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use latchkey_domain::audit::Actor;
use latchkey_domain::clock_watch::{ClockVerdict, ClockWatch, PROBATION};
use latchkey_domain::time::Timestamp;
use latchkey_settings::settings;

use crate::error::Result;
use crate::kernel::Kernel;
use crate::sessions::Sessions;

/// Rounds of deletion in one step, so that a step ends.
const ROUNDS: u32 = 100;

settings! {
    /// The retention of rows that are deleted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The longest time from the last sign-up for an address until it is verified. After it the pending account
        /// is removed, and the address is free again. As long, the password of a sign-up for a taken
        /// address is remembered (as a hash), so that a sign-in with it answers as for a free one.
        "auth.pending_ttl" => pending: Duration = "30d";
        /// The retention of audit events. Failures that are about no account (wrong passwords for unknown
        /// addresses, refused admin keys) go after 30 days.
        "audit.retention" => audit_event: Duration = "400d";
    }
}

/// The use cases of upkeep.
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

    /// Writes the refusals by limits that wait for the audit.
    pub async fn record_refusals(&self) -> Result<()> {
        self.kernel.record_refusals().await
    }

    /// Rotates the signing key where it has signed for longer than the configuration says, and the clock is trusted.
    pub async fn rotate_signing_key_if_due(&self) -> Result<bool> {
        let Some(due_at) = self.sessions.rotation_due_at()? else { return Ok(false) };
        if self.trusted_now().is_none_or(|now| now < due_at) {
            return Ok(false);
        }
        self.sessions.rotate_signing_key(Actor::System, None).await
    }

    /// Deletes what is past its use; answers how many rows went. Deletes nothing while the clock is not trusted.
    pub async fn purge(&self) -> Result<u64> {
        let mut deleted = 0;
        for _ in 0..ROUNDS {
            // Each round looks anew: the clock can jump between two of them.
            let Some(now) = self.trusted_now() else { return Ok(deleted) };
            let (retention, stale) = (self.lifetimes.audit_event, now.minus(self.lifetimes.pending));
            let round = self.kernel.store.purge(now).await?
                + self.kernel.store.purge_events(retention, now).await?
                + self.kernel.store.purge_sign_ups(stale).await?;
            deleted += round;
            if round == 0 {
                break;
            }
        }
        self.kernel.limits.sweep(self.kernel.now());
        Ok(deleted)
    }

    /// The time, for what cannot be taken back; `None` for [`PROBATION`] after the clock jumped.
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
