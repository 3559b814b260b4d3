//! Server processes under test: their start and stop, memory use and processor time.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::time::{now, pause};

/// Startup timeout.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Shutdown timeout before a kill.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Clock ticks of `/proc` per second, the same on every relevant Linux (`getconf CLK_TCK`).
const TICKS: f64 = 100.0;

/// Running server process; dropping it stops the process.
pub(crate) struct Server {
    child: Child,
    /// Listening address.
    pub(crate) address: SocketAddr,
    /// Time from the start to the first response.
    pub(crate) started_in: Duration,
}

/// Memory use of a process in MB of 1,000,000 bytes, the unit of the goals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Current resident set size.
    pub(crate) now: f64,
    /// Peak resident set size since the start or the last [`Server::forget_peak`].
    pub(crate) peak: f64,
}

/// Converts KiB, which the kernel calls kB, to MB of 1,000,000 bytes.
fn megabytes(kib: f64) -> f64 {
    kib * 1024.0 / 1e6
}

/// A currently free port.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

impl Server {
    /// Starts a command that will listen on the port, and waits for its first response to a GET of `path`.
    pub(crate) fn start(mut command: Command, port: u16, path: &str, log: &Path) -> Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(std::fs::File::create(log)?);
        let start = now();
        let child = command.spawn()?;
        let mut server = Self { child, address, started_in: Duration::ZERO };
        while !answers(address, path) {
            if server.child.try_wait()?.is_some() || start.elapsed() > START_TIMEOUT {
                return Err(BenchError::Server(format!("the server did not start, see {}", log.display())));
            }
            pause(Duration::from_micros(200));
        }
        server.started_in = start.elapsed();
        Ok(server)
    }

    /// Reads the memory use of the process.
    pub(crate) fn memory(&self) -> Result<Memory> {
        memory_of(self.child.id())
    }

    /// Processor time used so far, in seconds.
    pub(crate) fn processor_time(&self) -> Result<f64> {
        processor_time_of(self.child.id())
    }

    /// Resets the peak of the resident set size.
    pub(crate) fn forget_peak(&self) {
        // If this fails, the peak is that of the whole lifetime.
        let _ = std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5");
    }

    fn stop(&mut self) -> Result<()> {
        if let Some(pid) = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(0)) {
            rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        }
        let start = now();
        while self.child.try_wait()?.is_none() {
            if start.elapsed() > STOP_TIMEOUT {
                self.child.kill()?;
            }
            pause(Duration::from_millis(2));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop(); // an error means that the process has ended already
    }
}

/// Peak memory in MB and processor time in seconds of a process so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) peak: f64,
    pub(crate) processor: f64,
}

/// Reads what a process used so far.
pub(crate) fn usage_of(process: u32) -> Result<Usage> {
    Ok(Usage { peak: memory_of(process)?.peak, processor: processor_time_of(process)? })
}

/// Processor time of the benchmark itself so far, in seconds.
pub(crate) fn own_processor_time() -> Result<f64> {
    processor_time_of(std::process::id())
}

fn memory_of(process: u32) -> Result<Memory> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0)
    };
    Ok(Memory { now: megabytes(kib("VmRSS:")), peak: megabytes(kib("VmHWM:")) })
}

fn processor_time_of(process: u32) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    // In `/proc/PID/stat` fields 14 and 15 are user and system time; the process name ends field 2.
    let ticks: f64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum();
    Ok(ticks / TICKS)
}

fn answers(address: SocketAddr, path: &str) -> bool {
    let next_request = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        // A server that accepts and does not respond has not started either.
        stream.set_read_timeout(Some(START_TIMEOUT))?;
        stream.write_all(
            format!("GET {path} HTTP/1.1\r\nhost: bench\r\nconnection: close\r\n\r\n").as_bytes(),
        )?;
        let mut response = Vec::new();
        stream.read_to_end(&mut response)?;
        Ok(response.starts_with(b"HTTP/1.1 200"))
    };
    next_request().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_megabyte_is_a_million_bytes() {
        assert!((megabytes(1_000_000.0 / 1024.0) - 1.0).abs() < 1e-9);
    }
}
