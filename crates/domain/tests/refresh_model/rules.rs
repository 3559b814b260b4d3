//! The rotation rule under test, and wrong rules, each of which violates an invariant.

use std::time::Duration;

use latchkey_domain::refresh::{RefreshState, RefreshVerdict, ReplacedToken};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use crate::promises::Promise;

/// A rotation rule: the decision, and the update of the list of replaced tokens.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) judge: fn(&RefreshState, &TokenHash, Timestamp, Duration) -> RefreshVerdict,
    pub(crate) retire: fn(&RefreshState, &TokenHash, Timestamp, Duration) -> Vec<ReplacedToken>,
}

/// The rule of the service, which is under test.
pub(crate) const RULE: Rule = Rule { judge: RefreshState::judge, retire: RefreshState::retire };

/// A former rule of the service: it treats a response that was lost for longer than the grace period as theft.
pub(crate) const MISSED_ANSWER_IS_THEFT: Rule =
    Rule { judge: |state, token, now, grace| replaced(state, token, now, grace, Supersede, Revoke), ..RULE };

/// Wrong rules, and the invariant that each violates.
pub(crate) const WRONG: [(&str, Rule, Promise); 7] = [
    ("a missed answer is theft", MISSED_ANSWER_IS_THEFT, Promise::OwnerStaysIn),
    (
        "the same successor for ever",
        Rule {
            judge: |state, token, now, grace| replaced(state, token, now, grace, Supersede, SameSuccessor),
            ..RULE
        },
        Promise::SharedWithinTheGraceAlone,
    ),
    ("an unused successor has a grace", Rule { retire: keep_the_unused, ..RULE }, Promise::DivergenceEnds),
    (
        "a replay is refused alone",
        Rule { judge: |state, token, now, grace| replaced(state, token, now, grace, Revoke, Refuse), ..RULE },
        Promise::UsedGetsNothing,
    ),
    (
        "a late twin is theft",
        Rule { judge: |state, token, now, grace| replaced(state, token, now, grace, Refuse, Revoke), ..RULE },
        Promise::OwnerStaysIn,
    ),
    ("no grace of its own", Rule { retire: keep_the_first_grace, ..RULE }, Promise::OwnerStaysIn),
    ("one token remembered", Rule { retire: keep_one, ..RULE }, Promise::OwnerStaysIn),
];

use RefreshVerdict::{Refuse, Revoke, SameSuccessor, Supersede};

/// Returns the service's decision, but replaces one decision on a live session by another.
fn replaced(
    state: &RefreshState,
    token: &TokenHash,
    now: Timestamp,
    grace: Duration,
    right: RefreshVerdict,
    wrong: RefreshVerdict,
) -> RefreshVerdict {
    let verdict = state.judge(token, now, grace);
    if verdict == right && state.is_live(now) { wrong } else { verdict }
}

fn keep_the_first_grace(
    state: &RefreshState,
    token: &TokenHash,
    now: Timestamp,
    grace: Duration,
) -> Vec<ReplacedToken> {
    let first = state.retired.last().filter(|last| last.hash == *token).map(|last| last.replaced_at);
    let mut retired = state.retire(token, now, grace);
    if let (Some(first), Some(last)) = (first, retired.last_mut()) {
        last.replaced_at = first;
    }
    retired
}

fn keep_the_unused(
    state: &RefreshState,
    token: &TokenHash,
    now: Timestamp,
    grace: Duration,
) -> Vec<ReplacedToken> {
    let mut retired = state.retire(token, now, grace);
    if *token != state.current {
        retired.insert(0, ReplacedToken { hash: state.current, replaced_at: now });
    }
    retired
}

fn keep_one(_: &RefreshState, token: &TokenHash, now: Timestamp, _: Duration) -> Vec<ReplacedToken> {
    vec![ReplacedToken { hash: *token, replaced_at: now }]
}
