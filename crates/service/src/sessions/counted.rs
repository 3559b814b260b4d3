//! Counting of the ways in, for the metrics.

use latchkey_domain::time::Timestamp;

use super::{Entrance, Opened};
use crate::error::Result;
use crate::metrics::{EntranceOutcome, Method, Metrics};

impl Metrics {
    /// Counts a sign-in that began at `now`, and returns its result. If it created the account, it counts as a sign-up.
    pub(crate) fn sign_in(
        &self,
        method: Method,
        now: Timestamp,
        result: Result<Entrance>,
    ) -> Result<Entrance> {
        let outcome = result.as_ref().map_or_else(EntranceOutcome::of_error, EntranceOutcome::of);
        let brings_accounts = !matches!(method, Method::Password | Method::Passkey);
        self.entrance(method, brings_accounts && is_newcomer(&result, now), outcome);
        result
    }
}

impl EntranceOutcome {
    pub(crate) const fn of(entrance: &Entrance) -> Self {
        match entrance {
            Entrance::SignedIn(_) => Self::Opened,
            Entrance::Challenged(_) => Self::Challenged,
        }
    }
}

/// True if a sign-in at `now` created the account.
fn is_newcomer(result: &Result<Entrance>, now: Timestamp) -> bool {
    let user = match result {
        Ok(Entrance::SignedIn(Opened::App(opened))) => &opened.user,
        Ok(Entrance::SignedIn(Opened::Pages(opened))) => &opened.user,
        _ => return false,
    };
    user.created_at == now
}
