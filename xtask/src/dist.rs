//! `cargo xtask dist`: the packages of a release. An archive with a static binary, a Debian package, an OCI image, a list
//! of components (`CycloneDX`), and checksums. The same commit gives the same bytes in any folder.

mod archive;
mod build;
mod components;
mod debian;
mod image;
mod licenses;
mod reproducible;
mod stage;
mod target;

use std::path::{Path, PathBuf};

pub(crate) use self::reproducible::compare;
pub(crate) use self::stage::EXAMPLES;
use self::stage::Stage;
use self::target::Target;
use crate::step::{Outcome, step};

const USAGE: &str = "cargo xtask dist [--target TARGET] [--out DIR] [--profile PROFILE] [--binary FILE] [--check-reproducible]";

/// Folder of the packages unless `--out` names another.
const OUT: &str = "target/packages";

/// Arguments of the command.
pub(crate) struct Arguments {
    /// Target triple; the host's by default.
    pub(crate) target: Option<String>,
    pub(crate) out: PathBuf,
    /// Build profile of cargo; `dist` by default.
    pub(crate) profile: String,
    /// Binary to pack instead of building one. The packages are compressed quickly then, because they are only looked at.
    pub(crate) binary: Option<PathBuf>,
    is_reproducible_check: bool,
}

/// Facts of a release that every package states.
pub(crate) struct Release {
    pub(crate) version: String,
    /// Seconds since 1970: the time of the commit, or `SOURCE_DATE_EPOCH`.
    pub(crate) epoch: String,
    pub(crate) target: Target,
    pub(crate) is_quick: bool,
}

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let arguments = parse(arguments)?;
    if arguments.is_reproducible_check {
        return reproducible::check(&arguments);
    }
    let files = pack(&arguments)?;
    println!("{} holds:", arguments.out.display());
    for file in files {
        println!("  {file}");
    }
    Ok(())
}

/// Makes all packages and returns their names.
pub(crate) fn pack(arguments: &Arguments) -> Result<Vec<String>, String> {
    let target = Target::find(arguments.target.as_deref())?;
    let is_quick = arguments.binary.is_some();
    let release = Release { version: build::version()?, epoch: build::epoch()?, target, is_quick };
    let binary = match &arguments.binary {
        Some(binary) => binary.clone(),
        None => build::build(&release.target, &arguments.profile)?,
    };
    make_empty(&arguments.out)?;
    let mut stage = None;
    step("documents", || {
        stage = Some(Stage::new(&release, &binary, &arguments.out.join("stage"))?);
        Ok(())
    })?;
    let stage = stage.ok_or("there is no stage")?;
    step("archive", || archive::pack(&release, &stage, &arguments.out))?;
    step("Debian package", || debian::pack(&release, &stage, &arguments.out))?;
    step("image", || image::pack(&release, &stage, &arguments.out))?;
    step("components", || components::write(&release, &arguments.out))?;
    remove(&stage.folder)?;
    archive::sums(&arguments.out)
}

fn parse(words: &[String]) -> Result<Arguments, String> {
    let mut arguments = Arguments {
        target: None,
        out: PathBuf::from(OUT),
        profile: "dist".to_owned(),
        binary: None,
        is_reproducible_check: false,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().cloned().ok_or_else(|| format!("{word} needs a value: {USAGE}"));
        match word.as_str() {
            "--target" => arguments.target = Some(value()?),
            "--out" => arguments.out = PathBuf::from(value()?),
            "--profile" => arguments.profile = value()?,
            "--binary" => arguments.binary = Some(PathBuf::from(value()?)),
            "--check-reproducible" => arguments.is_reproducible_check = true,
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(arguments)
}

impl Arguments {
    /// Arguments that pack an existing binary of the host into a folder.
    pub(crate) fn of_binary(binary: &Path, out: &Path) -> Self {
        Self {
            target: None,
            out: out.to_owned(),
            profile: "dist".to_owned(),
            binary: Some(binary.to_owned()),
            is_reproducible_check: false,
        }
    }
}

fn make_empty(folder: &Path) -> Outcome {
    remove(folder)?;
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn remove(folder: &Path) -> Outcome {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}
