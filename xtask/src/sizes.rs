//! `cargo xtask sizes`: fails if a source file has more than 400 lines. The length of functions is checked by clippy
//! (`too_many_lines`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::step::Outcome;

const LONGEST_FILE: usize = 400;

/// Folders whose files are checked.
const ROOTS: &[&str] = &["crates", "xtask"];

/// Files that may be longer, each with the reason.
const LONG_FILES: &[(&str, &str)] =
    &[("crates/store-suite/src/conformance.rs", "the one list of what every engine has to show")];

/// Reports every file that is too long.
pub(crate) fn run(_: &[String]) -> Outcome {
    let mut faults = Vec::new();
    ROOTS.iter().try_for_each(|root| check(Path::new(root), &mut faults))?;
    faults.sort();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

fn check(folder: &Path, faults: &mut Vec<String>) -> Outcome {
    let error = |path: &Path, error| format!("{}: {error}", path.display());
    for entry in folder.read_dir().map_err(|fault| error(folder, fault))? {
        let path: PathBuf = entry.map_err(|fault| error(folder, fault))?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "target" && name != "node_modules" {
            check(&path, faults)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).map_err(|fault| error(&path, fault))?;
            faults.extend(fault(&path.to_string_lossy(), text.lines().count()));
        }
    }
    Ok(())
}

/// Returns a sentence about a file that is too long, or that is listed in [`LONG_FILES`] without need.
fn fault(file: &str, lines: usize) -> Option<String> {
    match (lines > LONGEST_FILE, LONG_FILES.iter().any(|(long, _)| *long == file)) {
        (true, false) => {
            Some(format!("{file} has {lines} lines, more than {LONGEST_FILE}; split it by idea"))
        }
        (false, true) => Some(format!("the exception for {file} is not needed any more; take it out")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_allowed_passes_and_one_more_line_fails() {
        assert_eq!(fault("a.rs", 400), None);
        assert!(fault("a.rs", 401).unwrap().starts_with("a.rs has 401 lines"));
    }

    #[test]
    fn an_exception_holds_as_long_as_it_is_needed() {
        let (file, _) = LONG_FILES[0];
        assert_eq!(fault(file, 401), None);
        assert!(fault(file, 400).unwrap().contains("not needed"));
    }
}
