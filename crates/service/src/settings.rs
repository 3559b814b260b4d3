//! The settings that an admin edits while the service runs. In force is: pinned by file, environment or command
//! line, over what the database says, over the default.

use std::collections::BTreeSet;

use latchkey_domain::password::{LONGEST_PASSWORD, PasswordPolicy};
use latchkey_domain::reason::Reason;
use latchkey_domain::redirect::{DevelopmentLoopback, RedirectPolicy, RedirectUrl};
use latchkey_store::{SettingChange, StoredSettings};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::refusal::EMAIL_PROVIDER_NOT_CONFIGURED;

/// Least number of characters that an operator can demand of a password.
const SHORTEST_MIN_LENGTH: usize = 8;

/// How a mailbox is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmailMethod {
    /// A six-digit code to type in.
    Code,
    /// A link to open.
    Link,
}

impl EmailMethod {
    /// The value of the setting.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Link => "link",
        }
    }

    /// Reads the value of the setting.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Code, Self::Link].into_iter().find(|method| method.as_str() == text)
    }
}

macro_rules! setting_keys {
    ($($(#[$doc:meta])* $name:ident = $key:literal / $field:literal,)*) => {
        /// An editable setting.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum SettingKey { $($(#[$doc])* $name,)* }

        impl SettingKey {
            /// Every editable setting.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its key in the settings file and in the database.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self { $(Self::$name => $key,)* }
            }

            /// Its field in the admin interface.
            #[must_use]
            pub const fn field(self) -> &'static str {
                match self { $(Self::$name => $field,)* }
            }
        }
    };
}

setting_keys! {
    /// Whether an address must be proven before the first sign-in.
    RequireEmailVerification = "auth.require_email_verification" / "requireEmailVerification",
    /// How it is proven.
    VerifyEmailMethod = "auth.verify_email_method" / "verifyEmailMethod",
    /// How a password reset is proven.
    ResetPasswordMethod = "auth.reset_password_method" / "resetPasswordMethod",
    /// The redirect list.
    AllowedRedirectUrls = "auth.allowed_redirect_urls" / "allowedRedirectUrls",
    /// The redirect target where none is given.
    DefaultRedirectUrl = "auth.default_redirect_url" / "defaultRedirectUrl",
    /// Whether sign-up is closed.
    DisableSignUp = "auth.disable_sign_up" / "disableSignup",
    /// Least length of a password.
    PasswordMinLength = "passwords.min_length" / "passwordMinLength",
    /// A digit is demanded.
    RequireNumber = "passwords.require_number" / "requireNumber",
    /// A lower-case letter is demanded.
    RequireLowercase = "passwords.require_lowercase" / "requireLowercase",
    /// An upper-case letter is demanded.
    RequireUppercase = "passwords.require_uppercase" / "requireUppercase",
    /// A special character is demanded.
    RequireSpecialChar = "passwords.require_special_char" / "requireSpecialChar",
}

impl SettingKey {
    /// Reads a key of the settings file.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|setting| setting.key() == key)
    }
}

/// The values of the editable settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditableSettings {
    /// Whether an address must be proven before the first sign-in.
    pub require_email_verification: bool,
    /// How it is proven.
    pub verify_email_method: EmailMethod,
    /// How a password reset is proven.
    pub reset_password_method: EmailMethod,
    /// The redirect list, as its entries were written.
    pub allowed_redirect_urls: Vec<String>,
    /// The redirect target where none is given.
    pub default_redirect_url: Option<String>,
    /// Whether sign-up is closed.
    pub disable_sign_up: bool,
    /// The rules on new passwords.
    pub passwords: PasswordPolicy,
}

/// A change of editable settings: `None` leaves one as it is.
#[derive(Debug, Clone, Default)]
pub struct SettingsPatch {
    /// See [`EditableSettings`].
    pub require_email_verification: Option<bool>,
    /// See [`EditableSettings`].
    pub verify_email_method: Option<EmailMethod>,
    /// See [`EditableSettings`].
    pub reset_password_method: Option<EmailMethod>,
    /// See [`EditableSettings`].
    pub allowed_redirect_urls: Option<Vec<String>>,
    /// See [`EditableSettings`]; the inner `None` removes it.
    pub default_redirect_url: Option<Option<String>>,
    /// See [`EditableSettings`].
    pub disable_sign_up: Option<bool>,
    /// See [`EditableSettings`].
    pub password_min_length: Option<usize>,
    /// See [`EditableSettings`].
    pub require_number: Option<bool>,
    /// See [`EditableSettings`].
    pub require_lowercase: Option<bool>,
    /// See [`EditableSettings`].
    pub require_uppercase: Option<bool>,
    /// See [`EditableSettings`].
    pub require_special_char: Option<bool>,
}

