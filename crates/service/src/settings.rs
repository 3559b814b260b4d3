//! Settings that an admin may change at run time. Precedence: file, environment and command line (these pin a setting),
//! then the database, then the default.

use std::collections::BTreeSet;

use latchkey_domain::password::PasswordPolicy;
use latchkey_domain::reason::Reason;
use latchkey_domain::redirect::{DevelopmentLoopback, RedirectPolicy, RedirectUrl};
use latchkey_settings::{Entries, Group, Item, Kind, settings, text_of, words};
use latchkey_store::{SettingChange, StoredSettings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::refusal::EMAIL_PROVIDER_NOT_CONFIGURED;

/// The way in which the owner of an email address proves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmailMethod {
    /// A six-digit code to type in.
    Code,
    /// A link to open.
    Link,
}

words!(EmailMethod { Code = "code", Link = "link" });

settings! {
    /// The settings that an admin may change at run time, with their fields in the admin interface.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct EditableSettings, patch SettingsPatch {
        /// A new account must verify its address before it can sign in. While off, a sign-up
        /// gives a session at once. Development: false. Production: true. Needs mail.transport.
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
        /// The redirect target when a call names none. Must itself be allowed by the list.
        "auth.default_redirect_url" / "defaultRedirectUrl" => default_redirect_url: Option<String> = "";
        /// Refuses new accounts with 403 SIGNUP_DISABLED; an admin can still create them.
        "auth.disable_sign_up" / "disableSignup" => disable_sign_up: bool = false;
        /// The fewest characters of a new password, 8 to 128 (128 is also the most that is taken).
        /// 15 is recommended where there is no second factor (NIST SP 800-63B-4).
        "passwords.min_length" / "passwordMinLength" => password_min_length: usize [8..=128] = 8;
        /// Character classes that a new password must have. Off, because they make passwords worse
        /// (NIST SP 800-63B-4); they exist for those who are obliged to have them.
        "passwords.require_number" / "requireNumber" => require_number: bool = false;
        "passwords.require_lowercase" / "requireLowercase" => require_lowercase: bool = false;
        "passwords.require_uppercase" / "requireUppercase" => require_uppercase: bool = false;
        "passwords.require_special_char" / "requireSpecialChar" => require_special_char: bool = false;
    }
}

/// Derived default of settings that are on in production.
#[must_use]
pub fn in_production(entries: &Entries) -> Option<latchkey_settings::Value> {
    Some(latchkey_settings::Value::Boolean(text_of(entries, "server.mode") == "production"))
}

impl EditableSettings {
    /// The rules of new passwords.
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

/// The configured values, and the keys that are pinned.
#[derive(Debug, Clone)]
pub struct BaseSettings {
    /// The values, defaults included.
    pub values: EditableSettings,
    /// The keys that file, environment or command line set.
    pub pinned: BTreeSet<&'static str>,
    /// Loopback targets pass an empty redirect list.
    pub development: DevelopmentLoopback,
    /// A mail transport is configured.
    pub has_mail_transport: bool,
}

/// The settings in force, ready for use.
#[derive(Debug, Clone)]
pub struct SettingsInForce {
    /// The values.
    pub values: EditableSettings,
    /// The redirect list.
    pub redirects: RedirectPolicy,
    /// The default redirect target.
    pub default_redirect: Option<RedirectUrl>,
    /// The version of the shared state that this was made from.
    pub version: i64,
}

impl BaseSettings {
    /// Merges the stored values over those that are not pinned. A stored value that cannot be read, or conflicts with
    /// the pinned ones, is dropped and logged, so that one bad row does not stop the start. The others stay in force: a
    /// sign-up that an admin closed stays closed.
    pub fn in_force(&self, stored: &StoredSettings) -> Result<SettingsInForce> {
        let (_, (values, redirects, default_redirect)) = self.check_stored(self.readable(stored))?;
        Ok(SettingsInForce { values, redirects, default_redirect, version: stored.version })
    }

    /// The stored values in force, by key.
    pub fn stored_in_force(&self, stored: &StoredSettings) -> Result<Vec<(&'static str, Value)>> {
        let (patch, _) = self.check_stored(self.readable(stored))?;
        Ok(patch.named().into_iter().map(|(item, value)| (item.name, value)).collect())
    }

    /// The stored values that are readable and not pinned.
    fn readable(&self, stored: &StoredSettings) -> SettingsPatch {
        let mut patch = SettingsPatch::default();
        for (key, value) in &stored.values {
            if !self.pinned.contains(key.as_str()) && !patch.read(key, value) {
                tracing::warn!(setting = %key, "a stored setting cannot be read and is left out");
            }
        }
        patch
    }

    /// Drops stored values until the rest is valid; the configured ones must be.
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

    /// Validates a change by an admin against the settings in force; returns the rows to store.
    pub fn accept(&self, current: &EditableSettings, patch: &SettingsPatch) -> Result<Vec<SettingChange>> {
        let named = patch.named();
        if let Some((pinned, _)) = named.iter().find(|(item, _)| self.pinned.contains(item.name)) {
            return Err(Error::setting_pinned(pinned.field.unwrap_or(pinned.name)));
        }
        self.check(patch.over(current))?;
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
        let default_redirect =
            values.default_redirect_url.as_deref().map(|url| redirects.check(url)).transpose().map_err(
                |error| invalid("auth.default_redirect_url", Reason::NotAllowed, error.to_string()),
            )?;
        if values.require_email_verification && !self.has_mail_transport {
            return Err(Error::Refused(&EMAIL_PROVIDER_NOT_CONFIGURED));
        }
        Ok((values, redirects, default_redirect))
    }
}

/// Valid settings, with the parsed redirect list and default target.
type Checked = (EditableSettings, RedirectPolicy, Option<RedirectUrl>);

/// The key that an error of [`BaseSettings::check`] is about.
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
