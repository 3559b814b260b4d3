//! `cargo xtask alerts`: checks the alerts in `deploy` with promtool, and fires each of them by the series of a fault.

use std::fs;

use crate::prerequisites::{self, Prerequisite};
use crate::step::{Outcome, run as command, step};

const ALERTS: &str = "deploy/alerts.yaml";
const FAULTS: &str = "deploy/alerts.test.yaml";

/// Runs both checks. An alert that no fault fires fails too.
pub(crate) fn run(_: &[String]) -> Outcome {
    step(Prerequisite::Prometheus.name(), || prerequisites::ensure(Prerequisite::Prometheus))?;
    command(&format!("promtool check rules {ALERTS}"))?;
    command(&format!("promtool test rules {FAULTS}"))?;
    let read = |path| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let untested = untested(&read(ALERTS)?, &read(FAULTS)?);
    if untested.is_empty() { Ok(()) } else { Err(format!("no fault fires {}", untested.join(", "))) }
}

/// Returns the alerts that no test expects.
fn untested(alerts: &str, faults: &str) -> Vec<String> {
    let names = |text: &str, key: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix(key));
        lines.map(|name| name.trim().to_owned()).collect()
    };
    let tested = names(faults, "alertname:");
    names(alerts, "alert:").into_iter().filter(|name| !tested.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alert_without_a_fault_is_named() {
        let alerts = "rules:\n  - alert: Down\n    expr: up == 0\n  - alert: Slow\n";
        assert_eq!(untested(alerts, "      - eval_time: 1m\n        alertname: Down\n"), ["Slow"]);
        assert_eq!(untested(alerts, "alertname: Down\nalertname: Slow\n"), Vec::<String>::new());
    }
}
