//! Templates and certificates: read by the same code that the start reads them with.

use latchkey_oauth::{InvalidOutbound, ProviderClient};

use super::{Bad, Findings};
use crate::settings::{MailTransport, Settings};
use crate::wiring::{self, WiringError};

pub(super) fn look(settings: &Settings, bad: &Bad<'_>, findings: &mut Findings) {
    if let Err(error) = wiring::templates(settings) {
        tell(&error, "; correct it, or unset the key to use the texts of the program", findings);
    }
    if !bad.has("mail.") {
        if settings.mail.transport == MailTransport::Smtp
            && let Err(error) = wiring::smtp_transport(&settings.smtp)
        {
            tell(&error, "", findings);
        }
        if let Err(error) = wiring::mail_from(settings) {
            tell(&error, "", findings);
        }
    }
    if !bad.has("oauth.") {
        look_at_providers(settings, findings);
    }
}

fn look_at_providers(settings: &Settings, findings: &mut Findings) {
    let parts = match wiring::oauth_parts(settings) {
        Ok(parts) => parts,
        Err(error) => return tell(&error, "", findings),
    };
    match ProviderClient::new(parts.outbound) {
        Ok(_) => {}
        Err(InvalidOutbound::CaFile { path, reason }) => {
            findings.refuse("oauth.ca_file", format!("{}: {reason}; {}", path.display(), wiring::CA_MEND));
        }
        Err(error @ InvalidOutbound::Tls(_)) => findings.refuse("oauth", error.to_string()),
    }
}

fn tell(error: &WiringError, mend: &str, findings: &mut Findings) {
    let (place, sentence) = error.place_and_sentence();
    findings.refuse(&place, format!("{sentence}{mend}"));
}
