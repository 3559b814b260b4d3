//! Files that the packages share, in one folder: binary, manual pages, completions, default settings, licenses.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Release, licenses, make_empty};
use crate::step::{Outcome, output_of, run};

/// Completion scripts: shell, name of the file.
pub(super) const COMPLETIONS: &[(&str, &str)] =
    &[("bash", "latchkey.bash"), ("zsh", "_latchkey"), ("fish", "latchkey.fish")];

/// Files of `deploy` for other programs: proxies, Prometheus, Grafana.
pub(crate) const EXAMPLES: &[&str] = &["Caddyfile", "alerts.yaml", "grafana.json", "nginx.conf"];

/// The folder, with the binary `latchkey`, `man`, `completions`, `latchkey.defaults.toml`, `LICENSE` and
/// `THIRD-PARTY-LICENSES.txt`.
pub(super) struct Stage {
    pub(super) folder: PathBuf,
}

impl Stage {
    pub(super) fn new(release: &Release, binary: &Path, folder: &Path) -> Result<Self, String> {
        let stage = Self { folder: folder.to_owned() };
        make_empty(folder)?;
        stage.copy(binary, "latchkey", 0o755)?;
        if release.is_quick {
            // A binary of the profile `dev` is mostly debug information.
            run(&format!("strip {}", stage.path("latchkey").display()))?;
        }
        let speaker = speaker(release, &stage)?;
        run(&format!("{speaker} man --out {}", stage.path("man").display()))?;
        for (shell, name) in COMPLETIONS {
            let script = output_of(&format!("{speaker} completions {shell}"))?;
            stage.write(&format!("completions/{name}"), &script)?;
        }
        stage.write("latchkey.defaults.toml", &output_of(&format!("{speaker} config print --defaults"))?)?;
        stage.copy(Path::new("LICENSE"), "LICENSE", 0o644)?;
        stage.write("THIRD-PARTY-LICENSES.txt", licenses::text(&release.target)?.as_bytes())?;
        Ok(stage)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Names of the manual pages, sorted.
    pub(super) fn pages(&self) -> Result<Vec<String>, String> {
        let entries = fs::read_dir(self.path("man")).map_err(|error| error.to_string())?;
        let mut names: Vec<_> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        Ok(names)
    }

    fn copy(&self, from: &Path, name: &str, mode: u32) -> Outcome {
        copy(from, &self.path(name), mode)
    }

    fn write(&self, name: &str, text: &[u8]) -> Outcome {
        write(&self.path(name), text)
    }
}

/// Returns the path of a binary of this commit that runs on this machine.
fn speaker(release: &Release, stage: &Stage) -> Result<String, String> {
    if release.target.is_host()? {
        return Ok(stage.path("latchkey").display().to_string());
    }
    run("cargo build --locked --package latchkey")?;
    Ok("target/debug/latchkey".to_owned())
}

/// Copies the files for other programs into a folder.
pub(super) fn copy_examples(to: &Path) -> Outcome {
    EXAMPLES.iter().try_for_each(|name| copy(&Path::new("deploy").join(name), &to.join(name), 0o644))
}

/// Copies a file, whose folder is made, and sets its mode.
pub(super) fn copy(from: &Path, to: &Path, mode: u32) -> Outcome {
    make_parent(to)?;
    let failed = |error| format!("{} cannot be copied to {}: {error}", from.display(), to.display());
    fs::copy(from, to).map_err(failed)?;
    set_mode(to, mode)
}

/// Writes a file, whose folder is made, with mode 644.
pub(super) fn write(to: &Path, text: &[u8]) -> Outcome {
    make_parent(to)?;
    fs::write(to, text).map_err(|error| format!("{} cannot be written: {error}", to.display()))?;
    set_mode(to, 0o644)
}

pub(super) fn set_mode(path: &Path, mode: u32) -> Outcome {
    let set = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    set.map_err(|error| format!("{}: {error}", path.display()))
}

fn make_parent(path: &Path) -> Outcome {
    let parent = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|error| format!("{} cannot be made: {error}", parent.display()))
}
