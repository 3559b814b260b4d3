//! Tests of output and prompts that appear only at a terminal.

use std::fs::File;
use std::os::fd::AsFd;
use std::process::{ExitStatus, Stdio};

use latchkey_testkit::PASSWORD;
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::Child;
use tokio::time::{Duration, timeout};

use crate::binary::{Binary, terminate};

const WAIT_LIMIT: Duration = Duration::from_mins(1);

/// Opens a pseudo-terminal: the user's end, and the end of the binary.
fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap().into_string().unwrap();
    let program = File::options().read(true).write(true).open(name).unwrap();
    (File::from(person), program)
}

/// Command running on a pseudo-terminal. Killed on drop.
struct TerminalRun {
    person: tokio::fs::File,
    /// The binary's end of the terminal, held open so that the terminal outlives the command.
    terminal: File,
    child: Child,
    seen: String,
}

impl TerminalRun {
    /// Starts a command with the pseudo-terminal as its controlling terminal, so that Ctrl-C reaches it.
    fn start(binary: &Binary, command: &[&str]) -> Self {
        let (person, terminal) = terminal();
        let mut child = binary.clone().under(&["/usr/bin/setsid", "--ctty"]).command(command);
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let child = child.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        Self { person: tokio::fs::File::from_std(person), terminal, child, seen: String::new() }
    }

    /// Waits until the output so far contains this text.
    async fn sees(&mut self, text: &str) {
        let mut buffer = [0; 1024];
        let reading = async {
            while !self.seen.contains(text) {
                let length = self.person.read(&mut buffer).await.unwrap();
                self.seen.push_str(&String::from_utf8_lossy(&buffer[..length]));
            }
        };
        let is_seen = timeout(WAIT_LIMIT, reading).await.is_ok();
        assert!(is_seen, "in vain: {text:?} in {:?}", self.seen);
    }

    async fn types(&mut self, keys: &str) {
        self.person.write_all(keys.as_bytes()).await.unwrap();
        self.person.flush().await.unwrap();
    }

    /// True if the terminal echoes input.
    fn echoes_input(&self) -> bool {
        tcgetattr(self.terminal.as_fd()).unwrap().local_modes.contains(LocalModes::ECHO)
    }

    async fn ended(&mut self) -> ExitStatus {
        timeout(WAIT_LIMIT, self.child.wait()).await.expect("a command that ends").unwrap()
    }
}

/// Output of `user list`.
async fn accounts(binary: &Binary) -> String {
    binary.run(&["user", "list"]).await.good().to_owned()
}

/// Line of the banner with the admin key, as a terminal shows it.
async fn admin_key_line(binary: &Binary) -> String {
    let (person, program) = terminal();
    let mut command = binary.command(&[]);
    let child = command.stdin(Stdio::null()).stdout(program).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(tokio::fs::File::from_std(person)).lines();
    let reading = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.contains("Admin key") {
                return line.trim().to_owned();
            }
        }
        panic!("no line about the admin key");
    };
    let line = timeout(WAIT_LIMIT, reading).await.unwrap();
    drop(child);
    line
}

#[tokio::test]
async fn admin_key_is_shown_once_at_a_terminal() {
    let binary = Binary::new();

    let first = admin_key_line(&binary).await;
    let second = admin_key_line(&binary).await;

    let key = binary.read("latchkey-data/admin-key");
    assert!(first.contains(&key) && first.contains("kept in ./latchkey-data/admin-key"), "{first}");
    assert!(!second.contains(&key) && second.contains("kept in ./latchkey-data/admin-key"), "{second}");
}

#[tokio::test]
async fn password_is_prompted_twice_and_not_echoed() {
    let binary = Binary::new();
    let mut run = TerminalRun::start(&binary, &["user", "create", "ada@example.org"]);

    for question in ["Password: ", "The same again: "] {
        run.sees(question).await;
        assert!(!run.echoes_input(), "{question}");
        run.types(&format!("{PASSWORD}\n")).await;
    }

    assert_eq!(run.ended().await.code(), Some(0), "{:?}", run.seen);
    assert!(run.echoes_input() && !run.seen.contains(PASSWORD), "{:?}", run.seen);
    let running = binary.serve().await;
    running.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
}

#[tokio::test]
async fn different_passwords_create_no_user() {
    let binary = Binary::new();
    let mut run = TerminalRun::start(&binary, &["user", "create", "ada@example.org"]);

    run.sees("Password: ").await;
    run.types(&format!("{PASSWORD}\n")).await;
    run.sees("again: ").await;
    run.types("quiet meadow 77 harbour\n").await;

    run.sees("the two passwords differ; nothing was changed").await;
    assert_eq!(run.ended().await.code(), Some(1));
    assert!(accounts(&binary).await.ends_with("0 of 0\n"));
}

