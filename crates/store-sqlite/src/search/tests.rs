#![allow(clippy::unwrap_used, clippy::expect_used)]

use latchkey_domain::email::Email;
use latchkey_domain::ids::{ProfileId, UserId};
use latchkey_domain::profile::{Bio, Name, NewProfile, Username};
use proptest::prelude::*;

use latchkey_store_operations::form::{ProfileWrite, Sql};

use super::*;
use crate::migrations;
use crate::profile_writes::write;

/// A change of the stored profiles.
#[derive(Debug, Clone)]
enum Change {
    Write { user: u8, name: String, username: Option<String>, bio: Option<String> },
    Delete { user: u8 },
    Hide { user: u8, is_searchable: bool },
    TakeUp { at_most: u32 },
}

fn database() -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    conn.pragma_update(None, "foreign_keys", true).unwrap();
    conn.pragma_update(None, "trusted_schema", false).unwrap();
    migrations::migrate(&conn, None).unwrap();
    conn
}

fn user_id(user: u8) -> UserId {
    UserId::new(Timestamp::from_millis(1), [user; 10])
}

fn run(conn: &Connection, sql: &Sql, user_id: UserId) {
    conn.execute(sql.sqlite(), params![user_id.as_uuid().as_bytes()]).unwrap();
}

fn add_user(conn: &Connection, user: u8) {
    let email = Email::parse(&format!("user{user}@example.org")).unwrap();
    conn.execute(
        "INSERT INTO users (id, email, email_key, email_verified, pending, contested, metadata, created_at, updated_at)
         VALUES (?1, ?2, ?2, 1, 0, 0, '{}', 1, 1)",
        params![user_id(user).as_uuid().into_bytes(), email.as_typed()],
    )
    .unwrap();
}

fn profile(user: u8, name: &str, username: Option<&str>, bio: Option<&str>) -> Profile {
    // Few distinct creation times, so that ties are common.
    let now = Timestamp::from_millis(i64::from(user % 3));
    let id = ProfileId::new(now, [user.wrapping_mul(37); 10]);
    let new = NewProfile { id, name: Name::from_stored(name.to_owned()), avatar_url: None };
    let mut profile = new.into_profile(user_id(user), now);
    profile.username = username.map(|text| Username::from_stored(text.to_owned()));
    profile.bio = bio.map(|text| Bio::from_stored(text.to_owned()));
    profile
}

fn take_step(conn: &Connection, there: &mut Vec<(Profile, bool)>, step: Change) {
    match step {
        Change::Write { user, name, username, bio } => {
            let username = username.map(|text| format!("{text}_{user}"));
            let new = profile(user, &name, username.as_deref(), bio.as_deref());
            if let Some((old, _)) = there.iter_mut().find(|(old, _)| old.user_id == new.user_id) {
                write(conn, &ProfileWrite::Save(new.clone())).unwrap();
                *old = new;
            } else {
                write(conn, &ProfileWrite::Create(new.clone())).unwrap();
                there.push((new, true));
            }
        }
        Change::Delete { user } => {
            run(conn, &profiles::DELETE, user_id(user));
            hide(conn, user, false);
            there.retain(|(profile, _)| profile.user_id != user_id(user));
        }
        Change::Hide { user, is_searchable } => {
            for (_, flag) in there.iter_mut().filter(|(profile, _)| profile.user_id == user_id(user)) {
                hide(conn, user, !is_searchable);
                *flag = is_searchable;
            }
        }
        Change::TakeUp { at_most } => {
            pending::index_pending(conn, at_most).unwrap();
        }
    }
}

/// Bans the user, or lifts the ban.
fn hide(conn: &Connection, user: u8, is_banned: bool) {
    let params = params![user_id(user).as_uuid().into_bytes(), is_banned.then_some(1)];
    conn.execute("UPDATE users SET banned_at = ?2 WHERE id = ?1", params).unwrap();
    run(conn, &profiles::SHOW_OR_HIDE, user_id(user));
}

