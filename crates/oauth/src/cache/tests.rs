use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

const START: Timestamp = Timestamp::from_millis(1_772_366_400_000);

fn at(seconds: u64) -> Timestamp {
    START.plus(Duration::from_secs(seconds))
}

fn down() -> ProviderError {
    ProviderError::Down { stage: Stage::Keys, reason: "down".to_owned() }
}

/// A provider with counted responses: the value is the number of the response.
#[derive(Default)]
struct Source {
    asked: AtomicU32,
    is_down: std::sync::atomic::AtomicBool,
    max_age: Option<Duration>,
}

impl Source {
    async fn answer(&self) -> Fetched<u32> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        tokio::task::yield_now().await;
        if self.is_down.load(Ordering::SeqCst) { Err(down()) } else { Ok((number, self.max_age)) }
    }

    fn go_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::SeqCst);
    }
}

struct Kept {
    cache: Cache<u32>,
    source: Source,
}

impl Kept {
    fn new(max_age: Option<u64>) -> Self {
        let max_age = max_age.map(Duration::from_secs);
        Self { cache: Cache::new(Stage::Keys), source: Source { max_age, ..Source::default() } }
    }

    async fn get(&self, seconds: u64) -> Result<u32, ProviderError> {
        Ok(*self.shared(seconds).await?)
    }

    async fn shared(&self, seconds: u64) -> Result<Arc<u32>, ProviderError> {
        let deadline = Instant::now() + Duration::from_secs(5);
        self.cache.get("key", at(seconds), deadline, || self.source.answer()).await
    }

    async fn renew(&self, old: &Arc<u32>, seconds: u64) -> u32 {
        self.renew_for(Asker::Stranger, old, seconds).await
    }

    async fn renew_for(&self, asker: Asker, old: &Arc<u32>, seconds: u64) -> u32 {
        let deadline = Instant::now() + Duration::from_secs(5);
        *self.cache.renew("key", old, asker, at(seconds), deadline, || self.source.answer()).await.unwrap()
    }

    /// Fetches from a provider that never responds.
    async fn get_from_nobody(&self, seconds: u64) -> Result<u32, ProviderError> {
        let deadline = Instant::now() + Duration::from_mins(1);
        let answer = self.cache.get("key", at(seconds), deadline, std::future::pending::<Fetched<u32>>).await;
        answer.map(|value| *value)
    }
}

#[tokio::test]
async fn an_answer_is_kept_for_an_hour() {
    let kept = Kept::new(None);
    assert_eq!(kept.get(0).await, Ok(1));
    assert_eq!(kept.get(3599).await, Ok(1));
    assert_eq!(kept.get(3600).await, Ok(2));
}

#[tokio::test]
async fn an_answer_is_kept_as_long_as_the_provider_says_within_bounds() {
    for (max_age, seconds) in [(0, 300), (600, 600), (u64::MAX, 86_400)] {
        let kept = Kept::new(Some(max_age));
        kept.get(0).await.unwrap();
        assert_eq!(kept.get(seconds - 1).await, Ok(1), "{max_age}");
        assert_eq!(kept.get(seconds).await, Ok(2), "{max_age}");
    }
}

#[tokio::test]
async fn what_is_old_is_used_for_a_day_while_the_provider_is_down() {
    let kept = Kept::new(None);
    kept.get(0).await.unwrap();
    kept.source.go_down(true);
    assert_eq!(kept.get(3600).await, Ok(1));
    assert_eq!(kept.get(3600 + 86_399).await, Ok(1));
    assert_eq!(kept.get(3600 + 86_400).await, Err(down()));
    kept.source.go_down(false);
    assert_eq!(kept.get(3600 + 86_401).await, Ok(5));
}

