//! The servers under test: processes of their own, what they hold of memory, and how long they take to answer first.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::time::{now, pause};

/// How long a start may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a stop may take before it is forced.
const FAREWELL: Duration = Duration::from_secs(30);

/// Ticks of `/proc` per second, the same on every Linux that matters here (`getconf CLK_TCK`).
const TICKS: f64 = 100.0;

/// A server process; dropping it stops it.
pub(crate) struct Server {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// From its start to its first answer.
    pub(crate) started_in: Duration,
}

/// Memory of a process in MB, which are 1,000,000 bytes: the unit of the goals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Resident now.
    pub(crate) now: f64,
    /// Resident at most since the start or the last [`Server::forget_peak`].
    pub(crate) peak: f64,
}

/// MB of KiB, which the kernel calls kB.
fn megabytes(kib: f64) -> f64 {
    kib * 1024.0 / 1e6
}

/// A port that is free at this moment.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

impl Server {
    /// Starts a command that will listen on the port, and waits for its first answer to a GET of `path`.
    pub(crate) fn start(mut command: Command, port: u16, path: &str, log: &Path) -> Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(std::fs::File::create(log)?);
        let start = now();
        let child = command.spawn()?;
        let mut server = Self { child, address, started_in: Duration::ZERO };
        while !answers(address, path) {
            if server.child.try_wait()?.is_some() || start.elapsed() > PATIENCE {
                return Err(BenchError::Server(format!("the server did not start, see {}", log.display())));
            }
            pause(Duration::from_micros(200));
        }
        server.started_in = start.elapsed();
        Ok(server)
    }

    /// What it holds.
    pub(crate) fn memory(&self) -> Result<Memory> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0)
        };
        Ok(Memory { now: megabytes(kib("VmRSS:")), peak: megabytes(kib("VmHWM:")) })
    }

    /// Processor time it has used, in seconds.
    pub(crate) fn processor_time(&self) -> Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        // The 14th and 15th field of the line are the 12th and 13th after the name.
        let ticks: f64 =
            after_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum();
        Ok(ticks / TICKS)
    }

    /// Lets the peak begin anew.
    pub(crate) fn forget_peak(&self) {
        // Best effort: without it the peak is that of the whole life.
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5");
    }

    fn stop(&mut self) -> Result<()> {
        if let Some(pid) = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(0)) {
            rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        }
        let start = now();
        while self.child.try_wait()?.is_none() {
            if start.elapsed() > FAREWELL {
                self.child.kill()?;
            }
            pause(Duration::from_millis(2));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop(); // it is gone already, or cannot be reached
    }
}

fn answers(address: SocketAddr, path: &str) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?; // one that accepts and says nothing has not started either
        stream.write_all(
            format!("GET {path} HTTP/1.1\r\nhost: bench\r\nconnection: close\r\n\r\n").as_bytes(),
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer.starts_with(b"HTTP/1.1 200"))
    };
    ask().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_megabyte_is_a_million_bytes() {
        assert!((megabytes(1_000_000.0 / 1024.0) - 1.0).abs() < 1e-9);
    }
}