#[tokio::test]
async fn ctrl_c_at_the_password_ends_the_command_and_restores_terminal_echo() {
    let binary = Binary::new();
    let mut run = TerminalRun::start(&binary, &["user", "create", "ada@example.org"]);
    run.sees("Password: ").await;

    run.types("half a pass\u{3}").await;

    assert_eq!(run.ended().await.code(), Some(130), "{:?}", run.seen);
    assert!(run.echoes_input());
    assert!(accounts(&binary).await.ends_with("0 of 0\n"));
}

#[tokio::test]
async fn terminated_command_restores_terminal_echo() {
    let binary = Binary::new();
    let mut run = TerminalRun::start(&binary, &["user", "create", "ada@example.org"]);
    run.sees("Password: ").await;

    terminate(&run.child, Signal::TERM);

    assert_eq!(run.ended().await.code(), Some(143), "{:?}", run.seen);
    assert!(run.echoes_input());
}

#[tokio::test]
async fn secret_of_a_provider_is_not_printed() {
    let binary = Binary::new();
    let mut run = TerminalRun::start(&binary, &["oauth", "add", "google", "--client-id", "c"]);
    run.sees("Secret: ").await;

    assert!(!run.echoes_input());
    run.types("GOCSPX-not-shown\n").await;

    run.sees("added Google").await;
    assert_eq!(run.ended().await.code(), Some(0));
    assert!(run.echoes_input() && !run.seen.contains("GOCSPX"), "{:?}", run.seen);
}

#[tokio::test]
async fn deletion_shows_the_account_and_asks() {
    let binary = Binary::new();
    let running = binary.serve().await;
    running.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    let listed = accounts(&binary).await;
    let id = listed.lines().nth(1).unwrap().split(' ').next().unwrap();
    let mut run = TerminalRun::start(&binary, &["user", "delete", "ada@example.org"]);

    run.sees("[y/N] ").await;
    for shown in
        ["Email    ada@example.org", id, "Created  20", "Sign-in  email", "sessions (1)", "the profile"]
    {
        assert!(run.seen.contains(shown), "{shown} in {:?}", run.seen);
    }
    assert!(accounts(&binary).await.contains(id));
    run.types("y\n").await;

    run.sees("deleted").await;
    assert_eq!(run.ended().await.code(), Some(0));
    assert!(accounts(&binary).await.ends_with("0 of 0\n"));
}

#[tokio::test]
async fn unconfirmed_deletion_deletes_nothing() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good();
    for answer in ["\n", "n\n", "yess\n", "ja\n", "\u{4}"] {
        let mut run = TerminalRun::start(&binary, &["user", "delete", "ada@example.org"]);
        run.sees("[y/N] ").await;

        run.types(answer).await;

        run.sees("nothing was deleted").await;
        assert_eq!(run.ended().await.code(), Some(1), "{answer:?}");
    }
    assert!(accounts(&binary).await.contains("ada@example.org"));
}

#[tokio::test]
async fn confirmed_deletion_does_not_ask_at_a_terminal() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good();
    let mut run = TerminalRun::start(&binary, &["user", "delete", "ada@example.org", "--yes"]);

    run.sees("deleted").await;

    assert_eq!(run.ended().await.code(), Some(0));
    assert!(!run.seen.contains("[y/N]"), "{:?}", run.seen);
}

#[tokio::test]
async fn unconfirmed_unlinking_unlinks_nothing() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good();
    let mut run = TerminalRun::start(&binary, &["user", "unlink", "ada@example.org", "google"]);

    run.sees("Unlink google from ada@example.org? It cannot be undone. [y/N] ").await;
    run.types("n\n").await;

    run.sees("nothing was unlinked").await;
    assert_eq!(run.ended().await.code(), Some(1));
}

#[tokio::test]
async fn removal_of_factors_shows_the_account_and_asks() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good();
    let mut run = TerminalRun::start(&binary, &["user", "factors", "remove", "ada@example.org"]);
    run.sees("[y/N] ").await;
    for shown in ["Email     ada@example.org", "Two-step  off", "0 unused codes", "all sessions"] {
        assert!(run.seen.contains(shown), "{shown} in {:?}", run.seen);
    }

    run.types("n\n").await;

    run.sees("nothing was removed").await;
    assert_eq!(run.ended().await.code(), Some(1));
}
