//! Differential test of the search: generated profiles in many scripts, the same in SQLite and PostgreSQL, and
//! generated queries; matches, order, totals and pages are compared while profiles change. The conformance suite
//! compares each engine with the definition of a match.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use latchkey_domain::operator::Protection;
use latchkey_domain::page::Page;
use latchkey_domain::profile::{Bio, Name, NewProfile, ProfilePatch, Username};
use latchkey_domain::search::SearchQuery;
use latchkey_store::{NewAccount, Store, UpdateProfile, UpdateProfileOutcome, UpdateUser};
use latchkey_store_postgres::{Postgres, PostgresOptions, PostgresStore};
use latchkey_store_sqlite::{Sqlite, SqliteStore};
use latchkey_store_suite::cluster::TestCluster;
use latchkey_store_suite::conformance::numbered::{account, at, event, user_id};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

const PROFILES: u64 = 150;
const ROUNDS: usize = 5;
const QUERIES: usize = 150;

/// Realistic words, and texts that are hard for folding, indexes and SQL.
const WORDS: &[&str] = &[
    "a",
    "A",
    "b",
    "ab",
    "Ab",
    "ba",
    "abc",
    "Ada",
    "ADA",
    "ada",
    "Lovelace",
    "Straße",
    "STRASSE",
    "ſtraße",
    "ẞ",
    "ß",
    "ss",
    "İstanbul",
    "istanbul",
    "ISTANBUL",
    "ıstanbul",
    "É",
    "e\u{301}",
    "é",
    "e",
    "résumé",
    "re\u{301}sume\u{301}",
    "Σίσυφος",
    "ΣΊΣΥΦΟΣ",
    "ς",
    "計算機",
    "計算",
    "算",
    "コンピュータ",
    "ｺﾝﾋﾟｭｰﾀ",
    "カ\u{3099}",
    "한국어",
    "한",
    "ᄒ",
    "हिन्दी",
    "ि",
    "עברית",
    "שָׁלוֹם",
    "العربية",
    "ﷺ",
    "ﬁn",
    "fin",
    "①",
    "1",
    "🙂",
    "👩\u{200D}💻",
    "👍🏽",
    "𝔞𝔟𝔠",
    "100%",
    "%",
    "_",
    "a_b",
    "a%b",
    "*",
    "\"quoted\"",
    "'",
    "''",
    "O'Neil",
    "\\",
    "\\%",
    "--",
    "; DROP",
    "(",
    ")",
    "NEAR",
    "AND",
    "a:b",
    "\u{200B}",
    "\u{AD}",
    "x\u{301}\u{302}\u{303}",
    ".",
    "zz",
    "Zürich",
    "Zu\u{308}rich",
    "Łódź",
    "ŁÓDŹ",
    "Ђ",
    "ђ",
    "Ёлка",
    "елка",
];
const SPACES: &[&str] = &[" ", "  ", "\u{A0}", "\u{3000}", "\u{2003}"];
const HANDLES: &[&str] = &["a", "ab", "ada", "b", "_", ".", "-", "0", "zz", "fin"];

/// The same instance on both engines.
struct Both {
    sqlite: SqliteStore,
    postgres: PostgresStore,
}

impl Both {
    fn stores(&self) -> [&dyn Store; 2] {
        [&self.sqlite, &self.postgres]
    }

    async fn create(&self, number: u64, name: &str) {
        let whole = account(number);
        let profile =
            whole.profile.clone().map(|profile| NewProfile { name: Name::parse(name).unwrap(), ..profile });
        // Some profiles share a creation time, so that ids decide their order.
        let now = at(i64::try_from(number / 4).unwrap());
        for store in self.stores() {
            let new = NewAccount { profile: profile.clone(), now, ..account(number) };
            store.create_account(new).await.unwrap();
        }
    }

    async fn change(&self, number: u64, patch: ProfilePatch) {
        let mut outcomes = Vec::new();
        for store in self.stores() {
            let update = UpdateProfile {
                session: None,
                user_id: user_id(number),
                patch: patch.clone(),
                if_version: None,
                create: None,
                now: at(1_000),
            };
            outcomes.push(store.update_profile(update).await.unwrap());
        }
        assert_eq!(outcomes[0], outcomes[1]);
        assert!(!matches!(outcomes[0], UpdateProfileOutcome::UsernameTaken));
    }

