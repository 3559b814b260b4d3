//! Section `traces`: the collector of traces.

use std::path::PathBuf;

use latchkey_settings::{Kind, Reader, settings};
use url::Url;

settings! {
    /// Settings of section `traces`.
    #[derive(Debug)]
    pub struct TraceSettings {
        /// URL of a collector that takes OTLP over HTTP (protobuf), such as "http://127.0.0.1:4318". Without a path /v1/traces
        /// is added. Not set: no traces.
        "traces.endpoint" => endpoint: Option<Url> [Kind::Text] | read_endpoint = "";
        /// File with headers for the collector, such as its key, one "Name: value" a line. It is read at the start.
        "traces.headers_file" => headers_file: Option<PathBuf> = "";
        /// Share of the traces that are sent, from 0 to 1. Those of requests that ended with 5xx are always sent, and those
        /// that a trusted proxy sampled.
        "traces.sample" => sample: f64 = 0.01;
        /// Traces contain the ids of signed-in users. Without it they contain nothing about a person.
        "traces.user_ids" => user_ids: bool = false;
    }
}

fn read_endpoint(reader: &mut Reader<'_>, key: &'static str) -> Option<Url> {
    if reader.text(key).is_empty() {
        return None;
    }
    reader.parse(key, |text| {
        let url = Url::parse(text).map_err(|_| "wanted a URL such as http://127.0.0.1:4318".to_owned())?;
        let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
        let has_secret = !url.username().is_empty() || url.password().is_some();
        match (is_http, has_secret) {
            (false, _) => Err("wanted an http or https URL, such as http://127.0.0.1:4318".to_owned()),
            (true, true) => Err("it has a password; put it into traces.headers_file".to_owned()),
            (true, false) => Ok(url),
        }
    })
}
