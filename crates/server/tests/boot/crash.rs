//! Tests with `kill -9` during writes. After the restart, acknowledged data exists, nothing is half-written, and the
//! outbox continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use latchkey_testkit::{Client, PASSWORD, Session, json};
use tokio::task::JoinSet;

use crate::binary::{Binary, Running, eventually};

/// Number of acknowledged writes before the kill.
const ENOUGH: usize = 400;
/// Number of mails that the outbox claims at once.
const CLAIM: usize = 8;
/// Number of concurrent clients.
const CALLERS: usize = 16;

/// Record of one client about one account.
#[derive(Default)]
struct Account {
    email: String,
    /// Session of the acknowledged sign-up.
    session: Option<Session>,
    /// Number in the last acknowledged bio; the number in the last sent one is below.
    bio_acknowledged: Option<usize>,
    bio_sent: Option<usize>,
    /// True if a response promised a mail.
    mail_promised: bool,
}

/// Signs up, edits profiles and requests mails in a loop until the service is killed.
async fn storm(anon: Client, caller: usize, acknowledged: Arc<AtomicUsize>) -> Vec<Account> {
    let mut accounts = Vec::new();
    loop {
        let email = format!("caller-{caller}-{}@example.org", accounts.len());
        accounts.push(Account { email, ..Account::default() });
        let account = accounts.last_mut().unwrap();
        if live(&anon, account, &acknowledged).await.is_none() {
            return accounts;
        }
    }
}

/// Runs the requests of one account; `None` if the service was killed meanwhile.
async fn live(anon: &Client, account: &mut Account, acknowledged: &AtomicUsize) -> Option<()> {
    let signed_up = anon.sign_up(&account.email, PASSWORD).try_send().await.ok()?;
    let session = Session::of(&signed_up);
    let owner = anon.clone().with_bearer(&session.access_token);
    account.session = Some(session);
    acknowledged.fetch_add(1, Ordering::Relaxed);
    for number in 0..3 {
        account.bio_sent = Some(number);
        let body = json!({"bio": format!("bio {number}")});
        owner.patch("/api/profiles/me", body).try_send().await.ok()?.expect(200);
        account.bio_acknowledged = Some(number);
        acknowledged.fetch_add(1, Ordering::Relaxed);
    }
    let body = json!({"email": account.email});
    anon.post("/api/auth/email/send-reset-password", body).try_send().await.ok()?.expect(202);
    account.mail_promised = true;
    Some(())
}

/// Runs the load and kills the service.
async fn load_and_kill(running: Running) -> Vec<Account> {
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        callers.spawn(storm(running.anon(), caller, Arc::clone(&acknowledged)));
    }
    eventually("enough is written", async || (acknowledged.load(Ordering::Relaxed) >= ENOUGH).then_some(()))
        .await;
    running.kill().await;
    callers.join_all().await.into_iter().flatten().collect()
}

/// Asserts that everything acknowledged of an account exists.
async fn assert_kept(running: &Running, account: &Account) {
    let Some(session) = &account.session else { return };
    let owner = running.anon().with_bearer(&session.access_token);
    let record = owner.get("/api/profiles/me").send().await.expect(200);
    let bio = record["bio"].as_str().map(|bio| bio.trim_start_matches("bio ").parse::<usize>().unwrap());
    assert!(bio >= account.bio_acknowledged && bio <= account.bio_sent, "{}: {bio:?}", account.email);
    running.anon().refresh(session).send().await.expect(200);
}

/// Asserts that an account exists either completely (password, profile, session) or not at all.
async fn assert_whole(running: &Running, account: &Account) {
    let answer = running.anon().sign_in(&account.email, PASSWORD).send().await;
    if account.session.is_none() && answer.status == 401 {
        running.anon().sign_up(&account.email, PASSWORD).send().await.expect(200);
        return;
    }
    let session = Session::of(&answer);
    let owner = running.anon().with_bearer(&session.access_token);
    owner.get("/api/profiles/me").send().await.expect(200);
    let sessions = owner.get("/api/auth/sessions").send().await.expect(200);
    assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(2), "{}: {sessions}", account.email);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_loses_no_acknowledged_write_and_leaves_no_partial_one() {
    let binary = Binary::new().set("server.public_url=http://localhost:8700");
    let accounts = load_and_kill(binary.serve().await).await;

    let running = binary.serve().await;

    for account in &accounts {
        assert_kept(&running, account).await;
        assert_whole(&running, account).await;
    }
    let admin = running.anon().with_bearer(&binary.read("latchkey-data/admin-key"));
    let users = admin.get("/api/auth/users?limit=1").send().await.expect(200);
    assert_eq!(users["pagination"]["total"], accounts.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outbox_goes_on_after_a_kill_and_loses_no_promised_mail() {
    let binary = Binary::new();
    let accounts = load_and_kill(binary.serve().await).await;
    let promised: Vec<_> = accounts.into_iter().filter(|account| account.mail_promised).collect();
    assert!(!promised.is_empty());

    let _running = binary.serve().await;

    // The lease of a mail that was being delivered at the kill lasts ten more seconds.
    eventually("all but one claim is sent", async || {
        let waiting = binary.run(&["mail", "list", "--limit", "1000"]).await;
        let sent = binary.mails().concat();
        let is_sent = |email: &str| sent.contains(&format!("To: {email}\r\n"));
        let unsent: Vec<_> =
            promised.iter().map(|account| &account.email).filter(|email| !is_sent(email)).collect();
        assert!(
            unsent.iter().all(|email| waiting.good().contains(email.as_str())),
            "{unsent:?} {}",
            waiting.out
        );
        (unsent.len() <= CLAIM).then_some(())
    })
    .await;
}
