//! Properties of stored times when a clock runs ahead, steps back or jumps: no time locks users out for longer than its
//! regular maximum.
#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Duration;

use latchkey_domain::clock_watch::{ClockVerdict, ClockWatch, JUMP, PROBATION};
use latchkey_domain::code_window::{CODE_DAY, CODE_WINDOW, CodeWindow};
use latchkey_domain::guess_limits::limited;
use latchkey_domain::limits::{FailurePolicy, Failures, LimitKey, Rate, Take};
use latchkey_domain::mail_schedule::{MailSchedule, QueuedMail};
use latchkey_domain::stored_time::{CLOCK_SKEW, plausible_or_now};
use latchkey_domain::time::Timestamp;
use proptest::prelude::*;

const HOUR: Duration = Duration::from_hours(1);
const POLICY: FailurePolicy = FailurePolicy {
    threshold: 3,
    window: Duration::from_mins(15),
    first_delay: Duration::from_secs(30),
    longest_delay: Duration::from_mins(15),
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + seconds * 1000)
}

fn rates() -> impl Strategy<Value = Rate> {
    (1_u32..30, 1_u64..7200).prop_map(|(burst, seconds)| Rate { burst, window: Duration::from_secs(seconds) })
}

/// The rate limit as the SQL of the engines computes it.
fn taken_by_terms(take: &Take, full_at: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    let terms = take.terms(now);
    let state = full_at.filter(|state| *state <= terms.plausible).unwrap_or(now);
    let after = state.min(terms.latest).max(now).as_millis() + terms.token_ms;
    (after <= terms.most.as_millis()).then(|| Timestamp::from_millis(after))
}

fn due_by_terms(schedule: &MailSchedule, mail: &QueuedMail, now: Timestamp) -> bool {
    let terms = schedule.due_terms(now);
    let doubled = terms.first_ms << mail.attempts.saturating_sub(1).min(16);
    let latest = match mail.attempts {
        _ if mail.is_leased => terms.leased.as_millis(),
        0 => terms.new.as_millis(),
        _ => terms.new.as_millis() + doubled.min(terms.longest_ms),
    };
    mail.next_attempt_at <= terms.now || mail.next_attempt_at.as_millis() > latest
}

