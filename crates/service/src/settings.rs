//! Settings that an admin may change at run time. Precedence: the settings file, the environment and the command line
//! (they pin a setting), then the value in the database, then the default.

mod editing;

use std::collections::{BTreeMap, BTreeSet};

use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_domain::locale::Locale;
use latchkey_domain::password::{LONGEST_PASSWORD, PasswordPolicy, SHORTEST_PASSWORD};
use latchkey_domain::reason::Reason;
use latchkey_domain::redirect::{DevelopmentLoopback, RedirectEntry, RedirectPolicy, RedirectUrl};
use latchkey_settings::{Entries, Group, Item, settings, text_of, words};
use latchkey_store::{SettingChange, StoredSettings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::refusal::EMAIL_PROVIDER_NOT_CONFIGURED;

words! {
    /// The method by which a user proves control of an email address.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum EmailMethod {
        /// The mail contains a code of six digits to enter.
        Code = "code",
        /// The mail contains a link to open.
        Link = "link",
    }
}

words! {
    /// Sign-in by a mailed code or link.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum EmailSignIn {
        /// Nobody can sign in by mail.
        Off = "off",
        /// The mail contains a code to enter.
        Code = "code",
        /// The mail also contains a link, if the request has what a link needs.
        CodeAndLink = "code_and_link",
    }
}

settings! {
    /// The settings that an admin may change at run time, with their field names in the admin API.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct EditableSettings, patch SettingsPatch {
        /// A new account must verify its address before it can sign in. If this is off, a sign-up opens a
        /// session at once. Development: false. Production: true. Needs mail.transport.
        "auth.require_email_verification" / "requireEmailVerification" =>
            require_email_verification: bool = in_production, true;
        /// The method of verifying an address, and of resetting a password: "code" mails six digits, "link"
        /// mails a link through the service to a redirect target.
        "auth.verify_email_method" / "verifyEmailMethod" => verify_email_method: EmailMethod = "code";
        "auth.reset_password_method" / "resetPasswordMethod" => reset_password_method: EmailMethod = "code";
        /// The targets to which links may redirect the browser. A full URL, matched on scheme, host, port and path
        /// exactly; `*` stands for one whole host label or one whole path segment, `**` for the rest of a
        /// path. An entry without a query lets any query pass. An empty list allows nothing; in development,
        /// while the list is empty, every port of localhost and 127.0.0.1 is allowed.
        /// A wildcard right below a public suffix, such as https://*.vercel.app/, allows hosts of any owner: the
        /// start warns of it. `latchkey redirects test URL` tells whether a target passes.
        "auth.allowed_redirect_urls" / "allowedRedirectUrls" => allowed_redirect_urls: Vec<String> = [];
        /// The redirect target of requests that name none. auth.allowed_redirect_urls must allow it.
        "auth.default_redirect_url" / "defaultRedirectUrl" => default_redirect_url: Option<String> = "";
        /// Refuses new accounts with 403 SIGNUP_DISABLED; an admin can still create them.
        "auth.disable_sign_up" / "disableSignup" => disable_sign_up: bool = false;
        /// Sign-in by mail, without a password: "code" mails six digits, "code_and_link" also a link, which works only
        /// in the browser that asked for the mail. An unknown address gets an account, unless
        /// auth.disable_sign_up is set. Needs mail.transport; without it the value is "off".
        "auth.email_sign_in" / "emailSignIn" => email_sign_in: EmailSignIn = "code";
        /// Two-step sign-in with an authenticator app: "optional" lets users turn it on, "required" makes every
        /// account set it up at its next sign-in (needs auth.require_email_verification), "off" refuses new
        /// factors. Accounts that have it on are asked for it in any case.
        "auth.second_factor" / "secondFactor" => second_factor: SecondFactorPolicy = "optional";
        /// Sign-in by passkey. If this is off, the calls that register and use passkeys answer 403 FEATURE_DISABLED; lists
        /// and removal stay.
        "passkeys.enabled" / "passkeys" => passkeys_enabled: bool = true;
        /// The language of mails to people who asked for none: one of those that `GET /api/auth/public-config` lists.
        "mail.default_locale" / "defaultLocale" => default_locale: String = "en";
        /// The minimum length of a new password in characters, 8 to 128 (128 is also the maximum length). 15
        /// is recommended where there is no second factor (NIST SP 800-63B-4).
        "passwords.min_length" / "passwordMinLength" => password_min_length: usize [8..=128] = 8;
        /// Character classes that a new password must have. Off by default, because they make passwords worse
        /// (NIST SP 800-63B-4); for operators who are obliged to require them.
        "passwords.require_number" / "requireNumber" => require_number: bool = false;
        "passwords.require_lowercase" / "requireLowercase" => require_lowercase: bool = false;
        "passwords.require_uppercase" / "requireUppercase" => require_uppercase: bool = false;
        "passwords.require_special_char" / "requireSpecialChar" => require_special_char: bool = false;
    }
}

