//! Tests of `latchkey backup` and of the backups that the service makes itself. Restores are in [`crate::restore`].

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use latchkey_store_operations::bulk::TableDigest;
use latchkey_store_operations::tables::TABLES;
use latchkey_store_sqlite::{SourceError, SqliteSource};
use latchkey_testkit::{Client, PASSWORD, Session, Value, json};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::binary::{Binary, CommandOutput, eventually, names_in};
use crate::preflight::assert_refused;

/// Path of the SQLite file in the binary's folder.
pub const FILE: &str = "latchkey-data/latchkey.db";
/// Number of backups at the same time, and of rounds of them.
const AT_ONCE: usize = 4;
const ROUNDS: usize = 5;

pub fn binary() -> Binary {
    Binary::new().set("server.public_url=http://localhost:8700")
}

/// Digest of each table of a file that no process has open.
pub fn digests(path: &Path) -> Vec<TableDigest> {
    let source = SqliteSource::open(path).unwrap();
    let digest = |table| source.digest::<SourceError>(table, 500, |_| Ok(())).unwrap();
    TABLES.iter().map(digest).collect()
}

fn manifest(binary: &Binary, backup: &str) -> Value {
    serde_json::from_str(&binary.read(&format!("{backup}.json"))).unwrap()
}

pub async fn sign_up(anon: &Client, email: &str) -> (Session, Client) {
    let session = Session::of(&anon.sign_up(email, PASSWORD).send().await);
    let owner = anon.clone().with_bearer(&session.access_token);
    (session, owner)
}

/// Loop of writes: of two users in turn, each gets the next number.
struct Writes {
    stop: Arc<AtomicBool>,
    acknowledged: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Writes {
    fn start(first: Client, second: Client) -> Self {
        let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (is_over, count) = (Arc::clone(&stop), Arc::clone(&acknowledged));
        let task = tokio::spawn(async move {
            let mut number = 0;
            while !is_over.load(Ordering::Relaxed) {
                number += 1;
                for user in [&first, &second] {
                    let body = json!({"bio": number.to_string()});
                    user.patch("/api/profiles/me", body).send().await.expect(200);
                }
                count.store(number, Ordering::Relaxed);
            }
        });
        Self { stop, acknowledged, task }
    }

    /// Waits for some more writes; returns the last acknowledged number.
    async fn go_on(&self) -> usize {
        let before = self.acknowledged.load(Ordering::Relaxed);
        eventually("a write", async || (self.acknowledged.load(Ordering::Relaxed) > before).then_some(()))
            .await;
        self.acknowledged.load(Ordering::Relaxed)
    }

    async fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await.unwrap();
    }
}

/// Loop of commits to a file, as fast as the file takes them.
struct Commits {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<f64>,
}

impl Commits {
    fn start(path: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let file = rusqlite::Connection::open(path).unwrap();
            file.busy_timeout(Duration::from_secs(30)).unwrap();
            file.pragma_update(None, "synchronous", "OFF").unwrap();
            let (began, mut count) = (Instant::now(), 0);
            while !is_over.load(Ordering::Relaxed) {
                file.execute("UPDATE health SET beat = beat + 1 WHERE id = 1", []).unwrap();
                count += 1;
            }
            f64::from(count) / began.elapsed().as_secs_f64()
        });
        Self { stop, thread }
    }

    /// Ends the loop; returns the number of commits a second.
    fn end(self) -> f64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Numbers in the profiles of a file, smallest first.
