//! Refresh rotation as a state machine: tabs, lost answers, duplicates and theft are all presentations of some token,
//! old or new, at some time. The model is written from policy, not from the code.
#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Duration;

use latchkey_domain::refresh::{RefreshState, RefreshVerdict, Retired};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use proptest::prelude::*;

const GRACE: Duration = Duration::from_secs(30);
const IDLE_DAYS: i64 = 30;

/// One act: some time passes, then the token that is so many rotations old is presented.
#[derive(Debug, Clone)]
struct Act {
    seconds: i64,
    age: usize,
}

/// What policy knows of a session: when each token was replaced, the newest token last.
struct Model {
    replaced_at: Vec<i64>,
    idle_until: i64,
    ended: bool,
}

impl Model {
    /// "Presenting the just-replaced token within 30 seconds gives the same successor again. After the successor's first
    /// use a replay is refused; after the grace it revokes the whole session. An ended session has no grace."
    fn expects(&self, token: usize, now: i64) -> RefreshVerdict {
        let newest = self.replaced_at.len();
        if self.ended || now >= self.idle_until {
            return RefreshVerdict::Refuse;
        }
        if token == newest {
            return RefreshVerdict::Rotate;
        }
        if now - self.replaced_at[token] > 30 {
            return RefreshVerdict::Revoke;
        }
        if token + 1 == newest { RefreshVerdict::SameSuccessor } else { RefreshVerdict::Refuse }
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
        let mut model = Model { replaced_at: Vec::new(), idle_until: now + idle, ended: false };
        let mut state = RefreshState {
            current: hash(0),
            retired: Vec::new(),
            idle_expires_at: at(now + idle),
            absolute_expires_at: at(i64::MAX / 2000),
            ended_at: None,
        };
        for act in acts {
            now += act.seconds;
            let newest = model.replaced_at.len();
            let token = newest.saturating_sub(act.age);
            let verdict = state.judge(&hash(token), at(now), GRACE);
            prop_assert_eq!(verdict, model.expects(token, now), "token {} of {} at {}", token, newest, now);
            match verdict {
                RefreshVerdict::Rotate => {
                    state.retired = state.retire_current(at(now), GRACE);
                    state.current = hash(newest + 1);
                    state.idle_expires_at = at(now + idle);
                    model.replaced_at.push(now);
                    model.idle_until = now + idle;
                }
                RefreshVerdict::Revoke => {
                    state.ended_at = Some(at(now));
                    model.ended = true;
                }
                RefreshVerdict::SameSuccessor | RefreshVerdict::Refuse => {}
            }
            let stored = Retired::decode_all(&Retired::encode_all(&state.retired)).unwrap();
            prop_assert_eq!(&stored, &state.retired);
            prop_assert!(stored.len() <= 64);
        }
    }
}