#[tokio::test]
async fn a_provider_that_is_down_is_not_asked_all_the_time() {
    let kept = Kept::new(None);
    kept.get(0).await.unwrap();
    kept.source.go_down(true);
    for seconds in [3600, 3601, 3629] {
        kept.get(seconds).await.unwrap();
    }
    assert_eq!(kept.source.asked.load(Ordering::SeqCst), 2);
    kept.get(3630).await.unwrap();
    assert_eq!(kept.source.asked.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_provider_that_comes_back_is_seen_at_once_where_nothing_is_kept() {
    let kept = Kept::new(None);
    kept.source.go_down(true);
    assert_eq!(kept.get(0).await, Err(down()));
    kept.source.go_down(false);
    assert_eq!(kept.get(0).await, Ok(2));
}

#[tokio::test]
async fn many_who_want_the_same_cause_one_request() {
    let kept = Kept::new(None);
    let all = futures_util::future::join_all((0..20).map(|_| kept.get(0))).await;
    assert!(all.iter().all(|one| *one == Ok(1)));
    assert_eq!(kept.source.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn many_who_wait_for_the_same_failure_share_it() {
    let kept = Kept::new(None);
    kept.source.go_down(true);
    let all = futures_util::future::join_all((0..20).map(|_| kept.get(0))).await;
    assert!(all.iter().all(|one| *one == Err(down())));
    assert_eq!(kept.source.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_lacks_something_is_renewed_a_few_times_only() {
    let kept = Kept::new(None);
    let mut old = kept.shared(0).await.unwrap();
    for number in 2..=6 {
        assert_eq!(kept.renew(&old, 1).await, number);
        old = kept.shared(1).await.unwrap();
    }
    assert_eq!(kept.renew(&old, 1).await, 6);
    assert_eq!(kept.renew(&old, 10).await, 6);
    assert_eq!(kept.renew(&old, 11).await, 7);
    old = kept.shared(11).await.unwrap();
    assert_eq!(kept.renew(&old, 20).await, 7);
    assert_eq!(kept.renew(&old, 21).await, 8);
}

#[tokio::test]
async fn strangers_do_not_use_up_the_renewals_of_a_provider() {
    let kept = Kept::new(None);
    for _ in 0..10 {
        let old = kept.shared(1).await.unwrap();
        kept.renew(&old, 1).await;
    }
    let old = kept.shared(1).await.unwrap();
    assert_eq!(*old, 6);
    assert_eq!(kept.renew_for(Asker::Provider, &old, 1).await, 7);
}

#[tokio::test]
async fn what_is_old_is_used_while_there_is_time_for_the_rest() {
    let mut kept = Kept::new(None);
    kept.cache.patience = Duration::from_millis(10);
    kept.get(0).await.unwrap();
    let all = futures_util::future::join_all((0..20).map(|_| kept.get_from_nobody(3600))).await;
    assert!(all.iter().all(|one| *one == Ok(1)));
}

#[tokio::test]
async fn who_renews_waits_longer() {
    let mut kept = Kept::new(None);
    kept.cache.patience = Duration::ZERO;
    let old = kept.shared(0).await.unwrap();
    assert_eq!(kept.renew(&old, 1).await, 2);
    assert_eq!(kept.get_from_nobody(3601).await, Ok(2));
}

#[tokio::test]
async fn what_somebody_else_renewed_is_taken() {
    let kept = Kept::new(None);
    let old = kept.shared(0).await.unwrap();
    assert_eq!(kept.renew(&old, 1).await, 2);
    assert_eq!(kept.renew(&old, 1).await, 2);
    assert_eq!(kept.source.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_clock_that_goes_back_makes_nothing_fresh() {
    let kept = Kept::new(None);
    kept.get(100).await.unwrap();
    assert_eq!(kept.get(0).await, Ok(2));
}

#[tokio::test]
async fn what_is_forgotten_is_asked_for_again() {
    let kept = Kept::new(None);
    kept.get(0).await.unwrap();
    assert_eq!(kept.cache.forget("key").as_deref(), Some(&1));
    assert_eq!(kept.cache.forget("key"), None);
    assert_eq!(kept.get(0).await, Ok(2));
}