/// What file, environment and command line say, and which of it is pinned.
#[derive(Debug, Clone)]
pub struct BaseSettings {
    /// The values: defaults where nothing was said.
    pub values: EditableSettings,
    /// The settings that were said.
    pub pinned: BTreeSet<SettingKey>,
    /// Whether loopback targets pass an empty redirect list.
    pub development: DevelopmentLoopback,
    /// Whether mails can go out at all.
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
    /// Puts what the database says over what is not pinned. A stored value that cannot be read, or that broke with
    /// the pinned ones, is left out and logged: a service that starts is worth more than one bad row. It takes no
    /// other with it: a sign-up that an admin closed stays closed.
    pub fn in_force(&self, stored: &StoredSettings) -> Result<SettingsInForce> {
        let (_, (values, redirects, default_redirect)) = self.check_stored(self.readable(stored))?;
        Ok(SettingsInForce { values, redirects, default_redirect, version: stored.version })
    }

    /// The stored values that are in force, by their keys: neither pinned nor left out.
    pub fn stored_in_force(&self, stored: &StoredSettings) -> Result<Vec<(&'static str, Value)>> {
        let (patch, _) = self.check_stored(self.readable(stored))?;
        Ok(patch.named().into_iter().map(|(setting, value)| (setting.key(), value)).collect())
    }

    /// The stored values that are not pinned and can be read.
    fn readable(&self, stored: &StoredSettings) -> SettingsPatch {
        let mut patch = SettingsPatch::default();
        for (key, value) in &stored.values {
            match SettingKey::from_key(key) {
                Some(setting) if self.pinned.contains(&setting) => {}
                Some(setting) if patch.read(setting, value) => {}
                _ => tracing::warn!(setting = %key, "a stored setting cannot be read and is left out"),
            }
        }
        patch
    }

    /// Leaves out the stored values that do not fit, one after the other; the configured ones must fit.
    fn check_stored(&self, mut patch: SettingsPatch) -> Result<(SettingsPatch, Checked)> {
        loop {
            let error = match self.check(patch.over(&self.values)) {
                Ok(checked) => return Ok((patch, checked)),
                Err(error) => error,
            };
            let is_named = |setting: &SettingKey| patch.named().iter().any(|(named, _)| named == setting);
            let Some(setting) = misfit(&error).filter(is_named) else { return Err(error) };
            tracing::error!(setting = setting.key(), %error, "a stored setting does not fit and is left out");
            patch.forget(setting);
        }
    }

    /// Checks a change by an admin against the settings in force; answers what is to be stored.
    pub fn accept(&self, current: &EditableSettings, patch: &SettingsPatch) -> Result<Vec<SettingChange>> {
        let named = patch.named();
        if let Some(pinned) =
            named.iter().map(|(setting, _)| setting).find(|setting| self.pinned.contains(setting))
        {
            return Err(Error::setting_pinned(pinned.field()));
        }
        self.check(patch.over(current))?;
        let change = |(setting, value): (SettingKey, Value)| SettingChange {
            key: setting.key().to_owned(),
            value: Some(value),
        };
        Ok(named.into_iter().map(change).collect())
    }

    fn check(&self, values: EditableSettings) -> Result<Checked> {
        let length = values.passwords.min_length;
        if !(SHORTEST_MIN_LENGTH..=LONGEST_PASSWORD).contains(&length) {
            let problem = format!("must be between {SHORTEST_MIN_LENGTH} and {LONGEST_PASSWORD}");
            return Err(invalid(SettingKey::PasswordMinLength, Reason::OutOfRange, problem));
        }
        let redirects =
            RedirectPolicy::parse(&values.allowed_redirect_urls, self.development).map_err(|error| {
                invalid(SettingKey::AllowedRedirectUrls, Reason::InvalidFormat, error.to_string())
            })?;
        let default_redirect =
            values.default_redirect_url.as_deref().map(|url| redirects.check(url)).transpose().map_err(
                |error| invalid(SettingKey::DefaultRedirectUrl, Reason::NotAllowed, error.to_string()),
            )?;
        if values.require_email_verification && !self.has_mail_transport {
            return Err(Error::Refused(&EMAIL_PROVIDER_NOT_CONFIGURED));
        }
        Ok((values, redirects, default_redirect))
    }
}

/// Settings that fit together, with what was made of the redirect list.
type Checked = (EditableSettings, RedirectPolicy, Option<RedirectUrl>);

/// The setting that a refusal of [`BaseSettings::check`] is about.
fn misfit(error: &Error) -> Option<SettingKey> {
    match error {
        Error::Validation { field, .. } => SettingKey::ALL.iter().copied().find(|key| key.field() == *field),
        &Error::Refused(&EMAIL_PROVIDER_NOT_CONFIGURED) => Some(SettingKey::RequireEmailVerification),
        _ => None,
    }
}

fn invalid(setting: SettingKey, reason: Reason, problem: String) -> Error {
    Error::validation(setting.field(), reason, problem)
}

