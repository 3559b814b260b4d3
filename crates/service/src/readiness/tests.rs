#![allow(clippy::unwrap_used)]
use futures_util::FutureExt;
use latchkey_domain::time::Timestamp;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::*;

/// A clock in milliseconds, whose time of day runs backwards while its monotonic time runs forwards.
struct Hand(AtomicU64);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(-i64::try_from(self.0.load(Ordering::SeqCst)).unwrap())
    }

    fn steady(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Outcomes of the database check of a test, and the number of checks.
struct Asked {
    latest: LatestJudgement,
    clock: Hand,
    times: AtomicU64,
}

impl Asked {
    fn new() -> Arc<Self> {
        let (latest, times) = (LatestJudgement::default(), AtomicU64::new(0));
        Arc::new(Self { latest, clock: Hand(AtomicU64::new(0)), times })
    }

    async fn answer(&self, outcome: impl FnOnce() -> StoreResult<()>) -> bool {
        let check = || async {
            self.times.fetch_add(1, Ordering::SeqCst);
            outcome()
        };
        self.latest.judge(&self.clock, check).await.is_ok()
    }

    fn advance(&self, millis: u64) {
        self.clock.0.fetch_add(millis, Ordering::SeqCst);
    }
}

fn broken() -> StoreResult<()> {
    Err(StoreError::Unavailable("gone".into()))
}

#[tokio::test]
async fn judgement_lasts_a_second_and_no_longer() {
    let asked = Asked::new();
    assert!(asked.answer(|| Ok(())).await);
    asked.advance(999);
    assert!(asked.answer(broken).await);

    asked.advance(1);

    assert!(!asked.answer(broken).await);
    assert_eq!(asked.times.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn unready_storage_is_judged_once_a_second_too() {
    let asked = Asked::new();
    assert!(!asked.answer(broken).await);
    asked.advance(500);
    assert!(!asked.answer(|| Ok(())).await);

    asked.advance(500);

    assert!(asked.answer(|| Ok(())).await);
    assert_eq!(asked.times.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn all_who_ask_during_a_judgement_share_it_however_long_it_takes() {
    let (asked, go_on, entered) = (Asked::new(), Arc::new(Notify::new()), Arc::new(Notify::new()));
    let mut asking = JoinSet::new();
    for _ in 0..50 {
        let (asked, go_on, entered) = (Arc::clone(&asked), Arc::clone(&go_on), Arc::clone(&entered));
        asking.spawn(async move {
            let check = || async {
                asked.times.fetch_add(1, Ordering::SeqCst);
                entered.notify_one();
                go_on.notified().await;
                Ok(())
            };
            asked.latest.judge(&asked.clock, check).await.is_ok()
        });
    }
    entered.notified().await;
    asked.advance(5000);

    go_on.notify_one();

    assert!(asking.join_all().await.into_iter().all(|is_ready| is_ready));
    assert_eq!(asked.times.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn judgement_that_is_abandoned_is_made_by_the_next() {
    let asked = Asked::new();

    let abandoned = asked.latest.judge(&asked.clock, std::future::pending::<StoreResult<()>>);
    assert!(abandoned.now_or_never().is_none());

    assert!(asked.answer(|| Ok(())).await);
}
