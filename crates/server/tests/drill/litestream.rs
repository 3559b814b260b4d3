//! Drill: replication by Litestream. The service and Litestream are killed under load, and restarted; what Litestream
//! restores is the database, byte for byte of every table, and starts.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use latchkey_store_operations::bulk::TableDigest;
use latchkey_store_operations::tables::TABLES;
use latchkey_store_sqlite::{SourceError, SqliteSource};
use latchkey_testkit::{Client, PASSWORD, Session, json};
use rustix::process::Signal;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::binary::{Binary, eventually, terminate};

/// Program that `cargo xtask drill` installs.
const LITESTREAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/litestream/bin/litestream");
const FILE: &str = "latchkey-data/latchkey.db";
/// Number of acknowledged writes before a kill.
const ENOUGH: u32 = 200;

struct Drill {
    binary: Binary,
}

impl Drill {
    fn new() -> Self {
        let binary = Binary::new()
            .set("server.public_url=http://localhost:8700")
            .set("storage.sqlite.replicated=true");
        Self { binary }
    }

    fn litestream(&self, command: &[&str]) -> Command {
        let mut process = Command::new(LITESTREAM);
        process.args(command).current_dir(self.binary.path("")).stdout(Stdio::null()).stderr(Stdio::null());
        process.kill_on_drop(true);
        process
    }

    fn replica(&self) -> String {
        format!("file://{}", self.binary.path("replica").display())
    }

    fn replicate(&self) -> Child {
        self.litestream(&["replicate", FILE, &self.replica()]).spawn().expect("litestream")
    }

    /// Restores the replica to a new file; `None` while there is nothing to restore.
    async fn restored(&self) -> Option<PathBuf> {
        let path = self.binary.path("restored.db");
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
        }
        let out = path.display().to_string();
        let status = self.litestream(&["restore", "-o", &out, &self.replica()]).status().await.unwrap();
        status.success().then_some(path)
    }

    /// Waits until the replica has a write.
    async fn replicated(&self, bio: u32) {
        eventually("the replica has the last write", async || {
            let path = self.restored().await?;
            let file = rusqlite::Connection::open(path).unwrap();
            let found = file.query_row("SELECT bio FROM profiles", [], |row| row.get::<_, String>(0));
            (found.ok()? == bio.to_string()).then_some(())
        })
        .await;
    }
}

/// Writes of one user, each with the next number, until the service is gone.
struct Writes {
    acknowledged: Arc<AtomicU32>,
    stop: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Writes {
    fn start(ada: Client, first: u32) -> Self {
        let (acknowledged, stop) = (Arc::new(AtomicU32::new(first)), Arc::new(AtomicBool::new(false)));
        let (count, is_over) = (Arc::clone(&acknowledged), Arc::clone(&stop));
        let task = tokio::spawn(async move {
            let mut number = first;
            while !is_over.load(Ordering::Relaxed) {
                number += 1;
                let body = json!({"bio": number.to_string()});
                let Ok(answer) = ada.patch("/api/profiles/me", body).try_send().await else { return };
                answer.expect(200);
                count.store(number, Ordering::Relaxed);
            }
        });
        Self { acknowledged, stop, task }
    }

    async fn reach(&self, number: u32) {
        eventually("enough writes", async || {
            (self.acknowledged.load(Ordering::Relaxed) >= number).then_some(())
        })
        .await;
    }

    /// Stops writing; returns the last acknowledged number.
    async fn end(self) -> u32 {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await.unwrap();
        self.acknowledged.load(Ordering::Relaxed)
    }
}

fn digests(path: &Path) -> Vec<TableDigest> {
    let source = SqliteSource::open(path).unwrap();
    let digest = |table| source.digest::<SourceError>(table, 500, |_| Ok(())).unwrap();
    TABLES.iter().map(digest).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_litestream_restores_is_the_database() {
    let drill = Drill::new();
    let running = drill.binary.serve().await;
    let session = Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await);
    let owner = |client: Client| client.with_bearer(&session.access_token);

    // Litestream dies under load and is started again.
    let mut litestream = drill.replicate();
    let writes = Writes::start(owner(running.anon()), 0);
    writes.reach(ENOUGH).await;
    litestream.kill().await.unwrap();
    writes.reach(2 * ENOUGH).await;
    let mut litestream = drill.replicate();
    writes.reach(3 * ENOUGH).await;
    let last = writes.end().await;
    drill.replicated(last).await;
    println!("{last} writes, Litestream killed once: the replica has the last one");

    // The service dies, and its log stays for Litestream.
    let writes = Writes::start(owner(running.anon()), last);
    writes.reach(last + ENOUGH).await;
    running.kill().await;
    let writes_acknowledged = writes.end().await;
    let running = drill.binary.serve().await;
    let ada = owner(running.anon());
    let bio = ada.get("/api/profiles/me").send().await.expect(200)["bio"].as_str().unwrap().parse::<u32>();
    let bio = bio.unwrap();
    assert!((writes_acknowledged..=writes_acknowledged + 1).contains(&bio), "an acknowledged write survives");
    drill.replicated(bio).await;
    println!("service killed after {writes_acknowledged} writes: the replica has {bio}");

    // A clean stop leaves the log alone; Litestream ends after it.
    let length = || drill.binary.path(&format!("{FILE}-wal")).metadata().map_or(0, |log| log.len());
    let before = length();
    running.stop().await;
    assert!(
        length() >= before && before > 0,
        "the log is truncated by Litestream alone: {before}, {}",
        length()
    );
    terminate(&litestream, Signal::INT);
    litestream.wait().await.unwrap();
    let restored = drill.restored().await.expect("a replica");
    assert_eq!(digests(&restored), digests(&drill.binary.path(FILE)));
    println!("clean stop: the digests of all {} tables are the same", TABLES.len());

    let restore = drill.binary.run(&["restore", "restored.db", "--force"]).await;
    assert!(restore.good().contains("1 session ended"), "{restore:?}");
    let running = drill.binary.serve().await;
    running.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
    running.stop().await;
}
