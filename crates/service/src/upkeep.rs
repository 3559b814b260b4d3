//! Upkeep: deleting what is past its use.

use crate::error::Result;
use crate::service::Service;

/// Rounds of deletion in one step, so that a step ends.
const ROUNDS: u32 = 100;

impl Service {
    /// Deletes what is past its use; answers how many rows went.
    pub async fn purge(&self) -> Result<u64> {
        let mut deleted = 0;
        for _ in 0..ROUNDS {
            let round = self.store.purge(self.clock.now()).await?;
            deleted += round;
            if round == 0 {
                break;
            }
        }
        self.limits.sweep(self.clock.now());
        Ok(deleted)
    }
}
