//! Views of settings, theme and providers.

use latchkey_domain::identity::ProviderKind;
use serde::Serialize;

use super::parts::Choice;
use super::word;
use crate::frame::Form;
use crate::theme::{Adjustment, Sample};
use crate::view::views;

/// Settings by group. A change leads to a page that shows it and asks.
#[derive(Debug, Clone, Serialize)]
pub struct Settings {
    pub groups: Vec<SettingGroup>,
    pub tester: RedirectTester,
    /// URL of the page of the theme.
    pub theme: String,
    /// Form of a setting's value, for those who may change settings. It leads to the question.
    pub change: Option<Form>,
}

#[derive(Debug, Clone, Serialize)]
pub struct SettingGroup {
    /// Name of the group, such as `auth`.
    pub name: String,
    pub settings: Vec<Setting>,
}

/// A setting, with its value in force.
#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    /// Full key, such as `auth.disable_sign_up`.
    pub key: String,
    /// What it does, in a sentence.
    pub about: String,
    pub field: SettingField,
    /// The default, as in the configuration file.
    pub default: String,
    pub source: Source,
    /// Address of the question before the default is set again; `None` if it is in force.
    pub reset: Option<String>,
}

/// Field for a value.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SettingField {
    Switch {
        is_on: bool,
    },
    Number {
        value: String,
    },
    Text {
        value: String,
    },
    Choice {
        choices: Vec<Choice>,
    },
    /// One entry a line.
    List {
        lines: String,
    },
}

/// Place where a value was set.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum Source {
    Default,
    /// Changed here or by the API.
    Stored,
    /// Pinned by the configuration file.
    File {
        path: String,
    },
    /// Pinned by a variable of the environment.
    Environment {
        name: String,
    },
    /// Pinned by an option of the command line.
    CommandLine,
    /// Pinned by the configuration, by one of the three above.
    Configured,
}

/// Tester of redirect targets.
#[derive(Debug, Clone, Serialize)]
pub struct RedirectTester {
    /// The tried URL; empty for none.
    pub url: String,
    pub outcome: Option<RedirectOutcome>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum RedirectOutcome {
    /// An entry of the list allows it.
    Allowed { entry: String },
    /// Refused, with the reason of the API's error.
    Refused { reason: String },
}

/// Question before a setting changes, which shows the difference.
#[derive(Debug, Clone, Serialize)]
pub struct SettingChange {
    pub key: String,
    pub about: String,
    pub field: SettingField,
    pub lines: Vec<DiffLine>,
    /// Form of the change; `None` if the value is refused or is in force already.
    pub form: Option<Form>,
    /// Form of another value, which leads to this question again.
    pub question: Option<Form>,
    /// Digest of the value that the difference is against.
    pub seen: String,
    /// The new value as text, for the field `value`.
    pub value: String,
    /// Warnings of `config check` about the new value.
    pub warnings: Vec<String>,
    pub cancel: String,
}

/// A line of a difference.
#[derive(Debug, Clone, Serialize)]
pub struct DiffLine {
    pub kind: DiffKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    Same,
    Removed,
    Added,
}

/// The theme: values to try, and what pages look like with them.
#[derive(Debug, Clone, Serialize)]
pub struct ThemePage {
    pub accent: String,
    pub accent_dark: String,
    pub background: String,
    pub radius: String,
    pub samples: Vec<Sample>,
    /// Colours that are replaced where they would be unreadable.
    pub adjustments: Vec<Adjusted>,
    /// The lines for the configuration file.
    pub toml: String,
}

/// A replaced colour.
#[derive(Debug, Clone, Serialize)]
pub struct Adjusted {
    pub setting: &'static str,
    pub colour: String,
    pub purpose: &'static str,
    pub replacement: String,
}

impl From<&Adjustment> for Adjusted {
    fn from(adjustment: &Adjustment) -> Self {
        Self {
            setting: adjustment.setting,
            colour: adjustment.colour.to_string(),
            purpose: adjustment.purpose,
            replacement: adjustment.replacement.to_string(),
        }
    }
}

/// Identity providers: configured ones, and those that only need credentials.
#[derive(Debug, Clone, Serialize)]
pub struct Providers {
    pub configured: Vec<Provider>,
    /// Names of the built-in providers without credentials.
    pub available: Vec<String>,
    /// URL of the documentation of a provider's settings.
    pub help: &'static str,
}

/// A configured provider.
#[derive(Debug, Clone, Serialize)]
pub struct Provider {
    pub key: String,
    pub name: String,
    #[serde(serialize_with = "word")]
    pub kind: ProviderKind,
    pub is_on: bool,
    /// Redirect URI, to be registered at the provider.
    pub redirect_uri: String,
    /// Number of linked identities.
    pub linked: u64,
    pub source: Source,
    /// Form that tries discovery and keys.
    pub test: Option<Form>,
    /// Result of the last try.
    pub result: Option<ProviderTest>,
}

/// Result of a try.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum ProviderTest {
    /// Discovery document and keys were read.
    Good { count: u64 },
    /// A request failed.
    Failed { reason: String },
}

views! {
    Settings "console/settings.html"
    SettingChange "console/setting_change.html"
    ThemePage "console/theme.html"
    Providers "console/providers.html"
}
