//! `cargo xtask deny`: checks the policy of dependencies in `deny.toml` with `cargo-deny`, and installs `cargo-deny` if
//! necessary.
//!
//! Advisories are not downloaded, because CI may be offline. An environment variable names the folder of
//! the advisory database.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::step::{Outcome, run as command, run_with, succeeds};

/// Version of `cargo-deny` to install.
const VERSION: &str = "0.20.2";
/// Build settings for a quick build of `cargo-deny`. It runs for seconds only, so its speed matters less.
const CHEAP: &[(&str, &str)] = &[
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "0"),
];
/// Environment variable that names the folder of the advisory database, a clone or a copy of `RustSec/advisory-db`.
const DATABASE: &str = "LATCHKEY_ADVISORY_DB";
/// Folder in which `cargo-deny` looks for the advisory database, in a subfolder whose name `cargo-deny` derives from
/// the database's URL.
const VIEW: &str = "target/advisories";
const VIEW_DATABASE: &str = "target/advisories/advisory-db-3157b0e258782691";

/// Checks bans, licenses and sources. Also checks advisories if [`DATABASE`] names an advisory database.
pub(crate) fn run(_: &[String]) -> Outcome {
    install()?;
    // cargo-deny reads the manifests of dependencies for all targets, and a build fetches only those of its own target.
    command("cargo fetch --quiet --locked")?;
    command("cargo deny --offline check bans licenses sources")?;
    match database() {
        Some(folder) => check_advisories(Path::new(&folder)),
        None => Ok(()),
    }
}

/// Builds the last output lines of `cargo xtask ci`: they say whether advisories were checked, and the date of the
/// newest advisory.
pub(crate) fn closing_lines() -> String {
    match database() {
        Some(folder) => format!(
            "Advisories were checked with {}. The newest one there is of {}.",
            Path::new(&folder).display(),
            crates_of(Path::new(&folder)).ok().and_then(|crates| newest(&crates)).unwrap_or_default()
        ),
        None => format!(
            "Advisories were NOT checked: {DATABASE} names no database.\n\
             To check them: git clone https://github.com/RustSec/advisory-db FOLDER, then {DATABASE}=FOLDER cargo xtask \
             deny"
        ),
    }
}

#[expect(clippy::disallowed_methods, reason = "the checks of the workspace have no settings")]
fn database() -> Option<OsString> {
    std::env::var_os(DATABASE).filter(|folder| !folder.is_empty())
}

fn install() -> Outcome {
    if succeeds("cargo deny --version") {
        return Ok(());
    }
    println!("cargo-deny is not there; it is built now, once, in some minutes");
    let line = format!("cargo install --locked --quiet --version {VERSION} cargo-deny");
    run_with(&line, &[], CHEAP).map_err(|error| {
        format!(
            "{error}; cargo-deny is needed to check bans, licenses and sources: install it by hand with \
             `cargo install --locked cargo-deny --version {VERSION}`, so that `cargo deny --version` works"
        )
    })
}

fn check_advisories(folder: &Path) -> Outcome {
    let crates = crates_of(folder)?;
    let config = view(&crates).map_err(|error| format!("{VIEW} cannot be written: {error}"))?;
    command(&format!("cargo deny --offline --config {config} check advisories"))
}

/// Finds the folder `crates` of the advisory database, in the given folder or in a subfolder of it.
fn crates_of(folder: &Path) -> Result<PathBuf, String> {
    let unreadable = |error: io::Error| format!("{DATABASE}: {} cannot be read: {error}", folder.display());
    let folder = folder.canonicalize().map_err(unreadable)?;
    let inside = folder.read_dir().map_err(unreadable)?.flatten().map(|entry| entry.path());
    let mut places = std::iter::once(folder.clone()).chain(inside).map(|place| place.join("crates"));
    places.find(|crates| crates.is_dir()).ok_or_else(|| {
        format!(
            "{DATABASE}: {} is no database of advisories, which has a folder `crates`; clone \
             https://github.com/RustSec/advisory-db",
            folder.display()
        )
    })
}

/// Links the advisory database into the folder layout that `cargo-deny` creates when it clones the database itself,
/// because it accepts no other. Returns the path of a copy of `deny.toml` that names this folder. The age of the
/// database is not checked, but reported by [`closing_lines`].
fn view(crates: &Path) -> io::Result<String> {
    match fs::remove_dir_all(VIEW) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(format!("{VIEW_DATABASE}/.git"))?;
    fs::write(format!("{VIEW_DATABASE}/.git/FETCH_HEAD"), "")?;
    std::os::unix::fs::symlink(crates, format!("{VIEW_DATABASE}/crates"))?;
    let root = std::env::current_dir()?.join(VIEW);
    let config = format!("{VIEW}/deny.toml");
    let rules = fs::read_to_string("deny.toml")?;
    fs::write(&config, format!("{rules}\n[advisories]\ndb-path = {:?}\n", root.display().to_string()))?;
    Ok(config)
}

/// Returns the date of the newest advisory in a folder and its subfolders.
fn newest(folder: &Path) -> Option<String> {
    let dates = folder.read_dir().ok()?.flatten().filter_map(|entry| {
        if entry.path().is_dir() {
            newest(&entry.path())
        } else {
            date_of(&fs::read_to_string(entry.path()).ok()?)
        }
    });
    dates.max()
}

/// Returns the date of an advisory, from the line `date = "2026-08-21"` of its front matter.
fn date_of(advisory: &str) -> Option<String> {
    let date = advisory.lines().find_map(|line| line.strip_prefix("date = \""))?;
    date.get(..10).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_advisories_is_refused_by_name() {
        let sentence = crates_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap_err();
        assert!(
            sentence.starts_with("LATCHKEY_ADVISORY_DB: ") && sentence.contains("xtask/src"),
            "{sentence}"
        );
        let sentence = crates_of(Path::new("/there/is/no/such/folder")).unwrap_err();
        assert!(sentence.contains("/there/is/no/such/folder cannot be read"), "{sentence}");
    }

    #[test]
    fn a_database_is_found_by_itself_and_by_the_folder_that_holds_it() {
        let root = std::env::temp_dir().join(format!("latchkey-advisories-{}", std::process::id()));
        let crates = root.join("advisory-db/crates");
        fs::create_dir_all(&crates).unwrap();
        let found = [crates_of(&root), crates_of(&root.join("advisory-db"))];
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, [Ok(crates.clone()), Ok(crates)]);
    }

    #[test]
    fn an_advisory_tells_its_date() {
        let advisory =
            "```toml\n[advisory]\nid = \"RUSTSEC-2026-0001\"\ndate = \"2026-08-21\"\n```\n# Title\n";
        assert_eq!(date_of(advisory).as_deref(), Some("2026-08-21"));
        assert_eq!(date_of("# no head"), None);
    }
}
