//! Limits of one account: the rules, their stored states, and which of them refuse requests now. Limits of a client
//! address alone, and of a single session, belong to no account and are not here.

use crate::code_window::{CODE_DAY, CODE_WINDOW, Lane, LaneAttempts};
use crate::codes::{CodeBudget, Purpose};
use crate::email::EmailKey;
use crate::guess_limits::{
    ACCOUNT_LIMIT, IN_A_ROW_WINDOW, PAIR_LIMIT, SECOND_FACTOR_ACCOUNT_LIMIT, SECOND_FACTOR_PAIR_LIMIT,
    rest_of_account, rest_of_window,
};
use crate::limits::{FailurePolicy, Failures, LimitKey, Rate, Take};
use crate::time::Timestamp;
use crate::words;

/// Name of the limit on wrong codes of an account and purpose. A code over it is refused like a wrong one.
pub const CODE_LIMIT: &str = "wrong codes, per account";

words! {
    /// Clients that a limit of an account refuses.
    pub enum RefusedClients {
        /// All clients.
        All = "all",
        /// Clients in networks from which the account signed in lately.
        Known = "known",
        /// Clients in all other networks.
        Unknown = "unknown",
        /// Clients in the networks that caused the failures.
        Some = "some",
    }
}

/// A limit that refuses requests for an account now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldLimit {
    /// Name of the limit, as in error messages.
    pub limit: &'static str,
    /// Purpose of the mails or codes that are refused; `None` if the limit has none.
    pub purpose: Option<Purpose>,
    /// Clients that are refused.
    pub clients: RefusedClients,
    /// Time from which requests are accepted again; `None` if the limit holds until a success, or until it is lifted.
    pub until: Option<Timestamp>,
    /// True if the next mail has a code that the limit does not refuse, because it has sixteen characters.
    pub spares_next_code: bool,
}

impl HeldLimit {
    /// Returns the limit of an account without known clients: what refuses all but those refuses everybody.
    #[must_use]
    pub fn without_known_clients(self) -> Self {
        let is_of_all = self.clients == RefusedClients::Unknown;
        Self { clients: if is_of_all { RefusedClients::All } else { self.clients }, ..self }
    }

    /// True if the limit refuses all clients of a group.
    #[must_use]
    pub fn refuses(&self, lane: Lane) -> bool {
        match self.clients {
            RefusedClients::All => true,
            RefusedClients::Known => lane == Lane::Known,
            RefusedClients::Unknown => lane == Lane::Other,
            RefusedClients::Some => false,
        }
    }

    /// True if the limit refuses wrong codes of sign-ins by mail.
    #[must_use]
    pub fn is_of_sign_in_codes(&self) -> bool {
        self.purpose == Some(Purpose::SignIn) && self.limit == CODE_LIMIT
    }

    /// True if the limit refuses mails for sign-ins.
    #[must_use]
    pub fn is_of_sign_in_mails(&self) -> bool {
        self.purpose == Some(Purpose::SignIn) && self.limit != CODE_LIMIT
    }

    /// True if the limit refuses passwords.
    #[must_use]
    pub fn is_of_passwords(&self) -> bool {
        [PAIR_LIMIT, ACCOUNT_LIMIT].contains(&self.limit)
    }

    /// True if the limit refuses second factors.
    #[must_use]
    pub fn is_of_second_factors(&self) -> bool {
        [SECOND_FACTOR_PAIR_LIMIT, SECOND_FACTOR_ACCOUNT_LIMIT].contains(&self.limit)
    }
}

/// Rules of the limits of an account, with the keys of their counters and buckets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountLimits {
    /// Address of the account, the key of its counters of wrong codes.
    pub email: EmailKey,
    /// Key of the counter of wrong passwords over all clients.
    pub password: LimitKey,
    /// Policy of the counter `password`.
    pub password_policy: FailurePolicy,
    /// Limits of wrong second factors.
    pub second_factor: SecondFactorLimits,
    /// Limits of wrong codes.
    pub codes: CodeBudget,
    /// Token buckets, with the purpose of the mails that they limit.
    pub buckets: Vec<(Take, Option<Purpose>)>,
}

/// Limits of wrong second factors of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondFactorLimits {
    /// Key of the counter over all clients.
    pub account: LimitKey,
    /// Limit of the counter `account`.
    pub account_rate: Rate,
    /// Limit of the counters of client networks.
    pub pair_rate: Rate,
    /// Key of the counter of consecutive failures.
    pub in_a_row: LimitKey,
    /// Number of consecutive failures from which only known clients may still answer.
    pub most_in_a_row: u32,
}

