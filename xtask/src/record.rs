//! `cargo xtask record FILE [--against OLDER]`: runs the black-box suite and writes its distinct HTTP exchanges,
//! sorted, with ids, tokens and other changing parts replaced. Two builds with the same tests and behaviour write the
//! same file.

use std::collections::BTreeSet;
use std::{env, fs};

use serde_json::Value;

use crate::step::{Outcome, run_with};

const USAGE: &str = "cargo xtask record FILE [--against OLDER]";
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Writes the record. Then prints the operations without a recorded success or refusal and, with `--against`, the lines
/// that only one of the two records has.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (file, older) = match words[..] {
        [file] => (file, None),
        [file, "--against", older] => (file, Some(older)),
        _ => return Err(USAGE.to_owned()),
    };
    let whole = env::current_dir().map_err(|error| error.to_string())?.join(file);
    let _ = fs::remove_file(&whole); // the tests append to the file
    let variables = [("LATCHKEY_RECORD", whole.to_str().ok_or(USAGE)?)];
    run_with("cargo test -p latchkey --locked --test it", &[], &variables)?;

    let lines = read(file)?;
    let text: Vec<_> = lines.iter().flat_map(|line| [line, "\n"]).collect();
    fs::write(file, text.concat()).map_err(|error| format!("{file}: {error}"))?;
    let document = fs::read("docs/openapi.json").map_err(|error| error.to_string())?;
    let document = serde_json::from_slice(&document).map_err(|error| error.to_string())?;
    for what in missing(&document, &lines) {
        println!("not recorded: {what}");
    }
    println!("{} exchanges", lines.len());
    older.map_or(Ok(()), |older| compare(&read(older)?, &lines))
}

fn read(file: &str) -> Result<BTreeSet<String>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn compare(older: &BTreeSet<String>, newer: &BTreeSet<String>) -> Outcome {
    older.difference(newer).for_each(|line| println!("- {line}"));
    newer.difference(older).for_each(|line| println!("+ {line}"));
    if older == newer { Ok(()) } else { Err("the records differ".to_owned()) }
}

/// Returns the operations of the OpenAPI document without a recorded success or without a recorded refusal.
fn missing(document: &Value, lines: &BTreeSet<String>) -> Vec<String> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let operations = paths.flat_map(|(path, item)| {
        let methods = METHODS.iter().filter(|method| item.get(**method).is_some());
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    let mut missing: BTreeSet<_> =
        operations.flat_map(|one| [format!("success of {one}"), format!("refusal of {one}")]).collect();
    for line in lines {
        let exchange: Value = serde_json::from_str(line).unwrap_or_default();
        let target = exchange["request"].as_str().unwrap_or_default();
        let target = target.split('?').next().unwrap_or_default();
        let outcome = if exchange["status"].as_u64() < Some(400) { "success" } else { "refusal" };
        missing
            .retain(|one| !one.strip_prefix(outcome).is_some_and(|one| fits(&one[" of ".len()..], target)));
    }
    missing.into_iter().collect()
}

/// True if the path of a request matches the path template of an operation, such as `/api/profiles/{userId}`.
fn fits(template: &str, target: &str) -> bool {
    let (template, target): (Vec<_>, Vec<_>) = (template.split('/').collect(), target.split('/').collect());
    let is_same = |(one, other): (&&str, &&str)| one == other || one.starts_with('{');
    template.len() == target.len() && template.iter().zip(&target).all(is_same)
}
