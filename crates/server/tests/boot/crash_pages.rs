//! A `kill -9` during sign-ins on the pages. After the restart each page session exists as a whole or not at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use latchkey_testkit::{Browser, Client, PASSWORD, Session};
use tokio::task::JoinSet;

use crate::binary::{Binary, eventually};

const PUBLIC_URL: &str = "http://localhost:8700";
const COOKIES: [&str; 2] = ["latchkey_browser_8700", "latchkey_pages_8700"];
/// Number of acknowledged sign-ins before the kill.
const ENOUGH: usize = 60;
/// Number of accounts, each with one browser after another.
const ACCOUNTS: usize = 8;

fn email(account: usize) -> String {
    format!("account-{account}@example.org")
}

/// Signs in on the pages until the service is killed. Returns the cookies of the acknowledged sign-ins.
async fn storm(anon: Client, account: usize, acknowledged: Arc<AtomicUsize>) -> Vec<[String; 2]> {
    let (mut signed_in, email) = (Vec::new(), email(account));
    loop {
        let browser = Browser::new(anon.clone(), PUBLIC_URL);
        let asked = anon.get("/auth/sign-in").header("host", "localhost:8700");
        let Ok(page) = browser.try_send(asked).await else {
            return signed_in;
        };
        let fields = [("email", email.as_str()), ("password", PASSWORD)];
        let Ok(done) = browser.try_send(browser.form(&page, "/auth/sign-in", &fields)).await else {
            return signed_in;
        };
        assert_eq!(done.header("location"), Some("/auth/account"), "{done:?}");
        signed_in.push(COOKIES.map(|name| browser.cookie(name).expect("a cookie")));
        acknowledged.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_session_is_there_or_not_after_a_kill() {
    let binary = Binary::new().set(&format!("server.public_url={PUBLIC_URL}"));
    let running = binary.serve().await;
    for account in 0..ACCOUNTS {
        running.anon().sign_up(&email(account), PASSWORD).send().await.expect(200);
    }
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let mut callers = JoinSet::new();
    for account in 0..ACCOUNTS {
        let (anon, acknowledged) = (running.anon(), Arc::clone(&acknowledged));
        callers.spawn(async move { (account, storm(anon, account, acknowledged).await) });
    }
    eventually("enough sign-ins", async || (acknowledged.load(Ordering::Relaxed) >= ENOUGH).then_some(()))
        .await;
    running.kill().await;
    let signed_in = callers.join_all().await;

    let running = binary.serve().await;

    for (account, browsers) in signed_in {
        for cookies in &browsers {
            let browser = Browser::new(running.anon(), PUBLIC_URL);
            let browser = COOKIES
                .into_iter()
                .zip(cookies)
                .fold(browser, |browser, (name, value)| browser.with_cookie(name, value.clone()));
            assert!(browser.get("/auth/account").await.hosted(200).contains(&email(account)));
        }
        let session = Session::of(&running.anon().sign_in(&email(account), PASSWORD).send().await);
        let owner = running.anon().with_bearer(&session.access_token);
        let body = owner.get("/api/auth/sessions").send().await.expect(200);
        // Those of the sign-up, of the sign-in above, and of a sign-in whose response was lost.
        let (count, least) = (body["sessions"].as_array().unwrap().len(), browsers.len() + 2);
        assert!((least..=least + 1).contains(&count), "{count} of {least} or one more: {body}");
    }
}
