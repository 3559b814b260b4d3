//! Section `auth`: accounts, tokens, codes and links.

use std::time::Duration;

use latchkey_domain::redirect::{DevelopmentLoopback, RedirectEntry, RedirectPolicy};

use super::mail::MailTransport;
use super::problem::Problems;
use super::reader::Reader;
use super::server::Mode;

/// Section `auth`.
#[derive(Debug)]
pub struct AuthSettings {
    /// Whether a new account must prove its address first. Editable.
    pub require_email_verification: bool,
    /// How an address is proved. Editable.
    pub verify_email_method: ProofMethod,
    /// How a password is reset. Editable.
    pub reset_password_method: ProofMethod,
    /// Where links may send the browser; every entry parses. Editable.
    pub allowed_redirect_urls: Vec<String>,
    /// Where to go when a call names no target; allowed by the list. Editable.
    pub default_redirect_url: Option<String>,
    /// The beginning of redirect parameters: `service` gives `service_status`.
    pub redirect_param_prefix: String,
    /// Whether sign-up is refused. Editable.
    pub disable_sign_up: bool,
    /// The public key of clients, `anon_…`.
    pub anon_key: Option<String>,
    /// Whether public calls must carry [`Self::anon_key`], which is then set.
    pub require_anon_key: bool,
    /// Access and refresh tokens.
    pub tokens: TokenSettings,
    /// Mailed codes.
    pub codes: CodeSettings,
    /// Emailed links, and the token of a reset.
    pub links: LinkSettings,
    /// Life of an account that waits for its first proof, from the last sign-up for its address.
    pub pending_ttl: Duration,
}

/// How somebody proves that a mailbox is theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofMethod {
    /// Six digits to type.
    Code,
    /// A link to open.
    Link,
}

impl ProofMethod {
    /// The name in the settings and in the public configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Link => "link",
        }
    }

    fn read(reader: &Reader<'_>, key: &'static str) -> Self {
        if reader.text(key) == "link" { Self::Link } else { Self::Code }
    }
}

/// Access and refresh tokens.
#[derive(Debug)]
pub struct TokenSettings {
    /// Life of an access token.
    pub access_ttl: Duration,
    /// Life of a refresh token that is not used.
    pub refresh_idle_ttl: Duration,
    /// Life of a session whatever happens.
    pub refresh_absolute_ttl: Duration,
    /// How long a replaced refresh token still gives its successor; zero for never.
    pub refresh_grace: Duration,
    /// The `aud` claim; `None` is the public URL.
    pub audience: Option<String>,
    /// How access tokens are signed.
    pub algorithm: JwtAlgorithm,
    /// How often a new signing key takes over; `None` is by command alone.
    pub key_rotation_interval: Option<Duration>,
}

/// A signature algorithm of RFC 7518 or RFC 8037.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwtAlgorithm {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl JwtAlgorithm {
    /// The `alg` value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }
}

/// Mailed codes.
#[derive(Debug)]
pub struct CodeSettings {
    /// Life of a code.
    pub ttl: Duration,
    /// Wrong attempts that one code bears from each lane.
    pub attempts: u32,
    /// Wrong attempts of an account for one purpose in an hour, across its codes, from each lane.
    pub attempts_per_hour: u32,
    /// The same in a day; a lane that made them gets codes of sixteen characters.
    pub attempts_per_day: u32,
}

/// Emailed links, and the token of a reset.
#[derive(Debug)]
pub struct LinkSettings {
    /// Life of a verification link.
    pub verify_ttl: Duration,
    /// Life of a reset link.
    pub reset_ttl: Duration,
    /// Life of the token that a reset code is exchanged for.
    pub reset_token_ttl: Duration,
}

impl AuthSettings {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            require_email_verification: reader.flag("auth.require_email_verification"),
            verify_email_method: ProofMethod::read(reader, "auth.verify_email_method"),
            reset_password_method: ProofMethod::read(reader, "auth.reset_password_method"),
            allowed_redirect_urls: reader.list("auth.allowed_redirect_urls"),
            default_redirect_url: reader.optional_text("auth.default_redirect_url"),
            redirect_param_prefix: read_prefix(reader),
            disable_sign_up: reader.flag("auth.disable_sign_up"),
            anon_key: reader.parse("auth.anon_key", parse_anon_key),
            require_anon_key: reader.flag("auth.require_anon_key"),
            tokens: TokenSettings::read(reader),
            codes: CodeSettings {
                ttl: reader.duration("auth.code_ttl"),
                attempts: reader.number("auth.code_attempts"),
                attempts_per_hour: reader.number("auth.code_attempts_per_hour"),
                attempts_per_day: reader.number("auth.code_attempts_per_day"),
            },
            links: LinkSettings {
                verify_ttl: reader.duration("auth.verify_link_ttl"),
                reset_ttl: reader.duration("auth.reset_link_ttl"),
                reset_token_ttl: reader.duration("auth.reset_token_ttl"),
            },
            pending_ttl: reader.duration("auth.pending_ttl"),
        }
    }
}

