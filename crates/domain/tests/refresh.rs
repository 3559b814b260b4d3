//! State machine test of refresh token rotation: tabs, lost responses, duplicates and thieves present tokens at random
//! times. The model is written from the policy, not from the code.
#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Duration;

use latchkey_domain::refresh::{RefreshState, RefreshVerdict, ReplacedToken};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use proptest::prelude::*;

const GRACE: Duration = Duration::from_secs(30);
const IDLE_DAYS: i64 = 30;

/// One step: time passes, then a token is presented. It is selected by the number of tokens issued after it.
#[derive(Debug, Clone)]
struct Act {
    seconds: i64,
    age: usize,
}

/// Model of a session by the policy: the time of replacement of each token.
struct Model {
    replaced_at: Vec<Option<i64>>,
    /// Token in exchange for which the newest one was issued.
    predecessor: Option<usize>,
    idle_until: i64,
    ended: bool,
}

impl Model {
    /// Returns the verdict that the policy demands. The predecessor yields the same successor within 30 s; later it
    /// yields a new one, and the unused one becomes invalid. Once the successor was used, a token replaced within the
    /// grace period is refused, and an older one ends the session. A session that has ended refuses all.
    fn expects(&self, token: usize, now: i64) -> RefreshVerdict {
        if self.ended || now >= self.idle_until {
            return RefreshVerdict::Refuse;
        }
        if token + 1 == self.replaced_at.len() {
            return RefreshVerdict::Rotate;
        }
        let is_in_grace = self.replaced_at[token].is_some_and(|at| now - at <= 30);
        match (self.predecessor == Some(token), is_in_grace) {
            (true, true) => RefreshVerdict::SameSuccessor,
            (true, false) => RefreshVerdict::Supersede,
            (false, true) => RefreshVerdict::Refuse,
            (false, false) => RefreshVerdict::Revoke,
        }
    }

    fn replace(&mut self, token: usize, now: i64) {
        self.replaced_at[token] = Some(now);
        self.replaced_at.push(None);
        self.predecessor = Some(token);
        self.idle_until = now + IDLE_DAYS * 86_400;
    }
}

fn hash(token: usize) -> TokenHash {
    TokenHash::of(&token.to_be_bytes())
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let seconds = prop_oneof![8 => 0_i64..12, 3 => 25_i64..40, 1 => 0_i64..IDLE_DAYS * 100_000];
    let age = prop_oneof![6 => Just(0_usize), 3 => Just(1), 2 => 2_usize..6, 1 => 0_usize..80];
    prop::collection::vec((seconds, age).prop_map(|(seconds, age)| Act { seconds, age }), 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn every_presentation_is_judged_as_policy_says(acts in acts()) {
        let mut now = 1_000_000;
        let idle = IDLE_DAYS * 86_400;
        let (replaced_at, idle_until) = (vec![None], now + idle);
        let mut model = Model { replaced_at, predecessor: None, idle_until, ended: false };
        let mut state = RefreshState {
            current: hash(0),
            retired: Vec::new(),
            idle_expires_at: at(now + idle),
            absolute_expires_at: at(i64::MAX / 2000),
            ended_at: None,
        };
        for act in acts {
            now += act.seconds;
            let newest = model.replaced_at.len() - 1;
            let token = newest.saturating_sub(act.age);
            let verdict = state.judge(&hash(token), at(now), GRACE);
            prop_assert_eq!(verdict, model.expects(token, now), "token {} of {} at {}", token, newest, now);
            match verdict {
                RefreshVerdict::Rotate | RefreshVerdict::Supersede => {
                    state.retired = state.retire(&hash(token), at(now), GRACE);
                    state.current = hash(newest + 1);
                    state.idle_expires_at = at(now + idle);
                    model.replace(token, now);
                }
                RefreshVerdict::Revoke => {
                    state.ended_at = Some(at(now));
                    model.ended = true;
                }
                RefreshVerdict::SameSuccessor | RefreshVerdict::Refuse => {}
            }
            // The decision must be the same after storing and loading the state.
            let stored = ReplacedToken::decode_all(&ReplacedToken::encode_all(&state.retired)).unwrap();
            prop_assert_eq!(stored.last(), state.retired.last());
            prop_assert_eq!(stored.len(), state.retired.len());
            state.retired = stored;
        }
    }
}

fn session() -> RefreshState {
    RefreshState {
        current: hash(0),
        retired: Vec::new(),
        idle_expires_at: at(IDLE_DAYS * 86_400),
        absolute_expires_at: at(i64::MAX / 2000),
        ended_at: None,
    }
}

/// Returns the state of a session after this many rotations at one time.
fn rotated(times: usize, now: i64) -> RefreshState {
    (1..=times).fold(session(), |state, token| {
        let retired = state.retire(&state.current, at(now), GRACE);
        RefreshState { current: hash(token), retired, ..state }
    })
}

#[test]
fn list_of_an_earlier_version_is_read() {
    let list = [
        ReplacedToken { hash: hash(1), replaced_at: at(5) },
        ReplacedToken { hash: hash(2), replaced_at: at(7) },
    ];
    let whole = |retired: &ReplacedToken| {
        [retired.hash.as_bytes().as_slice(), &retired.replaced_at.as_millis().to_be_bytes()].concat()
    };
    assert_eq!(ReplacedToken::decode_all(&list.iter().flat_map(whole).collect::<Vec<_>>()).unwrap(), list);
    assert_eq!(ReplacedToken::decode_all(&[]).unwrap(), []);
}

#[test]
fn list_with_a_byte_too_few_is_no_list() {
    let mut bytes = ReplacedToken::encode_all(&rotated(5, 0).retired);
    assert_eq!(bytes.len(), 41 + 4 * 12);
    bytes.pop();
    assert_eq!(ReplacedToken::decode_all(&bytes), None);
}

#[test]
fn late_twin_of_three_hundred_rotations_ago_is_refused() {
    let state = rotated(300, 0);

    assert_eq!(state.judge(&hash(0), at(30), GRACE), RefreshVerdict::Refuse);
    assert_eq!(state.judge(&hash(0), at(31), GRACE), RefreshVerdict::Revoke);
}

#[test]
fn list_of_replaced_tokens_is_bounded() {
    let state = rotated(1_000, 0);

    assert_eq!(state.retired.len(), 330);
    assert_eq!(state.judge(&hash(999), at(0), GRACE), RefreshVerdict::SameSuccessor);
    assert_eq!(state.judge(&hash(0), at(0), GRACE), RefreshVerdict::Revoke, "it counts as past its grace");
}

#[test]
fn clock_that_steps_back_neither_refuses_the_owner_nor_ends_the_session() {
    let state = rotated(2, 7_200);

    assert_eq!(state.judge(&hash(2), at(0), GRACE), RefreshVerdict::Rotate);
    assert_eq!(state.judge(&hash(1), at(0), GRACE), RefreshVerdict::SameSuccessor);
    assert_eq!(state.judge(&hash(0), at(0), GRACE), RefreshVerdict::Refuse);
}
