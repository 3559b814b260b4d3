//! Tests with `kill -9` while addresses are changed and changes are undone. After the restart, each of them has happened
//! as a whole or not at all, and what did not happen can be repeated.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use latchkey_testkit::{Client, PASSWORD, Request, Session, json};
use tokio::task::JoinSet;

use crate::binary::{Binary, Running, eventually};

const CALLERS: usize = 12;
/// Accounts of each caller.
const EACH: usize = 8;
pub(crate) const ACCOUNTS: usize = CALLERS * EACH;
/// Number of acknowledged requests before the kill.
const ENOUGH: usize = 30;

/// An account with an open change of address and its codes, or with the token of its undo link.
#[derive(Default)]
struct Account {
    old: String,
    new: String,
    access_token: String,
    change: String,
    new_code: String,
    current_code: String,
    undo: String,
    is_acknowledged: bool,
}

impl Account {
    fn owner(&self, running: &Running) -> Client {
        running.anon().with_bearer(&self.access_token)
    }

    fn confirm(&self, anon: &Client) -> Request {
        let owner = anon.clone().with_bearer(&self.access_token);
        let body =
            json!({"changeId": self.change, "newCode": self.new_code, "currentCode": self.current_code});
        owner.post("/api/auth/email/change/confirm", body)
    }

    fn take_back(&self, anon: &Client) -> Request {
        anon.post("/api/auth/undo", json!({"token": self.undo, "email": self.old}))
    }

    /// True if the password signs in at this address.
    async fn signs_in(&self, running: &Running, email: &str) -> bool {
        running.anon().sign_in(email, PASSWORD).send().await.status == 200
    }
}

pub(crate) fn admin(binary: &Binary, running: &Running) -> Client {
    running.anon().with_bearer(&binary.read("latchkey-data/admin-key"))
}

/// Text of the newest mail to this address, unwrapped.
fn mail_to(mails: &[String], email: &str) -> Option<String> {
    let to = format!("To: {email}\r\n");
    let mail = mails.iter().rev().find(|mail| mail.contains(&to))?;
    Some(mail.replace("=\r\n", "").replace("=3D", "="))
}

fn code_in(mail: &str) -> Option<String> {
    let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
    mail.lines().map(str::trim).find(is_code).map(str::to_owned)
}

fn token_in(mail: &str) -> Option<String> {
    mail.split_once("undo?token=").map(|(_, rest)| rest[..64].to_owned())
}

/// Verified accounts, each with an open change of address.
async fn prepared(binary: &Binary, running: &Running) -> Vec<Account> {
    let admin = admin(binary, running);
    let mut accounts = Vec::new();
    for number in 0..ACCOUNTS {
        let (old, new) = (format!("old-{number}@example.org"), format!("new-{number}@example.org"));
        let body = json!({"email": old, "password": PASSWORD, "autoConfirm": true});
        admin.post("/api/auth/users", body).send().await.expect(200);
        let access_token = Session::of(&running.anon().sign_in(&old, PASSWORD).send().await).access_token;
        let owner = running.anon().with_bearer(&access_token);
        let begun = owner.post("/api/auth/email/change", json!({"newEmail": new})).send().await.expect(202);
        let change = begun["changeId"].as_str().unwrap().to_owned();
        accounts.push(Account { old, new, access_token, change, ..Account::default() });
    }
    let codes = eventually("all codes are mailed", async || {
        let mails = binary.mails();
        let code = |email: &str| code_in(&mail_to(&mails, email)?);
        let codes = accounts.iter().map(|account| Some((code(&account.new)?, code(&account.old)?)));
        codes.collect::<Option<Vec<_>>>()
    })
    .await;
    for (account, codes) in accounts.iter_mut().zip(codes) {
        (account.new_code, account.current_code) = codes;
    }
    accounts
}

/// An account whose request may be acknowledged before the kill.
pub(crate) trait Acknowledged: Send + 'static {
    fn acknowledge(&mut self);
}

impl Acknowledged for Account {
    fn acknowledge(&mut self) {
        self.is_acknowledged = true;
    }
}

