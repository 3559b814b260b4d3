//! Upkeep: deleting what is past its use. It goes by the time of day, so it waits while that clock has just jumped.

use std::sync::PoisonError;

use latchkey_domain::clock_watch::{ClockVerdict, PROBATION};
use latchkey_domain::time::Timestamp;

use crate::error::Result;
use crate::service::Service;

/// Rounds of deletion in one step, so that a step ends.
const ROUNDS: u32 = 100;

impl Service {
    /// Deletes what is past its use; answers how many rows went. Deletes nothing while the clock is not trusted.
    pub async fn purge(&self) -> Result<u64> {
        let mut deleted = 0;
        for _ in 0..ROUNDS {
            // Each round looks anew: the clock can jump between two of them.
            let Some(now) = self.trusted_now() else { return Ok(deleted) };
            let (retention, stale) =
                (self.config.lifetimes.audit_event, now.minus(self.config.lifetimes.pending));
            let round = self.store.purge(now).await?
                + self.store.purge_events(retention, now).await?
                + self.store.purge_sign_ups(stale).await?;
            deleted += round;
            if round == 0 {
                break;
            }
        }
        self.limits.sweep(self.clock.now());
        Ok(deleted)
    }

    /// The time, for what cannot be taken back; `None` for [`PROBATION`] after the clock jumped.
    pub(crate) fn trusted_now(&self) -> Option<Timestamp> {
        let (now, steady) = (self.clock.now(), self.clock.steady());
        let verdict = self.clock_watch.lock().unwrap_or_else(PoisonError::into_inner).sample(now, steady);
        match verdict {
            ClockVerdict::Jumped { by_ms } => tracing::warn!(
                seconds = by_ms / 1000,
                wait_minutes = PROBATION.as_secs() / 60,
                "the system clock jumped: nothing is deleted and no key rotated until it has been steady; check the \
                 time service (NTP) of this machine"
            ),
            ClockVerdict::Trusted => {
                tracing::info!("the system clock has been steady again: upkeep goes on");
            }
            ClockVerdict::Steady | ClockVerdict::OnProbation => {}
        }
        verdict.is_trusted().then_some(now)
    }
}