// `passwords.min_length` repeats these constants as literals.
const _: () = assert!(SHORTEST_PASSWORD == 8 && LONGEST_PASSWORD == 128);

/// Returns the default of settings that are on in production and off in development.
#[must_use]
pub fn in_production(entries: &Entries) -> Option<latchkey_settings::Value> {
    Some(latchkey_settings::Value::Boolean(text_of(entries, "server.mode") == "production"))
}

impl EditableSettings {
    #[must_use]
    pub const fn passwords(&self) -> PasswordPolicy {
        PasswordPolicy {
            min_length: self.password_min_length,
            require_number: self.require_number,
            require_lowercase: self.require_lowercase,
            require_uppercase: self.require_uppercase,
            require_special_char: self.require_special_char,
        }
    }
}

pub use editing::{EditableSetting, InvalidSetting};
pub use latchkey_settings::{Kind, Source};

/// The settings from file, environment and command line, and the keys that they fix (an admin cannot change them).
#[derive(Debug, Clone)]
pub struct BaseSettings {
    /// The configured values; the default where none is configured.
    pub values: EditableSettings,
    /// The keys that the settings file, the environment or the command line set, with where.
    pub pinned: BTreeMap<&'static str, Source>,
    /// In development mode, redirect targets on localhost are allowed while the list of allowed redirect URLs is empty.
    pub development: DevelopmentLoopback,
    pub has_mail_transport: bool,
    /// Redirect targets of the service itself: the hosted pages that mailed links lead to. Empty while pages are off.
    pub own_targets: Vec<RedirectEntry>,
}

/// The editable settings in use, merged from all sources and parsed.
#[derive(Debug, Clone)]
pub struct SettingsInForce {
    pub values: EditableSettings,
    /// The keys whose values are those of the database.
    pub stored: BTreeSet<&'static str>,
    /// The parsed list of allowed redirect URLs.
    pub redirects: RedirectPolicy,
    pub default_redirect: Option<RedirectUrl>,
    /// The language of mails to recipients whose language is unknown.
    pub default_locale: Locale,
    /// The version of settings, identity providers and signing keys in the database ([`crate::shared`]) with
    /// which these settings were loaded.
    pub version: i64,
}

impl BaseSettings {
    /// Merges the stored values over the configured ones that are not pinned. A stored value that cannot be read or
    /// conflicts with a pinned one is dropped and logged, so that one invalid row does not prevent the start. The other
    /// stored values stay in force.
    pub fn in_force(&self, stored: &StoredSettings) -> Result<SettingsInForce> {
        let (patch, (values, redirects, default_redirect, default_locale)) =
            self.check_stored(self.readable(stored))?;
        let set = patch.named().into_iter().map(|(item, _)| item.name).collect();
        Ok(SettingsInForce {
            values,
            stored: set,
            redirects,
            default_redirect,
            default_locale,
            version: stored.version,
        })
    }

    /// Returns the stored values that are in force, each with the key of its setting.
    pub fn stored_in_force(&self, stored: &StoredSettings) -> Result<Vec<(&'static str, Value)>> {
        let (patch, _) = self.check_stored(self.readable(stored))?;
        Ok(patch.named().into_iter().map(|(item, value)| (item.name, value)).collect())
    }

    /// Returns the stored values that can be decoded and that neither settings file, environment nor command line
    /// override.
    fn readable(&self, stored: &StoredSettings) -> SettingsPatch {
        let mut patch = SettingsPatch::default();
        for (key, value) in &stored.values {
            if !self.pinned.contains_key(key.as_str()) && !patch.read(key, value) {
                tracing::warn!(setting = %key, "a stored setting cannot be read and is left out");
            }
        }
        patch
    }

