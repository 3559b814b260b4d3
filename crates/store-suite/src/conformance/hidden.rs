//! Cases of stored rows that no method of the store shows: deleted secrets, and rows that are written only so
//! that responses take equally long. An engine implements [`InspectRows`] and runs all cases by
//! [`hidden_tests!`](crate::hidden_tests).
#![allow(clippy::missing_panics_doc, reason = "the name of a fact says it; it panics where it is not so")]

use async_trait::async_trait;
use latchkey_domain::codes::{CodeForm, CodeMac, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::identity::ProviderKey;
use latchkey_domain::ids::LeaseId;
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::operator::Protection;

use super::numbered::{self, account, at, email, entry, event, key, mail, session, token, user_id};
use latchkey_store::{
    CodeAttempt, EndedSession, ExchangeOutcome, Lease, MailFate, NewAccount, NewEmailCode, NewFlow, NewToken,
    PendingSignUp, RefreshOutcome, RequestEmailCode, SignUpOutcome, StateOutcome, Store,
};

/// Empty store with direct access to its rows.
#[async_trait]
pub trait InspectRows: Send + Sync {
    /// The store.
    fn store(&self) -> &dyn Store;

    /// Executes a query for one value, and returns the value as text.
    async fn text(&self, sql: &str) -> String;
}

/// Generates a test of every case. Takes the name of an async function without arguments that returns an
/// [`InspectRows`].
#[macro_export]
macro_rules! hidden_tests {
    ($fixture:ident) => {
        $crate::hidden_tests! { $fixture
            a_sent_mail_loses_its_sealed_part
            unknown_addresses_leave_the_same_rows_as_known_ones
            refused_attempts_leave_the_same_rows_for_known_and_unknown_addresses
            a_sign_up_at_a_taken_address_leaves_nothing_but_a_mail_and_an_event
            a_sealed_successor_is_wiped_after_its_grace
            an_ended_session_keeps_no_sealed_successor
            only_the_audit_trail_of_a_deleted_user_stays
            a_used_state_keeps_nothing_sealed
        }
    };
    ($fixture:ident $($fact:ident)+) => {
        $(
            #[tokio::test]
            async fn $fact() {
                $crate::conformance::hidden::$fact(&$fixture().await).await;
            }
        )+
    };
}

async fn number(fixture: &impl InspectRows, sql: &str) -> i64 {
    fixture.text(sql).await.parse().unwrap()
}

/// Creates account number 1 with a session.
async fn begin(fixture: &impl InspectRows) {
    fixture.store().create_account_and_enter(account(1), entry(session(1))).await.unwrap();
}

async fn request(fixture: &impl InspectRows, email: EmailKey, number: u64, email_code: NewEmailCode) {
    let request = RequestEmailCode {
        email,
        purpose: Purpose::ResetPassword,
        takes: Vec::new(),
        email_code,
        mail: mail(number),
        now: at(0),
    };
    fixture.store().request_email_code(request).await.unwrap().unwrap();
}

async fn rotate(fixture: &impl InspectRows) {
    let session = numbered::session(1);
    let refresh = numbered::refresh(numbered::presented(&session, session.refresh), event(50), at(10));
    let outcome = fixture.store().refresh_session(refresh).await.unwrap();
    assert!(matches!(outcome, RefreshOutcome::Rotated(_)));
}

fn code() -> NewEmailCode {
    numbered::code(1)
}

fn link(number: u64) -> NewEmailCode {
    let token = NewToken { hash: token(number), expires_at: at(600) };
    NewEmailCode::Link { token, redirect_to: Some("https://app.example/".to_owned()) }
}

pub async fn a_sent_mail_loses_its_sealed_part(fixture: &impl InspectRows) {
    begin(fixture).await;
    request(fixture, key(1), 1, code()).await;
    let lease = Lease { id: LeaseId::new(at(0), [9; 10]), until: at(60) };
    let claimed = fixture.store().claim_mails(lease, &MailSchedule::default(), 10, at(0)).await.unwrap();
    assert!(fixture.store().settle_mail(claimed[0].id, lease.id, MailFate::Sent, at(1)).await.unwrap());
    let wiped = "SELECT count(*) FROM outbox WHERE state = 'sent' AND payload IS NULL";
    assert_eq!(number(fixture, wiped).await, 1);
}

pub async fn unknown_addresses_leave_the_same_rows_as_known_ones(fixture: &impl InspectRows) {
    begin(fixture).await;
    for (round, (known, unknown)) in
        [(code(), code()), (link(11), link(12)), (code(), code())].into_iter().enumerate()
    {
        let number = 10 * (1 + u64::try_from(round).unwrap());
        request(fixture, key(1), number, known).await;
        request(fixture, key(2), number + 1, unknown).await;
        for (table, size) in [
            ("codes", "length(mac)"),
            ("link_tokens", "length(hash) + length(redirect_to) + coalesce(superseded_at, 0)"),
            ("outbox", "length(payload)"),
        ] {
            let shape = async |is_known: &str| -> String {
                let rows = format!(
                    "SELECT count(*) || ' ' || coalesce(sum({size}), 0) FROM {table} WHERE user_id IS {is_known}"
                );
                fixture.text(&rows).await
            };
            assert_eq!(shape("NULL").await, shape("NOT NULL").await, "{table} after round {round}");
        }
    }
    assert_eq!(number(fixture, "SELECT count(*) FROM outbox WHERE state = 'decoy'").await, 3);
}

pub async fn refused_attempts_leave_the_same_rows_for_known_and_unknown_addresses(
    fixture: &impl InspectRows,
) {
    begin(fixture).await;
    request(fixture, key(1), 1, code()).await;
    request(fixture, key(2), 2, code()).await;
    for (number, email) in [(20, key(1)), (21, key(2))] {
        let attempt = CodeAttempt {
            email,
            mac: CodeMac::from_bytes([2; 32]),
            form: CodeForm::SixDigits,
            lane: numbered::LANE,
            caller: None,
            takes: Vec::new(),
            event: event(number),
            now: at(1),
        };
        let new = NewToken { hash: token(number), expires_at: at(900) };
        let outcome = fixture.store().exchange_reset_code(attempt, new).await.unwrap().unwrap();
        assert_eq!(outcome, ExchangeOutcome::Refused);
    }
    assert_eq!(number(fixture, "SELECT count(*) FROM codes WHERE attempts = 1").await, 2);
    let counted = "SELECT count(*) FROM code_budgets WHERE lane = 1 AND attempts = 1 AND day_attempts = 1";
    assert_eq!(number(fixture, counted).await, 2);
}

pub async fn a_sign_up_at_a_taken_address_leaves_nothing_but_a_mail_and_an_event(fixture: &impl InspectRows) {
    begin(fixture).await;
    let counts = async || {
        let mut counts = Vec::new();
        for table in ["users", "credentials", "profiles", "codes", "link_tokens", "outbox", "audit_events"] {
            counts.push(number(fixture, &format!("SELECT count(*) FROM {table}")).await);
        }
        counts
    };
    let before = counts().await;
    let again = NewAccount { id: user_id(2), event: event(2), email: email(1), ..account(3) };
    let sign_up = PendingSignUp { account: again, email_code: code(), mail: mail(1) };
    assert_eq!(fixture.store().sign_up_pending(sign_up).await.unwrap(), SignUpOutcome::OwnerTold);
    let added: Vec<i64> = counts().await.iter().zip(before).map(|(after, before)| after - before).collect();
    assert_eq!(added, [0, 0, 0, 0, 0, 1, 1]);
}

pub async fn a_sealed_successor_is_wiped_after_its_grace(fixture: &impl InspectRows) {
    begin(fixture).await;
    rotate(fixture).await;
    let kept = "SELECT count(*) FROM sessions WHERE sealed_successor IS NOT NULL";
    fixture.store().purge(at(40)).await.unwrap();
    assert_eq!(number(fixture, kept).await, 1, "within the grace");
    fixture.store().purge(at(41)).await.unwrap();
    assert_eq!(number(fixture, kept).await, 0, "after it");
}

pub async fn an_ended_session_keeps_no_sealed_successor(fixture: &impl InspectRows) {
    begin(fixture).await;
    rotate(fixture).await;
    let which = EndedSession::Own(user_id(1), session(1).id);
    assert_eq!(fixture.store().end_sessions(which, event(60), at(11)).await.unwrap(), 1);
    assert_eq!(number(fixture, "SELECT count(*) FROM sessions WHERE sealed_successor IS NOT NULL").await, 0);
}

pub async fn only_the_audit_trail_of_a_deleted_user_stays(fixture: &impl InspectRows) {
    begin(fixture).await;
    request(fixture, key(1), 1, code()).await;
    request(fixture, key(1), 2, link(11)).await;
    let deleted = fixture.store().delete_users(&[user_id(1)], vec![event(70)], Protection::Operators).await;
    assert_eq!(deleted.unwrap(), Ok(1));
    for table in
        ["users", "credentials", "profiles", "sessions", "codes", "link_tokens", "outbox", "identities"]
    {
        assert_eq!(number(fixture, &format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
    assert_eq!(number(fixture, "SELECT count(*) FROM audit_events").await, 2);
}

/// A used flow has no secrets any more; its row states only that it was used.
pub async fn a_used_state_keeps_nothing_sealed(fixture: &impl InspectRows) {
    begin(fixture).await;
    let flow = NewFlow {
        state: token(20),
        provider: ProviderKey::parse("google").unwrap(),
        code_challenge: token(21),
        redirect_to: "https://app.example/".to_owned(),
        sealed: vec![7; 80],
        linker: None,
        created_at: at(0),
        expires_at: at(600),
    };
    fixture.store().begin_flow(flow).await.unwrap();
    assert!(matches!(fixture.store().take_flow(token(20), at(1)).await.unwrap(), StateOutcome::Taken(_)));
    let kept = "SELECT count(*) FROM oauth_flows WHERE sealed IS NOT NULL OR used_at IS NULL";
    assert_eq!(number(fixture, kept).await, 0);
}
