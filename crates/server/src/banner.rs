//! Start banner: the URL of the service, its addresses and mode, and the locations of the database, the mails and the
//! admin key.

use std::fmt::Write;
use std::io::IsTerminal;
use std::net::SocketAddr;

use latchkey_service::Service;

use crate::data_folder::Kept;
use crate::settings::{MailTransport, Settings};

/// Builds the text that `serve` prints to standard output when the service is ready.
#[must_use]
pub fn banner(
    settings: &Settings,
    service: &Service,
    addresses: &[SocketAddr],
    admin_key: Option<&Kept>,
    has_operators: bool,
    metrics: Option<SocketAddr>,
) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "  {label:<11}{value}"); // writing to a string does not fail
    };
    let mode = if settings.server.is_development() { "development" } else { "production" };
    let origin = settings.server.public_url.as_str().trim_end_matches('/');
    let listening: Vec<_> = addresses.iter().map(ToString::to_string).collect();
    line("Address", origin);
    line("Listening", &listening.join(", "));
    line("Mode", mode);
    line("Database", &settings.storage.url.shown());
    let is_inbox = settings.server.is_development() && settings.mail.transport == MailTransport::File;
    match settings.mail.transport {
        MailTransport::File => line("Mails", &settings.mail.dir.display().to_string()),
        MailTransport::Smtp => line("Mails", &format!("by SMTP to {}", settings.smtp.host)),
        MailTransport::None => line("Mails", "not sent: mail.transport is not set"),
    }
    if is_inbox {
        line("Inbox", &format!("{origin}/dev/mail"));
    }
    if settings.console.enabled {
        let url = settings.console.public_url.as_str().trim_end_matches('/');
        line("Console", &format!("{url}/console"));
        if !has_operators {
            let grant = settings.command_line("operator grant EMAIL --role owner");
            line("Operators", &format!("none yet: {grant}"));
        }
    }
    if let Some(address) = metrics {
        line("Metrics", &format!("http://{address}/metrics"));
    }
    if settings.server.is_development() {
        line("API", &format!("{origin}/openapi.json"));
    }
    if let Some(key) = admin_key {
        let shows = key.is_new && std::io::stdout().is_terminal();
        let place = format!("kept in {}", key.path.display());
        line("Admin key", &if shows { format!("{} ({place})", key.secret.reveal()) } else { place });
    }
    if service.settings().redirects.allows_development_loopback() {
        line("Redirects", "http(s)://localhost and 127.0.0.1, because auth.allowed_redirect_urls is empty");
    }
    format!("Latchkey {} is ready.\n\n{text}", env!("CARGO_PKG_VERSION"))
}
