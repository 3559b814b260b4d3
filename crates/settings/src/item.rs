//! A setting as one value: its name, its type, its default and its sentence.

use std::fmt;

use crate::value::{self, Entries, Value};

/// Prefix of environment variables. Two underscores, because container systems set variables such as `LATCHKEY_PORT`
/// for a service of that name.
pub const PREFIX: &str = "LATCHKEY__";

/// The type of a setting, with its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Boolean,
    /// A whole number within inclusive bounds.
    Integer {
        /// The smallest.
        from: u64,
        /// The largest.
        to: u64,
    },
    /// A list of texts.
    List,
    /// A duration above zero.
    Duration,
    /// A duration, zero included.
    DurationOrZero,
    /// A count and a duration, `10/15m`.
    Rate,
    /// A text that is never shown.
    Secret,
    /// A URL that may hold a password, which is never shown.
    Address,
}

impl Kind {
    /// TOML has a type of its own for it, so that a text is wrong there.
    pub(crate) fn is_strict(self) -> bool {
        matches!(self, Self::Boolean | Self::Integer { .. } | Self::List)
    }

    pub(crate) fn allows(self, number: u64) -> bool {
        matches!(self, Self::Integer { from, to } if (from..=to).contains(&number))
    }

    /// The value can come from a file that `…_FILE` names, and is hidden in messages.
    #[must_use]
    pub const fn is_sensitive(self) -> bool {
        matches!(self, Self::Secret | Self::Address)
    }
}

/// The end of a sentence: "wanted …".
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
            Self::List => "a list of texts",
            Self::Duration => "a duration above zero, such as 500ms, 30s, 15m, 24h or 90d",
            Self::DurationOrZero => "a duration, such as 0s, 500ms, 30s, 15m, 24h or 90d",
            Self::Rate => "a rate, such as 10/15m (ten in fifteen minutes)",
        })
    }
}

/// The value of a setting that no source sets.
#[derive(Debug, Clone, Copy)]
pub enum Fallback {
    /// This TOML value.
    Fixed(&'static str),
    /// None; the text is an example in TOML.
    Unset(&'static str),
    /// Computed from other settings; the text is an example in TOML.
    Derived(fn(&Entries) -> Option<Value>, &'static str),
}

/// A setting. [`settings!`](crate::settings) declares it with the field that it fills.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    /// The key, `section.key`.
    pub name: &'static str,
    /// The field of the admin interface, if an admin may change it at run time.
    pub field: Option<&'static str>,
    /// The type.
    pub kind: Kind,
    /// The value that holds where no source sets one.
    pub fallback: Fallback,
    /// The sentence, by line; empty where that of the key above covers it.
    pub doc: &'static [&'static str],
}

impl Item {
    /// The section: `mail.smtp` of `mail.smtp.host`.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.name.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// The name inside the section: `host` of `mail.smtp.host`.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or_default()
    }

    /// The fixed default, if there is one.
    #[must_use]
    pub fn default_value(&self) -> Option<Value> {
        let Fallback::Fixed(text) = self.fallback else { return None };
        value::from_toml_text(self.kind, text).ok()
    }

    /// An empty text asks for the derived default.
    #[must_use]
    pub fn is_unset_by_empty_text(&self) -> bool {
        matches!(self.fallback, Fallback::Derived(..)) && matches!(self.kind, Kind::Text | Kind::Address)
    }

    /// The lines of the settings file that document it.
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

/// `mail.smtp.host` of `LATCHKEY__MAIL__SMTP__HOST`.
#[must_use]
pub fn key_of_variable(variable: &str) -> String {
    variable.trim_start_matches(PREFIX).to_ascii_lowercase().replace("__", ".")
}

/// `LATCHKEY__MAIL__SMTP__HOST` of `mail.smtp.host`.
#[must_use]
pub fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.to_ascii_uppercase().replace('.', "__"))
}
