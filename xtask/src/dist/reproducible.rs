//! `cargo xtask dist --check-reproducible`: builds the commit in two other folders and compares the packages byte by byte.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Arguments, OUT, build, make_empty, remove};
use crate::step::{Outcome, run, run_with, step};

/// Folders of the two builds. Their lengths differ, because a length may end up in a file too.
const FOLDERS: [&str; 2] = ["target/reproducible/one", "target/reproducible/the-other"];

/// Packs the commit `HEAD` twice, each in a folder of its own.
pub(super) fn check(arguments: &Arguments) -> Outcome {
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let (epoch, revision) = (build::epoch()?, build::revision()?);
    // The folders have no checkout of their own.
    let facts = [("SOURCE_DATE_EPOCH", epoch.as_str()), ("LATCHKEY_REVISION", &revision)];
    let mut outs = Vec::new();
    for folder in FOLDERS {
        let folder = root.join(folder);
        make_empty(&folder)?;
        let commit = folder.with_extension("tar");
        run(&format!("git archive --format=tar --output={} HEAD", commit.display()))?;
        run(&format!("tar --extract --file={} --directory={}", commit.display(), folder.display()))?;
        step(&folder.display().to_string(), || pack_in(&folder, arguments, facts))?;
        let out = root.join("target/reproducible").join(format!("packages-{}", outs.len() + 1));
        take(&folder.join(OUT), &out)?;
        remove(&folder)?;
        outs.push(out);
    }
    compare(&outs[0], &outs[1])
}

fn pack_in(folder: &Path, arguments: &Arguments, facts: [(&str, &str); 2]) -> Outcome {
    let mut words = ["--chdir", &folder.display().to_string(), "cargo", "xtask", "dist", "--profile"]
        .map(ToOwned::to_owned)
        .to_vec();
    words.push(arguments.profile.clone());
    if let Some(target) = &arguments.target {
        words.extend(["--target".to_owned(), target.clone()]);
    }
    let target_dir = folder.join("target").display().to_string();
    let [epoch, revision] = facts;
    let variables = [epoch, revision, ("CARGO_TARGET_DIR", target_dir.as_str())];
    run_with("env", &words, &variables)
}

fn take(from: &Path, to: &Path) -> Outcome {
    make_empty(to)?;
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    entries.flatten().try_for_each(|entry| {
        let copied = fs::copy(entry.path(), to.join(entry.file_name()));
        copied.map(drop).map_err(|error| format!("{}: {error}", entry.path().display()))
    })
}

/// Compares two folders of packages.
pub(crate) fn compare(one: &Path, other: &Path) -> Outcome {
    let names = names(one)?;
    if names != self::names(other)? {
        return Err(format!("{} and {} hold different files", one.display(), other.display()));
    }
    let read = |path: PathBuf| fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
    let mut different = Vec::new();
    for name in &names {
        if read(one.join(name))? != read(other.join(name))? {
            different.push(name.as_str());
        }
    }
    if different.is_empty() {
        println!("{} files are the same, byte by byte", names.len());
        return Ok(());
    }
    Err(format!("{} differ between {} and {}", different.join(", "), one.display(), other.display()))
}

fn names(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<_> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}
