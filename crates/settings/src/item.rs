//! Description of a setting: its name, type, default and documentation.

use std::fmt;

use crate::value::{self, Entries, Value};

/// Prefix of environment variables. It ends in two underscores, because container systems set variables such as
/// `LATCHKEY_PORT` for a service of that name.
pub const PREFIX: &str = "LATCHKEY__";

/// Type of a setting's value, with its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// One of the listed words.
    Choice(&'static [&'static str]),
    Boolean,
    /// Whole number within inclusive bounds.
    Integer {
        from: u64,
        to: u64,
    },
    /// Number from 0 to 1.
    Share,
    List,
    /// Duration above zero.
    Duration,
    /// Duration, zero included.
    DurationOrZero,
    /// Count and duration, such as `10/15m`.
    Rate,
    /// Text that is never printed.
    Secret,
    /// URL that may contain a password. It is printed with `***` in place of the password.
    Address,
}

impl Kind {
    /// True if TOML has a native type for this kind, so that a string is refused in a settings file.
    pub(crate) fn is_strict(self) -> bool {
        matches!(self, Self::Boolean | Self::Integer { .. } | Self::List)
    }

    pub(crate) fn allows(self, number: u64) -> bool {
        matches!(self, Self::Integer { from, to } if (from..=to).contains(&number))
    }

    /// True if a `…_FILE` variable may name a file with the value, and messages do not quote the value.
    #[must_use]
    pub const fn is_sensitive(self) -> bool {
        matches!(self, Self::Secret | Self::Address)
    }
}

/// Writes a description of the valid values, for messages such as "wanted a list of texts".
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text | Self::Secret | Self::Address => "a text",
            Self::Choice(choices) => {
                let quoted: Vec<_> = choices.iter().map(|choice| format!("{choice:?}")).collect();
                return f.write_str(&quoted.join(" or "));
            }
            Self::Boolean => "true or false",
            Self::Integer { from, to } => return write!(f, "a whole number from {from} to {to}"),
            Self::Share => "a number from 0 to 1, such as 0.01",
            Self::List => "a list of texts",
            Self::Duration => "a duration above zero, such as 500ms, 30s, 15m, 24h or 90d",
            Self::DurationOrZero => "a duration, such as 0s, 500ms, 30s, 15m, 24h or 90d",
            Self::Rate => "a rate, such as 10/15m (ten in fifteen minutes)",
        })
    }
}

/// Value of a setting that no source sets.
#[derive(Debug, Clone, Copy)]
pub enum Fallback {
    /// Default value in TOML syntax.
    Fixed(&'static str),
    /// No default; the text is an example in TOML.
    Unset(&'static str),
    /// Default computed from other settings; the text is an example in TOML.
    Derived(fn(&Entries) -> Option<Value>, &'static str),
}

/// Description of a setting. [`settings!`](crate::settings) declares it together with the field that it fills.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    /// Key, `section.key`.
    pub name: &'static str,
    /// Field name in the admin API; `None` if an admin cannot change the setting at run time.
    pub field: Option<&'static str>,
    pub kind: Kind,
    /// Value if no source sets the key.
    pub fallback: Fallback,
    /// Documentation by line; empty if the documentation of the previous item covers this one too.
    pub doc: &'static [&'static str],
}

impl Item {
    /// Returns the section, such as `mail.smtp` for `mail.smtp.host`.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.name.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Returns the name within the section, such as `host` for `mail.smtp.host`.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or_default()
    }

    /// Returns the fixed default; `None` if there is none.
    #[must_use]
    pub fn default_value(&self) -> Option<Value> {
        let Fallback::Fixed(text) = self.fallback else { return None };
        value::from_toml_text(self.kind, text).ok()
    }

    /// True if an empty text selects the computed default.
    #[must_use]
    pub fn is_unset_by_empty_text(&self) -> bool {
        matches!(self.fallback, Fallback::Derived(..)) && matches!(self.kind, Kind::Text | Kind::Address)
    }

    /// Formats the lines of the default settings file for this setting: its documentation, and its default or example.
    #[must_use]
    pub fn documentation(&self) -> String {
        let mark = match (self.field, self.kind) {
            _ if self.doc.is_empty() => "",
            (Some(_), _) => " Editable.",
            (_, Kind::Secret) => " Secret.",
            _ => "",
        };
        let mut text = String::new();
        for (at, line) in self.doc.iter().enumerate() {
            text.extend(["#", if at == 0 { mark } else { "" }, line, "\n"]);
        }
        let (comment, value) = match self.fallback {
            Fallback::Fixed(value) => ("", value),
            Fallback::Unset(example) | Fallback::Derived(_, example) => ("# ", example),
        };
        text + &format!("{comment}{} = {value}\n", self.key())
    }
}

/// Converts the name of an environment variable into a key: `LATCHKEY__MAIL__SMTP__HOST` into `mail.smtp.host`.
#[must_use]
pub fn key_of_variable(variable: &str) -> String {
    variable.trim_start_matches(PREFIX).to_ascii_lowercase().replace("__", ".")
}

/// Converts a key into the name of its environment variable: `mail.smtp.host` into `LATCHKEY__MAIL__SMTP__HOST`.
#[must_use]
pub fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.to_ascii_uppercase().replace('.', "__"))
}
