//! Warnings about settings that are valid but probably a mistake.

use latchkey_service::sessions;
use latchkey_service::settings::EmailMethod;

use super::mail::MailTransport;
use super::{Secret, Settings, Source, console, pages, passkeys, proxies, redirect_warnings, strength};

pub(super) fn of(settings: &Settings) -> Vec<String> {
    let mut warnings = Vec::new();
    let is_production = !settings.server.is_development();
    if is_production && !settings.limits.all.enabled {
        warnings.push("limits.enabled is off in production: passwords and codes can be guessed freely");
    }
    if is_production && settings.mail.transport == MailTransport::File {
        warnings.push("mail.transport is \"file\" in production: mails are not delivered");
    }
    if is_production && settings.server.allow_http && settings.server.public_url.scheme() == "http" {
        warnings.push("server.public_url is http: passwords and tokens cross the network in the clear");
    }
    if is_production && !settings.editable.require_email_verification {
        warnings.push("auth.require_email_verification is off in production: an account can be opened with the email address of another person");
    }
    if is_production && !settings.console.protect_operators {
        warnings.push("console.protect_operators is off in production: an admin key can change the accounts of operators");
    }
    if has_link_without_target(settings) && is_production {
        warnings
            .push("a method is \"link\" and auth.allowed_redirect_urls is empty: no link can be asked for");
    }
    if settings
        .postgres
        .longest_wait(&settings.storage.url)
        .is_some_and(|longest| longest > settings.server.request_timeout)
    {
        warnings.push(
            "storage.postgres: acquire_timeout, connect_timeout for each host of storage.url, statement_timeout and a \
             second for the way are together longer than server.request_timeout, so some requests will be answered \
             SERVICE_BUSY instead of STORAGE_UNAVAILABLE: shorten them, or lengthen server.request_timeout",
        );
    }
    warnings.extend(lifetimes_that_never_come(&settings.lifetimes.sessions));
    let mut warnings: Vec<_> = warnings.into_iter().map(str::to_owned).collect();
    warnings.extend(proxies::warnings(&settings.server));
    warnings.extend(redirect_warnings(&settings.editable.allowed_redirect_urls));
    warnings.extend(passkeys::warnings(settings));
    warnings.extend(pages::warnings(settings));
    warnings.extend(console::warnings(settings));
    warnings.extend(secrets_that_look_typed(settings));
    warnings.extend(secrets_on_the_command_line(settings));
    warnings.extend(settings.warnings.iter().cloned());
    warnings
}

/// Returns warnings about lifetimes of sessions that have no effect, because a shorter one ends the session first.
fn lifetimes_that_never_come(lifetimes: &sessions::Lifetimes) -> impl Iterator<Item = &'static str> {
    let facts = [
        (
            lifetimes.refresh_idle > lifetimes.refresh_absolute,
            "auth.refresh_idle_ttl is longer than auth.refresh_absolute_ttl, which ends every session first",
        ),
        (
            lifetimes.refresh_grace >= lifetimes.refresh_idle,
            "auth.refresh_grace is not shorter than auth.refresh_idle_ttl, which ends the session first",
        ),
        (
            lifetimes.access_token > lifetimes.refresh_absolute,
            "auth.access_token_ttl is longer than auth.refresh_absolute_ttl, at which every token ends",
        ),
        (
            lifetimes.page_idle > lifetimes.page_absolute,
            "pages.session_idle_ttl is longer than pages.session_absolute_ttl, which ends every session first",
        ),
        (
            lifetimes.console_idle > lifetimes.console_absolute,
            "console.session_idle_ttl is longer than console.session_absolute_ttl, which ends every session first",
        ),
    ];
    facts.into_iter().filter(|(is_so, _)| *is_so).map(|(_, warning)| warning)
}

fn has_link_without_target(settings: &Settings) -> bool {
    let editable = &settings.editable;
    let methods = [editable.verify_email_method, editable.reset_password_method];
    methods.contains(&EmailMethod::Link) && editable.allowed_redirect_urls.is_empty()
}

fn secrets_that_look_typed(settings: &Settings) -> impl Iterator<Item = String> {
    let is_production = !settings.server.is_development();
    let secrets = [
        ("server.secret", settings.server.secret.as_ref()),
        ("server.secret_next", settings.server.secret_next.as_ref()),
        ("admin.api_key", settings.admin.api_key.as_ref()),
        ("admin.api_key_next", settings.admin.api_key_next.as_ref()),
    ];
    let looks_typed = move |secret: Option<&Secret>| {
        is_production && secret.is_some_and(|secret| strength::looks_typed(secret.reveal()))
    };
    secrets
        .into_iter()
        .filter(move |(_, secret)| looks_typed(*secret))
        .map(|(name, _)| format!("{name} looks typed: make one with `openssl rand -hex 32`"))
}

fn secrets_on_the_command_line(settings: &Settings) -> impl Iterator<Item = String> {
    settings.shown.iter().filter(|(_, shown)| shown.source == Source::CommandLine && shown.hides).map(
        |(name, _)| format!("{name} is set on the command line, where every user of the machine can read it"),
    )
}
