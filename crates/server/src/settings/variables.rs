//! Names of environment variables: the setting that a variable stands for, and the setting that is probably meant by a
//! misspelt name.

use latchkey_domain::identity::ProviderKey;

use latchkey_settings::{Group, Item, key_of_variable as dotted, variable_of};

use super::keys::{self, ITEMS, PROVIDERS};
use super::oauth::ProviderSettings;

/// Suffix of a variable that contains the path of a file with the value.
const FILE_SUFFIX: &str = "_FILE";

/// Minimum similarity (0 to 1) at which an unknown variable counts as misspelt.
const MISSPELT: f64 = 0.8;
/// Minimum similarity (0 to 1) at which a variable is warned about, if its name begins with a known section.
const SIMILAR: f64 = 0.6;

/// Probable mistake in the name of an unknown variable, with the name that is probably meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Slip {
    /// Name of a key with other underscores, or with a small typing error.
    Misspelt(String),
    /// Similar name that may belong to another program.
    Similar(String),
    /// Name with our prefix that resembles no setting.
    Unknown,
}

/// Variables with our prefix that are no settings, because tools of this project read them.
const OF_OUR_TOOLS: &[&str] = &[
    "LATCHKEY_ADVISORY_DB",
    "LATCHKEY_BINARY",
    "LATCHKEY_CRASH_TEST_FILE",
    "LATCHKEY_CRASH_TEST_FIRST",
    "LATCHKEY_MODEL_RUNS",
    "LATCHKEY_MODEL_SEED",
    "LATCHKEY_RECORD",
    "LATCHKEY_URL",
];

/// Finds the setting that an environment variable sets; `None` if the name is not exactly that of a key.
pub(super) fn key_of_variable(name: &str) -> Option<Item> {
    keys::find(&dotted(name)).filter(|key| variable_of(key.name) == name)
}

/// Finds the setting whose value is in the file that an environment variable names; for example
/// `LATCHKEY__SERVER__SECRET_FILE`.
pub(super) fn key_of_file_variable(name: &str) -> Option<Item> {
    let key = key_of_variable(name.strip_suffix(FILE_SUFFIX)?)?;
    key.kind.is_sensitive().then_some(key)
}

/// Finds the setting whose value is in the file that a key of a settings file names, such as `server.secret_file`.
pub(super) fn key_of_file(name: &str) -> Option<Item> {
    keys::find(name.strip_suffix("_file")?).filter(|key| key.kind.is_sensitive())
}

/// Returns the name that is probably meant by an unknown variable with the prefix `LATCHKEY__`; `None` if none is
/// similar enough.
pub(super) fn guess(name: &str) -> Option<String> {
    with_other_underscores(&squashed(name)).or_else(|| keys::nearest(&dotted(name)).map(variable_of))
}

/// Finds the probable mistake in the name of a variable without the prefix `LATCHKEY__`; `None` if the variable belongs
/// to another program or to a tool of this project.
pub(super) fn slip(name: &str, value: &str) -> Option<Slip> {
    let upper = name.to_ascii_uppercase();
    let rest = upper.strip_prefix("LATCHKEY_")?;
    if is_of_a_container(rest, value) || OF_OUR_TOOLS.contains(&name) {
        return None;
    }
    let squashed = squashed(rest);
    if let Some(meant) = with_other_underscores(&squashed) {
        return Some(Slip::Misspelt(meant));
    }
    match nearest(&squashed) {
        Some((likeness, nearest)) if likeness >= MISSPELT => return Some(Slip::Misspelt(nearest)),
        Some((likeness, nearest)) if likeness >= SIMILAR && has_section(&squashed) => {
            return Some(Slip::Similar(nearest));
        }
        _ => {}
    }
    Some(without_section(&squashed).map_or(Slip::Unknown, Slip::Similar))
}

/// True for a variable that Docker or Kubernetes sets for a service named `latchkey` or `latchkey-something`.
fn is_of_a_container(rest: &str, value: &str) -> bool {
    let is_address = ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme));
    let is_of_a_port = rest.split_once("PORT_").is_some_and(|(_, port)| {
        let protocol = port.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('_');
        port.starts_with(|c: char| c.is_ascii_digit())
            && ["TCP", "UDP", "SCTP"].iter().any(|name| protocol.starts_with(name))
    });
    is_address || is_of_a_port || rest.contains("SERVICE_HOST") || rest.contains("SERVICE_PORT")
}