/// Sends the request of each account, and kills the service meanwhile.
pub(crate) async fn kill_amid<A: Acknowledged>(
    running: Running,
    mut accounts: Vec<A>,
    request: impl Fn(&A, &Client) -> Request + Copy + Send + 'static,
) -> Vec<A> {
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let mut callers = JoinSet::new();
    while !accounts.is_empty() {
        let mut own = accounts.split_off(accounts.len() - EACH);
        let (anon, acknowledged) = (running.anon(), Arc::clone(&acknowledged));
        callers.spawn(async move {
            for account in &mut own {
                let Ok(answer) = request(account, &anon).try_send().await else { break };
                answer.expect(200);
                account.acknowledge();
                acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            own
        });
    }
    eventually("enough is written", async || (acknowledged.load(Ordering::Relaxed) >= ENOUGH).then_some(()))
        .await;
    running.kill().await;
    callers.join_all().await.into_iter().flatten().collect()
}

/// Asserts that an address is changed with all effects, or not at all; then repeats the change.
async fn assert_changed_or_not(admin: &Client, running: &Running, account: &Account) {
    let (at_old, at_new) =
        (account.signs_in(running, &account.old).await, account.signs_in(running, &account.new).await);
    assert!(at_old != at_new && at_new >= account.is_acknowledged, "{}: {at_old} {at_new}", account.old);
    let own = account.owner(running).get("/api/auth/account").send().await.expect(200);
    assert_eq!(own["emailChange"].is_null(), at_new, "{own}");
    if at_old {
        assert_eq!(own["emailChange"]["proven"], json!([]));
        account.confirm(&running.anon()).send().await.expect(200);
    }
    let body = json!({"email": account.old, "password": PASSWORD, "autoConfirm": true});
    admin.post("/api/auth/users", body).send().await.refused(409, "EMAIL_EXISTS");
}

/// Asserts that a change is undone with all effects, or not at all; then repeats the undo.
async fn assert_undone_or_not(running: &Running, account: &Account) {
    let at_new = account.signs_in(running, &account.new).await;
    assert!(!(at_new && account.is_acknowledged), "{}", account.old);
    assert!(!account.signs_in(running, &account.old).await, "{}: the password is gone", account.old);
    let own = account.owner(running).get("/api/auth/account").send().await;
    assert_eq!(own.status, if at_new { 200 } else { 401 }, "{}", account.old);
    let again = account.take_back(&running.anon()).send().await;
    if at_new {
        again.expect(200);
    } else {
        again.refused(400, "INVALID_CODE");
    }
}

async fn kill_leaves_nothing_half_done(binary: Binary) {
    let running = binary.serve().await;
    let accounts = prepared(&binary, &running).await;
    let mut accounts = kill_amid(running, accounts, Account::confirm).await;

    let running = binary.serve().await;
    for account in &accounts {
        assert_changed_or_not(&admin(&binary, &running), &running, account).await;
    }

    let tokens = eventually("all undo links are mailed", async || {
        let mails = binary.mails();
        let tokens = accounts.iter().map(|account| token_in(&mail_to(&mails, &account.old)?));
        tokens.collect::<Option<Vec<_>>>()
    })
    .await;
    for (account, token) in accounts.iter_mut().zip(tokens) {
        (account.undo, account.is_acknowledged) = (token, false);
    }
    let accounts = kill_amid(running, accounts, Account::take_back).await;

    let running = binary.serve().await;
    for account in &accounts {
        assert_undone_or_not(&running, account).await;
    }
    // Every undo has mailed the code that sets a new password.
    eventually("all reset codes are mailed", async || {
        let mails = binary.mails();
        let has_code = |account: &Account| {
            let to = format!("To: {}\r\n", account.old);
            mails.iter().filter(|mail| mail.contains(&to) && code_in(mail).is_some()).count() > 1
        };
        accounts.iter().all(has_code).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_leaves_no_half_changed_address_and_no_half_undo() {
    kill_leaves_nothing_half_done(Binary::new().set("server.public_url=http://localhost:8700")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_leaves_no_half_changed_address_and_no_half_undo_on_postgres() {
    let database = latchkey_testkit::postgres::TestCluster::shared().database();
    let binary = Binary::new().set("server.public_url=http://localhost:8700").on(&database);
    kill_leaves_nothing_half_done(binary).await;
}
