//! Signals that end the process: SIGINT (Ctrl-C), SIGTERM, and SIGHUP, which supervisors and closed terminals send.

use std::fmt;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Status file of the process, in which Linux lists the ignored signals.
const STATUS: &str = "/proc/self/status";

/// Signal that ends the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Signal 1: a supervisor or a closed terminal asks the process to end.
    Hangup,
    /// Signal 2: Ctrl-C at a terminal.
    Interrupt,
    /// Signal 15: the usual request to end, of service managers and `kill`.
    Terminate,
}

impl Ending {
    const fn number(self) -> u8 {
        match self {
            Self::Hangup => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }

    /// Returns the exit code of a process that the signal ended, by the convention of shells: 128 plus the signal
    /// number.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        128 + self.number()
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hangup => "SIGHUP",
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        })
    }
}

/// Receiver of the signals that end the process. It gets those that arrive after its creation.
pub struct Endings {
    /// `None` if the process was started with SIGHUP ignored, as `nohup` does. A closed terminal must then not
    /// end the process.
    hangup: Option<Signal>,
    interrupt: Signal,
    terminate: Signal,
}

impl Endings {
    /// Installs the signal handlers. The signals no longer end the process by themselves.
    pub fn receive() -> io::Result<Self> {
        let hangup = if is_ignored(Ending::Hangup) { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self {
            hangup,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Ending {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = hangup => Ending::Hangup,
            _ = self.interrupt.recv() => Ending::Interrupt,
            _ = self.terminate.recv() => Ending::Terminate,
        }
    }
}

fn is_ignored(signal: Ending) -> bool {
    std::fs::read_to_string(STATUS).is_ok_and(|status| ignores(&status, signal))
}

/// True if the bit mask `SigIgn:` in the status file contains the signal. It is hexadecimal; signal 1 is the lowest
/// bit.
fn ignores(status: &str, signal: Ending) -> bool {
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.is_some_and(|set| set & (1 << (signal.number() - 1)) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        let status = "Name:\tlatchkey\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000004001\nSigCgt:\t0\n";

        assert!(ignores(status, Ending::Hangup) && ignores(status, Ending::Terminate));
        assert!(!ignores(status, Ending::Interrupt));
        assert!(!ignores("", Ending::Hangup) && !ignores("SigIgn:\tx", Ending::Hangup));
    }
}
