//! Check of templates, files of the theme and certificates, with the code that loads them at the start.

use latchkey_oauth::{InvalidOutbound, ProviderClient};

use super::{Bad, Findings};
use crate::settings::{MailTransport, Settings};
use crate::wiring::{self, WiringError};

pub(super) fn inspect(settings: &Settings, bad: &Bad<'_>, findings: &mut Findings) {
    if let Err(error) = wiring::templates(settings) {
        report(&error, "; correct it, or unset the key to use the texts of the program", findings);
    }
    if !bad.has("mail.") {
        if settings.mail.transport == MailTransport::Smtp
            && let Err(error) = wiring::smtp_transport(&settings.smtp)
        {
            report(&error, "", findings);
        }
        if let Err(error) = wiring::mail_from(settings) {
            report(&error, "", findings);
        }
    }
    if !bad.has("pages.")
        && let Err(error) = wiring::check_pages(settings)
    {
        report(&error, "; correct it, or unset the key to use what is built in", findings);
    }
    if !bad.has("oauth.") {
        look_at_providers(settings, findings);
    }
}

fn look_at_providers(settings: &Settings, findings: &mut Findings) {
    let parts = match wiring::oauth_parts(settings) {
        Ok(parts) => parts,
        Err(error) => return report(&error, "", findings),
    };
    match ProviderClient::new(parts.outbound) {
        Ok(_) => {}
        Err(InvalidOutbound::CaFile { path, reason }) => {
            findings.refuse("oauth.ca_file", format!("{}: {reason}; {}", path.display(), wiring::CA_REMEDY));
        }
        Err(error @ InvalidOutbound::Tls(_)) => findings.refuse("oauth", error.to_string()),
    }
}

fn report(error: &WiringError, remedy: &str, findings: &mut Findings) {
    let (place, sentence) = error.place_and_sentence();
    findings.refuse(&place, format!("{sentence}{remedy}"));
}
