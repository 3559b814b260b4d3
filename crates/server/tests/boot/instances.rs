//! Tests of three instances on one PostgreSQL database under one load. A change at one instance takes effect on the
//! others at the next request, or within a polling interval. `workers.rs` limits that interval at compile time.

use std::collections::BTreeMap;

use latchkey_testkit::postgres::{TestCluster, TestDatabase};
use latchkey_testkit::{Answer, Client, PASSWORD, Session, Value, json};
use tokio::task::JoinSet;

use crate::binary::{Binary, Running, eventually};

/// Concurrent clients, and rounds of each.
const CALLERS: usize = 9;
const ROUNDS: usize = 6;

/// Three instances, with their shared database and settings.
struct Instances {
    binary: Binary,
    running: Vec<Running>,
    _database: TestDatabase,
}

impl Instances {
    async fn start() -> Self {
        Self::with(|binary| binary).await
    }

    async fn with(change: impl FnOnce(Binary) -> Binary) -> Self {
        let database = TestCluster::shared().database();
        let binary = Binary::new().on(&database).set("server.public_url=http://localhost:8700");
        let binary = change(binary.set("log.format=json"));
        let starting: Vec<_> = (0..3).map(|_| binary.start()).collect();
        let mut running = Vec::new();
        for starting in starting {
            running.push(starting.ready().await);
        }
        Self { binary, running, _database: database }
    }

    /// Client of the instance with this number.
    fn at(&self, number: usize) -> Client {
        self.running[number % 3].anon()
    }

    fn all(&self) -> Vec<Client> {
        self.running.iter().map(Running::anon).collect()
    }

    fn admin_at(&self, number: usize) -> Client {
        self.at(number).with_bearer(&self.binary.read("latchkey-data/admin-key"))
    }

    /// Stops all instances; returns the log lines of each.
    async fn stop(self) -> Vec<Value> {
        let mut lines = Vec::new();
        for running in self.running {
            let output = running.stop().await;
            lines.extend(output.err.lines().filter_map(|line| serde_json::from_str(line).ok()));
        }
        lines
    }
}

async fn signed_up(client: &Client, email: &str) -> Session {
    Session::of(&client.sign_up(email, PASSWORD).send().await)
}

