//! Arguments of the commands that packages, supervisors and shells use: `latchkey health`, `completions` and `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use url::Url;

use super::output::Output;

/// Arguments of `latchkey health`.
#[derive(Debug, Args)]
pub struct HealthArgs {
    /// URL of the service. Without it, the address in `server.bind` on this machine. Without a path,
    /// /health/ready is asked.
    #[arg(value_parser = http_url)]
    pub url: Option<Url>,
    /// PEM file with further certificate authorities.
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `latchkey completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell that reads the script.
    pub shell: Shell,
}

/// Arguments of `latchkey man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder to write the pages of all commands into, instead of printing that of `latchkey`.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

fn http_url(text: &str) -> Result<Url, &'static str> {
    let wanted = "wanted an http or https URL, such as https://accounts.example.com";
    let url = Url::parse(text).map_err(|_| wanted)?;
    let is_http = ["http", "https"].contains(&url.scheme()) && url.has_host();
    if is_http { Ok(url) } else { Err(wanted) }
}
