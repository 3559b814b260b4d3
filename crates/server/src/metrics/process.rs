//! Metrics of the process itself, by the names that Prometheus's own libraries use, and of its build. What the operating
//! system does not tell is left out.

use std::fs;

use latchkey_metrics::page::label;
use latchkey_metrics::{About, Collect, Kind, Page};
use latchkey_service::clock::{Clock, SystemClock};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

const BUILD: About = About { name: "build", help: "Version and revision of the binary." };
const CPU: About = About { name: "process_cpu_seconds", help: "Processor time, user and kernel together." };
const RESIDENT: About = About { name: "process_resident_memory_bytes", help: "Resident memory." };
const VIRTUAL: About = About { name: "process_virtual_memory_bytes", help: "Virtual memory." };
const OPEN_FILES: About = About { name: "process_open_fds", help: "Open file descriptors." };
const MOST_FILES: About = About { name: "process_max_fds", help: "Limit of open file descriptors." };
const THREADS: About = About { name: "process_threads", help: "Threads." };
const STARTED: About = About { name: "process_start_time_seconds", help: "Time of the start, in Unix time." };

/// Revision of the sources, which the build of a package sets.
pub(crate) const REVISION: Option<&str> = option_env!("LATCHKEY_REVISION");
/// Number of series.
const SERIES: usize = 8;

pub(super) struct ProcessMetrics {
    started_at: i64,
}

impl ProcessMetrics {
    /// Notes the time of the start.
    pub(super) fn start() -> Self {
        Self { started_at: SystemClock.now().as_millis() }
    }
}

impl Collect for ProcessMetrics {
    fn collect(&self, page: &mut Page) {
        page.begin(BUILD, Kind::Info);
        let version = label("version", env!("CARGO_PKG_VERSION"));
        let revision = label("revision", REVISION.unwrap_or("unknown"));
        page.sample("_info", &format!("{version},{revision}"), 1);
        page.begin(CPU, Kind::Counter);
        page.sample("_total", "", processor_seconds());
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let kilobytes = |name| number_of(&status, name).map(|number| number * 1024);
        let gauges = [
            (RESIDENT, kilobytes("VmRSS:")),
            (VIRTUAL, kilobytes("VmSize:")),
            (THREADS, number_of(&status, "Threads:")),
            // One descriptor is that of the folder itself.
            (
                OPEN_FILES,
                fs::read_dir("/proc/self/fd").ok().map(|files| files.count().saturating_sub(1) as u64),
            ),
            (MOST_FILES, getrlimit(Resource::Nofile).current),
        ];
        for (about, value) in gauges {
            if let Some(value) = value {
                page.gauge(about, value);
            }
        }
        page.gauge(STARTED, format_args!("{}.{:03}", self.started_at / 1000, self.started_at % 1000));
    }

    fn most_series(&self) -> usize {
        SERIES
    }
}

#[expect(clippy::cast_precision_loss, reason = "the seconds of a process are few")]
fn processor_seconds() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// Returns the number after a name in `/proc/self/status`.
fn number_of(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