/// Expected matches, by a full scan with the contract's definition.
fn expected(there: &[(Profile, bool)], query: &SearchQuery) -> Vec<ProfileId> {
    let mut hits: Vec<_> = there
        .iter()
        .filter(|(_, is_searchable)| *is_searchable)
        .filter_map(|(profile, _)| {
            let username = profile.username.as_ref().map(Username::as_str);
            let text = SearchText::of(profile.name.as_str(), username, profile.bio.as_ref().map(Bio::as_str));
            matches(query, &text).map(|tier| (tier, Reverse(profile.created_at), Reverse(profile.id)))
        })
        .collect();
    hits.sort_unstable();
    hits.into_iter().map(|(_, _, id)| id.0).collect()
}

fn found(conn: &Connection, query: &SearchQuery, page: Page) -> (u64, Vec<ProfileId>) {
    let hits = search(conn, query, page).unwrap().hits;
    (hits.total, hits.profiles.iter().map(|profile| profile.id).collect())
}

/// Texts that fold, compose, leave the Basic Multilingual Plane or are special to an index, and arbitrary ones.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec!["a", "ad", "Ada", "lov", "É", "e\u{301}", "ß", "ﬁ", "İ", "Σ", "計", "算機", "한", "😀", "𝔄",
            "\u{10FFFF}", "\u{FFFE}", "\u{FFFD}", "\u{200D}"]),
        3 => prop::sample::select(vec![" ", "  ", "\u{A0}", "\u{3000}", "\n"]),
        2 => prop::sample::select(vec!["%", "_", "*", "\"", "'", "-", "OR", "AND", "(", ")", ":", "^", "+", "\\"]),
        1 => any::<char>().prop_filter("never sent", |c| *c != '\0').prop_map(|c| -> &'static str { leak(c) }),
    ];
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

fn leak(c: char) -> &'static str {
    Box::leak(c.to_string().into_boxed_str())
}

