//! A SQLite file that is moved, deleted, replaced or damaged under the running service: responses are 503, and no lost
//! write is acknowledged.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use latchkey_testkit::{Answer, Client, PASSWORD, Session, json};

use crate::binary::{Binary, Running, eventually, names_in};

const DATABASE: &str = "latchkey-data/latchkey.db";
const NOTICE: &str = "a database file is not in its place: every call";

/// A service with Ada signed in.
struct Town {
    binary: Binary,
    running: Running,
    session: Session,
}

impl Town {
    async fn new() -> Self {
        // The port changes at a restart, and tokens are bound to one URL.
        let binary = Binary::new().set("server.public_url=http://localhost:8700");
        let running = binary.serve().await;
        let session = Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await);
        Self { binary, running, session }
    }

    fn ada(&self) -> Client {
        self.running.anon().with_bearer(&self.session.access_token)
    }

    fn database(&self) -> PathBuf {
        self.binary.path(DATABASE)
    }

    async fn write(&self) -> Answer {
        self.ada().patch("/api/profiles/me", json!({"bio": "Countess"})).send().await
    }

    async fn read(&self) -> Answer {
        self.ada().get("/api/profiles/me").send().await
    }

    /// Waits until the service detects the loss: reads do not check the file.
    async fn is_noticed(&self) {
        eventually("the loss is noticed", async || (self.read().await.status == 503).then_some(())).await;
    }

    async fn assert_closed(&self) {
        let anon = self.running.anon();
        for answer in [
            self.write().await,
            self.read().await,
            anon.get("/health/ready").send().await,
            anon.search("ada").send().await,
            anon.sign_in("ada@example.org", PASSWORD).send().await,
            anon.sign_up("bob@example.org", PASSWORD).send().await,
            anon.refresh(&self.session).send().await,
        ] {
            answer.refused(503, "STORAGE_UNAVAILABLE");
        }
        anon.get("/health/live").send().await.expect(200);
    }
}

/// Asserts the behaviour after this loss of the file.
async fn loss(lose: impl Fn(&Path)) {
    let town = Town::new().await;
    let database = town.database();

    lose(&database);

    // The very first write is not acknowledged, before or after the periodic check.
    town.write().await.refused(503, "STORAGE_UNAVAILABLE");
    town.assert_closed().await;
    let said = town.running.stop().await;
    let notices: Vec<_> = said.err.lines().filter(|line| line.contains(NOTICE)).collect();
    assert_eq!(notices.len(), 1, "{}", said.err);
    for words in ["ERROR", &database.display().to_string(), "restore a backup"] {
        assert!(notices[0].contains(words), "{words} is missing in {notices:?}");
    }
    assert_eq!(said.code, Some(0));
}

fn beside(database: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", database.display()))
}

#[tokio::test]
async fn deleted_file_is_detected() {
    loss(|database| fs::remove_file(database).unwrap()).await;
}

#[tokio::test]
async fn moved_file_is_detected() {
    loss(|database| fs::rename(database, beside(database, ".away")).unwrap()).await;
}

#[tokio::test]
async fn overwritten_file_is_detected() {
    loss(|database| {
        fs::write(beside(database, ".new"), "something else").unwrap();
        fs::rename(beside(database, ".new"), database).unwrap();
    })
    .await;
}

#[tokio::test]
async fn recreated_file_is_detected() {
    loss(|database| {
        fs::remove_file(database).unwrap();
        fs::write(database, "").unwrap();
    })
    .await;
}

#[tokio::test]
async fn backup_restored_under_the_service_is_detected() {
    loss(|database| {
        fs::copy(database, beside(database, ".backup")).unwrap();
        fs::remove_file(database).unwrap();
        fs::copy(beside(database, ".backup"), database).unwrap();
    })
    .await;
}

#[tokio::test]
async fn emptied_file_is_detected() {
    let town = Town::new().await;

    fs::OpenOptions::new().write(true).truncate(true).open(town.database()).unwrap();

    town.write().await.refused(503, "STORAGE_UNAVAILABLE");
    town.read().await.refused(503, "STORAGE_UNAVAILABLE");
}

