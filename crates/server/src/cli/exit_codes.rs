//! Exit codes, as the help and the manual page of every command state them.

use clap::{Command, CommandFactory};

use super::Cli;

/// Codes with a meaning of their own: command, meaning of 0, meaning of 1.
const OWN: &[(&str, &str, &str)] = &[
    ("", SERVED, NOT_SERVED),
    ("serve", SERVED, NOT_SERVED),
    ("health", "the service is ready", "it is not ready, or does not respond"),
    ("config check", "a start would succeed", "a start would fail; standard output has the reasons"),
    (
        "migrate",
        "the database is up to date",
        "the database cannot be read or migrated; with --check, migrations are missing",
    ),
    ("redirects test", "the target is allowed", "it is refused"),
    (
        "init",
        "everything is written, and `config check` succeeds",
        "nothing is written, or the check fails; the reason is printed",
    ),
    ("copy", "source and target are the same", "the copy failed, or source and target differ"),
    ("import", "all records were taken over or skipped", "failed; what was read before it stays"),
    ("backup", "the backup is there and good", "there is none, or --verify found a fault"),
];

/// Meaning of 2 where a command gives it a second one.
const SOME_REFUSED: (&str, &str) =
    ("import", "some records were refused; or wrong arguments, and nothing was done");

const SERVED: &str = "stopped by SIGTERM, SIGINT or SIGHUP";
const NOT_SERVED: &str = "the start failed; the reason is on standard error";

/// Definition of all arguments, with the exit codes at the end of each command's help.
#[must_use]
pub fn definition() -> Command {
    with_codes(Cli::command(), "")
}

fn with_codes(command: Command, path: &str) -> Command {
    let names: Vec<_> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let text = match command.get_after_help() {
        Some(help) => format!("{help}\n\n{}", codes(path)),
        None => codes(path),
    };
    let inside = |name: &str| format!("{path} {name}").trim_start().to_owned();
    names.iter().fold(command.after_help(text), |command, name| {
        command.mut_subcommand(name, |one| with_codes(one, &inside(name)))
    })
}

fn codes(path: &str) -> String {
    let own = OWN.iter().find(|(known, _, _)| *known == path);
    let (done, failed) = own
        .map_or(("done", "refused or failed; the reason is on standard error"), |(_, done, failed)| {
            (*done, *failed)
        });
    let (refusing, refused) = SOME_REFUSED;
    let wrong = if path == refusing { refused } else { "wrong arguments; nothing was done" };
    let ended = if done == SERVED { "" } else { "\n  129, 130, 143  ended by SIGHUP, Ctrl-C or SIGTERM" };
    format!("Exit codes:\n  0  {done}\n  1  {failed}\n  2  {wrong}{ended}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(command: &Command, path: &str, found: &mut Vec<(String, String)>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        found.push((path.to_owned(), help));
        for one in command.get_subcommands() {
            paths(one, format!("{path} {}", one.get_name()).trim_start(), found);
        }
    }

    #[test]
    fn every_command_states_its_exit_codes() {
        let mut found = Vec::new();
        paths(&definition(), "", &mut found);
        assert!(found.len() > 30, "{}", found.len());
        for (path, help) in &found {
            assert!(help.contains("Exit codes:\n  0  "), "{path}: {help}");
            assert_eq!(help.matches("Exit code").count(), 1, "{path} tells its codes twice: {help}");
        }
        let is_known = |path: &str| found.iter().any(|(known, _)| known == path);
        assert!(OWN.iter().all(|(path, _, _)| is_known(path)));
    }
}
