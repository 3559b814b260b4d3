//! Description of the machine, without which the results mean little.

/// Machine state at the start of the benchmark.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    cores: usize,
    processor: String,
    kernel: String,
    load_at_start: String,
}

impl Machine {
    /// Reads the state at the start of the benchmark.
    pub(crate) fn begin() -> Self {
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            processor: processor(&read("/proc/cpuinfo")),
            kernel: first_word(&read("/proc/sys/kernel/osrelease")),
            load_at_start: first_word(&read("/proc/loadavg")),
        }
    }

    /// Description in one line, with the load average at the start and now.
    pub(crate) fn line(&self) -> String {
        self.line_with(&first_word(&read("/proc/loadavg")))
    }

    fn line_with(&self, load_at_end: &str) -> String {
        let Self { cores, processor, kernel, load_at_start } = self;
        format!(
            "{cores} cores ({processor}), Linux {kernel}, shared by server, load driver and database; load average \
             {load_at_start} at the start, {load_at_end} at the end."
        )
    }
}

/// Content of a file; empty if it cannot be read, because the report is written anyway.
fn read(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

fn processor(cpuinfo: &str) -> String {
    let name = cpuinfo.lines().find_map(|line| line.strip_prefix("model name"));
    name.unwrap_or("an unknown processor").trim_start_matches([' ', '\t', ':']).to_owned()
}

/// First word of a text, such as the kernel's version or the load average of the last minute.
fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_kernel_and_load_at_both_ends() {
        let machine = Machine {
            cores: 2,
            processor: processor("processor\t: 0\nmodel name\t: AMD EPYC\n"),
            kernel: "6.1.0-18-amd64".to_owned(),
            load_at_start: first_word("0.38 0.83 1.23 1/120 99\n"),
        };
        assert_eq!(
            machine.line_with("4.42"),
            "2 cores (AMD EPYC), Linux 6.1.0-18-amd64, shared by server, load driver and database; load average 0.38 \
             at the start, 4.42 at the end."
        );
    }

    #[test]
    fn what_the_machine_does_not_tell_is_said() {
        assert_eq!((processor(""), first_word("")), ("an unknown processor".into(), "unknown".into()));
    }
}
