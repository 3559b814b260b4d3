//! Signals that end the process: Ctrl-C, SIGTERM, and SIGHUP, which many supervisors send and a closed terminal too.

use std::fmt;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The file in which Linux lists the signals that a process ignores.
const STATUS: &str = "/proc/self/status";

/// A signal that ends the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// SIGHUP, 1.
    Hangup,
    /// SIGINT, 2: Ctrl-C.
    Interrupt,
    /// SIGTERM, 15.
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

    /// The exit code of a command that the signal ended, as shells have it.
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

/// The signals that end the process, received from its making on.
pub struct Endings {
    /// `None` where the process was started to ignore it, as `nohup` does: then a closed terminal ends nothing.
    hangup: Option<Signal>,
    interrupt: Signal,
    terminate: Signal,
}

impl Endings {
    /// Starts to receive them. They no longer end the process by themselves.
    pub fn receive() -> io::Result<Self> {
        let hangup = if is_ignored(Ending::Hangup) { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self {
            hangup,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one.
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

/// Reads the line `SigIgn:`, a set of bits in hex, signal 1 the lowest.
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