    async fn ban(&self, number: u64, is_banned: bool) {
        for store in self.stores() {
            let update = UpdateUser {
                id: user_id(number),
                email: None,
                email_verified: None,
                banned: Some(is_banned),
                restore: None,
                metadata: None,
                events: Vec::new(),
                mail: None,
                protection: Protection::Operators,
                now: at(1_000),
            };
            store.update_user(update).await.unwrap();
        }
    }

    async fn delete(&self, number: u64) {
        for store in self.stores() {
            let events = vec![event(1_000_000 + number)];
            store.delete_users(&[user_id(number)], events, Protection::Operators).await.unwrap().unwrap();
        }
    }

    /// Compares one page; returns the number of matches.
    async fn compare(&self, query: &SearchQuery, page: Page) -> u64 {
        let [sqlite, postgres] = self.stores();
        let sqlite = sqlite.search_profiles(query, page).await.unwrap();
        let postgres = postgres.search_profiles(query, page).await.unwrap();
        assert_eq!(sqlite, postgres, "{:?} at {page:?}", query.folded());
        sqlite.total
    }
}

fn text(random: &mut StdRng, most: usize) -> String {
    let mut text = String::new();
    for _ in 0..random.random_range(0..=most) {
        for _ in 0..random.random_range(1..=2) {
            text.push_str(WORDS.choose(random).unwrap());
        }
        text.push_str(SPACES.choose(random).unwrap());
    }
    text
}

fn patch(random: &mut StdRng, number: u64) -> ProfilePatch {
    let handle: String = (0..random.random_range(0..3)).map(|_| *HANDLES.choose(random).unwrap()).collect();
    ProfilePatch {
        name: Some(Name::parse(&text(random, 3)).unwrap()),
        username: Some(Username::parse(&format!("{handle}{number}")).ok()),
        bio: Some(Bio::parse(&text(random, 8)).ok()),
        ..ProfilePatch::default()
    }
}

/// Words or substrings of words: one letter, two, or more.
fn query(random: &mut StdRng) -> Option<SearchQuery> {
    let whole = text(random, 3);
    let chars: Vec<char> = whole.chars().collect();
    if chars.is_empty() || random.random_bool(0.4) {
        return SearchQuery::parse(&whole).ok();
    }
    let start = random.random_range(0..chars.len());
    let end = (start + random.random_range(1..6)).min(chars.len());
    SearchQuery::parse(&chars[start..end].iter().collect::<String>()).ok()
}

/// Changes, bans and deletes some profiles.
async fn stir(both: &Both, random: &mut StdRng, round: u64) {
    for turn in 0..20 {
        let number = random.random_range(1..=PROFILES);
        match turn % 5 {
            0 => both.ban(number, random.random_bool(0.7)).await,
            1 => {
                both.delete(number).await;
                both.create(10_000 * (round + 1) + turn, &text(random, 3)).await;
            }
            _ => both.change(number, patch(random, number)).await,
        }
    }
}

#[tokio::test]
async fn both_engines_find_the_same_in_the_same_order() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestCluster::shared().database();
    let both = Both {
        sqlite: Sqlite::open(&folder.path().join("test.db")).unwrap(),
        postgres: Postgres::connect(PostgresOptions::new(database.url())).await.unwrap(),
    };
    let random = &mut StdRng::seed_from_u64(3);
    for number in 1..=PROFILES {
        both.create(number, &text(random, 3)).await;
        both.change(number, patch(random, number)).await;
    }

    let (mut asked, mut found, mut most) = (0, 0, 0);
    for round in 0..ROUNDS {
        for _ in 0..QUERIES {
            let Some(query) = query(random) else { continue };
            let total = both.compare(&query, Page::new(100, 0)).await;
            let limit = random.random_range(1..=9);
            both.compare(&query, Page::new(limit, random.random_range(0..total + 3))).await;
            asked += 1;
            found += u64::from(total > 0);
            most = most.max(total);
        }
        stir(&both, random, round as u64).await;
    }
    assert!(asked > 400 && found > asked / 3 && most > 20, "{asked} {found} {most}");
}