fn step() -> impl Strategy<Value = Change> {
    let user = 0..12u8;
    prop_oneof![
        8 => (user.clone(), text(), prop::option::of("[a-d_.-]{1,5}"), prop::option::of(text()))
            .prop_map(|(user, name, username, bio)| Change::Write { user, name, username, bio }),
        1 => user.clone().prop_map(|user| Change::Delete { user }),
        1 => (user, any::<bool>()).prop_map(|(user, is_searchable)| Change::Hide { user, is_searchable }),
        2 => (1..6u32).prop_map(|at_most| Change::TakeUp { at_most }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_the_contract_says(
        steps in prop::collection::vec(step(), 1..40),
        texts in prop::collection::vec(text(), 1..30),
    ) {
        let conn = database();
        (0..12).for_each(|user| add_user(&conn, user));
        let mut there = Vec::new();
        for step in steps {
            take_step(&conn, &mut there, step);
        }
        let parts = there.iter().flat_map(|(profile, _)| parts(profile.name.as_str())).collect::<Vec<_>>();
        // First with pending profiles as the steps left them, then with a complete index.
        for at_most in [0, u32::MAX] {
            pending::index_pending(&conn, at_most).unwrap();
            for query in texts.iter().chain(&parts).filter_map(|text| SearchQuery::parse(text).ok()) {
                let expected = expected(&there, &query);
                let all = found(&conn, &query, Page::new(100, 0));
                prop_assert_eq!(&all, &(expected.len() as u64, expected.clone()), "{:?}", query.folded());
                for offset in 0..=expected.len() {
                    let (total, page) = found(&conn, &query, Page::new(2, offset as u64));
                    let rest = expected.iter().copied().skip(offset).take(2).collect::<Vec<_>>();
                    prop_assert_eq!((total, page), (expected.len() as u64, rest));
                }
            }
        }
        for query in texts.iter().chain(&parts).filter_map(|text| SearchQuery::parse(text).ok()) {
            let candidates = named(&conn, &query);
            for (profile, _) in there.iter().filter(|(_, is_searchable)| *is_searchable) {
                let username = profile.username.as_ref().map(Username::as_str);
                let text = SearchText::of(profile.name.as_str(), username, None);
                let is_found = candidates.contains(&profile.user_id.as_uuid().into_bytes());
                prop_assert!(is_found || matches(&query, &text).is_none(), "{:?} in {:?}", query.folded(), text);
            }
        }
        conn.execute_batch("INSERT INTO profile_search (profile_search) VALUES ('integrity-check')").unwrap();
    }
}

/// Users of the profiles whose names the index gives for a query.
fn named(conn: &Connection, query: &SearchQuery) -> Vec<[u8; 16]> {
    let sql = "SELECT p.user_id FROM profile_search JOIN profiles AS p ON p.search_id = profile_search.rowid
        WHERE profile_search MATCH ?1";
    let mut statement = conn.prepare(sql).unwrap();
    let rows = statement.query_map(params![candidates_by_name(query)], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn words_of_a_bio_give_no_candidates_by_name() {
    let conn = database();
    for (user, name, bio) in [(1, "Ada", "a countess"), (2, "Eve", "ada ada adamant"), (3, "計算機", "機")]
    {
        add_user(&conn, user);
        write(&conn, &ProfileWrite::Create(profile(user, name, None, Some(bio)))).unwrap();
    }
    pending::index_pending(&conn, u32::MAX).unwrap();
    for (query, user) in [("a", 1), ("ad", 1), ("ada", 1), ("e", 2), ("計", 3)] {
        let query = SearchQuery::parse(query).unwrap();
        assert_eq!(named(&conn, &query), [user_id(user).as_uuid().into_bytes()], "{query:?}");
    }
}

/// Substrings of a text, so that queries have matches.
fn parts(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let piece = |start: usize, length: usize| chars.iter().skip(start).take(length).collect();
    (0..chars.len())
        .step_by(2)
        .flat_map(|start| (1..5).map(move |length| (start, length)))
        .map(|(s, l)| piece(s, l))
        .collect()
}

#[test]
fn long_queries_are_answered() {
    let conn = database();
    add_user(&conn, 1);
    let name = "\u{FDFA}".repeat(100); // eighteen characters each, when folded
    write(&conn, &ProfileWrite::Create(profile(1, &name, None, None))).unwrap();
    let query = SearchQuery::parse(&name).unwrap();
    assert_eq!(found(&conn, &query, Page::default()).0, 1);
    let words = SearchQuery::parse(&"a ".repeat(50)).unwrap();
    assert_eq!(found(&conn, &words, Page::default()).0, 0);
    let many: String = ('a'..='z').chain('0'..='9').flat_map(|c| [c, ' ']).collect();
    assert_eq!(found(&conn, &SearchQuery::parse(&many).unwrap(), Page::default()).0, 0);
}

#[test]
fn a_nul_neither_breaks_the_question_nor_hides_what_follows_it() {
    let conn = database();
    add_user(&conn, 1);
    write(&conn, &ProfileWrite::Create(profile(1, "ada", None, Some("before\0after")))).unwrap();
    assert_eq!(found(&conn, &SearchQuery::parse("after").unwrap(), Page::default()).0, 1);
    assert_eq!(found(&conn, &SearchQuery::parse("ada\0").unwrap(), Page::default()).0, 0);
}

#[test]
fn few_trigrams_cover_a_long_word_from_both_ends() {
    assert_eq!(trigrams("a"), ["  a"]);
    assert_eq!(trigrams("ad"), [" ad"]);
    assert_eq!(trigrams("ada"), ["ada"]);
    assert_eq!(trigrams("lovelace"), ["lov", "ela", "ace"]);
    let long: String = ('a'..='z').cycle().take(1_800).collect();
    assert!(trigrams(&long).len() <= ASKED_PER_WORD);
}
