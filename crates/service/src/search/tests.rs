//! Loss of the search index: the database searches until a new index is loaded.
#![allow(clippy::unwrap_used)]

use latchkey_store::Accounts;
use latchkey_store_sqlite::{Sqlite, SqliteStore};
use latchkey_store_suite::conformance::numbered::account;
use tempfile::TempDir;

use super::*;

/// A search over a database of numbered accounts, and the folder of the database.
struct Town {
    search: ProfileSearch,
    store: SqliteStore,
    _folder: TempDir,
}

impl Town {
    /// Creates the accounts with these numbers, and loads the index.
    async fn of(numbers: std::ops::Range<u64>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(&folder.path().join("test.db")).unwrap();
        let town = Self { search: ProfileSearch::default(), store, _folder: folder };
        town.add(numbers).await;
        town.step().await;
        assert!(town.search.is_loaded());
        town
    }

    async fn add(&self, numbers: std::ops::Range<u64>) {
        for number in numbers {
            self.store.create_account(account(number)).await.unwrap();
        }
    }

    /// Runs one step of the search worker.
    async fn step(&self) {
        self.search.follow(&self.store).await.unwrap();
    }

    fn break_index(&self) {
        self.search.following.load().as_ref().unwrap().index.panic_in_background();
    }

    /// The number of profiles that the index finds; `None` if the database must search instead.
    async fn found_in_index(&self) -> Option<u64> {
        let following = self.search.following.load_full()?;
        let query = SearchQuery::parse("user").unwrap();
        let hits = self.search.find_in(&following, &self.store, &query, Page::default()).await.unwrap();
        hits.map(|hits| hits.total)
    }

    /// The number of profiles that a search finds, in the index or in the database.
    async fn found(&self) -> u64 {
        let query = SearchQuery::parse("user").unwrap();
        self.search.find(&self.store, &query, Page::default()).await.unwrap().total
    }

    async fn steps_until_loaded(&self) -> u32 {
        let mut steps = 0;
        while !self.search.is_loaded() {
            self.step().await;
            steps += 1;
        }
        steps
    }
}

#[tokio::test]
async fn search_after_a_panic_is_answered_by_the_engine_and_then_by_a_new_index() {
    let town = Town::of(0..3).await;
    assert_eq!(town.found_in_index().await, Some(3));

    town.break_index();
    town.add(3..4).await;
    assert_eq!(town.found().await, 4);
    assert!(!town.search.is_loaded());

    assert_eq!(town.steps_until_loaded().await, 1);
    assert_eq!(town.found_in_index().await, Some(4));
    town.add(4..5).await;
    assert_eq!(town.found_in_index().await, Some(5));
}

#[tokio::test]
async fn broken_index_is_given_up_by_the_worker_where_nobody_searches() {
    let town = Town::of(0..3).await;
    town.break_index();

    town.step().await;
    assert!(!town.search.is_loaded());
    town.step().await;
    assert_eq!(town.found_in_index().await, Some(3));
}

#[tokio::test]
async fn index_that_breaks_again_is_made_anew_after_a_pause_in_which_the_engine_answers() {
    let town = Town::of(0..3).await;
    for (pause, number) in [(0, 3), (8, 4), (16, 5)] {
        town.break_index();
        town.add(number..number + 1).await;
        assert_eq!(town.found().await, number + 1);
        assert_eq!(town.found_in_index().await, None);

        assert_eq!(town.steps_until_loaded().await, pause + 1);
        assert_eq!(town.found_in_index().await, Some(number + 1));
    }
}

#[tokio::test]
async fn two_searches_that_see_the_same_loss_count_it_once() {
    let town = Town::of(0..3).await;
    let lost = town.search.following.load_full().unwrap();
    town.break_index();

    town.search.forget(&lost);
    town.search.forget(&lost);
    assert_eq!(town.steps_until_loaded().await, 1);
}
