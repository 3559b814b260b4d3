//! Rate limits per client address or account, as token buckets. Most buckets are rows in the database, which
//! all instances share; those taken by `take_here` are in the memory of this process. The names and rates of the limits are in the modules of the use cases.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::{LimitKey, Limited, Rate, Take};
use latchkey_domain::time::Timestamp;

use crate::error::Result;

/// Number of buckets in memory at which a sweep removes those that are full again. A sweep visits all buckets; the
/// next one starts when their number has doubled.
const SWEEP_AT: usize = 10_000;

pub(crate) struct ClientLimits {
    is_enabled: bool,
    local: Mutex<Buckets>,
}

/// The token buckets of this instance: the time at which each is full again, by limit and network. Addresses are not
/// hashed here, because they never leave the process.
#[derive(Default)]
struct Buckets {
    full_at: HashMap<(&'static str, IpAddr), Timestamp>,
    left_by_sweep: usize,
}

impl ClientLimits {
    pub(crate) fn new(is_enabled: bool) -> Self {
        Self { is_enabled, local: Mutex::default() }
    }

    pub(crate) const fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// Returns a request for one token from the client's bucket in the store; empty if rate limits are off.
    pub(crate) fn by_address(&self, limit: &'static str, rate: Rate, client: &Client) -> Vec<Take> {
        if !self.is_enabled {
            return Vec::new();
        }
        vec![Take { key: LimitKey::new(limit, &[&client.address.network_text()]), rate, limit }]
    }

    /// Returns a request for one token from the account's bucket in the store; empty if rate limits are off.
    pub(crate) fn by_account(&self, limit: &'static str, rate: Rate, user_id: UserId) -> Vec<Take> {
        if !self.is_enabled {
            return Vec::new();
        }
        vec![Take { key: LimitKey::new(limit, &[&user_id.to_string()]), rate, limit }]
    }

    /// Takes a token from the client's bucket in the memory of this process.
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

    /// Returns `true` if the client's bucket in the memory of this process is empty. Takes no token.
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

    /// Removes buckets that are full again; returns their number.
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