/// Runs all calls of an account, each at another instance.
async fn live(clients: &[Client], number: usize) {
    let at = |step: usize| &clients[(number + step) % clients.len()];
    let email = format!("caller-{number}@example.org");
    let session = signed_up(at(0), &email).await;
    let me = |step: usize, session: &Session| at(step).clone().with_bearer(&session.access_token);
    me(1, &session).get("/api/profiles/me").send().await.expect(200);

    let session = Session::of(&at(1).refresh(&session).send().await);
    let session = Session::of(&at(2).refresh(&session).send().await);
    let bio = json!({"bio": format!("bio of {number}")});
    me(0, &session).patch("/api/profiles/me", bio.clone()).send().await.expect(200);
    let read = me(1, &session).get("/api/profiles/me").send().await.expect(200);
    assert_eq!(read["bio"], bio["bio"]);
    let body = json!({"email": email});
    at(2).post("/api/auth/email/send-reset-password", body).send().await.expect(202);

    let other = Session::of(&at(1).sign_in(&email, PASSWORD).client_type("server").send().await);
    at(0).sign_out(&session).send().await.expect(200);
    for step in 0..3 {
        me(step, &session).get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
        at(step).refresh(&session).send().await.refused(401, "AUTH_UNAUTHORIZED");
        me(step, &other).get("/api/auth/sessions/current").send().await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_instances_serve_a_load_consistently_and_send_each_mail_once() {
    let instances = Instances::start().await;
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let clients = instances.all();
        callers.spawn(async move {
            for round in 0..ROUNDS {
                live(&clients, caller + round * CALLERS).await;
            }
        });
    }
    for _ in 0..3 {
        instances.binary.run(&["keys", "rotate"]).await.good(); // during the load
    }

    callers.join_all().await;

    let promised = CALLERS * ROUNDS;
    eventually("the mails are sent", async || (instances.binary.mails().len() >= promised).then_some(()))
        .await;
    let log = instances.stop().await;
    let mut sent: BTreeMap<&str, usize> = BTreeMap::new();
    for line in log.iter().filter(|line| line["message"] == "mail sent") {
        *sent.entry(line["id"].as_str().unwrap()).or_default() += 1;
    }
    assert_eq!(sent.len(), promised);
    assert!(sent.values().all(|times| *times == 1), "a mail was sent twice: {sent:?}");
    let failed = log.iter().find(|line| line["status"].as_u64().is_some_and(|status| status >= 500));
    assert_eq!(failed, None);
}

#[tokio::test]
async fn ban_password_change_and_deletion_at_one_are_refused_at_the_others_at_once() {
    let instances = Instances::start().await;
    let ada = signed_up(&instances.at(0), "ada@example.org").await;
    let bob = signed_up(&instances.at(0), "bob@example.org").await;
    let eve = signed_up(&instances.at(0), "eve@example.org").await;

    let path = format!("/api/auth/users/{}", ada.user_id);
    instances.admin_at(0).patch(&path, json!({"banned": true})).send().await.expect(200);
    let body = json!({"userIds": [bob.user_id]});
    instances.admin_at(1).request("DELETE", "/api/auth/users").json(&body).send().await.expect(200);
    let other = Session::of(&instances.at(1).sign_in("eve@example.org", PASSWORD).send().await);
    let body = json!({"currentPassword": PASSWORD, "newPassword": "quiet meadow 77 harbour"});
    let changing = instances.at(2).with_bearer(&eve.access_token);
    changing.post("/api/auth/password", body).send().await.expect(200);

    for client in instances.all() {
        for gone in [&ada, &bob, &other] {
            let caller = client.clone().with_bearer(&gone.access_token);
            caller.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
            client.refresh(gone).send().await.refused(401, "AUTH_UNAUTHORIZED");
        }
        client.sign_in("eve@example.org", PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
        client.clone().with_bearer(&eve.access_token).get("/api/profiles/me").send().await.expect(200);
    }
}

#[tokio::test]
async fn rotated_key_signs_at_one_and_verifies_everywhere() {
    let instances = Instances::start().await;
    let before = signed_up(&instances.at(0), "ada@example.org").await;

    instances.binary.run(&["keys", "rotate"]).await.good();
    eventually_everywhere("all show both keys", &instances, async |client| {
        client.get("/.well-known/jwks.json").send().await.json()["keys"].as_array().unwrap().len() == 2
    })
    .await;

    let after = Session::of(&instances.at(1).refresh(&before).send().await);
    assert_ne!(kid(&before), kid(&after));
    for client in instances.all() {
        for session in [&before, &after] {
            let ada = client.clone().with_bearer(&session.access_token);
            ada.get("/api/profiles/me").send().await.expect(200);
        }
    }
}

/// Key id (`kid`) in the header of an access token.
fn kid(session: &Session) -> String {
    session.access_token.split('.').next().unwrap().to_owned()
}

/// Polls each of the three instances until the condition holds.
async fn eventually_everywhere(what: &str, instances: &Instances, is_so: impl AsyncFn(&Client) -> bool) {
    for client in instances.all() {
        eventually(what, async || is_so(&client).await.then_some(())).await;
    }
}

#[tokio::test]
async fn setting_changed_at_one_takes_effect_everywhere() {
    let instances = Instances::start().await;

    for (at, closed) in [(0, true), (1, false), (2, true)] {
        let change = json!({"disableSignup": closed});
        instances.admin_at(at).put("/api/auth/config", change).send().await.expect(200);
        eventually_everywhere("the setting is in force", &instances, async |client| {
            client.get("/api/auth/public-config").send().await.json()["disableSignup"] == closed
        })
        .await;
    }

    for client in instances.all() {
        client.sign_up("ada@example.org", PASSWORD).send().await.refused(403, "SIGNUP_DISABLED");
    }
}

#[tokio::test]
async fn setting_takes_effect_without_notifications_too() {
    let instances = Instances::with(|binary| binary.set("storage.postgres.listen=false")).await;

    instances.admin_at(0).put("/api/auth/config", json!({"passwordMinLength": 12})).send().await.expect(200);

    eventually_everywhere("the setting is in force", &instances, async |client| {
        client.get("/api/auth/public-config").send().await.json()["passwordMinLength"] == 12
    })
    .await;
}

#[tokio::test]
async fn instances_behind_a_pooler_in_transaction_mode_are_one_as_well() {
    let database = TestCluster::shared().database();
    let pooler = TestCluster::shared().pooler(2);
    let url = format!("storage.url={}", pooler.url(&database));
    let instances = Instances::with(|binary| binary.set(&url)).await;

    let mut callers = JoinSet::new();
    for number in 0..6 {
        let clients = instances.all();
        callers.spawn(async move { live(&clients, number).await });
    }
    callers.join_all().await;
    instances.admin_at(0).put("/api/auth/config", json!({"passwordMinLength": 12})).send().await.expect(200);

    eventually_everywhere("the setting is in force", &instances, async |client| {
        client.get("/api/auth/public-config").send().await.json()["passwordMinLength"] == 12
    })
    .await;
}

#[tokio::test]
async fn guesses_are_counted_over_all_instances() {
    let instances = Instances::with(|binary| binary.set("limits.enabled=true")).await;
    signed_up(&instances.at(0), "ada@example.org").await;

    let mut answers: Vec<Answer> = Vec::new();
    for guess in 0..11 {
        answers.push(instances.at(guess).sign_in("ada@example.org", "wrong meadow 78 harbour").send().await);
    }

    for answer in &answers[..10] {
        answer.refused(401, "INVALID_CREDENTIALS");
    }
    answers[10].refused(429, "TOO_MANY_REQUESTS");
    for client in instances.all() {
        client.sign_in("ada@example.org", PASSWORD).send().await.refused(429, "TOO_MANY_REQUESTS");
    }
}

#[tokio::test]
async fn attempts_at_a_code_are_counted_over_all_instances() {
    let instances = Instances::with(|binary| binary.set("auth.require_email_verification=true")).await;
    instances.at(0).sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    let mail = eventually("the mail is sent", async || instances.binary.mails().pop()).await;
    let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
    let code = mail.lines().map(str::trim).find(is_code).expect("a code");
    let wrong = if code == "000000" { "000001" } else { "000000" };

    for attempt in 0..5 {
        let answer = instances.at(attempt).verify("ada@example.org", wrong).send().await;
        answer.refused(400, "INVALID_CODE");
    }

    for client in instances.all() {
        client.verify("ada@example.org", code).send().await.refused(400, "INVALID_CODE");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_is_good_once_whichever_instance_is_asked() {
    let instances = Instances::with(|binary| binary.set("auth.require_email_verification=true")).await;
    instances.at(0).sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    let mail = eventually("the mail is sent", async || instances.binary.mails().pop()).await;
    let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
    let code = mail.lines().map(str::trim).find(is_code).expect("a code");

    let racing: Vec<_> =
        (0..12).map(|at| tokio::spawn(instances.at(at).verify("ada@example.org", code).send())).collect();
    let mut statuses = Vec::new();
    for racer in racing {
        statuses.push(racer.await.unwrap().status);
    }

    statuses.sort_unstable();
    assert_eq!((statuses[0], &statuses[1..]), (200, &[400; 11][..]));
}
