//! Standard input of commands: questions to the person at a terminal, hidden input, and piped text. The questions are
//! in the module `commands`.

use std::io::{self, BufRead, IsTerminal, Read, Stdin, StdinLock, Write};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

/// Maximum length of an input in bytes, longer than any password, secret or key.
const MOST_BYTES: u64 = 64 * 1024;

/// Value of a control character in termios that disables it.
const NO_KEY: u8 = 0;

/// True if standard input is a terminal, so that questions can be asked.
#[must_use]
pub fn is_there() -> bool {
    io::stdin().is_terminal()
}

/// Asks for a line with the terminal's echo off. The echo is restored when the future completes or is dropped.
pub async fn ask_hidden(question: &str) -> io::Result<Zeroizing<String>> {
    let _hidden = Hidden::start()?;
    ask(question).await
}

/// Asks for a line that may be shown.
pub async fn ask_line(question: &str) -> io::Result<Zeroizing<String>> {
    ask(question).await
}

/// Asks a yes-or-no question. Only `y` and `yes` count as yes; end of input counts as no.
pub async fn ask_yes(question: &str) -> io::Result<bool> {
    let answer = ask(question).await?;
    Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
}

/// Writes the question to standard error, because standard output is for results, and reads the next line.
async fn ask(question: &str) -> io::Result<Zeroizing<String>> {
    let mut err = io::stderr();
    write!(err, "{question}")?;
    err.flush()?;
    read_line().await
}

/// Reads the next line of standard input, without its line end.
pub async fn read_line() -> io::Result<Zeroizing<String>> {
    let mut line = read(|stdin, line| stdin.take(MOST_BYTES).read_line(line)).await?;
    for end in ['\n', '\r'] {
        if line.ends_with(end) {
            line.pop();
        }
    }
    Ok(line)
}

/// Reads all of standard input, up to 64 KiB.
pub async fn read_all() -> io::Result<Zeroizing<String>> {
    read(|stdin, text| stdin.take(MOST_BYTES).read_to_string(text)).await
}

async fn read(
    reading: impl FnOnce(StdinLock<'static>, &mut String) -> io::Result<usize> + Send + 'static,
) -> io::Result<Zeroizing<String>> {
    on_thread(move || {
        let mut text = Zeroizing::new(String::new());
        reading(io::stdin().lock(), &mut text).map(|_| text)
    })
    .await
}

/// Does work that may block for ever, such as reading standard input, on a thread of its own. On a thread of the runtime it
/// would delay the exit after a signal.
pub(crate) async fn on_thread<T: Send + 'static, E: From<io::Error> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    let (sender, answer) = oneshot::channel();
    let work = move || sender.send(work()); // the command may have ended meanwhile
    std::thread::Builder::new().name("waiting".to_owned()).spawn(work)?;
    answer.await.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()))
}

/// Terminal with its echo off; dropping it restores the previous mode.
struct Hidden {
    stdin: Stdin,
    before: Termios,
}

impl Hidden {
    fn start() -> io::Result<Self> {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin)?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL);
        // Suspending (Ctrl-Z) or quitting (Ctrl-\) would leave the echo off.
        hidden.special_codes[SpecialCodeIndex::VSUSP] = NO_KEY;
        hidden.special_codes[SpecialCodeIndex::VQUIT] = NO_KEY;
        tcsetattr(&stdin, OptionalActions::Now, &hidden)?;
        Ok(Self { stdin, before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // An error means that the terminal is gone, so there is nothing to restore.
        let _ = tcsetattr(&self.stdin, OptionalActions::Now, &self.before);
    }
}
