//! What no caller of the contract can see: what is wiped, that decoys are rows like others, and which index is used.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use std::time::Duration;

use latchkey_domain::codes::{CodeBudget, CodeMac, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::LeaseId;
use latchkey_store::{
    Accounts, AdminUsers, Challenges, CodeAttempt, EndedSession, ExchangeOutcome, FeedPosition, FeedRead,
    Lease, MailFate, NewAccount, NewChallenge, NewToken, Outbox, PendingSignUp, RefreshOutcome,
    RefreshSession, RequestChallenge, RequestOutcome, SearchFeed, Sessions, SignUpOutcome, Store,
};

use world::database::{self, Looked};
use world::{account, at, client, event, key, mail, session, token, user_id};

const GRACE: Duration = Duration::from_secs(30);

/// A store with the account of number 1.
async fn looked() -> Looked {
    let looked = Looked::new().await;
    looked.store.create_account(NewAccount { session: Some(session(1)), ..account(1) }).await.unwrap();
    looked
}

async fn request(looked: &Looked, email: EmailKey, number: u64, challenge: NewChallenge) {
    let request = RequestChallenge {
        email,
        purpose: Purpose::ResetPassword,
        takes: Vec::new(),
        challenge,
        mail: mail(number),
        now: at(0),
    };
    assert_eq!(looked.store.request_challenge(request).await.unwrap(), RequestOutcome::Accepted);
}

async fn rotate(looked: &Looked) {
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
    let outcome = looked.store.refresh_session(refresh).await.unwrap();
    assert!(matches!(outcome, RefreshOutcome::Rotated(_)));
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
    let looked = looked().await;
    request(&looked, key(1), 1, code()).await;
    let lease = Lease { id: LeaseId::new(at(0), [9; 10]), until: at(60) };
    let claimed = looked.store.claim_mails(lease, 10, at(0)).await.unwrap();
    assert!(looked.store.settle_mail(claimed[0].id, lease.id, MailFate::Sent, at(1)).await.unwrap());
    let wiped = "SELECT count(*) FROM outbox WHERE state = 'sent' AND payload IS NULL";
    assert_eq!(looked.number(wiped).await, 1);
}

#[tokio::test]
async fn unknown_addresses_leave_the_same_rows_as_known_ones() {
    let looked = looked().await;
    for (round, (known, unknown)) in
        [(code(), code()), (link(11), link(12)), (code(), code())].into_iter().enumerate()
    {
        let number = 10 * (1 + u64::try_from(round).unwrap());
        request(&looked, key(1), number, known).await;
        request(&looked, key(2), number + 1, unknown).await;
        for (table, size) in [
            ("codes", "length(mac)"),
            ("link_tokens", "length(hash) + length(redirect_to) + coalesce(superseded_at, 0)"),
            ("outbox", "length(payload)"),
        ] {
            let shape = async |is_known: &str| -> String {
                let rows = format!(
                    "SELECT count(*) || ' ' || coalesce(sum({size}), 0) FROM {table} WHERE user_id IS {is_known}"
                );
                looked.one(&rows).await
            };
            assert_eq!(shape("NULL").await, shape("NOT NULL").await, "{table} after round {round}");
        }
    }
    assert_eq!(looked.number("SELECT count(*) FROM outbox WHERE state = 'decoy'").await, 3);
}

#[tokio::test]
async fn refused_attempts_leave_the_same_rows_for_known_and_unknown_addresses() {
    let looked = looked().await;
    request(&looked, key(1), 1, code()).await;
    request(&looked, key(2), 2, code()).await;
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
    assert_eq!(looked.number("SELECT count(*) FROM codes WHERE attempts = 1").await, 2);
    assert_eq!(looked.number("SELECT count(*) FROM code_budgets WHERE attempts = 1").await, 2);
}

#[tokio::test]
async fn a_sign_up_at_a_taken_address_leaves_nothing_but_a_mail_and_an_event() {
    let looked = looked().await;
    let counts = async || {
        let mut counts = Vec::new();
        for table in ["users", "credentials", "profiles", "codes", "link_tokens", "outbox", "audit_events"] {
            counts.push(looked.number(&format!("SELECT count(*) FROM {table}")).await);
        }
        counts
    };
    let before = counts().await;
    let again = NewAccount { id: user_id(2), event: event(2), email: world::email(1), ..account(3) };
    let sign_up = PendingSignUp { account: again, challenge: code(), mail: mail(1) };
    assert_eq!(looked.store.sign_up_pending(sign_up).await.unwrap(), SignUpOutcome::OwnerTold);
    let added: Vec<i64> = counts().await.iter().zip(before).map(|(after, before)| after - before).collect();
    assert_eq!(added, [0, 0, 0, 0, 0, 1, 1]);
}

#[tokio::test]
async fn a_sealed_successor_is_wiped_after_its_grace() {
    let looked = looked().await;
    rotate(&looked).await;
    let kept = "SELECT count(*) FROM sessions WHERE sealed_successor IS NOT NULL";
    looked.store.purge(at(40)).await.unwrap();
    assert_eq!(looked.number(kept).await, 1, "within the grace");
    looked.store.purge(at(41)).await.unwrap();
    assert_eq!(looked.number(kept).await, 0, "after it");
}

#[tokio::test]
async fn an_ended_session_keeps_no_sealed_successor() {
    let looked = looked().await;
    rotate(&looked).await;
    let which = EndedSession::Own(user_id(1), session(1).id);
    assert_eq!(looked.store.end_sessions(which, event(60), at(11)).await.unwrap(), 1);
    assert_eq!(looked.number("SELECT count(*) FROM sessions WHERE sealed_successor IS NOT NULL").await, 0);
}

#[tokio::test]
async fn nothing_of_a_deleted_user_stays_but_the_audit() {
    let looked = looked().await;
    request(&looked, key(1), 1, code()).await;
    request(&looked, key(1), 2, link(11)).await;
    assert_eq!(looked.store.delete_users(&[user_id(1)], vec![event(70)]).await.unwrap(), 1);
    for table in ["users", "credentials", "profiles", "sessions", "codes", "link_tokens", "outbox"] {
        assert_eq!(looked.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
    assert_eq!(looked.number("SELECT count(*) FROM audit_events").await, 2);
}

#[tokio::test]
async fn a_change_that_ends_late_is_told_late_and_not_left_out() {
    let looked = looked().await;
    looked.store.create_account(account(2)).await.unwrap();
    let begun = looked.store.search_position().await.unwrap();
    let told = async |position: &FeedPosition| match looked.store.list_search_changes(position).await.unwrap()
    {
        FeedRead::Changes { changes, position, .. } => (changes.len(), position),
        FeedRead::Lost => panic!("the position is new"),
    };

    let of = |number: u64| format!("WHERE user_id = '{}'", user_id(number));
    looked.run(&format!("BEGIN; UPDATE profiles SET folded_name = 'early' {}", of(1))).await;
    let other = database::connect(looked.database.url()).await;
    other.batch_execute(&format!("UPDATE profiles SET folded_name = 'late' {}", of(2))).await.unwrap();
    let (count, position) = told(&begun).await;
    assert_eq!(count, 1, "the transaction that began later has ended first");

    looked.run("COMMIT").await;
    let (count, position) = told(&position).await;
    assert_eq!(count, 1, "the one that began earlier");
    assert_eq!(told(&position).await.0, 0);
}

#[tokio::test]
async fn a_search_reads_the_index() {
    let looked = looked().await;
    looked.run("SET enable_seqscan = off").await;
    let sql = "EXPLAIN SELECT id FROM profiles WHERE searchable AND trigrams @> '{1,2}'";
    let plan: Vec<String> =
        looked.outside.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(plan.join("\n").contains("profiles_by_trigram"), "{plan:?}");
}
