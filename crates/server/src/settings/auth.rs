//! Section `auth`, and the rules between limits, lifetimes and settings that an admin may change.

use std::time::Duration;

use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_domain::redirect::{RedirectEntry, RedirectPolicy};
use latchkey_service::Lifetimes;
use latchkey_service::passwords;
use latchkey_service::settings::EditableSettings;
use latchkey_service::tokens::SigningAlgorithm;
use latchkey_settings::{Problems, Reader, settings};

use super::mail::MailTransport;
use super::server::Mode;

settings! {
    /// Settings of section `auth` that are read once at the start. Lifetimes, and settings that an admin may change at
    /// run time, are in other structs.
    #[derive(Debug)]
    pub struct AuthSettings {
        /// Prefix of the query parameters that the service adds to a redirect target: service_status, service_type,
        /// service_error, service_code. A lower-case letter, then letters, digits and `_`, 32 characters at most.
        "auth.redirect_param_prefix" => redirect_param_prefix: String | read_prefix = "service";
        /// Key that public clients send as bearer token. By convention it is "anon_" with letters and digits; any
        /// visible ASCII characters without spaces are allowed. It is not a secret and grants only public calls. It is
        /// required in requests only if require_anon_key is on.
        "auth.anon_key" => anon_key: Option<String> | read_anon_key = "";
        "auth.require_anon_key" => require_anon_key: bool = false;
        /// Audience (`aud`) of access tokens. Not set: server.public_url.
        "auth.jwt_audience" => jwt_audience: Option<String> = "";
        /// Signature algorithm of access tokens: "ES256", which every library supports, or "EdDSA" (Ed25519), which is
        /// faster.
        "auth.jwt_algorithm" => jwt_algorithm: SigningAlgorithm = "ES256";
    }
}

impl AuthSettings {
    /// Checks that `auth.anon_key` is set if `auth.require_anon_key` is on.
    pub(super) fn check(&self, problems: &mut Problems) {
        if self.require_anon_key && self.anon_key.is_none() {
            let sentence = "it is on and auth.anon_key is not set, so no public call could be made; \
                            set auth.anon_key, or switch it off";
            problems.rule(&["auth.require_anon_key", "auth.anon_key"], sentence);
        }
    }
}

/// Shortest permitted `auth.reauthentication_window`. A shorter one would leave no time to use a fresh token.
const SHORTEST_FRESHNESS: Duration = Duration::from_secs(30);

/// Checks the settings that an admin may change: required verification needs a mail transport, required second factors
/// need required verification, and redirect targets must be on the list of allowed ones.
pub(super) fn check_editable(
    values: &EditableSettings,
    mode: Mode,
    transport: MailTransport,
    problems: &mut Problems,
) {
    const LIST: &str = "auth.allowed_redirect_urls";
    if values.require_email_verification && transport == MailTransport::None {
        let sentence = "verification is required and there is no way to send the mail; set \
                        mail.transport to \"smtp\" or \"file\", or \
                        auth.require_email_verification to false";
        problems.rule(&["mail.transport", "auth.require_email_verification"], sentence);
    }
    if values.second_factor == SecondFactorPolicy::Required && !values.require_email_verification {
        let sentence = "second factors are required and addresses need not be verified, which enrolment needs; set \
                        auth.require_email_verification to true, or auth.second_factor to \"optional\"";
        problems.rule(&["auth.second_factor", "auth.require_email_verification"], sentence);
    }
    let parsed: Vec<_> = values.allowed_redirect_urls.iter().map(|text| RedirectEntry::parse(text)).collect();
    for invalid in parsed.iter().filter_map(|entry| entry.as_ref().err()) {
        problems.rule(&[LIST], invalid.to_string());
    }
    let Ok(entries) = parsed.into_iter().collect::<Result<Vec<_>, _>>() else { return };
    let policy = RedirectPolicy::new(entries, mode.loopback());
    let target = values.default_redirect_url.as_ref();
    if let Some(refusal) = target.and_then(|target| policy.check(target).err()) {
        let sentence = format!("{refusal}; add it to {LIST}, or unset it");
        problems.rule(&["auth.default_redirect_url", LIST, "server.mode"], sentence);
    }
}

/// Checks that pending accounts live longer than their codes and links, that signing keys are not rotated more often
/// than access tokens expire, and that a fresh access token stays fresh long enough to be used.
pub(super) fn check_lifetimes(lifetimes: &Lifetimes, problems: &mut Problems) {
    let (verify, access) = ("auth.verify_link_ttl", "auth.access_token_ttl");
    let (pending, mailbox) = (lifetimes.upkeep.pending, &lifetimes.mailbox);
    if pending < mailbox.verify_link || pending < mailbox.code {
        let sentence = format!(
            "it is shorter than {verify} or auth.code_ttl; the account would be deleted before its code or link expires"
        );
        problems.rule(&["auth.pending_ttl", verify, "auth.code_ttl"], sentence);
    }
    if lifetimes.sessions.signing_key.is_some_and(|interval| interval < lifetimes.sessions.access_token) {
        let sentence = format!("it is shorter than {access}; keys would pile up in the key set");
        problems.rule(&["auth.key_rotation_interval", access], sentence);
    }
    if lifetimes.sessions.reauthentication < SHORTEST_FRESHNESS {
        let sentence = "it is shorter than 30s, which is too short for the call that the token is for";
        problems.rule(&["auth.reauthentication_window"], sentence);
    }
}

/// Checks that the first delay after failed sign-ins is not longer than the longest one.
pub(super) fn check_limits(limits: &passwords::Limits, problems: &mut Problems) {
    if limits.sign_in_first_delay > limits.sign_in_longest_delay {
        let longest = "limits.sign_in_longest_delay";
        let sentence = format!("it is longer than {longest}; delays grow, they do not shrink");
        problems.rule(&["limits.sign_in_first_delay", longest], sentence);
    }
}

fn read_prefix(reader: &mut Reader<'_>, key: &'static str) -> String {
    let prefix = reader.text(key).to_owned();
    let is_tail = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_prefix = prefix.len() <= 32
        && prefix.starts_with(|c: char| c.is_ascii_lowercase())
        && prefix.chars().all(is_tail);
    if !is_prefix {
        let wanted = "wanted a lower-case letter, then letters, digits and _, 32 characters at most";
        reader.refuse(key, &format!("found {prefix:?}; {wanted}"));
    }
    prefix
}

fn read_anon_key(reader: &mut Reader<'_>, key: &'static str) -> Option<String> {
    reader.parse(key, parse_anon_key)
}

/// Parses the anonymous key. Any text that fits into an HTTP header is valid.
fn parse_anon_key(text: &str) -> Result<String, &'static str> {
    let is_key = !text.is_empty() && text.bytes().all(|c| c.is_ascii_graphic());
    is_key
        .then(|| text.to_owned())
        .ok_or("wanted visible ASCII characters without spaces, such as anon_ and letters")
}