#[tokio::test]
async fn deleted_log_is_detected() {
    for suffix in ["-wal", "-shm"] {
        let town = Town::new().await;

        fs::remove_file(beside(&town.database(), suffix)).unwrap();

        town.write().await.refused(503, "STORAGE_UNAVAILABLE");
        town.assert_closed().await;
        let said = town.running.stop().await;
        assert!(said.err.contains(&format!("latchkey.db{suffix}")), "{}", said.err);
    }
}

#[tokio::test]
async fn moved_folder_is_detected() {
    let town = Town::new().await;

    fs::rename(town.binary.path("latchkey-data"), town.binary.path("away")).unwrap();

    town.write().await.refused(503, "STORAGE_UNAVAILABLE");
    town.assert_closed().await;
}

#[tokio::test]
async fn loss_is_detected_without_a_write() {
    let town = Town::new().await;

    fs::rename(town.database(), beside(&town.database(), ".away")).unwrap();

    town.is_noticed().await;
    town.running.anon().get("/health/ready").send().await.refused(503, "STORAGE_UNAVAILABLE");
}

#[tokio::test]
async fn file_that_is_put_back_is_used_again() {
    let town = Town::new().await;
    let away = beside(&town.database(), ".away");
    fs::rename(town.database(), &away).unwrap();
    town.is_noticed().await;

    fs::rename(&away, town.database()).unwrap();

    eventually("the storage is used again", async || (town.read().await.status == 200).then_some(())).await;
    town.write().await.expect(200);
    town.running.kill().await;
    let running = town.binary.serve().await;
    let ada = running.anon().with_bearer(&town.session.access_token);
    assert_eq!(ada.get("/api/profiles/me").send().await.expect(200)["bio"], "Countess");
}

#[tokio::test]
async fn stop_leaves_the_replacing_database_untouched() {
    let town = Town::new().await;
    let folder = town.binary.path("away");
    fs::create_dir(&folder).unwrap();
    for suffix in ["", "-wal", "-shm"] {
        fs::rename(beside(&town.database(), suffix), folder.join(format!("latchkey.db{suffix}"))).unwrap();
    }
    let other = town.binary.serve().await;
    let bob = Session::of(&other.anon().sign_up("bob@example.org", PASSWORD).send().await);

    town.running.stop().await;

    let files = names_in(&town.binary.path("latchkey-data"));
    assert!(files.contains(&"latchkey.db-wal".to_owned()), "{files:?}");
    other.kill().await;
    let other = town.binary.serve().await;
    other.anon().with_bearer(&bob.access_token).get("/api/profiles/me").send().await.expect(200);
}

#[tokio::test]
async fn unreadable_page_is_unavailable_and_logged() {
    let town = Town::new().await;
    town.running.stop().await;
    let running = town.binary.serve().await;
    let path = town.binary.path(DATABASE);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    // Truncates everything after the first pages, as bad blocks would.
    let length = file.metadata().unwrap().len();
    let pages = 8 * 4096;
    assert!(length > 2 * pages);
    file.set_len(pages).unwrap();

    let ada = running.anon().with_bearer(&town.session.access_token);
    let answer = ada.get("/api/profiles/me").send().await;

    answer.refused(503, "STORAGE_UNAVAILABLE");
    let said = running.stop().await;
    assert!(said.err.contains("SQLite code"), "{}", said.err);
}

#[tokio::test]
async fn damaged_page_is_unavailable_and_logged() {
    let town = Town::new().await;
    town.running.stop().await;
    let running = town.binary.serve().await;
    let path = town.binary.path(DATABASE);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let pages = file.metadata().unwrap().len() / 4096;
    for page in 8..pages {
        file.write_all_at(&[0xa5; 4096], page * 4096).unwrap();
    }

    let ada = running.anon().with_bearer(&town.session.access_token);
    let answer = ada.get("/api/profiles/me").send().await;

    answer.refused(503, "STORAGE_UNAVAILABLE");
    let said = running.stop().await;
    assert!(said.err.contains("the file is damaged"), "{}", said.err);
}
