//! What is allowed and yet probably not meant.

use super::auth::ProofMethod;
use super::mail::MailTransport;
use super::{Settings, Source};

pub(super) fn of(settings: &Settings) -> Vec<String> {
    let mut warnings = Vec::new();
    let is_production = !settings.server.is_development();
    if is_production && !settings.limits.enabled {
        warnings.push("limits.enabled is off in production: passwords and codes can be guessed freely");
    }
    if is_production && settings.mail.transport == MailTransport::File {
        warnings.push("mail.transport is \"file\" in production: nobody receives the mails");
    }
    if is_production && settings.server.allow_http && settings.server.public_url.scheme() == "http" {
        warnings.push("server.public_url is http: passwords and tokens cross the network in the clear");
    }
    if is_production && !settings.auth.require_email_verification {
        warnings.push("auth.require_email_verification is off in production: anybody can take any address");
    }
    if has_link_without_target(settings) && is_production {
        warnings
            .push("a method is \"link\" and auth.allowed_redirect_urls is empty: no link can be asked for");
    }
    let mut warnings: Vec<_> = warnings.into_iter().map(str::to_owned).collect();
    warnings.extend(secrets_on_the_command_line(settings));
    warnings
}

fn has_link_without_target(settings: &Settings) -> bool {
    let auth = &settings.auth;
    let methods = [auth.verify_email_method, auth.reset_password_method];
    methods.contains(&ProofMethod::Link) && auth.allowed_redirect_urls.is_empty()
}

fn secrets_on_the_command_line(settings: &Settings) -> impl Iterator<Item = String> {
    let secrets = super::keys::KEYS.iter().filter(|key| key.kind == super::keys::Kind::Secret);
    secrets
        .filter(|key| settings.shown.get(key.name).is_some_and(|shown| shown.source == Source::CommandLine))
        .map(|key| {
            format!("{} stands on the command line, where every user of the machine sees it", key.name)
        })
}
