//! Debian package, written by `dpkg-deb`. Its control files are in `deploy/debian`.

use std::fs;
use std::path::{Path, PathBuf};

use super::stage::{COMPLETIONS, Stage, copy, copy_examples, set_mode, write};
use super::target::text_of;
use super::{Release, remove};
use crate::step::{Outcome, run, run_with};

/// Revision of the package of one version.
const REVISION: &str = "1";
/// Scripts of the package, run as root.
const SCRIPTS: &[&str] = &["postinst", "prerm", "postrm"];

pub(super) fn pack(release: &Release, stage: &Stage, out: &Path) -> Outcome {
    let tree = Tree { folder: out.join("debian") };
    tree.fill(release, stage)?;
    tree.control(release)?;
    let name = format!("latchkey_{}-{REVISION}_{}.deb", release.version, release.target.architecture);
    let compression = if release.is_quick { "-Zgzip -z1" } else { "-Zxz" };
    let line = format!(
        "dpkg-deb --root-owner-group --threads-max=1 {compression} --build {} {}",
        tree.folder.display(),
        out.join(name).display()
    );
    run_with(&line, &[], &[("SOURCE_DATE_EPOCH", &release.epoch)])?;
    remove(&tree.folder)
}

/// The folder that is packed.
struct Tree {
    folder: PathBuf,
}

impl Tree {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn fill(&self, release: &Release, stage: &Stage) -> Outcome {
        copy(&stage.path("latchkey"), &self.path("usr/bin/latchkey"), 0o755)?;
        let unit = self.path("usr/lib/systemd/system/latchkey.service");
        copy(Path::new("deploy/latchkey.service"), &unit, 0o644)?;
        copy(Path::new("deploy/debian/default"), &self.path("etc/default/latchkey"), 0o644)?;
        let overrides = self.path("usr/share/lintian/overrides/latchkey");
        copy(Path::new("deploy/debian/lintian-overrides"), &overrides, 0o644)?;
        let documents = self.path("usr/share/doc/latchkey");
        copy(Path::new("deploy/debian/copyright"), &documents.join("copyright"), 0o644)?;
        for name in ["THIRD-PARTY-LICENSES.txt", "latchkey.defaults.toml"] {
            copy(&stage.path(name), &documents.join(name), 0o644)?;
        }
        copy_examples(&documents.join("examples"))?;
        write(&documents.join("changelog.Debian"), changelog(release)?.as_bytes())?;
        compress(&documents.join("changelog.Debian"))?;
        for page in stage.pages()? {
            let place = self.path("usr/share/man/man1").join(&page);
            copy(&stage.path("man").join(&page), &place, 0o644)?;
            compress(&place)?;
        }
        let places = [
            "usr/share/bash-completion/completions/latchkey",
            "usr/share/zsh/vendor-completions/_latchkey",
            "usr/share/fish/vendor_completions.d/latchkey.fish",
        ];
        COMPLETIONS.iter().zip(places).try_for_each(|((_, script), place)| {
            copy(&stage.path("completions").join(script), &self.path(place), 0o644)
        })
    }

    fn control(&self, release: &Release) -> Outcome {
        let template = fs::read_to_string("deploy/debian/control").map_err(|error| error.to_string())?;
        let size =
            text_of(&format!("du --summarize --block-size=1024 --apparent-size {}", self.folder.display()))?;
        let size = size.split('\t').next().unwrap_or_default();
        let control = template
            .replace("@VERSION@", &format!("{}-{REVISION}", release.version))
            .replace("@ARCHITECTURE@", release.target.architecture)
            .replace("@SIZE@", size);
        write(&self.path("DEBIAN/control"), control.as_bytes())?;
        write(&self.path("DEBIAN/conffiles"), b"/etc/default/latchkey\n")?;
        write(&self.path("DEBIAN/md5sums"), self.sums()?.as_bytes())?;
        for script in SCRIPTS {
            copy(&Path::new("deploy/debian").join(script), &self.path("DEBIAN").join(script), 0o755)?;
        }
        set_folder_modes(&self.folder)
    }

    /// Returns the MD5 sums of all files that are no configuration, as dpkg verifies them.
    fn sums(&self) -> Result<String, String> {
        let mut files = Vec::new();
        list(&self.path("usr"), &mut files)?;
        files.sort();
        let mut text = String::new();
        for file in files {
            let line = text_of(&format!("md5sum {}", file.display()))?;
            let sum = line.split(' ').next().unwrap_or_default();
            let name = file.strip_prefix(&self.folder).map_err(|error| error.to_string())?;
            text.extend([sum, "  ", &name.to_string_lossy(), "\n"]);
        }
        Ok(text)
    }
}

/// Compresses a document as Debian wants it.
fn compress(file: &Path) -> Outcome {
    run(&format!("gzip --no-name --best --force {}", file.display()))?;
    set_mode(&PathBuf::from(format!("{}.gz", file.display())), 0o644)
}

fn changelog(release: &Release) -> Result<String, String> {
    let date = text_of(&format!("date --utc --rfc-email --date=@{}", release.epoch))?;
    Ok(format!(
        "latchkey ({}-{REVISION}) unstable; urgency=medium\n\n  * Changes: \
         https://github.com/latchkey/latchkey/blob/main/CHANGELOG.md\n\n -- Latchkey contributors \
         <latchkey@users.noreply.github.com>  {date}\n",
        release.version
    ))
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Sets the mode of all folders, which otherwise depends on the umask.
fn set_folder_modes(folder: &Path) -> Outcome {
    set_mode(folder, 0o755)?;
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .try_for_each(|path| set_folder_modes(&path))
}
