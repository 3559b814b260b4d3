//! Section `auth`, and the rules between limits, lifetimes and editable settings.

use latchkey_domain::redirect::{RedirectEntry, RedirectPolicy};
use latchkey_service::config::{Lifetimes, SigningAlgorithm};
use latchkey_service::passwords;
use latchkey_service::settings::EditableSettings;
use latchkey_settings::{Problems, Reader, settings};

use super::mail::MailTransport;
use super::server::Mode;

settings! {
    /// Section `auth`, besides lifetimes and the settings that an admin may change.
    #[derive(Debug)]
    pub struct AuthSettings {
        /// The beginning of the query parameters that a redirect target receives: service_status,
        /// service_type, service_error, service_code. A lower-case letter, then letters, digits and `_`,
        /// 32 characters at most.
        "auth.redirect_param_prefix" => redirect_param_prefix: String | read_prefix = "service";
        /// The key that public clients send as bearer: "anon_" and some letters and digits by custom, any
        /// visible ASCII characters without spaces in fact. It grants nothing beyond public calls and is no
        /// secret. It is demanded only with require_anon_key.
        "auth.anon_key" => anon_key: Option<String> | read_anon_key = "";
        "auth.require_anon_key" => require_anon_key: bool = false;
        /// The audience (`aud`) of access tokens. Not set: server.public_url.
        "auth.jwt_audience" => jwt_audience: Option<String> = "";
        /// The signature of access tokens: "ES256", understood everywhere, or "EdDSA" (Ed25519), faster.
        "auth.jwt_algorithm" => jwt_algorithm: SigningAlgorithm = "ES256";
    }
}

impl AuthSettings {
    /// The rules between keys.
    pub(super) fn check(&self, problems: &mut Problems) {
        if self.require_anon_key && self.anon_key.is_none() {
            let sentence = "it is on and auth.anon_key is not set, so no public call could be made; \
                            set auth.anon_key, or switch it off";
            problems.rule(&["auth.require_anon_key", "auth.anon_key"], sentence);
        }
    }
}

/// The rules between settings that an admin may change.
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

/// The rules between lifetimes.
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
}

/// The rules between limits.
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

/// The key is opaque; it only has to fit into a header.
fn parse_anon_key(text: &str) -> Result<String, &'static str> {
    let is_key = !text.is_empty() && text.bytes().all(|c| c.is_ascii_graphic());
    is_key
        .then(|| text.to_owned())
        .ok_or("wanted visible ASCII characters without spaces, such as anon_ and letters")
}
