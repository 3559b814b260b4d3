//! Execution of steps and commands. A step prints its name and its duration, and a failure is a sentence.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Success, or a sentence about the failure.
pub(crate) type Outcome = Result<(), String>;

/// Changes the working directory to the root of the workspace.
pub(crate) fn enter_root() -> Outcome {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let root = root.ok_or("the crate xtask must be a folder of the workspace")?;
    std::env::set_current_dir(root).map_err(|error| format!("{} cannot be entered: {error}", root.display()))
}

/// Runs a step, and prints its name and its duration.
pub(crate) fn step(name: &str, work: impl FnOnce() -> Outcome) -> Outcome {
    println!("== {name}");
    #[expect(clippy::disallowed_methods, reason = "the time of a step is only printed")]
    let start = Instant::now();
    let outcome = work();
    let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
    println!("== {name}: {verdict} ({:.1} s)", start.elapsed().as_secs_f64());
    outcome.map_err(|error| format!("{name}: {error}"))
}

/// Runs a command line, split at spaces. Its output is inherited.
pub(crate) fn run(line: &str) -> Outcome {
    run_with(line, &[], &[])
}

/// Runs a command line, split at spaces, with further arguments that may contain spaces, and environment variables.
pub(crate) fn run_with(line: &str, arguments: &[String], variables: &[(&str, &str)]) -> Outcome {
    let mut command = command(line);
    command.args(arguments).envs(variables.iter().copied());
    let status = command.status().map_err(|error| format!("`{line}` cannot be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed ({status})")) }
}

/// Runs a command line and returns its standard output.
pub(crate) fn output_of(line: &str) -> Result<Vec<u8>, String> {
    let output = command(line).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("`{line}` cannot be started: {error}"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("`{line}` failed ({})", output.status))
    }
}

/// True if a command line starts and succeeds. Its output is discarded.
pub(crate) fn succeeds(line: &str) -> bool {
    let status = command(line).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn command(line: &str) -> Command {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}