impl SettingsPatch {
    fn over(&self, base: &EditableSettings) -> EditableSettings {
        fn pick<T: Clone>(patch: Option<&T>, base: &T) -> T {
            patch.unwrap_or(base).clone()
        }
        EditableSettings {
            require_email_verification: self
                .require_email_verification
                .unwrap_or(base.require_email_verification),
            verify_email_method: self.verify_email_method.unwrap_or(base.verify_email_method),
            reset_password_method: self.reset_password_method.unwrap_or(base.reset_password_method),
            allowed_redirect_urls: pick(self.allowed_redirect_urls.as_ref(), &base.allowed_redirect_urls),
            default_redirect_url: pick(self.default_redirect_url.as_ref(), &base.default_redirect_url),
            disable_sign_up: self.disable_sign_up.unwrap_or(base.disable_sign_up),
            passwords: PasswordPolicy {
                min_length: self.password_min_length.unwrap_or(base.passwords.min_length),
                require_number: self.require_number.unwrap_or(base.passwords.require_number),
                require_lowercase: self.require_lowercase.unwrap_or(base.passwords.require_lowercase),
                require_uppercase: self.require_uppercase.unwrap_or(base.passwords.require_uppercase),
                require_special_char: self
                    .require_special_char
                    .unwrap_or(base.passwords.require_special_char),
            },
        }
    }

    /// Names one setting less.
    fn forget(&mut self, setting: SettingKey) {
        match setting {
            SettingKey::RequireEmailVerification => self.require_email_verification = None,
            SettingKey::VerifyEmailMethod => self.verify_email_method = None,
            SettingKey::ResetPasswordMethod => self.reset_password_method = None,
            SettingKey::AllowedRedirectUrls => self.allowed_redirect_urls = None,
            SettingKey::DefaultRedirectUrl => self.default_redirect_url = None,
            SettingKey::DisableSignUp => self.disable_sign_up = None,
            SettingKey::PasswordMinLength => self.password_min_length = None,
            SettingKey::RequireNumber => self.require_number = None,
            SettingKey::RequireLowercase => self.require_lowercase = None,
            SettingKey::RequireUppercase => self.require_uppercase = None,
            SettingKey::RequireSpecialChar => self.require_special_char = None,
        }
    }

    /// What the change names, as it is stored.
    fn named(&self) -> Vec<(SettingKey, Value)> {
        let flag = |value: Option<bool>| value.map(Value::from);
        let method = |value: Option<EmailMethod>| value.map(|method| Value::from(method.as_str()));
        let all = [
            (SettingKey::RequireEmailVerification, flag(self.require_email_verification)),
            (SettingKey::VerifyEmailMethod, method(self.verify_email_method)),
            (SettingKey::ResetPasswordMethod, method(self.reset_password_method)),
            (SettingKey::AllowedRedirectUrls, self.allowed_redirect_urls.clone().map(Value::from)),
            (SettingKey::DefaultRedirectUrl, self.default_redirect_url.clone().map(Value::from)),
            (SettingKey::DisableSignUp, flag(self.disable_sign_up)),
            (SettingKey::PasswordMinLength, self.password_min_length.map(Value::from)),
            (SettingKey::RequireNumber, flag(self.require_number)),
            (SettingKey::RequireLowercase, flag(self.require_lowercase)),
            (SettingKey::RequireUppercase, flag(self.require_uppercase)),
            (SettingKey::RequireSpecialChar, flag(self.require_special_char)),
        ];
        all.into_iter().filter_map(|(setting, value)| value.map(|value| (setting, value))).collect()
    }

    /// Reads a stored value; `false` where it has another type.
    fn read(&mut self, setting: SettingKey, value: &Value) -> bool {
        let method = || value.as_str().and_then(EmailMethod::parse);
        let list = || value.as_array()?.iter().map(|entry| entry.as_str().map(str::to_owned)).collect();
        let optional = || match value {
            Value::Null => Some(None),
            Value::String(text) => Some(Some(text.clone())),
            _ => None,
        };
        match setting {
            SettingKey::RequireEmailVerification => {
                put(&mut self.require_email_verification, value.as_bool())
            }
            SettingKey::VerifyEmailMethod => put(&mut self.verify_email_method, method()),
            SettingKey::ResetPasswordMethod => put(&mut self.reset_password_method, method()),
            SettingKey::AllowedRedirectUrls => put(&mut self.allowed_redirect_urls, list()),
            SettingKey::DefaultRedirectUrl => put(&mut self.default_redirect_url, optional()),
            SettingKey::DisableSignUp => put(&mut self.disable_sign_up, value.as_bool()),
            SettingKey::PasswordMinLength => put(
                &mut self.password_min_length,
                value.as_u64().and_then(|length| usize::try_from(length).ok()),
            ),
            SettingKey::RequireNumber => put(&mut self.require_number, value.as_bool()),
            SettingKey::RequireLowercase => put(&mut self.require_lowercase, value.as_bool()),
            SettingKey::RequireUppercase => put(&mut self.require_uppercase, value.as_bool()),
            SettingKey::RequireSpecialChar => put(&mut self.require_special_char, value.as_bool()),
        }
    }
}

/// Puts a value that could be read into its place; answers whether it could.
fn put<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let is_read = value.is_some();
    *place = value;
    is_read
}
