//! Targets for which packages are made, and what they need of the machine.

use std::path::Path;

use crate::step::{output_of, succeeds};

/// A target of rustc, with its names elsewhere.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) triple: &'static str,
    /// Architecture as Debian names it, and OCI too.
    pub(crate) architecture: &'static str,
    /// C compiler and linker, on a machine of another architecture.
    pub(super) cross_compiler: &'static str,
    /// Debian package of that compiler.
    cross_package: &'static str,
}

const ALL: &[Target] = &[
    Target {
        triple: "x86_64-unknown-linux-gnu",
        architecture: "amd64",
        cross_compiler: "x86_64-linux-gnu-gcc",
        cross_package: "gcc-x86-64-linux-gnu",
    },
    Target {
        triple: "aarch64-unknown-linux-gnu",
        architecture: "arm64",
        cross_compiler: "aarch64-linux-gnu-gcc",
        cross_package: "gcc-aarch64-linux-gnu",
    },
];

impl Target {
    /// Finds a target by its triple, or that of this machine.
    pub(super) fn find(triple: Option<&str>) -> Result<Self, String> {
        let host = host()?;
        let triple = triple.unwrap_or(&host);
        ALL.iter().copied().find(|one| one.triple == triple).ok_or_else(|| {
            let known: Vec<_> = ALL.iter().map(|one| one.triple).collect();
            format!("no packages are made for {triple}; there is {}", known.join(", "))
        })
    }

    pub(super) fn is_host(&self) -> Result<bool, String> {
        Ok(host()? == self.triple)
    }

    pub(super) fn compiler(&self) -> Result<&'static str, String> {
        Ok(if self.is_host()? { "cc" } else { self.cross_compiler })
    }

    /// Checks that the machine can build for the target.
    pub(super) fn check_toolchain(&self) -> Result<(), String> {
        let Self { triple, cross_package, .. } = self;
        let libraries = text_of(&format!("rustc --print target-libdir --target {triple}"))?;
        if !Path::new(&libraries).is_dir() {
            return Err(format!(
                "the standard library of Rust for {triple} is missing; run: rustup target add {triple}"
            ));
        }
        let compiler = self.compiler()?;
        if !succeeds(&format!("{compiler} --version")) {
            return Err(format!("{compiler}, which links for {triple}, is missing; install {cross_package}"));
        }
        let library = text_of(&format!("{compiler} -print-file-name=libc.a"))?;
        if Path::new(&library).is_absolute() {
            return Ok(());
        }
        Err(format!(
            "the static C library for {triple} is missing; install libc6-dev (for another architecture \
             libc6-dev-{}-cross)",
            self.architecture
        ))
    }
}

fn host() -> Result<String, String> {
    let version = text_of("rustc -vV")?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(ToOwned::to_owned).ok_or_else(|| "rustc names no host".to_owned())
}

/// Runs a command line and returns its output as text without the line end.
pub(super) fn text_of(line: &str) -> Result<String, String> {
    let text = String::from_utf8(output_of(line)?).map_err(|_| format!("`{line}` printed no text"))?;
    Ok(text.trim_end().to_owned())
}
