//! The texts of the licenses of all crates in the binary, of the Rust standard library and of the C library.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::components::{Packages, text as text_in};
use super::target::{Target, text_of};

/// Beginnings of the names of files with a license, in capitals.
const NAMES: &[&str] = &["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// Folders of a crate whose files are not linked.
const SKIPPED: &[&str] = &["target", "tests", "benches", "examples", "node_modules", ".git"];

const HEAD: &str = "\
The binary `latchkey` contains the crates below, the Rust standard library (MIT or Apache-2.0) and the GNU C library
(LGPL-2.1 or later), which is linked statically. The source of Latchkey, from which the binary can be linked anew with
another version of that library by `cargo xtask dist`, is at https://github.com/latchkey/latchkey; that of the GNU C
library is at https://www.gnu.org/software/libc/.
";

/// Builds the file: each text once, with the crates that it belongs to.
pub(super) fn text(target: &Target) -> Result<String, String> {
    let packages = Packages::of(target)?;
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut bare = BTreeSet::new();
    for package in packages.by_id.values().filter(|package| package["source"].is_string()) {
        let folder = PathBuf::from(text_in(&package["manifest_path"]));
        let mut files = Vec::new();
        find(folder.parent().unwrap_or(Path::new(".")), &mut files)?;
        if files.is_empty() {
            bare.insert(format!("{}, {}", name_of(package), text_in(&package["repository"])));
        }
        for file in files {
            texts.entry(read(&file)?).or_default().insert(name_of(package));
        }
    }
    for (name, files) in others()? {
        for file in files {
            texts.entry(read(&file)?).or_default().insert(name.clone());
        }
    }
    let mut out = HEAD.to_owned();
    if !bare.is_empty() {
        out += "\nThese crates come without a text of their license:\n";
        out.extend(bare.iter().flat_map(|line| ["  ", line, "\n"]));
    }
    // Ordered by the first crate, so that the file reads as a list.
    let mut ordered: Vec<_> = texts.into_iter().collect();
    ordered.sort_by(|one, other| (&one.1, &one.0).cmp(&(&other.1, &other.0)));
    for (license, owners) in ordered {
        let owners: Vec<_> = owners.iter().map(String::as_str).collect();
        out.extend(["\n", &"=".repeat(80), "\n", &owners.join("\n"), "\n\n", &license, "\n"]);
    }
    Ok(out)
}

fn name_of(package: &Value) -> String {
    format!(
        "{} {} ({})",
        text_in(&package["name"]),
        text_in(&package["version"]),
        text_in(&package["license"])
    )
}

/// Returns the license files of what is no crate.
fn others() -> Result<Vec<(String, Vec<PathBuf>)>, String> {
    let rust = PathBuf::from(text_of("rustc --print sysroot")?).join("share/doc/rust/licenses");
    let rust = ["Apache-2.0.txt", "MIT.txt"].map(|name| rust.join(name)).to_vec();
    let c = vec![PathBuf::from("/usr/share/common-licenses/LGPL-2.1")];
    let missing = rust.iter().chain(&c).find(|file| !file.is_file());
    match missing {
        Some(file) => Err(format!(
            "{} is missing. It is part of the toolchain by rustup, or of Debian's base-files",
            file.display()
        )),
        None => Ok(vec![
            ("Rust standard library (MIT OR Apache-2.0)".to_owned(), rust),
            ("GNU C library (LGPL-2.1-or-later)".to_owned(), c),
        ]),
    }
}

/// Finds the license files in a folder and its subfolders, which hold what a crate brings from others.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !SKIPPED.contains(&name.as_str()) {
            find(&path, files)?;
        } else if path.is_file() && is_license(&name) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_license(name: &str) -> bool {
    let upper = name.to_uppercase();
    let is_code = [".RS", ".C", ".H", ".PY", ".GO", ".TOML", ".JSON"].iter().any(|end| upper.ends_with(end));
    !is_code && NAMES.iter().any(|start| upper.starts_with(start))
}

/// Reads a text with plain line ends, so that the same text of two crates is one.
fn read(file: &Path) -> Result<String, String> {
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    Ok(lines.join("\n").trim_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn license_files_are_known_by_name() {
        for name in ["LICENSE", "LICENSE-MIT", "license.txt", "COPYING.md", "NOTICE", "UNLICENSE"] {
            assert!(is_license(name), "{name}");
        }
        for name in ["README.md", "license.rs", "Cargo.toml", "licenses.json"] {
            assert!(!is_license(name), "{name}");
        }
    }
}
