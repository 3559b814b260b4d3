//! What is shown to a person at a terminal and to nobody else.

use std::fs::File;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::{Duration, timeout};

use crate::binary::Binary;

/// A terminal: what a person sees, and where the binary writes.
fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap().into_string().unwrap();
    let program = File::options().read(true).write(true).open(name).unwrap();
    (File::from(person), program)
}

/// The line of the banner about the admin key, as it comes out at a terminal.
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
    let line = timeout(Duration::from_mins(1), reading).await.unwrap();
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
