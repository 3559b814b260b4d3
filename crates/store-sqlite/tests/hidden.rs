//! What no caller of the contract can see: what is wiped, and that decoys are rows like others.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use std::time::Duration;

use latchkey_domain::codes::{CodeBudget, CodeMac, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::LeaseId;
use latchkey_store::{
    Accounts, Challenges, CodeAttempt, EndedSession, ExchangeOutcome, FeedPosition, FeedRead, Lease,
    MailFate, NewAccount, NewChallenge, NewToken, Outbox, PendingSignUp, RefreshOutcome, RefreshSession,
    RequestChallenge, RequestOutcome, SearchFeed, Sessions, SignUpOutcome, Store,
};
use latchkey_store_sqlite::SqliteStore;
use rusqlite::Connection;
use tempfile::TempDir;

use world::{account, at, client, event, key, mail, session, token, user_id};

const GRACE: Duration = Duration::from_secs(30);

/// A store with the account of number 1, and a look at its rows from outside.
struct Looked {
    store: SqliteStore,
    rows: Connection,
    _folder: TempDir,
}

impl Looked {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let store = SqliteStore::open(&path).unwrap();
        store.create_account(NewAccount { session: Some(session(1)), ..account(1) }).await.unwrap();
        Self { store, rows: Connection::open(&path).unwrap(), _folder: folder }
    }

    fn number(&self, sql: &str) -> i64 {
        self.rows.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn text(&self, sql: &str) -> String {
        self.rows.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    async fn request(&self, email: EmailKey, number: u64, challenge: NewChallenge) {
        let request = RequestChallenge {
            email,
            purpose: Purpose::ResetPassword,
            takes: Vec::new(),
            challenge,
            mail: mail(number),
            now: at(0),
        };
        assert_eq!(self.store.request_challenge(request).await.unwrap(), RequestOutcome::Accepted);
    }

    async fn rotate(&self) {
        let refresh = RefreshSession {
            family: token(1),
            presented: token(1_001),
            successor: token(5),
            sealed_successor: vec![1; 80],
            grace: GRACE,
            idle_expires_at: at(1_000_000),
            client: client(),
            reuse_event: event(50),
            now: at(10),
        };
        let outcome = self.store.refresh_session(refresh).await.unwrap();
        assert!(matches!(outcome, RefreshOutcome::Rotated(_)));
    }
}

fn code() -> NewChallenge {
    NewChallenge::Code { mac: CodeMac::from_bytes([1; 32]), expires_at: at(600) }
}

fn link(number: u64) -> NewChallenge {
    let token = NewToken { hash: token(number), expires_at: at(600) };
    NewChallenge::Link { token, redirect_to: Some("https://app.example/".to_owned()) }
}

#[tokio::test]
async fn a_sent_mail_loses_its_sealed_part() {
    let looked = Looked::new().await;
    looked.request(key(1), 1, code()).await;
    let lease = Lease { id: LeaseId::new(at(0), [9; 10]), until: at(60) };
    let claimed = looked.store.claim_mails(lease, 10, at(0)).await.unwrap();
    assert!(looked.store.settle_mail(claimed[0].id, lease.id, MailFate::Sent, at(1)).await.unwrap());
    assert_eq!(looked.number("SELECT count(*) FROM outbox WHERE state = 'sent' AND payload IS NULL"), 1);
}

#[tokio::test]
async fn unknown_addresses_leave_the_same_rows_as_known_ones() {
    let looked = Looked::new().await;
    for (round, (known, unknown)) in
        [(code(), code()), (link(11), link(12)), (code(), code())].into_iter().enumerate()
    {
        let number = 10 * (1 + u64::try_from(round).unwrap());
        looked.request(key(1), number, known).await;
        looked.request(key(2), number + 1, unknown).await;
        for (table, size) in [
            ("codes", "length(mac)"),
            ("link_tokens", "length(hash) + length(redirect_to) + coalesce(superseded_at, 0)"),
            ("outbox", "length(payload)"),
        ] {
            let shape = |is_known: &str| {
                let rows = format!(
                    "SELECT count(*) || ' ' || total({size}) FROM {table} WHERE user_id IS {is_known}"
                );
                looked.text(&rows)
            };
            assert_eq!(shape("NULL"), shape("NOT NULL"), "{table} after round {round}");
        }
    }
    assert_eq!(looked.number("SELECT count(*) FROM outbox WHERE state = 'decoy'"), 3);
}

#[tokio::test]
async fn refused_attempts_leave_the_same_rows_for_known_and_unknown_addresses() {
    let looked = Looked::new().await;
    looked.request(key(1), 1, code()).await;
    looked.request(key(2), 2, code()).await;
    for (number, email) in [(20, key(1)), (21, key(2))] {
        let attempt = CodeAttempt {
            email,
            mac: CodeMac::from_bytes([2; 32]),
            budget: CodeBudget { per_code: 5, per_hour: 10 },
            takes: Vec::new(),
            event: event(number),
            now: at(1),
        };
        let new = NewToken { hash: token(number), expires_at: at(900) };
        let outcome = looked.store.exchange_reset_code(attempt, new).await.unwrap();
        assert_eq!(outcome, ExchangeOutcome::Refused);
    }
    assert_eq!(looked.number("SELECT count(*) FROM codes WHERE attempts = 1"), 2);
    assert_eq!(looked.number("SELECT count(*) FROM code_budgets WHERE attempts = 1"), 2);
}

#[tokio::test]
async fn a_sign_up_at_a_taken_address_leaves_nothing_but_a_mail_and_an_event() {
    let looked = Looked::new().await;
    let count = |table: &str| looked.number(&format!("SELECT count(*) FROM {table}"));
    let tables = ["users", "credentials", "profiles", "codes", "link_tokens", "outbox", "audit_events"];
    let before = tables.map(count);
    let again = NewAccount { id: user_id(2), event: event(2), email: world::email(1), ..account(3) };
    let sign_up = PendingSignUp { account: again, challenge: code(), mail: mail(1) };
    assert_eq!(looked.store.sign_up_pending(sign_up).await.unwrap(), SignUpOutcome::OwnerTold);
    let added: Vec<i64> =
        tables.map(count).iter().zip(before).map(|(after, before)| after - before).collect();
    assert_eq!(added, [0, 0, 0, 0, 0, 1, 1]);
    looked
        .rows
        .execute_batch("INSERT INTO profile_search (profile_search) VALUES ('integrity-check')")
        .unwrap();
}

#[tokio::test]
async fn changes_of_the_search_go_after_a_day_or_two_but_for_the_last() {
    const DAY: i64 = 24 * 60 * 60;
    let looked = Looked::new().await;
    looked.store.create_account(account(2)).await.unwrap();
    let count = "SELECT count(*) FROM search_feed";
    let start = FeedPosition("0".to_owned());
    looked.store.purge(at(0)).await.unwrap();
    looked.store.purge(at(DAY - 1)).await.unwrap();
    assert_eq!(looked.number(count), 2, "within a day");
    assert!(matches!(looked.store.list_search_changes(&start).await.unwrap(), FeedRead::Changes { .. }));

    looked.store.purge(at(DAY)).await.unwrap();
    assert_eq!(looked.number(count), 1, "after it");
    assert_eq!(looked.store.list_search_changes(&start).await.unwrap(), FeedRead::Lost);
}

#[tokio::test]
async fn a_sealed_successor_is_wiped_after_its_grace() {
    let looked = Looked::new().await;
    looked.rotate().await;
    let kept = "SELECT count(*) FROM sessions WHERE sealed_successor IS NOT NULL";
    looked.store.purge(at(40)).await.unwrap();
    assert_eq!(looked.number(kept), 1, "within the grace");
    looked.store.purge(at(41)).await.unwrap();
    assert_eq!(looked.number(kept), 0, "after it");
}

#[tokio::test]
async fn an_ended_session_keeps_no_sealed_successor() {
    let looked = Looked::new().await;
    looked.rotate().await;
    let which = EndedSession::Own(user_id(1), session(1).id);
    assert_eq!(looked.store.end_sessions(which, event(60), at(11)).await.unwrap(), 1);
    assert_eq!(looked.number("SELECT count(*) FROM sessions WHERE sealed_successor IS NOT NULL"), 0);
}
