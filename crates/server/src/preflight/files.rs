//! Check of templates, files of the theme, certificates and headers of traces, with the code that loads them at the start.

use latchkey_oauth::{InvalidOutbound, ProviderClient};

use super::{Bad, Findings};
use crate::settings::{MailTransport, Settings};
use crate::{traces, wiring};

pub(super) fn inspect(settings: &Settings, bad: &Bad<'_>, findings: &mut Findings) {
    if let Err(error) = wiring::templates(settings) {
        findings.refuse_as(&error, "; correct it, or unset the key to use the texts of the program");
    }
    if !bad.has("mail.") {
        if settings.mail.transport == MailTransport::Smtp
            && let Err(error) = wiring::smtp_transport(&settings.smtp)
        {
            findings.refuse_as(&error, "");
        }
        if let Err(error) = wiring::mail_from(settings) {
            findings.refuse_as(&error, "");
        }
    }
    if !bad.has("pages.")
        && let Err(error) = wiring::check_pages(settings)
    {
        findings.refuse_as(&error, "; correct it, or unset the key to use what is built in");
    }
    if !bad.has("oauth.") {
        look_at_providers(settings, findings);
    }
    if !bad.has("traces.")
        && let Err(error) = traces::check(&settings.traces)
    {
        findings.refuse(traces::HEADERS_FILE, error.to_string());
    }
}

fn look_at_providers(settings: &Settings, findings: &mut Findings) {
    let parts = match wiring::oauth_parts(settings) {
        Ok(parts) => parts,
        Err(error) => return findings.refuse_as(&error, ""),
    };
    match ProviderClient::new(parts.outbound) {
        Ok(_) => {}
        Err(InvalidOutbound::CaFile { path, reason }) => {
            findings.refuse("oauth.ca_file", format!("{}: {reason}; {}", path.display(), wiring::CA_REMEDY));
        }
        Err(error @ InvalidOutbound::Tls(_)) => findings.refuse("oauth", error.to_string()),
    }
}
