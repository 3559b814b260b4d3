//! Rate limits per client: buckets that instances share are counted in the store, coarse limits of reads and refreshes in
//! this process. A room names its limits and their rates.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::limits::{LimitKey, Limited, Rate, Take};
use latchkey_domain::time::Timestamp;

use crate::error::Result;

/// Buckets at which full ones are swept, or twice as many as the last sweep left: a sweep looks at all of them, and must
/// not be the price of every request when many are not full.
const SWEEP_AT: usize = 10_000;

/// The rate limits per client.
pub(crate) struct ClientLimits {
    is_enabled: bool,
    local: Mutex<Buckets>,
}

/// The buckets of this instance, by limit and network. They never leave the process, so no hash stands for the address
/// as in a store: these are taken from at every read.
#[derive(Default)]
struct Buckets {
    full_at: HashMap<(&'static str, IpAddr), Timestamp>,
    left_by_sweep: usize,
}

impl ClientLimits {
    pub(crate) fn new(is_enabled: bool) -> Self {
        Self { is_enabled, local: Mutex::default() }
    }

    /// Limits are enforced.
    pub(crate) const fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// A token of the client's bucket in the store; empty if limits are off.
    pub(crate) fn by_address(&self, limit: &'static str, rate: Rate, client: &Client) -> Vec<Take> {
        if !self.is_enabled {
            return Vec::new();
        }
        vec![Take { key: LimitKey::new(limit, &[&client.address.network_text()]), rate, limit }]
    }

    /// Takes a token of the address's bucket in this process.
    pub(crate) fn take_here(
        &self,
        limit: &'static str,
        rate: Rate,
        address: ClientAddress,
        now: Timestamp,
    ) -> Result<()> {
        if !self.is_enabled {
            return Ok(());
        }
        let mut local = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        if local.full_at.len() >= SWEEP_AT.max(2 * local.left_by_sweep) {
            local.sweep(now);
        }
        let bucket = (limit, address.network());
        let full_at = local.full_at.get(&bucket).copied();
        let after = rate.take(full_at, now).map_err(|retry_after| Limited { limit, retry_after })?;
        local.full_at.insert(bucket, after);
        Ok(())
    }

    /// Looks whether the address's bucket in this process is empty, and takes nothing.
    pub(crate) fn is_used_up_here(
        &self,
        limit: &'static str,
        rate: Rate,
        address: ClientAddress,
        now: Timestamp,
    ) -> bool {
        if !self.is_enabled {
            return false;
        }
        let local = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        let full_at = local.full_at.get(&(limit, address.network())).copied();
        rate.take(full_at, now).is_err()
    }

    /// Drops buckets that are full again; returns how many.
    pub(crate) fn sweep(&self, now: Timestamp) -> usize {
        self.local.lock().unwrap_or_else(PoisonError::into_inner).sweep(now)
    }
}

impl Buckets {
    fn sweep(&mut self, now: Timestamp) -> usize {
        let before = self.full_at.len();
        self.full_at.retain(|_, full_at| *full_at > now);
        self.left_by_sweep = self.full_at.len();
        before - self.left_by_sweep
    }
}
