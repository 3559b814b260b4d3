//! Section `metrics`: the listener of the metrics.

use std::net::SocketAddr;

use latchkey_settings::{Kind, Problems, settings};

use super::console::ConsoleSettings;
use super::server::{ServerSettings, read_address};

settings! {
    /// Settings of section `metrics`.
    #[derive(Debug)]
    pub struct MetricsSettings {
        /// IP address and port of a listener for the metrics, such as "127.0.0.1:8702". It answers GET /metrics alone, to
        /// everybody who reaches it, so it must not be public. Not set: no listener. At server.bind, GET /metrics answers
        /// an admin key.
        "metrics.bind" => bind: Option<SocketAddr> [Kind::Text] | read_address = "";
    }
}

impl MetricsSettings {
    /// Checks the rules between keys.
    pub(super) fn check(&self, server: &ServerSettings, console: &ConsoleSettings, problems: &mut Problems) {
        let others = [("server.bind", Some(server.bind)), ("console.bind", console.bind)];
        for (key, address) in others {
            if self.bind.is_some_and(|bind| Some(bind) == address && bind.port() != 0) {
                let sentence = format!("it is that of {key}; take another port, or leave it out");
                problems.rule(&["metrics.bind", key], &sentence);
            }
        }
    }
}
