//! Tests that the fields of the JSON log are those that `docs/operations.md` lists: readers of a log build on the names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use latchkey_testkit::{PASSWORD, Value};

use crate::binary::Binary;

const MACROS: [&str; 6] = ["trace!(", "debug!(", "info!(", "warn!(", "error!(", "info_span!("];
/// Crates whose log is not that of the service.
const OTHERS: [&str; 3] = ["bench", "testkit", "store-suite"];

/// Fields of the table below the heading `### Fields of the log`.
fn listed() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, section) = text.split_once("### Fields of the log").expect("the section");
    let table =
        section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let rows = table.filter_map(|line| line.strip_prefix("| `")?.split_once(" |"));
    let names =
        rows.flat_map(|(names, _)| names.split('`').step_by(2).map(str::to_owned).collect::<Vec<_>>());
    names.collect()
}

/// Source files of the crates of the service.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() && !["tests", "benches", "node_modules"].contains(&name.as_str()) {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Arguments of a macro call, from after its parenthesis. Commas in texts and inner parentheses do not count.
fn arguments(text: &str) -> Vec<String> {
    let (mut all, mut one, mut depth, mut is_text) = (Vec::new(), String::new(), 0_u32, false);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' if is_text => {
                characters.next();
            }
            '"' => is_text = !is_text,
            _ if is_text => {}
            ')' if depth == 0 => break,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(std::mem::take(&mut one));
                continue;
            }
            _ => {}
        }
        one.push(if is_text { '"' } else { character });
    }
    all.push(one);
    all
}

/// Field that an argument of a log call names; `None` for the message and for what is no field.
fn field(argument: &str) -> Option<String> {
    let argument = argument.trim().trim_start_matches(['%', '?']);
    let name = argument.split('=').next().unwrap().trim();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then(|| name.to_owned())
}

#[test]
fn every_field_that_the_code_logs_is_listed() {
    let mut files = Vec::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in std::fs::read_dir(crates).unwrap() {
        let path = entry.unwrap().path();
        if !OTHERS.iter().any(|other| path.ends_with(other)) && path.join("src").is_dir() {
            sources(&path.join("src"), &mut files);
        }
    }
    let mut logged = BTreeSet::new();
    for text in files.iter().map(|file| std::fs::read_to_string(file).unwrap()) {
        for name in MACROS.map(|name| format!("tracing::{name}")) {
            let calls = text.match_indices(&name).map(|(at, _)| &text[at + name.len()..]);
            let calls = calls.map(arguments).filter(|call| !call[0].trim_start().starts_with("target: "));
            logged.extend(calls.flatten().filter_map(|argument| field(&argument)));
        }
    }
    let own = ["timestamp", "level", "target", "message", "span", "spans", "key", "mend", "problems", "name"];
    logged.extend(own.map(str::to_owned));

    let listed = listed();
    let missing: Vec<_> = logged.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&logged).collect();
    assert!(missing.is_empty(), "docs/operations.md lacks {missing:?}");
    assert!(stale.is_empty(), "docs/operations.md lists {stale:?}, which nothing logs");
}

#[tokio::test]
async fn lines_of_a_life_have_listed_fields_alone() {
    let running =
        Binary::new().set("log.format=json").set("log.level=debug,h2=error,hyper=error").serve().await;
    let anon = running.anon();
    anon.sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    anon.sign_in("ada@example.org", "a wrong password").send().await.refused(401, "INVALID_CREDENTIALS");
    anon.get("/nowhere").send().await.refused(404, "NOT_FOUND");

    let output = running.stop().await;

    let listed = listed();
    let lines: Vec<Value> = output.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() >= 5, "{output:#?}");
    let ours = lines.iter().filter(|line| line["target"].as_str().unwrap().starts_with("latchkey"));
    for line in ours {
        for name in line.as_object().unwrap().keys() {
            assert!(listed.contains(name), "{name} is not listed: {line}");
        }
    }
    let answered = lines.iter().find(|line| line["message"] == "answered" && line["status"] == 401).unwrap();
    let names: Vec<_> = answered.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "client",
        "error",
        "level",
        "message",
        "method",
        "ms",
        "request_id",
        "route",
        "status",
        "target",
        "timestamp",
    ];
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
}