/// Stored states of the limits of an account.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccountCounters {
    /// Wrong passwords over all clients.
    pub password: Failures,
    /// Wrong passwords per client network; of many networks those that are remembered longest.
    pub password_pairs: Vec<Failures>,
    /// Wrong second factors over all clients.
    pub second_factor: Failures,
    /// Wrong second factors per client network; of many networks those that are remembered longest.
    pub second_factor_pairs: Vec<Failures>,
    /// Consecutive wrong second factors.
    pub in_a_row: Failures,
    /// Wrong codes per purpose and group of clients.
    pub codes: Vec<(Purpose, Lane, LaneAttempts)>,
    /// Times at which token buckets will be full, by their keys.
    pub buckets: Vec<(LimitKey, Timestamp)>,
    /// Time of the last use of the account by a signed-in client; `None` if it was not used in the last 90 days.
    pub used_at: Option<Timestamp>,
}

impl AccountLimits {
    /// Returns the limits that refuse requests at `now`: guess limits first, then those of codes and of mails. A limit
    /// with several counters, such as those of client networks, is listed once, with the latest end.
    #[must_use]
    pub fn held(&self, counters: &AccountCounters, now: Timestamp) -> Vec<HeldLimit> {
        let mut held = Vec::new();
        self.hold_guesses(counters, now, &mut held);
        self.hold_codes(counters, now, &mut held);
        self.hold_buckets(counters, now, &mut held);
        held
    }

    fn hold_guesses(&self, counters: &AccountCounters, now: Timestamp, held: &mut Vec<HeldLimit>) {
        let mut refuse = |limit, clients, until| {
            held.push(HeldLimit { limit, purpose: None, clients, until, spares_next_code: false });
        };
        let blocked = counters.password_pairs.iter().filter_map(|pair| pair.blocked(now)).max();
        if let Some(rest) = blocked {
            refuse(PAIR_LIMIT, RefusedClients::Some, Some(now.plus(rest)));
        }
        if let Some(rest) = rest_of_account(&counters.password, &self.password_policy, now) {
            refuse(ACCOUNT_LIMIT, RefusedClients::Unknown, Some(now.plus(rest)));
        }
        let SecondFactorLimits { account_rate, pair_rate, most_in_a_row, .. } = self.second_factor;
        let rest = |pair| rest_of_window(pair, pair_rate, now);
        if let Some(rest) = counters.second_factor_pairs.iter().filter_map(rest).max() {
            refuse(SECOND_FACTOR_PAIR_LIMIT, RefusedClients::Some, Some(now.plus(rest)));
        }
        if counters.in_a_row.count_in(IN_A_ROW_WINDOW, now) >= most_in_a_row {
            refuse(SECOND_FACTOR_ACCOUNT_LIMIT, RefusedClients::Unknown, None);
        } else if let Some(rest) = rest_of_window(&counters.second_factor, account_rate, now) {
            refuse(SECOND_FACTOR_ACCOUNT_LIMIT, RefusedClients::Unknown, Some(now.plus(rest)));
        }
    }

    fn hold_codes(&self, counters: &AccountCounters, now: Timestamp, held: &mut Vec<HeldLimit>) {
        for (purpose, lane, made) in &counters.codes {
            let hour = made.hour.attempts_at(CODE_WINDOW, now) >= self.codes.per_hour;
            let day = made.is_daily_budget_used(self.codes, now);
            let ends =
                [hour.then(|| made.hour.since.plus(CODE_WINDOW)), day.then(|| made.day.since.plus(CODE_DAY))];
            if let Some(until) = ends.into_iter().flatten().max() {
                let clients = match lane {
                    Lane::Known => RefusedClients::Known,
                    Lane::Other => RefusedClients::Unknown,
                };
                held.push(HeldLimit {
                    limit: CODE_LIMIT,
                    purpose: Some(*purpose),
                    clients,
                    until: Some(until),
                    spares_next_code: day,
                });
            }
        }
    }

    fn hold_buckets(&self, counters: &AccountCounters, now: Timestamp, held: &mut Vec<HeldLimit>) {
        let begin = held.len();
        for (take, purpose) in &self.buckets {
            let full_at = counters.buckets.iter().find(|(key, _)| *key == take.key).map(|(_, at)| *at);
            let Err(limited) = take.take(full_at, now) else { continue };
            let until = Some(now.plus(limited.retry_after));
            let same = |held: &&mut HeldLimit| held.limit == take.limit && held.purpose == *purpose;
            if let Some(earlier) = held[begin..].iter_mut().find(same) {
                earlier.until = earlier.until.max(until);
            } else {
                let (limit, purpose, clients) = (take.limit, *purpose, RefusedClients::All);
                held.push(HeldLimit { limit, purpose, clients, until, spares_next_code: false });
            }
        }
    }
}

#[cfg(test)]
mod tests;
