//! Tests of a folder of backups: what counts there, what is deleted, and what an interrupted backup leaves.

use std::path::Path;
use std::process::Stdio;

use rustix::process::Signal;
use tokio::io::AsyncReadExt;
use tokio::process::Child;

use crate::backup::binary;
use crate::binary::{Binary, eventually, names_in, terminate};

const FUTURE: &str = "latchkey-20310101T000000Z.db";
const SECRET: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const NEXT: &str = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";

/// Names of the backups in a folder.
fn backups(folder: &Path) -> Vec<String> {
    let names = if folder.exists() { names_in(folder) } else { Vec::new() };
    names.into_iter().filter(|name| Path::new(name).extension().is_some_and(|kind| kind == "db")).collect()
}

/// Names of unfinished files.
fn unfinished(folder: &Path) -> Vec<String> {
    names_in(folder).into_iter().filter(|name| name.starts_with(".latchkey-backup-")).collect()
}

/// Backs up into the folder `backups`, and dates the backup in the future.
async fn back_up_in_the_future(binary: &Binary) {
    binary.serve().await.stop().await;
    binary.run(&["backup", "--out", "backups/"]).await.good();
    let folder = binary.path("backups");
    let name = backups(&folder).remove(0);
    std::fs::rename(folder.join(&name), folder.join(FUTURE)).unwrap();
    std::fs::rename(folder.join(format!("{name}.json")), folder.join(format!("{FUTURE}.json"))).unwrap();
}

#[tokio::test]
async fn backup_that_was_just_made_stays_beside_one_of_the_future() {
    let binary = binary();
    back_up_in_the_future(&binary).await;

    let output = binary.run(&["backup", "--out", "backups", "--keep", "1"]).await;

    assert!(!output.good().contains("Deleted"), "{output:?}");
    assert!(output.err.contains(FUTURE) && output.err.contains("ahead of the clock"), "{output:?}");
    assert_eq!(backups(&binary.path("backups")).len(), 2);
}

#[tokio::test]
async fn schedule_goes_on_beside_a_backup_of_the_future() {
    let binary = binary();
    back_up_in_the_future(&binary).await;

    let running = binary.clone().set("backup.every=1h").set("backup.dir=backups").serve().await;
    let folder = binary.path("backups");
    eventually("a backup", async || (backups(&folder).len() == 2).then_some(())).await;

    let output = running.stop().await;
    assert!(output.err.contains("ahead of the clock") && output.err.contains(FUTURE), "{output:?}");
}

#[tokio::test]
async fn two_databases_keep_their_own_backups_in_one_folder() {
    let of = |secret: &str| binary().variable("LATCHKEY__SERVER__SECRET", secret);
    // The same secret, as in a test beside production.
    let (first, second) = (of(SECRET), of(SECRET));
    let folder = first.path("backups");
    let dir = format!("{}/", folder.display());
    first.serve().await.stop().await;
    first.run(&["backup", "--out", &dir]).await.good();
    let ours = backups(&folder);

    let scheduled = second.clone().set("backup.every=1h").set(&format!("backup.dir={dir}"));
    let running = scheduled.serve().await;
    eventually("a backup of the second", async || (backups(&folder).len() == 2).then_some(())).await;
    let pruned = second.run(&["backup", "--out", &dir, "--keep", "1"]).await;

    assert_eq!(pruned.good().matches("Deleted").count(), 1, "{pruned:?}");
    assert!(backups(&folder).contains(&ours[0]));
    assert!(running.stop().await.err.contains("backups of another database are in this folder"));
    // A rotated secret and a restore leave it the same database.
    first.clone().variable("LATCHKEY__SERVER__SECRET_NEXT", NEXT).run(&["secret", "rotate"]).await.good();
    let first = first.variable("LATCHKEY__SERVER__SECRET", NEXT);
    first.run(&["backup", "--out", "copy.db"]).await.good();
    first.run(&["restore", "copy.db", "--force"]).await.good();
    let pruned = first.run(&["backup", "--out", &dir, "--keep", "1"]).await;
    assert!(pruned.good().contains(&format!("Deleted {dir}{}", ours[0])), "{pruned:?}");
    assert_eq!(backups(&folder).len(), 2);
}

/// Backup to an output that nobody reads: it is copied, and then waits in the middle.
async fn backup_in_the_middle(binary: &Binary) -> Child {
    let mut child = binary.command(&["backup", "--out", "-"]).stdin(Stdio::null()).spawn().unwrap();
    let mut first = [0; 1];
    child.stdout.as_mut().unwrap().read_exact(&mut first).await.unwrap();
    child
}

#[tokio::test]
async fn signal_in_the_middle_of_a_backup_leaves_no_copy() {
    let binary = binary();
    binary.serve().await.stop().await;
    let folder = binary.path("latchkey-data");

    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut child = backup_in_the_middle(&binary).await;
        assert!(!unfinished(&folder).is_empty());
        terminate(&child, signal);
        assert_eq!(child.wait().await.unwrap().code(), Some(code));
        assert_eq!(unfinished(&folder), Vec::<String>::new());
    }
}

#[tokio::test]
async fn copy_of_a_killed_backup_is_deleted_by_the_next_start_and_a_living_one_is_not() {
    let binary = binary();
    binary.serve().await.stop().await;
    let folder = binary.path("latchkey-data");
    backup_in_the_middle(&binary).await.kill().await.unwrap();
    let left = unfinished(&folder);
    let living = backup_in_the_middle(&binary).await;

    let _running = binary.serve().await;

    assert!(!left.is_empty());
    eventually("the copy is deleted", async || {
        let now = unfinished(&folder);
        left.iter().all(|name| !now.contains(name)).then_some(())
    })
    .await;
    assert!(!unfinished(&folder).is_empty(), "the living one goes on");
    drop(living);
}

#[tokio::test]
async fn backup_of_a_database_that_is_not_there_names_it() {
    let binary = binary();
    binary.serve().await.stop().await;

    let output = binary.set("data.dir=elsewhere").run(&["backup", "--out", "copy.db"]).await;

    output.refused(&["storage.url", "elsewhere/latchkey.db", "there is no database in this file"]);
}