/// Normalises a name: `LATCHKEY_SERVER__MODE` and `SERVER_MODE` become `SERVER_MODE`.
fn squashed(name: &str) -> String {
    let upper = name.to_ascii_uppercase();
    let rest = upper.strip_prefix("LATCHKEY_").unwrap_or(&upper);
    rest.split('_').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

fn squashed_key(key: &str) -> String {
    key.to_ascii_uppercase().replace('.', "_")
}

/// Finds the variable whose name differs only in its underscores.
fn with_other_underscores(squashed: &str) -> Option<String> {
    let plain = |text: &str| ITEMS.iter().find(|key| squashed_key(key.name) == text).copied();
    if let Some(key) = plain(squashed) {
        return Some(variable_of(key.name));
    }
    let of_file = squashed.strip_suffix(FILE_SUFFIX);
    let key = of_file.and_then(plain).filter(|key| key.kind.is_sensitive());
    let file = key.map(|key| format!("{}{FILE_SUFFIX}", variable_of(key.name)));
    file.or_else(|| of_provider(squashed, "")).or_else(|| of_provider(of_file?, FILE_SUFFIX))
}

/// Finds the variable of an identity provider's key, for a normalised name such as `OAUTH_PROVIDERS_GOOGLE_CLIENT_ID`.
fn of_provider(squashed: &str, suffix: &str) -> Option<String> {
    let rest = squashed.strip_prefix(&squashed_key(PROVIDERS))?;
    ProviderSettings::ITEMS.iter().find_map(|key| {
        let provider = rest.strip_suffix(&squashed_key(key.name))?.strip_suffix('_')?.to_ascii_lowercase();
        ProviderKey::parse(&provider).ok()?;
        let may_be = suffix.is_empty() || key.kind.is_sensitive();
        may_be.then(|| format!("{}{suffix}", variable_of(&format!("{PROVIDERS}{provider}.{}", key.name))))
    })
}

fn nearest(squashed: &str) -> Option<(f64, String)> {
    let likeness = |key: &Item| strsim::normalized_damerau_levenshtein(squashed, &squashed_key(key.name));
    let best = ITEMS.iter().map(|key| (likeness(key), key.name)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(likeness, name)| (likeness, variable_of(name)))
}

/// True if the name begins with a known section.
fn has_section(squashed: &str) -> bool {
    let first = |key: &Item| key.name.split('.').next().unwrap_or_default().to_ascii_uppercase();
    squashed.split_once('_').is_some_and(|(section, _)| ITEMS.iter().any(|key| first(key) == section))
}

/// Finds the variable of the only key with this name, if the section was left out, as in `PUBLIC_URL`. Of several, that of
/// the server is meant. Names of one
/// word are too ambiguous.
fn without_section(squashed: &str) -> Option<String> {
    let is_same = |key: &&Item| {
        key.name.rsplit('.').next().is_some_and(|last| last.contains('_') && squashed_key(last) == squashed)
    };
    let found: Vec<_> = ITEMS.iter().filter(is_same).collect();
    match found.as_slice() {
        [key] => Some(variable_of(key.name)),
        keys => keys.iter().find(|key| key.name.starts_with("server.")).map(|key| variable_of(key.name)),
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
        for key in ITEMS.iter() {
            let right = variable_of(key.name);
            for wrong in [right.replace("__", "_"), right.to_lowercase(), right.replacen("__", "_", 1)] {
                assert_eq!(slip(&wrong, "x"), Some(misspelt(&right)), "{wrong}");
            }
            if key.kind.is_sensitive() {
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
        for name in ["VERSION", "IMAGE", "DATA", "HOME", "CONFIG", "CA_FILE"] {
            assert_eq!(slip(&format!("LATCHKEY_{name}"), "x"), Some(Slip::Unknown), "{name}");
        }
        for name in OF_OUR_TOOLS {
            assert_eq!(slip(name, "x"), None, "{name}");
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
