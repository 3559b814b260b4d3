//! Load of the drills: clients of several instances simulate users in a loop, retry 503 responses, and record
//! acknowledged writes.

use std::sync::Arc;
use std::time::Duration;

use latchkey_testkit::{Answer, Client, PASSWORD, Request, Session, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::record::Record;

/// Pause before a retry.
const PAUSE: Duration = Duration::from_millis(50);
/// Timeout of a request, longer than any response may take.
const ANSWER: Duration = Duration::from_secs(15);
/// Profile changes per user.
const EDITS: u32 = 3;

/// Record of a client about one simulated user.
#[derive(Default)]
pub struct Account {
    pub email: String,
    /// User id, once the sign-up was acknowledged.
    pub user_id: Option<String>,
    /// Number in the last acknowledged bio.
    pub bio: u32,
    /// Profile changes sent.
    pub edits_sent: u32,
    /// Current session.
    pub session: Option<Session>,
    /// A session whose sign-out was acknowledged.
    pub signed_out: Option<Session>,
}

/// Client that uses all instances.
pub struct Caller {
    pub number: usize,
    pub instances: Vec<Client>,
    pub record: Arc<Record>,
    pub stop: watch::Receiver<bool>,
    turn: usize,
}

impl Caller {
    pub fn new(
        number: usize,
        instances: Vec<Client>,
        record: Arc<Record>,
        stop: watch::Receiver<bool>,
    ) -> Self {
        Self { number, instances, record, stop, turn: number }
    }

    /// Simulates users until the drill ends.
    pub async fn run(mut self) -> Vec<Account> {
        let mut accounts = Vec::new();
        while !*self.stop.borrow() {
            let email = format!("caller-{}-{}@example.org", self.number, accounts.len());
            let mut account = Account { email, ..Account::default() };
            self.live(&mut account).await;
            accounts.push(account);
        }
        accounts
    }

    /// Simulates one user. `None` if the drill ends first.
    async fn live(&mut self, account: &mut Account) -> Option<()> {
        let email = account.email.clone();
        let answer = self.insist(&[200, 409], true, |client| client.sign_up(&email, PASSWORD)).await?;
        // A request with the response 503 may have been committed, so the address may be taken.
        if answer.status == 200 {
            self.took_over(account, &answer);
        } else {
            self.sign_in(account).await?;
        }
        for number in 1..=EDITS {
            account.edits_sent = number;
            let token = account.session.as_ref()?.access_token.clone();
            let body = json!({"bio": format!("bio {number}")});
            let patch = |client: &Client| client.patch("/api/profiles/me", body.clone()).bearer(&token);
            self.insist(&[200], true, patch).await?;
            account.bio = number;
            self.look(account).await?;
            self.refresh(account).await?;
        }
        self.sign_out(account).await?;
        self.sign_in(account).await
    }

    async fn sign_in(&mut self, account: &mut Account) -> Option<()> {
        let email = account.email.clone();
        let answer = self.insist(&[200], true, |client| client.sign_in(&email, PASSWORD)).await?;
        self.took_over(account, &answer);
        Some(())
    }

    async fn refresh(&mut self, account: &mut Account) -> Option<()> {
        let session = account.session.clone()?;
        let answer = self.insist(&[200], true, |client| client.refresh(&session)).await?;
        self.took_over(account, &answer);
        Some(())
    }

    async fn sign_out(&mut self, account: &mut Account) -> Option<()> {
        let session = account.session.take()?;
        self.insist(&[200], true, |client| client.sign_out(&session)).await?;
        account.signed_out = Some(session.clone());
        // The other instance reports the same state, or 503.
        let token = session.access_token;
        self.insist(&[401], false, |client| client.get("/api/profiles/me").bearer(&token)).await?;
        Some(())
    }

    /// Asserts that the acknowledged state of the user is visible.
    async fn look(&mut self, account: &Account) -> Option<()> {
        let token = account.session.as_ref()?.access_token.clone();
        let answer =
            self.insist(&[200], false, |client| client.get("/api/profiles/me").bearer(&token)).await?;
        let (seen, wanted) = (answer.json()["bio"].clone(), format!("bio {}", account.bio));
        if seen != wanted.as_str() {
            self.record.fault(format!("{}: {wanted} was acknowledged, {seen} is seen", account.email));
        }
        Some(())
    }

    fn took_over(&self, account: &mut Account, answer: &Answer) {
        let session = Session::of(answer);
        if account.user_id.get_or_insert_with(|| session.user_id.clone()) != &session.user_id {
            self.record.fault(format!("{}: two users have this address", account.email));
        }
        account.session = Some(session);
    }

    /// Repeats a request at alternating instances until it succeeds; `None` if the drill ends first.
    async fn insist(
        &mut self,
        wanted: &[u16],
        is_write: bool,
        request: impl Fn(&Client) -> Request,
    ) -> Option<Answer> {
        loop {
            self.turn += 1;
            let at = self.turn % self.instances.len();
            let asked = Instant::now();
            let answer = timeout(ANSWER, request(&self.instances[at]).try_send()).await;
            match answer {
                Ok(Ok(answer)) if self.record.judge(at, &answer, wanted, asked.elapsed()) => {
                    if is_write {
                        self.record.write(at);
                    }
                    return Some(answer);
                }
                Ok(Ok(_)) => {}
                Ok(Err(error)) => self.record.fault(format!("instance {at} broke off: {error:?}")),
                Err(_) => self.record.fault(format!("instance {at} gave no answer within {ANSWER:?}")),
            }
            if *self.stop.borrow() {
                return None;
            }
            sleep(PAUSE).await;
        }
    }
}