    /// Drops stored values until the merged settings are valid. Returns the error if the configured values themselves
    /// are invalid.
    fn check_stored(&self, mut patch: SettingsPatch) -> Result<(SettingsPatch, Checked)> {
        loop {
            let error = match self.check(patch.over(&self.values)) {
                Ok(checked) => return Ok((patch, checked)),
                Err(error) => error,
            };
            let is_named = |key: &&str| patch.named().iter().any(|(item, _)| item.name == *key);
            let Some(key) = misfit(&error).filter(is_named) else { return Err(error) };
            tracing::error!(setting = key, %error, "a stored setting does not fit and is left out");
            patch.forget(key);
        }
    }

    /// Validates a change by an admin against the settings in force; returns the rows to store. `locales` are
    /// the languages in which the service can send mails.
    pub fn accept(
        &self,
        current: &EditableSettings,
        patch: &SettingsPatch,
        locales: &[Locale],
    ) -> Result<Vec<SettingChange>> {
        let named = patch.named();
        if let Some((pinned, _)) = named.iter().find(|(item, _)| self.pinned.contains_key(item.name)) {
            return Err(Error::setting_pinned(pinned.field.unwrap_or(pinned.name)));
        }
        self.check(patch.over(current))?;
        if let Some(locale) = &patch.default_locale {
            check_offered(locale, locales)
                .map_err(|problem| invalid(DEFAULT_LOCALE, Reason::NotAllowed, problem))?;
        }
        let change =
            |(item, value): (&Item, _)| SettingChange { key: item.name.to_owned(), value: Some(value) };
        Ok(named.into_iter().map(change).collect())
    }

    fn check(&self, values: EditableSettings) -> Result<Checked> {
        let length = "passwords.min_length";
        if let Kind::Integer { from, to } = item(length).kind
            && !(from..=to).contains(&(values.password_min_length as u64))
        {
            return Err(invalid(length, Reason::OutOfRange, format!("must be between {from} and {to}")));
        }
        let redirects =
            RedirectPolicy::parse(&values.allowed_redirect_urls, self.development).map_err(|error| {
                invalid("auth.allowed_redirect_urls", Reason::InvalidFormat, error.to_string())
            })?;
        let redirects = redirects.with_own(self.own_targets.clone());
        let default_redirect =
            values.default_redirect_url.as_deref().map(|url| redirects.check(url)).transpose().map_err(
                |error| invalid("auth.default_redirect_url", Reason::NotAllowed, error.to_string()),
            )?;
        if values.require_email_verification && !self.has_mail_transport {
            return Err(Error::Refused(&EMAIL_PROVIDER_NOT_CONFIGURED));
        }
        if values.second_factor == SecondFactorPolicy::Required && !values.require_email_verification {
            let problem = "cannot be `required` while addresses need not be verified: set \
                           auth.require_email_verification, or choose `optional`";
            return Err(invalid("auth.second_factor", Reason::Conflicting, problem.to_owned()));
        }
        let default_locale = Locale::parse(&values.default_locale)
            .map_err(|error| invalid(DEFAULT_LOCALE, Reason::InvalidFormat, error.to_string()))?;
        Ok((values, redirects, default_redirect, default_locale))
    }
}

/// Valid settings, with the parsed list of redirect URLs, the default redirect target and the default language.
type Checked = (EditableSettings, RedirectPolicy, Option<RedirectUrl>, Locale);

const DEFAULT_LOCALE: &str = "mail.default_locale";

/// Checks that the service can send mails in a language, which must be one of `locales`. The error is a
/// sentence.
pub fn check_offered(locale: &str, locales: &[Locale]) -> Result<(), String> {
    let mut known = locales.iter().map(Locale::as_str);
    if known.clone().any(|known| known == locale) {
        return Ok(());
    }
    Err(format!("must be one of {}", known.by_ref().collect::<Vec<_>>().join(", ")))
}

/// Returns the key of the setting that an error of [`BaseSettings::check`] is about.
fn misfit(error: &Error) -> Option<&'static str> {
    match error {
        Error::Validation { field, .. } => {
            EditableSettings::ITEMS.iter().find(|item| item.field == Some(*field)).map(|item| item.name)
        }
        &Error::Refused(&EMAIL_PROVIDER_NOT_CONFIGURED) => Some("auth.require_email_verification"),
        _ => None,
    }
}

fn item(key: &str) -> &'static Item {
    EditableSettings::ITEMS.iter().find(|item| item.name == key).unwrap_or(&EditableSettings::ITEMS[0])
}

fn invalid(key: &str, reason: Reason, problem: String) -> Error {
    Error::validation(item(key).field.unwrap_or_default(), reason, problem)
}
