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

struct Fixture {
    cache: Cache<u32>,
    source: Source,
}

impl Fixture {
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
        self.renew_for(RenewalSource::Untrusted, old, seconds).await
    }

    async fn renew_for(&self, source: RenewalSource, old: &Arc<u32>, seconds: u64) -> u32 {
        let deadline = Instant::now() + Duration::from_secs(5);
        *self.cache.renew("key", old, source, at(seconds), deadline, || self.source.answer()).await.unwrap()
    }

    /// Fetches from a provider that never responds.
    async fn get_from_unresponsive(&self, seconds: u64) -> Result<u32, ProviderError> {
        let deadline = Instant::now() + Duration::from_mins(1);
        let answer = self.cache.get("key", at(seconds), deadline, std::future::pending::<Fetched<u32>>).await;
        answer.map(|value| *value)
    }
}

#[tokio::test]
async fn an_answer_is_kept_for_an_hour() {
    let fixture = Fixture::new(None);
    assert_eq!(fixture.get(0).await, Ok(1));
    assert_eq!(fixture.get(3599).await, Ok(1));
    assert_eq!(fixture.get(3600).await, Ok(2));
}

#[tokio::test]
async fn an_answer_is_kept_as_long_as_the_provider_says_within_bounds() {
    for (max_age, seconds) in [(0, 300), (600, 600), (u64::MAX, 86_400)] {
        let fixture = Fixture::new(Some(max_age));
        fixture.get(0).await.unwrap();
        assert_eq!(fixture.get(seconds - 1).await, Ok(1), "{max_age}");
        assert_eq!(fixture.get(seconds).await, Ok(2), "{max_age}");
    }
}

#[tokio::test]
async fn stale_values_are_served_for_a_day_while_the_provider_is_down() {
    let fixture = Fixture::new(None);
    fixture.get(0).await.unwrap();
    fixture.source.go_down(true);
    assert_eq!(fixture.get(3600).await, Ok(1));
    assert_eq!(fixture.get(3600 + 86_399).await, Ok(1));
    assert_eq!(fixture.get(3600 + 86_400).await, Err(down()));
    fixture.source.go_down(false);
    assert_eq!(fixture.get(3600 + 86_401).await, Ok(5));
}

#[tokio::test]
async fn a_provider_that_is_down_is_not_asked_all_the_time() {
    let fixture = Fixture::new(None);
    fixture.get(0).await.unwrap();
    fixture.source.go_down(true);
    for seconds in [3600, 3601, 3629] {
        fixture.get(seconds).await.unwrap();
    }
    assert_eq!(fixture.source.asked.load(Ordering::SeqCst), 2);
    fixture.get(3630).await.unwrap();
    assert_eq!(fixture.source.asked.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_recovered_provider_is_used_at_once_without_a_cached_value() {
    let fixture = Fixture::new(None);
    fixture.source.go_down(true);
    assert_eq!(fixture.get(0).await, Err(down()));
    fixture.source.go_down(false);
    assert_eq!(fixture.get(0).await, Ok(2));
}

#[tokio::test]
async fn concurrent_callers_share_one_request() {
    let fixture = Fixture::new(None);
    let all = futures_util::future::join_all((0..20).map(|_| fixture.get(0))).await;
    assert!(all.iter().all(|one| *one == Ok(1)));
    assert_eq!(fixture.source.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn concurrent_callers_share_one_failure() {
    let fixture = Fixture::new(None);
    fixture.source.go_down(true);
    let all = futures_util::future::join_all((0..20).map(|_| fixture.get(0))).await;
    assert!(all.iter().all(|one| *one == Err(down())));
    assert_eq!(fixture.source.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn early_renewals_are_limited() {
    let fixture = Fixture::new(None);
    let mut old = fixture.shared(0).await.unwrap();
    for number in 2..=6 {
        assert_eq!(fixture.renew(&old, 1).await, number);
        old = fixture.shared(1).await.unwrap();
    }
    assert_eq!(fixture.renew(&old, 1).await, 6);
    assert_eq!(fixture.renew(&old, 10).await, 6);
    assert_eq!(fixture.renew(&old, 11).await, 7);
    old = fixture.shared(11).await.unwrap();
    assert_eq!(fixture.renew(&old, 20).await, 7);
    assert_eq!(fixture.renew(&old, 21).await, 8);
}

#[tokio::test]
async fn strangers_do_not_use_up_the_renewals_of_a_provider() {
    let fixture = Fixture::new(None);
    for _ in 0..10 {
        let old = fixture.shared(1).await.unwrap();
        fixture.renew(&old, 1).await;
    }
    let old = fixture.shared(1).await.unwrap();
    assert_eq!(*old, 6);
    assert_eq!(fixture.renew_for(RenewalSource::Provider, &old, 1).await, 7);
}

#[tokio::test]
async fn a_slow_refresh_falls_back_to_the_stale_value() {
    let mut fixture = Fixture::new(None);
    fixture.cache.refresh_wait = Duration::from_millis(10);
    fixture.get(0).await.unwrap();
    let all = futures_util::future::join_all((0..20).map(|_| fixture.get_from_unresponsive(3600))).await;
    assert!(all.iter().all(|one| *one == Ok(1)));
}

#[tokio::test]
async fn a_renewal_waits_for_the_deadline() {
    let mut fixture = Fixture::new(None);
    fixture.cache.refresh_wait = Duration::ZERO;
    let old = fixture.shared(0).await.unwrap();
    assert_eq!(fixture.renew(&old, 1).await, 2);
    assert_eq!(fixture.get_from_unresponsive(3601).await, Ok(2));
}

#[tokio::test]
async fn a_concurrent_renewal_is_shared() {
    let fixture = Fixture::new(None);
    let old = fixture.shared(0).await.unwrap();
    assert_eq!(fixture.renew(&old, 1).await, 2);
    assert_eq!(fixture.renew(&old, 1).await, 2);
    assert_eq!(fixture.source.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_clock_that_goes_back_makes_nothing_fresh() {
    let fixture = Fixture::new(None);
    fixture.get(100).await.unwrap();
    assert_eq!(fixture.get(0).await, Ok(2));
}

#[tokio::test]
async fn an_evicted_value_is_fetched_again() {
    let fixture = Fixture::new(None);
    fixture.get(0).await.unwrap();
    assert_eq!(fixture.cache.evict("key").as_deref(), Some(&1));
    assert_eq!(fixture.cache.evict("key"), None);
    assert_eq!(fixture.get(0).await, Ok(2));
}
