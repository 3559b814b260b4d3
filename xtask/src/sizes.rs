//! `cargo xtask sizes`: files over 400 lines and functions over 60 fail, unless a table gives a
//! reason. The aim is lower, 400 and 50; this is where growing stops by itself.

mod functions;

use std::fs;
use std::path::{Path, PathBuf};

use crate::step::Outcome;

const LONGEST_FILE: usize = 400;
const LONGEST_FUNCTION: usize = 60;

/// The folders that are looked through.
const ROOTS: &[&str] = &["crates", "xtask"];

/// Files that may be longer, with the reason.
const LONG_FILES: &[(&str, &str)] =
    &[("crates/store-suite/src/conformance/cases.rs", "the one list of what every engine has to show")];

/// Functions that may be longer (file, name), with the reason.
const LONG_FUNCTIONS: &[(&str, &str, &str)] = &[(
    "crates/http/src/error/from_service.rs",
    "from",
    "the one exhaustive match from refusals to codes is read as a table",
)];

/// Tells every file and function that is too long, and every exception that nobody needs any more.
pub(crate) fn run(_: &[String]) -> Outcome {
    let mut files = Vec::new();
    for root in ROOTS {
        collect(Path::new(root), &mut files)?;
    }
    files.sort();
    let mut faults = Vec::new();
    let mut used = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        check(&file.to_string_lossy(), &text, &mut used, &mut faults);
    }
    faults.extend(unused_exceptions(&used));
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    let entries = folder.read_dir().map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "target" && name != "node_modules" {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Checks one file; `used` gathers the exceptions that were needed.
fn check(file: &str, text: &str, used: &mut Vec<String>, faults: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > LONGEST_FILE {
        if LONG_FILES.iter().any(|(known, _)| *known == file) {
            used.push(file.to_owned());
        } else {
            faults.push(format!("{file} has {lines} lines, more than {LONGEST_FILE}; split it by idea"));
        }
    }
    for function in functions::of(text).into_iter().filter(|function| function.lines > LONGEST_FUNCTION) {
        let (line, name, lines) = (function.line, function.name, function.lines);
        if LONG_FUNCTIONS.iter().any(|(known, known_name, _)| *known == file && *known_name == name) {
            used.push(format!("{file} {name}"));
        } else {
            let fault = format!("{file}:{line}: fn {name} has {lines} lines, more than {LONGEST_FUNCTION}");
            faults.push(fault);
        }
    }
}

fn unused_exceptions(used: &[String]) -> Vec<String> {
    let files = LONG_FILES.iter().map(|(file, _)| (*file).to_owned());
    let functions = LONG_FUNCTIONS.iter().map(|(file, name, _)| format!("{file} {name}"));
    let unused = files.chain(functions).filter(|exception| !used.contains(exception));
    unused
        .map(|exception| format!("the exception for {exception} is not needed any more; take it out"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let mut faults = Vec::new();
        check("a.rs", text, &mut Vec::new(), &mut faults);
        faults
    }

    #[test]
    fn the_longest_allowed_passes_and_one_more_line_fails() {
        assert!(faults(&"\n".repeat(400)).is_empty());
        assert!(faults(&"\n".repeat(401))[0].starts_with("a.rs has 401 lines"));
        let function = |lines: usize| format!("fn long() {{{}}}", "\n".repeat(lines - 1));
        assert!(faults(&function(60)).is_empty());
        assert_eq!(faults(&function(61)), ["a.rs:1: fn long has 61 lines, more than 60"]);
    }
}