proptest! {
    #[test]
    fn times_of_a_correct_clock_are_plausible(longest in 0_u64..10_000, written in -10_000_i64..=0, skew in 0_i64..=60) {
        let longest = Duration::from_secs(longest);
        let stored = at(written + skew).plus(longest);
        prop_assert_eq!(plausible_or_now(stored, longest, at(0)), stored);
    }

    #[test]
    fn times_of_a_clock_ahead_count_as_now(longest in 0_u64..10_000, ahead in 1_u64..100_000_000) {
        let longest = Duration::from_secs(longest);
        let stored = at(0).plus(longest).plus(CLOCK_SKEW).plus(Duration::from_millis(ahead));
        prop_assert_eq!(plausible_or_now(stored, longest, at(0)), at(0));
    }

    #[test]
    fn no_bucket_locks_out_for_longer_than_one_token_takes(rate in rates(), state in -10_000_i64..100_000_000) {
        let token = rate.window / rate.burst;
        if let Err(wait) = rate.take(Some(at(state)), at(0)) {
            prop_assert!(wait <= token, "{wait:?} for {rate:?}");
        }
    }

    #[test]
    fn a_bucket_is_full_again_after_a_step_back_beyond_its_window(rate in rates(), taken in 1_u32..40) {
        let mut state = None;
        for _ in 0..taken {
            state = rate.take(state, at(0)).ok().or(state);
        }
        let earlier = at(0).minus(rate.window).minus(CLOCK_SKEW);
        prop_assert_eq!(rate.take(state, earlier), rate.take(None, earlier));
    }

    #[test]
    fn engines_take_by_the_same_rule(rate in rates(), state in proptest::option::of(-10_000_i64..20_000)) {
        let take = Take { key: LimitKey::new("x", &[]), rate, limit: "x" };
        let state = state.map(at);
        prop_assert_eq!(take.take(state, at(0)).ok(), taken_by_terms(&take, state, at(0)));
    }

    #[test]
    fn no_guess_limit_outlasts_its_longest_wait(
        count in 1_u32..200,
        since in -5_000_i64..100_000_000,
        delay in 0_u64..=900,
    ) {
        let pair = Failures { count, since: at(since), blocked_until: at(since).plus(Duration::from_secs(delay)) };
        let account = Failures { count, since: at(since), blocked_until: at(since) };
        if let Some(limited) = limited(&pair, &account, &POLICY, false, at(0)) {
            prop_assert!(limited.retry_after <= POLICY.longest_delay.max(POLICY.window) + CLOCK_SKEW);
        }
    }

    #[test]
    fn no_code_window_outlasts_its_length(attempts in 1_u32..100, since in -5_000_i64..100_000_000) {
        let window = CodeWindow { attempts, since: at(since) };
        for length in [CODE_WINDOW, CODE_DAY] {
            let later = at(0).plus(length).plus(CLOCK_SKEW);
            prop_assert!(window.attempts_at(length, at(0)) == 0 || window.attempts_at(length, later) == 0);
        }
    }

    #[test]
    fn engines_find_due_mails_by_the_same_rule(
        attempts in 0_u32..40,
        is_leased: bool,
        ahead in -10_000_i64..20_000_000,
    ) {
        let mail = QueuedMail { attempts, is_leased, next_attempt_at: Timestamp::from_millis(at(0).as_millis() + ahead) };
        let schedule = MailSchedule::default();
        prop_assert_eq!(schedule.is_due(&mail, at(0)), due_by_terms(&schedule, &mail, at(0)));
    }

    #[test]
    fn a_backoff_is_waited_for_whatever_its_spread(failures in 0_u32..40, fraction in 0.0..1.0, passed in 0.0..0.99) {
        let schedule = MailSchedule::default();
        let wait = schedule.backoff(failures, fraction);
        let mail = QueuedMail { attempts: failures + 1, is_leased: false, next_attempt_at: at(0).plus(wait) };
        prop_assert!(!schedule.is_due(&mail, at(0).plus(wait.mul_f64(passed))));
        prop_assert!(schedule.is_due(&mail, at(0).plus(wait)));
    }

    #[test]
    fn a_mail_of_a_clock_an_hour_ahead_is_due_once_no_wait_explains_it(attempts in 0_u32..8, is_leased: bool) {
        let schedule = MailSchedule::default();
        let wait = if is_leased { schedule.lease } else { schedule.backoff(attempts.saturating_sub(1), 1.0) };
        let wait = if attempts == 0 && !is_leased { Duration::ZERO } else { wait };
        let mail = QueuedMail { attempts, is_leased, next_attempt_at: at(0).plus(wait) };
        prop_assert!(schedule.is_due(&mail, at(0).minus(HOUR)));
    }

    #[test]
    fn a_steady_clock_is_trusted_whatever_it_drifts(looks in proptest::collection::vec((0_u64..7_200, -5_i64..=5), 1..60)) {
        let (mut wall, mut steady) = (at(0).as_millis(), Duration::ZERO);
        let mut watch = ClockWatch::new(Timestamp::from_millis(wall), steady);
        for (seconds, drift_ms) in looks {
            steady += Duration::from_secs(seconds);
            wall += i64::try_from(seconds).unwrap() * 1000 + drift_ms;
            prop_assert_eq!(watch.sample(Timestamp::from_millis(wall), steady), ClockVerdict::Steady);
        }
    }

    #[test]
    fn a_jump_is_noticed_and_waited_out(by in prop_oneof![-40_000_000_i64..-60, 61_i64..40_000_000], slept in 0_u64..7_200) {
        let mut watch = ClockWatch::new(at(0), Duration::ZERO);
        let jumped = Duration::from_secs(slept);
        let wall = |steady: Duration| at(by).plus(steady);
        prop_assert_eq!(watch.sample(wall(jumped), jumped), ClockVerdict::Jumped { by_ms: by * 1000 });
        for later in [Duration::ZERO, PROBATION / 2, PROBATION.saturating_sub(Duration::from_millis(1))] {
            prop_assert_eq!(watch.sample(wall(jumped + later), jumped + later), ClockVerdict::OnProbation);
        }
        let over = jumped + PROBATION;
        prop_assert_eq!(watch.sample(wall(over), over), ClockVerdict::Trusted);
        prop_assert_eq!(watch.sample(wall(over), over), ClockVerdict::Steady);
    }
}

#[test]
fn a_leap_and_its_correction_are_two_jumps() {
    let minute = Duration::from_mins(1);
    let mut watch = ClockWatch::new(at(0), Duration::ZERO);
    let year = 365 * 24 * 3600;

    assert_eq!(watch.sample(at(year), Duration::ZERO), ClockVerdict::Jumped { by_ms: year * 1000 });
    assert_eq!(watch.sample(at(60), minute), ClockVerdict::Jumped { by_ms: -year * 1000 });

    assert!(!watch.sample(at(60), minute).is_trusted());
    assert!(watch.sample(at(60).plus(PROBATION), minute + PROBATION).is_trusted());
}

#[test]
fn steps_that_creep_add_up_to_a_jump() {
    let mut watch = ClockWatch::new(at(0), Duration::ZERO);
    let step = JUMP.saturating_sub(Duration::from_secs(1));

    assert!(watch.sample(at(0).plus(step), Duration::ZERO).is_trusted());

    assert!(!watch.sample(at(0).plus(step * 2), Duration::ZERO).is_trusted());
}
