//! Standard input: questions to the person at a terminal, a line that is not shown, and what is piped in. The commands
//! say what is asked.

use std::io::{self, BufRead, IsTerminal, Read, Stdin, StdinLock, Write};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

/// The longest input, in bytes: more than any password, secret or key has.
const MOST_BYTES: u64 = 64 * 1024;

/// Switches a key of the terminal off.
const NO_KEY: u8 = 0;

/// Standard input is a terminal, so a person answers a question.
#[must_use]
pub fn is_there() -> bool {
    io::stdin().is_terminal()
}

/// Asks for a line that is not shown while it is typed. The terminal shows what is typed again when this ends, also
/// when it is dropped before the answer came.
pub async fn ask_hidden(question: &str) -> io::Result<Zeroizing<String>> {
    let _hidden = Hidden::start()?;
    ask(question).await
}

/// Asks for a yes. Anything but `y` and `yes` is a no, also no answer at all.
pub async fn ask_yes(question: &str) -> io::Result<bool> {
    let answer = ask(question).await?;
    Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
}

/// Writes the question to standard error, because standard output is for results, and reads the answer.
async fn ask(question: &str) -> io::Result<Zeroizing<String>> {
    let mut err = io::stderr();
    write!(err, "{question}")?;
    err.flush()?;
    read_line().await
}

/// Reads the next line of standard input, without its end.
pub async fn read_line() -> io::Result<Zeroizing<String>> {
    let mut line = read(|stdin, line| stdin.take(MOST_BYTES).read_line(line)).await?;
    for end in ['\n', '\r'] {
        if line.ends_with(end) {
            line.pop();
        }
    }
    Ok(line)
}

/// Reads all of standard input.
pub async fn read_all() -> io::Result<Zeroizing<String>> {
    read(|stdin, text| stdin.take(MOST_BYTES).read_to_string(text)).await
}

/// Reads on a thread of its own: a signal ends the command while it waits for input, and a thread of the runtime would
/// hold up its end.
async fn read(
    reading: impl FnOnce(StdinLock<'static>, &mut String) -> io::Result<usize> + Send + 'static,
) -> io::Result<Zeroizing<String>> {
    let (sender, answer) = oneshot::channel();
    let work = move || {
        let mut text = Zeroizing::new(String::new());
        let outcome = reading(io::stdin().lock(), &mut text).map(|_| text);
        let _ = sender.send(outcome); // the command may have ended meanwhile
    };
    std::thread::Builder::new().name("input".to_owned()).spawn(work)?;
    answer.await.unwrap_or_else(|_| Err(io::ErrorKind::UnexpectedEof.into()))
}

/// A terminal that does not show what is typed, until it is dropped.
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
        // Ctrl-Z and Ctrl-\ would leave the terminal like this.
        hidden.special_codes[SpecialCodeIndex::VSUSP] = NO_KEY;
        hidden.special_codes[SpecialCodeIndex::VQUIT] = NO_KEY;
        tcsetattr(&stdin, OptionalActions::Now, &hidden)?;
        Ok(Self { stdin, before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(&self.stdin, OptionalActions::Now, &self.before);
    }
}
