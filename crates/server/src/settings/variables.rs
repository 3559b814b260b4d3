//! Names of environment variables: which key one belongs to, and which key a misspelt one means.

use latchkey_domain::identity::ProviderKey;

use super::keys::{self, KEYS, Key, Kind, PROVIDER_KEYS, PROVIDERS};

/// The beginning of the names of our environment variables. Two underscores, because container systems set variables
/// such as `LATCHKEY_PORT` for a service of that name.
pub(super) const PREFIX: &str = "LATCHKEY__";

/// The end of a variable that names a file with the value.
const FILE_SUFFIX: &str = "_FILE";

/// Likeness from which a name counts as misspelt.
const MISSPELT: f64 = 0.8;
/// Likeness from which a name under one of our sections is worth a warning.
const SIMILAR: f64 = 0.6;

/// A variable that is not read and looks like one of ours, with the name that is probably meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Slip {
    /// The name of a key with other underscores, or a letter beside it.
    Misspelt(String),
    /// A name that may as well belong to another program.
    Similar(String),
}

/// `LATCHKEY__MAIL__SMTP__HOST` to `mail.smtp.host`.
pub(super) fn dotted(variable: &str) -> String {
    variable.trim_start_matches(PREFIX).to_ascii_lowercase().replace("__", ".")
}

/// `mail.smtp.host` to `LATCHKEY__MAIL__SMTP__HOST`.
pub(super) fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.to_ascii_uppercase().replace('.', "__"))
}

/// The key whose value stands in this variable.
pub(super) fn key_of_variable(name: &str) -> Option<Key> {
    keys::find(&dotted(name)).filter(|key| variable_of(key.name) == name)
}

/// The key whose value stands in the file that this variable names.
pub(super) fn key_of_file_variable(name: &str) -> Option<Key> {
    let key = key_of_variable(name.strip_suffix(FILE_SUFFIX)?)?;
    may_be_a_file(key.kind).then_some(key)
}

const fn may_be_a_file(kind: Kind) -> bool {
    matches!(kind, Kind::Secret | Kind::Address)
}

/// The variable that is probably meant by one that begins with [`PREFIX`] and belongs to no key.
pub(super) fn guess(name: &str) -> Option<String> {
    with_other_underscores(&squashed(name)).or_else(|| keys::nearest(&dotted(name)).map(variable_of))
}

/// The verdict on a variable that does not begin with [`PREFIX`]; `None` where it is none of our business.
pub(super) fn slip(name: &str, value: &str) -> Option<Slip> {
    let upper = name.to_ascii_uppercase();
    let rest = upper.strip_prefix("LATCHKEY_")?;
    if is_of_a_container(rest, value) {
        return None;
    }
    let squashed = squashed(rest);
    if let Some(meant) = with_other_underscores(&squashed) {
        return Some(Slip::Misspelt(meant));
    }
    let (likeness, nearest) = nearest(&squashed)?;
    if likeness >= MISSPELT {
        return Some(Slip::Misspelt(nearest));
    }
    if likeness >= SIMILAR && has_section(&squashed) {
        return Some(Slip::Similar(nearest));
    }
    without_section(&squashed).map(Slip::Similar)
}

/// A variable that a container system sets for a service of the name `latchkey` or `latchkey-something`.
fn is_of_a_container(rest: &str, value: &str) -> bool {
    let is_address = ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme));
    let is_of_a_port = rest.split_once("PORT_").is_some_and(|(_, port)| {
        let protocol = port.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('_');
        port.starts_with(|c: char| c.is_ascii_digit())
            && ["TCP", "UDP", "SCTP"].iter().any(|name| protocol.starts_with(name))
    });
    is_address || is_of_a_port || rest.contains("SERVICE_HOST") || rest.contains("SERVICE_PORT")
}

