//! Tests with `kill -9` while accounts are deleted, restored, and deleted for good. After the restart, each of them has
//! happened as a whole or not at all, and what did not happen can be repeated.

use latchkey_testkit::{Answer, Client, PASSWORD, Request, Session, Value, json};

use crate::binary::{Binary, Running, eventually};
use crate::crash_email::{ACCOUNTS, Acknowledged, admin, kill_amid};

/// An account, and what its owner holds.
#[derive(Default)]
struct Account {
    id: String,
    email: String,
    access_token: String,
    /// Challenge of kind `restore`, if the account is in deletion.
    challenge: String,
    is_acknowledged: bool,
}

impl Acknowledged for Account {
    fn acknowledge(&mut self) {
        self.is_acknowledged = true;
    }
}

impl Account {
    fn delete(&self, anon: &Client) -> Request {
        anon.clone().with_bearer(&self.access_token).delete("/api/auth/account")
    }

    fn restore(&self, anon: &Client) -> Request {
        let body = json!({"challengeId": self.challenge, "kind": "restore"});
        anon.post("/api/auth/challenges/answer", body)
    }

    async fn sign_in(&self, running: &Running) -> Answer {
        running.anon().sign_in(&self.email, PASSWORD).send().await
    }

    /// True if others see the account.
    async fn is_shown(&self, running: &Running) -> bool {
        running.anon().get(&format!("/api/profiles/{}", self.id)).send().await.status == 200
    }

    /// The account as an admin sees it; `None` if it is gone.
    async fn found(&self, admin: &Client) -> Option<Value> {
        let answer = admin.get(&format!("/api/auth/users/{}", self.id)).send().await;
        (answer.status != 404).then(|| answer.expect(200))
    }

    /// Asserts that the account is in deletion with all effects, or not at all; then puts it into deletion.
    async fn assert_deleted_or_not(&mut self, admin: &Client, running: &Running) {
        let is_deleted = self.found(admin).await.unwrap()["deletesAt"].is_string();
        assert!(is_deleted || !self.is_acknowledged, "{}", self.email);
        assert_eq!(self.is_shown(running).await, !is_deleted, "{}", self.email);
        let token = running.anon().with_bearer(&self.access_token).get("/api/auth/account").send().await;
        assert_eq!(token.status, if is_deleted { 401 } else { 200 }, "{}", self.email);
        if !is_deleted {
            self.delete(&running.anon()).send().await.expect(200);
        }
        let asked = self.sign_in(running).await.expect(200);
        assert_eq!(asked["challenge"]["kinds"], json!(["restore"]), "{asked}");
        asked["challenge"]["id"].as_str().unwrap().clone_into(&mut self.challenge);
        self.is_acknowledged = false;
    }

    /// Asserts that the account is restored with all effects, or not at all; then restores it.
    async fn assert_restored_or_not(&mut self, admin: &Client, running: &Running) {
        let is_restored = self.found(admin).await.unwrap()["deletesAt"].is_null();
        assert!(is_restored || !self.is_acknowledged, "{}", self.email);
        assert_eq!(self.is_shown(running).await, is_restored, "{}", self.email);
        let again = self.restore(&running.anon()).send().await;
        if is_restored {
            again.refused(401, "INVALID_CHALLENGE");
        } else {
            again.expect(200);
        }
        self.access_token = Session::of(&self.sign_in(running).await).access_token;
        self.is_acknowledged = false;
    }

    /// Asserts that the account is wholly there or wholly gone; true if it is gone.
    async fn is_wholly_gone(&self, admin: &Client, running: &Running) -> bool {
        let sign_in = self.sign_in(running).await;
        if sign_in.status == 200 {
            assert_eq!(sign_in.json()["challenge"]["kinds"], json!(["restore"]), "{sign_in:?}");
            return false;
        }
        sign_in.refused(401, "INVALID_CREDENTIALS");
        assert_eq!(self.found(admin).await, None, "{}", self.email);
        true
    }
}

async fn prepared(binary: &Binary, running: &Running) -> Vec<Account> {
    let admin = admin(binary, running);
    let mut accounts = Vec::new();
    for number in 0..ACCOUNTS {
        let email = format!("ada-{number}@example.org");
        let body = json!({"email": email, "password": PASSWORD, "autoConfirm": true});
        admin.post("/api/auth/users", body).send().await.expect(200);
        let session = Session::of(&running.anon().sign_in(&email, PASSWORD).send().await);
        let (id, access_token) = (session.user_id, session.access_token);
        accounts.push(Account { id, email, access_token, ..Account::default() });
    }
    accounts
}

async fn kill_leaves_nothing_half_done(binary: Binary) {
    let running = binary.serve().await;
    let accounts = prepared(&binary, &running).await;

    let mut accounts = kill_amid(running, accounts, Account::delete).await;
    let running = binary.serve().await;
    for account in &mut accounts {
        account.assert_deleted_or_not(&admin(&binary, &running), &running).await;
    }

    let mut accounts = kill_amid(running, accounts, Account::restore).await;
    let binary = binary.set("auth.deletion_grace=1s");
    let running = binary.serve().await;
    for account in &mut accounts {
        account.assert_restored_or_not(&admin(&binary, &running), &running).await;
        account.delete(&running.anon()).send().await.expect(200);
    }
    running.kill().await;

    // Upkeep begins at the start. These kills meet it at different steps.
    for _ in 0..4 {
        binary.serve().await.kill().await;
    }
    let running = binary.serve().await;
    let admin = admin(&binary, &running);
    for account in &accounts {
        account.is_wholly_gone(&admin, &running).await;
    }
    running.kill().await;
    // Accounts whose grace ended after the last upkeep are deleted by that of the next start.
    let running = binary.serve().await;
    assert_all_gone(&binary, &running, &accounts).await;
}

/// Asserts that all accounts are gone, and that their last mails are sent.
async fn assert_all_gone(binary: &Binary, running: &Running, accounts: &[Account]) {
    let admin = admin(binary, running);
    eventually("all accounts are gone", async || {
        for account in accounts {
            if !account.is_wholly_gone(&admin, running).await {
                return None;
            }
        }
        Some(())
    })
    .await;
    eventually("the last mail to each is sent", async || {
        let mails = binary.mails();
        let is_told = |account: &Account| {
            let to = format!("To: {}\r\n", account.email);
            mails.iter().any(|mail| mail.contains(&to) && mail.contains("is deleted"))
        };
        accounts.iter().all(is_told).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_leaves_no_half_deleted_account() {
    kill_leaves_nothing_half_done(Binary::new().set("server.public_url=http://localhost:8700")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_leaves_no_half_deleted_account_on_postgres() {
    let database = latchkey_testkit::postgres::TestCluster::shared().database();
    let binary = Binary::new().set("server.public_url=http://localhost:8700").on(&database);
    kill_leaves_nothing_half_done(binary).await;
}
