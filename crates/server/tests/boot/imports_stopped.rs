//! Imports whose source is slow, silent or without an end: they tell their progress, and a signal ends them.

use std::process::Stdio;
use std::time::Duration;

use latchkey_testkit::{Value, json};
use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Child;
use tokio::time::timeout;

use crate::binary::{Binary, eventually, terminate};
use crate::imports::write_records;

/// Upper bound of every wait here, for the slowest machine.
const WAIT_LIMIT: Duration = Duration::from_mins(1);
/// More than a pipe holds, so that all of it is written only once the binary reads.
const MORE_THAN_A_PIPE: usize = 256 * 1024;

/// Sends a signal, and returns the exit code.
async fn code_after(mut child: Child, signal: Signal) -> Option<i32> {
    terminate(&child, signal);
    timeout(WAIT_LIMIT, child.wait()).await.expect("a command that ends").unwrap().code()
}

/// State of the newest import.
async fn state(binary: &Binary) -> Option<String> {
    let list: Value = binary.run(&["import", "list", "--json"]).await.good().parse().unwrap();
    list["data"][0]["state"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn import_from_a_database_that_yields_no_row_is_ended_by_a_signal() {
    let binary = Binary::new();
    let endless = "CREATE VIEW users AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT 1 FROM n)
        SELECT id FROM n WHERE id > 1";
    rusqlite::Connection::open(binary.path("data.db")).unwrap().execute_batch(endless).unwrap();
    binary.run(&["migrate"]).await.good();
    let child = binary.command(&["import", "data.db", "--from", "pocketbase"]).spawn().unwrap();
    eventually("the import runs", async || state(&binary).await.filter(|state| state == "running")).await;

    assert_eq!(code_after(child, Signal::TERM).await, Some(143));

    assert_eq!(state(&binary).await.as_deref(), Some("failed"));
}

#[tokio::test]
async fn import_from_standard_input_that_falls_silent_is_ended_by_a_signal() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let binary = Binary::new();
        let mut command = binary.command(&["import", "-", "--from", "csv"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&vec![b'x'; MORE_THAN_A_PIPE]).await.unwrap();

        assert_eq!(code_after(child, signal).await, Some(code));

        drop(input);
    }
}

#[tokio::test]
async fn progress_is_told_each_second_also_while_the_import_waits() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 4_000);
    let slow = ["import", "people.jsonl", "--from", "latchkey", "--json", "--rate", "20"];
    let a_second = 20;
    let mut child = binary.command(&slow).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = async || -> Value {
        let line = timeout(WAIT_LIMIT, lines.next_line()).await.expect("a line in time").unwrap();
        line.expect("an import that runs").parse().unwrap()
    };

    let mut told = next().await;
    while told["read"] == json!(0) {
        told = next().await;
    }

    // 200 seconds are left, in each of which a line is told.
    let (before, after) = (told["read"].as_u64().unwrap(), next().await["read"].as_u64().unwrap());
    assert!(after < before + 10 * a_second, "{before} {after}");
    assert_eq!(code_after(child, Signal::INT).await, Some(130));
}

/// Imports a file dry, then really, both with a report, and returns the two reports.
async fn reports(binary: &Binary, file: &str, more: &[&str]) -> [String; 2] {
    let command = |report| [&["import", file, "--from", "latchkey", "--report", report], more].concat();
    let dry = binary.run(&[command("dry.jsonl"), vec!["--dry-run"]].concat()).await;
    let real = binary.run(&command("real.jsonl")).await;
    assert_eq!((dry.code, real.code), (Some(1), Some(1)), "{dry:#?} {real:#?}");
    [binary.read("dry.jsonl"), binary.read("real.jsonl")]
}

#[tokio::test]
async fn report_of_a_dry_run_ends_as_that_of_the_import() {
    let binary = Binary::new();
    let people = ["new@example.org", "ada@example.org"].map(|email| json!({"email": email}).to_string());
    std::fs::write(binary.path("ada.jsonl"), &people[1]).unwrap();
    std::fs::write(binary.path("both.jsonl"), people.join("\n")).unwrap();
    binary.run(&["import", "ada.jsonl", "--from", "latchkey"]).await.good();

    let [dry, real] = reports(&binary, "both.jsonl", &["--on-conflict", "fail"]).await;

    assert_eq!(dry, real);
    let last: Value = dry.lines().last().expect("a line").parse().unwrap();
    assert_eq!((&last["code"], &last["line"]), (&json!("email_taken"), &json!(2)), "{dry}");

    binary.run(&["export", "--out", "all.jsonl"]).await.good();
    let whole = binary.read("all.jsonl");
    let (torn, _) = whole.rsplit_once('\n').unwrap();
    std::fs::write(binary.path("torn.jsonl"), torn).unwrap();

    let [dry, real] = reports(&binary, "torn.jsonl", &[]).await;

    assert_eq!(dry, real);
    assert!(dry.lines().last().is_some_and(|last| last.contains("the export is torn")), "{dry}");
}
