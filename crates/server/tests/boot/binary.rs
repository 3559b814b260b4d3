//! The real binary, run in a temporary folder with explicit settings and an empty environment.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use latchkey_testkit::Client;
use latchkey_testkit::postgres::TestDatabase;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Upper bound of every wait in these tests, for the slowest machine.
const WAIT_LIMIT: Duration = Duration::from_mins(1);

/// Builder for runs of the binary. Clones run it in the same folder.
#[derive(Clone)]
pub struct Binary {
    folder: Arc<TempDir>,
    /// Wrapper program that starts the binary, with its arguments; empty for none.
    launcher: Vec<String>,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

/// Output and exit code of a command.
#[derive(Debug)]
pub struct CommandOutput {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// A started process that may not serve yet. Killed on drop.
pub struct Starting {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    err: JoinHandle<String>,
    said: Arc<Mutex<String>>,
    folder: Arc<TempDir>,
}

/// A serving process. Killed on drop.
pub struct Running {
    /// Listening address.
    pub address: SocketAddr,
    /// Output before the first request.
    pub banner: String,
    child: Child,
    /// Held open, so that the binary does not fail when it prints.
    out: Lines<BufReader<ChildStdout>>,
    err: JoinHandle<String>,
    /// Log so far.
    said: Arc<Mutex<String>>,
    /// Held, so that the folder is not deleted while the process runs.
    _folder: Arc<TempDir>,
}

impl Binary {
    /// Builder with a new folder and no settings.
    pub fn bare() -> Self {
        let folder = TempDir::with_prefix("latchkey-boot-").expect("a temporary folder");
        Self {
            folder: Arc::new(folder),
            launcher: Vec::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// Builder with a new folder, a free port, cheap password hashing, and no rate limits.
    pub fn new() -> Self {
        Self::bare()
            .set("server.bind=127.0.0.1:0")
            .set("passwords.memory_kib=64")
            .set("passwords.iterations=1")
            .set("limits.enabled=false")
    }

    /// Adds a setting by `--set`.
    pub fn set(self, setting: &str) -> Self {
        self.argument("--set").argument(setting)
    }

    /// Adds an argument.
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Starts the binary through another program, which gets the binary and its arguments.
    pub fn under(mut self, launcher: &[&str]) -> Self {
        self.launcher = launcher.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// Drops root's power to ignore file owners and modes, if the test runs as root.
    pub fn unprivileged(self) -> Self {
        if rustix::process::geteuid().is_root() {
            self.under(&["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"])
        } else {
            self
        }
    }

    /// Adds an environment variable.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Path inside its folder, which is its working directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Content of a text file in the folder, without the line end.
    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text.trim_end().to_owned()
    }

    /// Mails in the inbox folder, oldest first.
    pub fn mails(&self) -> Vec<String> {
        let folder = self.path("latchkey-data/mails");
        let names = names_in(&folder).into_iter().filter(|name| !name.starts_with('.')); // hidden: unfinished
        names.map(|name| self.read(&format!("latchkey-data/mails/{name}"))).collect()
    }

    /// Runs a command to its end.
    pub async fn run(&self, command: &[&str]) -> CommandOutput {
        self.run_with_input(command, "").await
    }

    /// Runs a command with this standard input.
    pub async fn run_with_input(&self, command: &[&str], input: &str) -> CommandOutput {
        let mut child = self.command(command).stdin(Stdio::piped()).spawn().expect("the binary");
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(input.as_bytes()).await; // a command need not read its input
        drop(stdin);
        let output =
            timeout(WAIT_LIMIT, child.wait_with_output()).await.expect("a command that ends").unwrap();
        CommandOutput {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Sets `storage.url` to this test database.
    pub fn on(self, database: &TestDatabase) -> Self {
        self.set(&format!("storage.url={}", database.url()))
    }

    /// Starts the service and waits until it is ready.
    pub async fn serve(&self) -> Running {
        self.start().ready().await
    }

    /// Starts the service without waiting.
    pub fn start(&self) -> Starting {
        let mut child = self.command(&[]).stdin(Stdio::null()).spawn().expect("the binary");
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let said = Arc::<Mutex<String>>::default();
        let so_far = Arc::clone(&said);
        let err = tokio::spawn(async move {
            while let Ok(Some(line)) = stderr.next_line().await {
                so_far.lock().unwrap().push_str(&(line + "\n"));
            }
            so_far.lock().unwrap().clone()
        });
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        Starting { child, out, err, said, folder: Arc::clone(&self.folder) }
    }

    /// Command with piped output and an empty environment.
    pub fn command(&self, command: &[&str]) -> Command {
        let binary = env!("CARGO_BIN_EXE_latchkey");
        let mut process = match self.launcher.split_first() {
            None => Command::new(binary),
            Some((launcher, words)) => {
                let mut process = Command::new(launcher);
                process.args(words).arg(binary);
                process
            }
        };
        process
            .args(&self.arguments)
            .args(command)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        process
    }
}

impl Starting {
    /// Waits until the service is ready.
    pub async fn ready(mut self) -> Running {
        let banner = timeout(WAIT_LIMIT, read_banner(&mut self.out)).await.expect("a banner in time");
        let Self { child, out, err, said, folder } = self;
        let Some(address) = listening(&banner) else {
            let said = timeout(WAIT_LIMIT, err).await.unwrap().unwrap();
            panic!("no banner: {banner}\n{said}");
        };
        Running { address, banner, child, out, err, said, _folder: folder }
    }

    /// Stops the process with SIGTERM, ready or not, and waits for its end.
    pub async fn stop(self) -> CommandOutput {
        terminate(&self.child, Signal::TERM);
        self.ended().await
    }

    pub async fn ended(mut self) -> CommandOutput {
        let status = timeout(WAIT_LIMIT, self.child.wait()).await.expect("a service that ends").unwrap();
        let out = read_banner(&mut self.out).await;
        CommandOutput { code: status.code(), out, err: self.err.await.unwrap() }
    }
}

/// Sends a signal to a running process.
pub fn terminate(child: &Child, signal: Signal) {
    let id = child.id().expect("a process that runs");
    let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    kill_process(id, signal).unwrap();
}

impl CommandOutput {
    /// Asserts success and returns the standard output.
    #[track_caller]
    pub fn good(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:#?}");
        &self.out
    }

    /// Asserts a failure whose standard error contains these words.
    #[track_caller]
    pub fn refused(&self, words: &[&str]) {
        assert_eq!(self.code, Some(1), "{self:#?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} is missing in {self:#?}");
        }
    }
}

impl Running {
    /// Public URL, without a trailing slash.
    pub fn public_url(&self) -> String {
        self.line("Address")
    }

    /// Value in the line of the banner that begins with this label.
    #[track_caller]
    pub fn line(&self, label: &str) -> String {
        let line = self.banner.lines().find_map(|line| line.trim_start().strip_prefix(label));
        line.unwrap_or_else(|| panic!("no {label} in {}", self.banner)).trim().to_owned()
    }

    /// Client without credentials.
    pub fn anon(&self) -> Client {
        Client::outside(self.address, &self.public_url())
    }

    pub fn signal(&self, signal: Signal) {
        terminate(&self.child, signal);
    }

    pub async fn ended(mut self) -> CommandOutput {
        let status = timeout(WAIT_LIMIT, self.child.wait()).await.expect("a service that ends").unwrap();
        let mut out = self.banner;
        while let Ok(Some(line)) = self.out.next_line().await {
            out.push_str(&line);
        }
        CommandOutput { code: status.code(), out, err: self.err.await.unwrap() }
    }

    /// Stops the service with SIGTERM and waits for its end.
    pub async fn stop(self) -> CommandOutput {
        self.signal(Signal::TERM);
        self.ended().await
    }

    /// Sends SIGKILL.
    pub async fn kill(self) {
        self.signal(Signal::KILL);
        self.ended().await;
    }

    /// Waits until the log contains these words.
    pub async fn says(&self, words: &str) {
        eventually(words, async || self.said.lock().unwrap().contains(words).then_some(())).await;
    }

    /// Waits until new connections are refused.
    pub async fn closed(&self) {
        let address = self.address;
        eventually("the listener closes", async || {
            tokio::net::TcpStream::connect(address).await.is_err().then_some(())
        })
        .await;
    }
}

/// Polls an asynchronous function until it returns a result. For effects of another process, which send no
/// notification.
pub async fn eventually<T>(what: &str, ask: impl AsyncFn() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(WAIT_LIMIT, asking).await.unwrap_or_else(|_| panic!("in vain: {what}"))
}

/// Sorted names of the files in a folder, hidden ones included.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Reads the banner: up to its second empty line, or the end of the process.
async fn read_banner(out: &mut Lines<BufReader<ChildStdout>>) -> String {
    let (mut banner, mut empty) = (String::new(), 0);
    while let Some(line) = out.next_line().await.unwrap().filter(|_| empty < 2) {
        empty += usize::from(line.is_empty());
        banner.extend([line.as_str(), "\n"]);
        if empty == 2 {
            break;
        }
    }
    banner
}

/// First address of the line `Listening`.
fn listening(banner: &str) -> Option<SocketAddr> {
    let line = banner.lines().find_map(|line| line.trim_start().strip_prefix("Listening"))?;
    line.split(',').next()?.trim().parse().ok()
}