impl AuthSettings {
    /// The rules between keys.
    pub(super) fn check(&self, mode: Mode, transport: MailTransport, problems: &mut Problems) {
        if self.require_email_verification && transport == MailTransport::None {
            let sentence = "verification is required and there is no way to send the mail; set \
                            mail.transport to \"smtp\" or \"file\", or \
                            auth.require_email_verification to false";
            problems.rule(&["mail.transport", "auth.require_email_verification"], sentence);
        }
        if self.require_anon_key && self.anon_key.is_none() {
            let sentence = "it is on and auth.anon_key is not set, so no public call could be made; \
                            set auth.anon_key, or switch it off";
            problems.rule(&["auth.require_anon_key", "auth.anon_key"], sentence);
        }
        let verify = "auth.verify_link_ttl";
        if self.pending_ttl < self.links.verify_ttl || self.pending_ttl < self.codes.ttl {
            let sentence = format!(
                "it is shorter than {verify} or auth.code_ttl; the account would be gone before its \
                                    mail is answered"
            );
            problems.rule(&["auth.pending_ttl", verify, "auth.code_ttl"], sentence);
        }
        self.check_redirects(mode, problems);
        self.tokens.check(problems);
    }

    fn check_redirects(&self, mode: Mode, problems: &mut Problems) {
        const LIST: &str = "auth.allowed_redirect_urls";
        let mut entries = Vec::new();
        for text in &self.allowed_redirect_urls {
            match RedirectEntry::parse(text) {
                Ok(entry) => entries.push(entry),
                Err(invalid) => problems.rule(&[LIST], invalid.to_string()),
            }
        }
        if entries.len() < self.allowed_redirect_urls.len() {
            return;
        }
        let loopback = match mode {
            Mode::Development => DevelopmentLoopback::Allowed,
            Mode::Production => DevelopmentLoopback::Refused,
        };
        let policy = RedirectPolicy::new(entries, loopback);
        let target = self.default_redirect_url.as_ref();
        if let Some(refusal) = target.and_then(|target| policy.check(target).err()) {
            let sentence = format!("{refusal}; add it to {LIST}, or unset it");
            problems.rule(&["auth.default_redirect_url", LIST, "server.mode"], sentence);
        }
    }
}

impl TokenSettings {
    fn read(reader: &Reader<'_>) -> Self {
        let rotation = reader.duration("auth.key_rotation_interval");
        let is_eddsa = reader.text("auth.jwt_algorithm") == "EdDSA";
        Self {
            access_ttl: reader.duration("auth.access_token_ttl"),
            refresh_idle_ttl: reader.duration("auth.refresh_idle_ttl"),
            refresh_absolute_ttl: reader.duration("auth.refresh_absolute_ttl"),
            refresh_grace: reader.duration("auth.refresh_grace"),
            audience: reader.optional_text("auth.jwt_audience"),
            algorithm: if is_eddsa { JwtAlgorithm::EdDsa } else { JwtAlgorithm::Es256 },
            key_rotation_interval: Some(rotation).filter(|interval| !interval.is_zero()),
        }
    }
}

impl TokenSettings {
    fn check(&self, problems: &mut Problems) {
        let access = "auth.access_token_ttl";
        if self.key_rotation_interval.is_some_and(|interval| interval < self.access_ttl) {
            let sentence = format!("it is shorter than {access}; keys would pile up in the key set");
            problems.rule(&["auth.key_rotation_interval", access], sentence);
        }
    }
}

fn read_prefix(reader: &mut Reader<'_>) -> String {
    let prefix = reader.text("auth.redirect_param_prefix").to_owned();
    let is_tail = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_prefix = prefix.len() <= 32
        && prefix.starts_with(|c: char| c.is_ascii_lowercase())
        && prefix.chars().all(is_tail);
    if !is_prefix {
        let wanted = "wanted a lower-case letter, then letters, digits and _, 32 characters at most";
        reader.refuse("auth.redirect_param_prefix", &format!("found {prefix:?}; {wanted}"));
    }
    prefix
}

/// The key is opaque; it only has to fit into a header.
fn parse_anon_key(text: &str) -> Result<String, &'static str> {
    let is_key = !text.is_empty() && text.bytes().all(|c| c.is_ascii_graphic());
    is_key
        .then(|| text.to_owned())
        .ok_or("wanted visible ASCII characters without spaces, such as anon_ and letters")
}