/// `LATCHKEY_SERVER__MODE` and `SERVER_MODE` to `SERVER_MODE`.
fn squashed(name: &str) -> String {
    let upper = name.to_ascii_uppercase();
    let rest = upper.strip_prefix("LATCHKEY_").unwrap_or(&upper);
    rest.split('_').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

fn squashed_key(key: &str) -> String {
    key.to_ascii_uppercase().replace('.', "_")
}

/// The variable whose name differs in its underscores alone.
fn with_other_underscores(squashed: &str) -> Option<String> {
    let plain = |text: &str| KEYS.iter().find(|key| squashed_key(key.name) == text).copied();
    if let Some(key) = plain(squashed) {
        return Some(variable_of(key.name));
    }
    let of_file = squashed.strip_suffix(FILE_SUFFIX);
    let key = of_file.and_then(plain).filter(|key| may_be_a_file(key.kind));
    let file = key.map(|key| format!("{}{FILE_SUFFIX}", variable_of(key.name)));
    file.or_else(|| of_provider(squashed, "")).or_else(|| of_provider(of_file?, FILE_SUFFIX))
}

/// The variable of a provider's key: `OAUTH_PROVIDERS_GOOGLE_CLIENT_ID`.
fn of_provider(squashed: &str, suffix: &str) -> Option<String> {
    let rest = squashed.strip_prefix(&squashed_key(PROVIDERS))?;
    PROVIDER_KEYS.iter().find_map(|key| {
        let provider = rest.strip_suffix(&squashed_key(key.name))?.strip_suffix('_')?.to_ascii_lowercase();
        ProviderKey::parse(&provider).ok()?;
        let may_be = suffix.is_empty() || may_be_a_file(key.kind);
        may_be.then(|| format!("{}{suffix}", variable_of(&format!("{PROVIDERS}{provider}.{}", key.name))))
    })
}

fn nearest(squashed: &str) -> Option<(f64, String)> {
    let likeness = |key: &Key| strsim::normalized_damerau_levenshtein(squashed, &squashed_key(key.name));
    let best = KEYS.iter().map(|key| (likeness(key), key.name)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(likeness, name)| (likeness, variable_of(name)))
}

/// Whether the name begins with one of our sections.
fn has_section(squashed: &str) -> bool {
    let first = |key: &Key| key.name.split('.').next().unwrap_or_default().to_ascii_uppercase();
    squashed.split_once('_').is_some_and(|(section, _)| KEYS.iter().any(|key| first(key) == section))
}

/// The only key of this name, where the section was left out: `PUBLIC_URL`. One word alone says too little.
fn without_section(squashed: &str) -> Option<String> {
    let is_same = |key: &&Key| {
        key.name.rsplit('.').next().is_some_and(|last| last.contains('_') && squashed_key(last) == squashed)
    };
    let mut found = KEYS.iter().filter(is_same);
    match (found.next(), found.next()) {
        (Some(key), None) => Some(variable_of(key.name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misspelt(name: &str) -> Slip {
        Slip::Misspelt(name.to_owned())
    }

    #[test]
    fn every_key_is_known_with_one_underscore_between() {
        for key in KEYS {
            let right = variable_of(key.name);
            for wrong in [right.replace("__", "_"), right.to_lowercase(), right.replacen("__", "_", 1)] {
                assert_eq!(slip(&wrong, "x"), Some(misspelt(&right)), "{wrong}");
            }
            if may_be_a_file(key.kind) {
                let wrong = format!("{}_FILE", right.replace("__", "_"));
                assert_eq!(slip(&wrong, "x"), Some(misspelt(&format!("{right}_FILE"))), "{wrong}");
            }
        }
    }

    #[test]
    fn keys_of_providers_are_known_too() {
        let right = "LATCHKEY__OAUTH__PROVIDERS__MY_ID__CLIENT_SECRET";
        assert_eq!(slip("LATCHKEY_OAUTH_PROVIDERS_MY_ID_CLIENT_SECRET", "x"), Some(misspelt(right)));
        let file = "LATCHKEY_OAUTH_PROVIDERS_MY_ID_CLIENT_SECRET_FILE";
        assert_eq!(slip(file, "x"), Some(misspelt(&format!("{right}_FILE"))));
        assert_eq!(guess("LATCHKEY__OAUTH_PROVIDERS_MY_ID_CLIENT_SECRET").as_deref(), Some(right));
    }

    #[test]
    fn misspelt_names_are_told_with_the_nearest() {
        let right = "LATCHKEY__SERVER__MODE";
        for wrong in ["LATCHKEY_SEVER_MODE", "LATCHKEY_SERVER_MOD", "LATCHKEY_SERVERMODE"] {
            assert_eq!(slip(wrong, "production"), Some(misspelt(right)), "{wrong}");
        }
        assert_eq!(guess("LATCHKEY__SERVER_MODE").as_deref(), Some(right));
    }

    #[test]
    fn names_that_others_may_use_are_similar_at_the_most() {
        let similar = |name: &str| Some(Slip::Similar(name.to_owned()));
        assert_eq!(slip("LATCHKEY_ADMIN_KEY", "x"), similar("LATCHKEY__ADMIN__API_KEY"));
        assert_eq!(slip("LATCHKEY_PUBLIC_URL", "x"), similar("LATCHKEY__SERVER__PUBLIC_URL"));
        for name in
            ["URL", "VERSION", "IMAGE", "DATA", "HOME", "CONFIG", "BINARY", "CRASH_TEST_FILE", "CA_FILE"]
        {
            assert_eq!(slip(&format!("LATCHKEY_{name}"), "x"), None, "{name}");
        }
        for name in ["PATH", "LATCHKEYS_SERVER_MODE", "LATCHKEY", "MY_LATCHKEY_SERVER_MODE"] {
            assert_eq!(slip(name, "x"), None, "{name}");
        }
    }

    #[test]
    fn variables_of_container_systems_are_theirs() {
        for (name, value) in [
            ("LATCHKEY_PORT", "tcp://10.0.0.1:8700"),
            ("LATCHKEY_MAIL_SMTP_PORT", "tcp://10.0.0.1:25"),
            ("LATCHKEY_PORT_8700_TCP", "tcp://10.0.0.1:8700"),
            ("LATCHKEY_PORT_8700_TCP_ADDR", "10.0.0.1"),
            ("LATCHKEY_SERVER_PORT_8700_TCP_PROTO", "tcp"),
            ("LATCHKEY_SERVICE_HOST", "10.0.0.1"),
            ("LATCHKEY_SERVER_SERVICE_PORT_HTTP", "8700"),
        ] {
            assert_eq!(slip(name, value), None, "{name}");
        }
        assert_eq!(slip("LATCHKEY_MAIL_SMTP_PORT", "25"), Some(misspelt("LATCHKEY__MAIL__SMTP__PORT")));
    }
}
