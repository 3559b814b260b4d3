//! `cargo xtask packages`: packs the development build twice and compares the bytes, then tries the packages: with skopeo,
//! umoci and lintian, by a start from the unpacked image, and by the life of the Debian package in a copy of this machine.
//! `cargo xtask packages DIR` tries the packages of a release in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dist::{self, Arguments};
use crate::prerequisites::{self, Prerequisite};
use crate::step::{Outcome, output_of, run as command, run_with, step, succeeds};

/// Programs that read the packages.
const NEEDED: &[Prerequisite] = &[Prerequisite::Skopeo, Prerequisite::Umoci, Prerequisite::Lintian];

/// Folders of the two runs.
const FOLDERS: [&str; 2] = ["target/tried/one", "target/tried/the-other"];
/// Folder of the unpacked image.
const IMAGE: &str = "target/tried/image";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    for prerequisite in NEEDED {
        step(prerequisite.name(), || prerequisites::ensure(*prerequisite))?;
    }
    let (folder, kind) = match arguments {
        [] => (pack_twice()?, "dynamic"),
        [folder] => (PathBuf::from(folder), "static"),
        _ => return Err("cargo xtask packages [DIR]".to_owned()),
    };
    let find = |end: &str| find(&folder, end);
    step("checksums", || {
        let words =
            ["--chdir", &folder.display().to_string(), "sha256sum", "--check", "--quiet", "SHA256SUMS"];
        run_with("env", &words.map(ToOwned::to_owned), &[])
    })?;
    step("archive", || check_archive(&find(".tar.gz")?))?;
    step("list of components", || check_components(&find(".cdx.json")?))?;
    step("image", || check_image(&find(".oci.tar")?, kind))?;
    step("Debian package", || check_debian(&find(".deb")?, kind))
}

fn pack_twice() -> Result<PathBuf, String> {
    command("cargo build --locked --package latchkey")?;
    for folder in FOLDERS {
        dist::pack(&Arguments::of_binary(Path::new("target/debug/latchkey"), Path::new(folder)))?;
    }
    let [one, other] = FOLDERS.map(Path::new);
    step("same bytes", || dist::compare(one, other))?;
    Ok(one.to_owned())
}

fn find(folder: &Path, end: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let found =
        entries.flatten().map(|entry| entry.path()).find(|path| path.to_string_lossy().ends_with(end));
    found.ok_or_else(|| format!("{} has no file that ends in {end}", folder.display()))
}

/// Checks that the archive has what somebody who installs it needs.
fn check_archive(file: &Path) -> Outcome {
    let list = output_of(&format!("tar --list --gzip --file={}", file.display()))?;
    let list = String::from_utf8_lossy(&list);
    let parts = ["latchkey", "latchkey.service", "README.txt"].map(ToOwned::to_owned).into_iter();
    let examples = dist::EXAMPLES.iter().map(|name| format!("examples/{name}"));
    let missing =
        |part: &String| !list.lines().any(|line| line.split_once('/').is_some_and(|it| it.1 == part));
    match parts.chain(examples).find(missing) {
        None => Ok(()),
        Some(part) => Err(format!("{} has no {part}", file.display())),
    }
}

/// Checks that the list names crates with their licenses, and this one.
fn check_components(file: &Path) -> Outcome {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let list: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let components = list["components"].as_array().map(Vec::as_slice).unwrap_or_default();
    let foreign = || components.iter().filter(|one| one["hashes"].is_array());
    let is_whole = list["metadata"]["component"]["name"] == "latchkey"
        && foreign().count() > 100
        && foreign().all(|one| one["licenses"][0]["expression"].is_string());
    if is_whole { Ok(()) } else { Err(format!("{} names too few crates or licenses", file.display())) }
}

fn check_image(file: &Path, kind: &str) -> Outcome {
    let file = file.display();
    let inspected = output_of(&format!("skopeo inspect --config oci-archive:{file}"))?;
    let config: serde_json::Value = serde_json::from_slice(&inspected).map_err(|error| error.to_string())?;
    if config["config"]["User"] != "65532:65532" {
        return Err(format!("skopeo reads the user {}", config["config"]["User"]));
    }
    let _ = fs::remove_dir_all(IMAGE); // of an earlier run
    let layout = format!("{IMAGE}/layout");
    fs::create_dir_all(&layout).map_err(|error| error.to_string())?;
    command(&format!("skopeo copy --quiet oci-archive:{file} oci:{layout}:latchkey"))?;
    command(&format!("umoci unpack --image {layout}:latchkey {IMAGE}/bundle"))?;
    let script = "xtask/scripts/image.sh";
    command(&format!(
        "unshare --mount --net sh {script} {} {kind}",
        absolute(&format!("{IMAGE}/bundle/rootfs"))?
    ))
}

fn check_debian(file: &Path, kind: &str) -> Outcome {
    let path = file.display();
    // A development build is not static, and the package of a release depends on no library.
    let also = if kind == "dynamic" { " --suppress-tags missing-dependency-on-libc" } else { "" };
    command(&format!("lintian --allow-root --fail-on error{also} {path}"))?;
    if succeeds("dpkg --status latchkey") {
        return Err("latchkey is installed on this machine; the trial needs one without it".to_owned());
    }
    command(&format!("unshare --mount --net sh xtask/scripts/debian.sh {path}"))
}

fn absolute(path: &str) -> Result<String, String> {
    let path = fs::canonicalize(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(path.display().to_string())
}
