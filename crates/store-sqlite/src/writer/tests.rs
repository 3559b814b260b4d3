#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::mpsc;

use super::*;
use crate::statements::number;

const COUNT: &str = "SELECT count(*) FROM things";

fn writer(batch: usize) -> Writer {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch("CREATE TABLE things (name TEXT NOT NULL UNIQUE) STRICT").unwrap();
    Writer::start(conn, batch, HeldSnapshots::default(), Arc::default(), LogAtClose::Folded).unwrap()
}

fn add(conn: &Connection, name: &str) -> Fallible<usize> {
    execute(conn, "INSERT INTO things (name) VALUES (?1)", [name])
}

/// Blocks the writer until the sender is dropped, so that everything queued meanwhile runs in one batch.
fn hold(writer: &Writer) -> (impl Future<Output = StoreResult<()>> + '_, mpsc::Sender<()>) {
    let (release, held) = mpsc::channel::<()>();
    let work = move |_: &Connection| {
        let _ = held.recv();
        Ok(())
    };
    (writer.run(work), release)
}

#[tokio::test]
async fn failed_operation_rolls_back_only_itself() {
    let writer = writer(256);
    let (holding, release) = hold(&writer);
    let (_, first, broken, last, ()) = tokio::join!(
        holding,
        writer.run(|conn| add(conn, "a")),
        writer.run(|conn| add(conn, "b").and_then(|_| add(conn, "a"))),
        writer.run(|conn| add(conn, "c")),
        async { drop(release) },
    );
    assert!(first.is_ok() && last.is_ok());
    assert!(matches!(broken, Err(StoreError::Driver(_))));
    assert_eq!(writer.run(|conn| number(conn, COUNT, [])).await.unwrap(), 2);
}

#[tokio::test]
async fn panic_fails_only_its_operation() {
    let writer = writer(256);
    let broken: StoreResult<()> = writer
        .run(|conn| {
            add(conn, "a")?;
            panic!("on purpose")
        })
        .await;
    assert!(matches!(broken, Err(StoreError::Driver(_))));
    assert_eq!(writer.run(|conn| number(conn, COUNT, [])).await.unwrap(), 0);
}

#[tokio::test]
async fn failed_operation_alone_rolls_back_only_itself() {
    let writer = writer(256);
    let (holding, release) = hold(&writer);
    let (_, first, broken, alone, last, ()) = tokio::join!(
        holding,
        writer.run(|conn| add(conn, "a")),
        writer.run_alone(|conn| add(conn, "b").and_then(|_| add(conn, "a"))),
        writer.run_alone(|conn| add(conn, "c")),
        writer.run(|conn| add(conn, "d")),
        async { drop(release) },
    );
    assert!(first.is_ok() && alone.is_ok() && last.is_ok());
    assert!(matches!(broken, Err(StoreError::Driver(_))));
    assert_eq!(writer.run(|conn| number(conn, COUNT, [])).await.unwrap(), 3);
}

#[tokio::test]
async fn lost_transaction_is_unavailable_for_its_whole_batch() {
    let writer = writer(256);
    let (holding, release) = hold(&writer);
    let (_, before, breaker, ()) = tokio::join!(
        holding,
        writer.run(|conn| add(conn, "a")),
        writer.run(|conn| execute(conn, "ROLLBACK", [])),
        async { drop(release) },
    );
    assert!(matches!(before, Err(StoreError::Unavailable(_))));
    assert!(breaker.is_err());
    assert_eq!(writer.run(|conn| number(conn, COUNT, [])).await.unwrap(), 0);
}

#[tokio::test]
async fn cancelled_operation_still_runs() {
    let writer = writer(256);
    let (holding, release) = hold(&writer);
    let abandoned = async {
        tokio::select! {
            biased;
            _ = writer.run(|conn| add(conn, "a")) => {}
            () = tokio::task::yield_now() => {}
        }
        drop(release);
    };
    let (held, ()) = tokio::join!(holding, abandoned);
    held.unwrap();
    assert_eq!(writer.run(|conn| number(conn, COUNT, [])).await.unwrap(), 1);
}

#[tokio::test]
async fn batch_size_is_limited() {
    let writer = writer(2);
    let names = ["a", "b", "c", "d", "e"];
    let (holding, release) = hold(&writer);
    let adding = async {
        let mut outcomes = Vec::new();
        drop(release);
        for name in names {
            outcomes.push(writer.run(move |conn| add(conn, name)).await);
        }
        outcomes
    };
    let (held, outcomes) = tokio::join!(holding, adding);
    held.unwrap();
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(writer.run(|conn| number(conn, COUNT, [])).await.unwrap(), 5);
}

#[tokio::test]
async fn dropping_the_writer_drains_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE things (name TEXT NOT NULL UNIQUE) STRICT").unwrap();
    let writer =
        Writer::start(conn, 256, HeldSnapshots::default(), Arc::default(), LogAtClose::Folded).unwrap();
    {
        // Polled once: queued, but not awaited.
        let mut queued = Box::pin(writer.run(|conn| add(conn, "a")));
        tokio::select! {
            biased;
            _ = &mut queued => {}
            () = std::future::ready(()) => {}
        }
    }
    drop(writer);
    assert_eq!(number(&Connection::open(&path).unwrap(), COUNT, []).unwrap(), 1);
}