fn numbers(path: &Path) -> Vec<usize> {
    let file = rusqlite::Connection::open(path).unwrap();
    let mut statement = file.prepare("SELECT bio FROM profiles ORDER BY CAST(bio AS INTEGER)").unwrap();
    let bios = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    bios.map(|bio| bio.unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn backup_of_a_stopped_service_has_the_digest_of_its_database() {
    let binary = binary();
    let running = binary.serve().await;
    sign_up(&running.anon(), "ada@example.org").await;
    running.stop().await;

    let output = binary.run(&["backup", "--out", "copy.db"]).await;

    assert!(output.good().starts_with("Backed up to copy.db: "), "{output:?}");
    assert_eq!(digests(&binary.path("copy.db")), digests(&binary.path(FILE)));
    let manifest = manifest(&binary, "copy.db");
    let length = binary.path("copy.db").metadata().unwrap().len();
    assert_eq!((&manifest["users"], &manifest["bytes"]), (&json!(1), &json!(length)));
    for name in ["sha256", "createdAt", "version", "migration", "secretFingerprint"] {
        assert!(manifest[name].is_string(), "{name} in {manifest}");
    }
    for name in ["copy.db", "copy.db.json"] {
        assert_eq!(binary.path(name).metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    let left: Vec<_> = names_in(&binary.path("")).into_iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!(left, Vec::<String>::new());
}

#[tokio::test]
async fn backup_beside_writes_is_a_moment_of_the_source() {
    let binary = binary();
    let running = binary.serve().await;
    let (_, ada) = sign_up(&running.anon(), "ada@example.org").await;
    let (_, bob) = sign_up(&running.anon(), "bob@example.org").await;
    let writes = Writes::start(ada, bob);

    for round in 0..3 {
        let (name, before) = (format!("copy-{round}.db"), writes.go_on().await);
        binary.run(&["backup", "--out", &name]).await.good();
        let after = writes.go_on().await;

        let found = numbers(&binary.path(&name));
        let (bob, ada) = (found[0], found[1]);
        assert!(ada == bob || ada == bob + 1, "one snapshot: {found:?}");
        assert!(before <= bob && ada <= after + 1, "{before} <= {found:?} <= {after}");
    }
    writes.end().await;
    running.stop().await;
}

#[tokio::test]
async fn twenty_backups_beside_a_hundred_writes_a_second_all_end() {
    let binary = binary();
    let running = binary.serve().await;
    let commits = Commits::start(binary.path(FILE));

    for _ in 0..ROUNDS {
        let mut backups = JoinSet::new();
        for _ in 0..AT_ONCE {
            let binary = binary.clone();
            backups.spawn(async move { binary.run(&["backup", "--out", "backups/"]).await });
        }
        for output in backups.join_all().await {
            output.good();
        }
    }

    let rate = commits.end();
    assert!(rate >= 100.0, "{rate} writes a second");
    running.stop().await;
    let names = names_in(&binary.path("backups"));
    let backups: Vec<_> = names.iter().filter(|name| !name.contains(".json")).collect();
    assert_eq!((backups.len(), names.len()), (AT_ONCE * ROUNDS, 2 * AT_ONCE * ROUNDS), "{names:?}");
    for name in backups {
        binary.run(&["backup", "--verify", &format!("backups/{name}")]).await.good();
    }
}

#[tokio::test]
async fn folder_keeps_the_newest_backups_and_all_other_files() {
    let binary = binary();
    binary.run(&["migrate"]).await.good();
    binary.serve().await.stop().await;
    let folder = binary.path("backups");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("notes.db"), "mine").unwrap();

    let mut outputs = Vec::new();
    for _ in 0..3 {
        outputs.push(binary.run(&["backup", "--out", "backups", "--keep", "2"]).await);
    }

    assert_eq!(outputs[2].good().matches("Deleted ").count(), 1, "{outputs:?}");
    let names = names_in(&folder);
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names.contains(&"notes.db".to_owned()), "{names:?}");
}

#[tokio::test]
async fn backup_on_standard_output_has_its_manifest_on_standard_error() {
    let binary = binary();
    binary.serve().await.stop().await;
    let mut process = binary.command(&["backup", "--out", "-"]);

    let output = process.output().await.unwrap();

    assert!(output.status.success());
    std::fs::write(binary.path("copy.db"), &output.stdout).unwrap();
    std::fs::write(binary.path("copy.db.json"), &output.stderr).unwrap();
    binary.run(&["backup", "--verify", "copy.db"]).await.good();
}

#[tokio::test]
async fn existing_file_is_never_overwritten() {
    let binary = binary();
    binary.serve().await.stop().await;
    std::fs::write(binary.path("copy.db"), "mine").unwrap();

    let output = binary.run(&["backup", "--out", "copy.db"]).await;

    output.refused(&["copy.db exists already"]);
    assert_eq!(binary.read("copy.db"), "mine");
    let kept = binary.run(&["backup", "--out", "new.db", "--keep", "3"]).await;
    assert_eq!(kept.code, Some(2), "{kept:?}");
    assert!(kept.err.contains("--keep needs a folder"), "{kept:?}");
}

#[tokio::test]
async fn backup_with_another_secret_is_refused() {
    let binary = binary();
    binary.serve().await.stop().await;
    std::fs::write(binary.path("latchkey-data/server-secret"), "0".repeat(32) + &"1a".repeat(16)).unwrap();

    let output = binary.run(&["backup", "--out", "copy.db"]).await;

    output.refused(&["server.secret is not that of the database"]);
    assert!(!binary.path("copy.db").exists());
}

#[tokio::test]
async fn verification_tells_a_changed_a_torn_and_an_undescribed_backup() {
    let binary = binary();
    binary.serve().await.stop().await;
    binary.run(&["backup", "--out", "copy.db"]).await.good();
    let verify = async || -> CommandOutput { binary.run(&["backup", "--verify", "copy.db"]).await };
    let whole = std::fs::read(binary.path("copy.db")).unwrap();

    assert!(verify().await.good().contains("copy.db is good"));
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    std::fs::write(binary.path("copy.db"), changed).unwrap();
    verify().await.refused(&["copy.db is not the file of its manifest"]);
    std::fs::write(binary.path("copy.db"), &whole[..whole.len() / 2]).unwrap();
    verify().await.refused(&["it was not copied whole"]);
    std::fs::write(binary.path("copy.db"), whole).unwrap();
    std::fs::remove_file(binary.path("copy.db.json")).unwrap();
    verify().await.refused(&["copy.db.json is missing"]);
    let absent = binary.run(&["backup", "--verify", "nope.db"]).await;
    absent.refused(&["latchkey: nope.db: the backup cannot be read: No such file"]);
}

#[tokio::test]
async fn service_backs_up_by_itself_and_keeps_as_many_as_it_is_told() {
    let binary = binary().set("backup.every=1m").set("backup.keep=1");
    let (folder, keeps) = (binary.path("latchkey-data/backups"), binary.clone());
    let made = async || {
        let names = if folder.exists() { names_in(&folder) } else { Vec::new() };
        names
            .into_iter()
            .find(|name| name.contains(".db") && !name.contains(".json") && !name.starts_with('.'))
    };

    let running = binary.serve().await;
    let name = eventually("a backup", made).await;

    running.stop().await;
    keeps.run(&["backup", "--verify", &format!("latchkey-data/backups/{name}")]).await.good();
}

#[tokio::test]
async fn folder_that_cannot_be_used_is_refused_by_check_and_start() {
    let binary = binary().set("backup.every=6h").set("backup.dir=backups");
    std::fs::write(binary.path("backups"), "a file").unwrap();

    assert_refused(&binary, &["- backup.dir: backups is no folder; move it away, or name another"]).await;
}

#[tokio::test]
async fn on_postgresql_the_command_names_pg_dump() {
    let database = latchkey_store_suite::cluster::TestCluster::shared().bare_database();
    let binary = binary().set(&format!("storage.url={}", database.url()));

    let output = binary.run(&["backup", "--out", "copy.db"]).await;

    output.refused(&["pg_dump --format=custom", "pg_restore", "server.secret"]);
}
