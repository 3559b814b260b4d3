//! Tests of a SQLite file that is moved, deleted, replaced or damaged under the running service. Responses are 503, and
//! no lost write is acknowledged.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use latchkey_testkit::{Answer, Client, PASSWORD, Session, json};

use crate::binary::{Binary, Running, eventually, names_in};

const DATABASE: &str = "latchkey-data/latchkey.db";
const NOTICE: &str = "a database file is not in its place: every call";

/// A service with Ada signed in.
struct Fixture {
    binary: Binary,
    running: Running,
    session: Session,
}

impl Fixture {
    async fn new() -> Self {
        // A fixed public URL, because the port changes at a restart and tokens are bound to the URL.
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

    /// Waits until the service has detected the loss. Reads do not check the file themselves.
    async fn wait_until_detected(&self) {
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

/// Applies a loss of the file, and asserts that no write is acknowledged after it.
async fn loss(lose: impl Fn(&Path)) {
    let fixture = Fixture::new().await;
    let database = fixture.database();

    lose(&database);

    // Not even the first write is acknowledged, before or after the periodic check.
    fixture.write().await.refused(503, "STORAGE_UNAVAILABLE");
    fixture.assert_closed().await;
    let output = fixture.running.stop().await;
    let notices: Vec<_> = output.err.lines().filter(|line| line.contains(NOTICE)).collect();
    assert_eq!(notices.len(), 1, "{}", output.err);
    for words in ["ERROR", &database.display().to_string(), "restore a backup"] {
        assert!(notices[0].contains(words), "{words} is missing in {notices:?}");
    }
    assert_eq!(output.code, Some(0));
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
    let fixture = Fixture::new().await;

    fs::OpenOptions::new().write(true).truncate(true).open(fixture.database()).unwrap();

    fixture.write().await.refused(503, "STORAGE_UNAVAILABLE");
    fixture.read().await.refused(503, "STORAGE_UNAVAILABLE");
}

#[tokio::test]
async fn deleted_log_is_detected() {
    for suffix in ["-wal", "-shm"] {
        let fixture = Fixture::new().await;

        fs::remove_file(beside(&fixture.database(), suffix)).unwrap();

        fixture.write().await.refused(503, "STORAGE_UNAVAILABLE");
        fixture.assert_closed().await;
        let output = fixture.running.stop().await;
        assert!(output.err.contains(&format!("latchkey.db{suffix}")), "{}", output.err);
    }
}

#[tokio::test]
async fn moved_folder_is_detected() {
    let fixture = Fixture::new().await;

    fs::rename(fixture.binary.path("latchkey-data"), fixture.binary.path("away")).unwrap();

    fixture.write().await.refused(503, "STORAGE_UNAVAILABLE");
    fixture.assert_closed().await;
}

#[tokio::test]
async fn loss_is_detected_without_a_write() {
    let fixture = Fixture::new().await;

    fs::rename(fixture.database(), beside(&fixture.database(), ".away")).unwrap();

    fixture.wait_until_detected().await;
    fixture.running.anon().get("/health/ready").send().await.refused(503, "STORAGE_UNAVAILABLE");
}

#[tokio::test]
async fn file_that_is_put_back_is_used_again() {
    let fixture = Fixture::new().await;
    let away = beside(&fixture.database(), ".away");
    fs::rename(fixture.database(), &away).unwrap();
    fixture.wait_until_detected().await;

    fs::rename(&away, fixture.database()).unwrap();

    eventually("the storage is used again", async || (fixture.read().await.status == 200).then_some(()))
        .await;
    fixture.write().await.expect(200);
    fixture.running.kill().await;
    let running = fixture.binary.serve().await;
    let ada = running.anon().with_bearer(&fixture.session.access_token);
    assert_eq!(ada.get("/api/profiles/me").send().await.expect(200)["bio"], "Countess");
}

#[tokio::test]
async fn stop_leaves_the_replacing_database_untouched() {
    let fixture = Fixture::new().await;
    let folder = fixture.binary.path("away");
    fs::create_dir(&folder).unwrap();
    for suffix in ["", "-wal", "-shm"] {
        fs::rename(beside(&fixture.database(), suffix), folder.join(format!("latchkey.db{suffix}"))).unwrap();
    }
    let other = fixture.binary.serve().await;
    let bob = Session::of(&other.anon().sign_up("bob@example.org", PASSWORD).send().await);

    fixture.running.stop().await;

    let files = names_in(&fixture.binary.path("latchkey-data"));
    assert!(files.contains(&"latchkey.db-wal".to_owned()), "{files:?}");
    other.kill().await;
    let other = fixture.binary.serve().await;
    other.anon().with_bearer(&bob.access_token).get("/api/profiles/me").send().await.expect(200);
}

#[tokio::test]
async fn log_whose_database_was_moved_outlives_a_start() {
    let fixture = Fixture::new().await;
    fixture.write().await.expect(200);
    let (database, away) = (fixture.database(), fixture.binary.path("away"));
    let Fixture { binary, running, session } = fixture;
    running.kill().await;
    fs::rename(&database, &away).unwrap();

    let output = binary.run(&[]).await;

    output.refused(&["latchkey.db-wal has no database beside it", "put the file that it belongs to back"]);
    fs::rename(&away, &database).unwrap();
    let running = binary.serve().await;
    let answer = running.anon().with_bearer(&session.access_token).get("/api/profiles/me").send().await;
    assert_eq!(answer.expect(200)["bio"], "Countess");
}

#[tokio::test]
async fn unreadable_page_is_unavailable_and_logged() {
    let fixture = Fixture::new().await;
    fixture.running.stop().await;
    let running = fixture.binary.serve().await;
    let path = fixture.binary.path(DATABASE);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    // Truncates everything after the first pages, as bad blocks would.
    let length = file.metadata().unwrap().len();
    let pages = 8 * 4096;
    assert!(length > 2 * pages);
    file.set_len(pages).unwrap();

    let ada = running.anon().with_bearer(&fixture.session.access_token);
    let answer = ada.get("/api/profiles/me").send().await;

    answer.refused(503, "STORAGE_UNAVAILABLE");
    let output = running.stop().await;
    assert!(output.err.contains("SQLite code"), "{}", output.err);
}

#[tokio::test]
async fn damaged_page_is_unavailable_and_logged() {
    let fixture = Fixture::new().await;
    fixture.running.stop().await;
    let running = fixture.binary.serve().await;
    let path = fixture.binary.path(DATABASE);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let pages = file.metadata().unwrap().len() / 4096;
    for page in 8..pages {
        file.write_all_at(&[0xa5; 4096], page * 4096).unwrap();
    }

    let ada = running.anon().with_bearer(&fixture.session.access_token);
    let answer = ada.get("/api/profiles/me").send().await;

    answer.refused(503, "STORAGE_UNAVAILABLE");
    let output = running.stop().await;
    assert!(output.err.contains("the file is damaged"), "{}", output.err);
}
