//! Archives with the same bytes wherever they are made, the archive of the binary, and the checksums. `tar` and `gzip`
//! write them: sorted, without owners, with the time of the commit.

use std::fs;
use std::path::Path;

use super::stage::{COMPLETIONS, Stage, copy, copy_examples, write};
use super::target::text_of;
use super::{Release, remove};
use crate::step::{Outcome, run};

/// Packs a folder into a tar file. `owner` is the id of user and group of all files.
pub(super) fn tar(release: &Release, folder: &Path, entries: &str, owner: u32, to: &Path) -> Outcome {
    let line = format!(
        "tar --create --format=ustar --sort=name --mtime=@{} --owner={owner} --group={owner} --numeric-owner \
         --mode=u+rw,go-w --file={} --directory={} {entries}",
        release.epoch,
        to.display(),
        folder.display()
    );
    run(&line)
}

/// Compresses a file into `FILE.gz`, without its name and time.
pub(super) fn gzip(release: &Release, file: &Path) -> Outcome {
    run(&format!("gzip --no-name --force {} {}", level(release), file.display()))
}

pub(super) fn level(release: &Release) -> &'static str {
    if release.is_quick { "-1" } else { "-9" }
}

/// Writes the archive of the binary.
pub(super) fn pack(release: &Release, stage: &Stage, out: &Path) -> Outcome {
    let name = format!("latchkey-{}-{}", release.version, release.target.triple);
    let (work, folder) = (out.join("archive"), out.join("archive").join(&name));
    for file in ["LICENSE", "THIRD-PARTY-LICENSES.txt", "latchkey.defaults.toml"] {
        copy(&stage.path(file), &folder.join(file), 0o644)?;
    }
    copy(&stage.path("latchkey"), &folder.join("latchkey"), 0o755)?;
    for page in stage.pages()? {
        copy(&stage.path(&format!("man/{page}")), &folder.join("man").join(&page), 0o644)?;
    }
    for (_, script) in COMPLETIONS {
        let path = format!("completions/{script}");
        copy(&stage.path(&path), &folder.join(&path), 0o644)?;
    }
    copy_examples(&folder.join("examples"))?;
    let unit = fs::read_to_string("deploy/latchkey.service").map_err(|error| error.to_string())?;
    write(&folder.join("latchkey.service"), unit.replace("/usr/bin/", "/usr/local/bin/").as_bytes())?;
    write(&folder.join("README.txt"), fs::read("deploy/archive.txt").unwrap_or_default().as_slice())?;
    let file = out.join(format!("{name}.tar"));
    tar(release, &work, &name, 0, &file)?;
    gzip(release, &file)?;
    remove(&work)
}

/// Writes `SHA256SUMS` and returns the names of all files.
pub(super) fn sums(out: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(out).map_err(|error| error.to_string())?;
    let mut names: Vec<_> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let mut text = String::new();
    for name in &names {
        text.extend([&sha256(&out.join(name))?, "  ", name, "\n"]);
    }
    write(&out.join("SHA256SUMS"), text.as_bytes())?;
    names.push("SHA256SUMS".to_owned());
    Ok(names)
}

/// Returns the SHA-256 of a file in hexadecimal.
pub(super) fn sha256(file: &Path) -> Result<String, String> {
    let line = text_of(&format!("sha256sum {}", file.display()))?;
    line.split(' ').next().map(ToOwned::to_owned).ok_or_else(|| "sha256sum printed nothing".to_owned())
}
