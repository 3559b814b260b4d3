//! Callers at several instances: each lives the life of its users over and over, repeats what was refused for the
//! storage's sake, and remembers what was acknowledged.

use std::sync::Arc;
use std::time::Duration;

use latchkey_testkit::{Answer, Client, PASSWORD, Request, Session, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::record::Record;

/// What a client waits before it asks again.
const PAUSE: Duration = Duration::from_millis(50);
/// Longer than any answer may take.
const ANSWER: Duration = Duration::from_secs(15);
/// Changes of the profile in a user's life.
const EDITS: u32 = 3;

/// What is known of a user.
#[derive(Default)]
pub struct Account {
    pub email: String,
    /// The user's id, once the sign-up was acknowledged.
    pub user_id: Option<String>,
    /// The number in the last bio that was acknowledged.
    pub bio: u32,
    /// How often a change of the profile was sent.
    pub edits_sent: u32,
    /// The session that is in use.
    pub session: Option<Session>,
    /// A session that was signed out, acknowledged.
    pub signed_out: Option<Session>,
}

/// A caller at all instances.
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

    /// One user after the other, until the drill is over.
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

    /// The life of one user. `None` where the drill is over before it is.
    async fn live(&mut self, account: &mut Account) -> Option<()> {
        let email = account.email.clone();
        let answer = self.insist(&[200, 409], true, |client| client.sign_up(&email, PASSWORD)).await?;
        // Refused for the storage's sake and done nevertheless: nobody can know, so the address may be taken.
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
        // The other instance knows as well, or says that it cannot know.
        let token = session.access_token;
        self.insist(&[401], false, |client| client.get("/api/profiles/me").bearer(&token)).await?;
        Some(())
    }

    /// What was acknowledged is what everybody sees.
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

    /// Asks one instance after the other until one does it; `None` where the drill is over before.
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
