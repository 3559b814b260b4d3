//! Passwords: plain text, hash, and the policy for new ones (NIST SP 800-63B-4 section 3.1.1, OWASP).

use std::fmt;

use serde::{Deserialize, Deserializer};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::common_passwords;
use crate::reason::Reason;
use crate::shape::{Shape, Shaped};

/// Lower bound of the minimum length that a policy can set, in characters.
pub const SHORTEST_PASSWORD: usize = 8;
/// Maximum length of a password in characters of its NFC form. Longer passwords are refused before hashing.
pub const LONGEST_PASSWORD: usize = 128;
/// Minimum length, in characters, of a local part or service name that must not occur in a password.
const TELLING_LENGTH: usize = 5;

/// A plain-text password in NFC, neither trimmed nor truncated. Its memory is zeroised on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Password {
    text: String,
    /// The password as it was typed, if that is not NFC.
    typed: Option<String>,
}

impl Password {
    /// Creates a password from input. An input of more than 512 characters is replaced by a shorter one, still too
    /// long.
    #[must_use]
    pub fn new(mut text: String) -> Self {
        let is_sane = text.chars().take(4 * LONGEST_PASSWORD + 1).count() <= 4 * LONGEST_PASSWORD;
        let normal = if is_sane { crate::fold::nfc(&text) } else { "x".repeat(LONGEST_PASSWORD + 1) };
        if is_sane && normal != text {
            return Self { text: normal, typed: Some(text) };
        }
        text.zeroize();
        Self { text: normal, typed: None }
    }

    /// Returns the bytes in UTF-8, for the hash function only.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Returns the bytes as they were typed, if these are not NFC. Other software may have hashed them.
    #[must_use]
    pub fn expose_typed(&self) -> Option<&[u8]> {
        self.typed.as_deref().map(str::as_bytes)
    }

    /// Returns the password in NFKC, the form that some other software hashes.
    #[must_use]
    pub fn expose_nfkc(&self) -> Zeroizing<String> {
        Zeroizing::new(crate::fold::nfkc(&self.text))
    }

    /// Returns a copy, for hashing more than once. It is zeroised on drop too.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        Self { text: self.text.clone(), typed: self.typed.clone() }
    }

    /// True if the password has more than [`LONGEST_PASSWORD`] characters.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        self.text.chars().count() > LONGEST_PASSWORD
    }
}

impl<'de> Deserialize<'de> for Password {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

impl Shaped for Password {
    const SENT: Shape = Shape {
        format: Some("password"),
        pattern: Some(Shape::NO_NUL),
        ..Shape::new("The password, taken as it is: never trimmed, never cut.", "correct horse battery")
    };
}

/// A password hash as a PHC string.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Wraps a hash, computed or stored, without a check: a PHC string, or a text of [`crate::imported_hash`].
    #[must_use]
    pub const fn from_phc(text: String) -> Self {
        Self(text)
    }

    /// Returns the PHC string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the PHC string up to the last `$`: algorithm, parameters and salt. Empty if the text has no `$`.
    #[must_use]
    pub fn head(&self) -> &str {
        self.0.rfind('$').map_or("", |end| &self.0[..=end])
    }

    /// True for Argon2id version 19, the algorithm of new hashes.
    #[must_use]
    pub fn is_argon2id(&self) -> bool {
        self.0.starts_with("$argon2id$v=19$")
    }

    /// True if both hashes have the same algorithm, parameters and salt. Then equal strings mean equal passwords.
    #[must_use]
    pub fn is_comparable(&self, other: &Self) -> bool {
        !self.head().is_empty() && self.head() == other.head()
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

/// Policy for new passwords.
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordPolicy {
    /// Minimum length in characters, from 8 to 128.
    pub min_length: usize,
    /// True if a password must contain a numeric character of any script.
    pub require_number: bool,
    /// True if a password must contain a lower-case letter.
    pub require_lowercase: bool,
    /// True if a password must contain an upper-case letter.
    pub require_uppercase: bool,
    /// True if a password must contain a character that is neither letter nor digit.
    pub require_special_char: bool,
}

/// Schema of a new password. The policy in force may have more rules.
impl Shaped for PasswordPolicy {
    const SENT: Shape = Shape {
        min_length: Some(SHORTEST_PASSWORD),
        max_length: Some(LONGEST_PASSWORD),
        ..Password::SENT.about(
            "The new password. `passwordMinLength` and the `require…` settings may ask for more; common passwords and \
             those that contain the address are refused.",
        )
    };
}

impl Default for PasswordPolicy {
    fn default() -> Self {
        Self {
            min_length: SHORTEST_PASSWORD,
            require_number: false,
            require_lowercase: false,
            require_uppercase: false,
            require_special_char: false,
        }
    }
}

/// A rule of the policy that a new password violates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    /// The password has fewer than this number of characters.
    #[error("the password must have at least {0} characters")]
    Short(usize),
    /// The password has more than [`LONGEST_PASSWORD`] characters.
    #[error("the password must have at most {LONGEST_PASSWORD} characters")]
    Long,
    /// The password contains a NUL character.
    #[error("the password must not contain NUL characters")]
    Nul,
    /// The password contains no numeric character.
    #[error("the password must contain a number")]
    Number,
    /// The password contains no lower-case letter.
    #[error("the password must contain a lower-case letter")]
    Lowercase,
    /// The password contains no upper-case letter.
    #[error("the password must contain an upper-case letter")]
    Uppercase,
    /// The password contains no character other than letters and digits.
    #[error("the password must contain a special character")]
    SpecialChar,
    /// The password is on the list of common ones, or is an obvious pattern ([`common_passwords::is_common`]).
    #[error("the password is one of the most common ones; choose one that others do not use")]
    Common,
    /// The password contains the local part of the email address.
    #[error("the password must not contain the name part of the email address")]
    ContainsEmail,
    /// The password contains the name of the service.
    #[error("the password must not contain the name of this service")]
    ContainsServiceName,
}

impl WeakPassword {
    /// Returns the reason code of the rule.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Short(_) => Reason::TooShort,
            Self::Long => Reason::TooLong,
            Self::Nul => Reason::InvalidCharacters,
            Self::Number => Reason::MissingNumber,
            Self::Lowercase => Reason::MissingLowercase,
            Self::Uppercase => Reason::MissingUppercase,
            Self::SpecialChar => Reason::MissingSpecialChar,
            Self::Common => Reason::TooCommon,
            Self::ContainsEmail => Reason::ContainsEmail,
            Self::ContainsServiceName => Reason::ContainsServiceName,
        }
    }
}

/// All rules that a new password violates, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRules(Vec<WeakPassword>);

impl BrokenRules {
    /// Returns the violated rules, in the order of their checks.
    #[must_use]
    pub fn rules(&self) -> &[WeakPassword] {
        &self.0
    }
}

impl fmt::Display for BrokenRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, rule) in self.0.iter().enumerate() {
            write!(f, "{}{rule}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl PasswordPolicy {
    /// Checks a new password against all rules. If it is too long, only that rule is reported.
    pub fn check(
        &self,
        password: &Password,
        local_part: &str,
        service_name: &str,
    ) -> Result<(), BrokenRules> {
        if password.is_too_long() {
            return Err(BrokenRules(vec![WeakPassword::Long]));
        }
        let text = password.text.as_str();
        let has = |test: fn(char) -> bool| text.chars().any(test);
        let rules = [
            (text.chars().count() < self.min_length, WeakPassword::Short(self.min_length)),
            (text.contains('\0'), WeakPassword::Nul),
            (self.require_number && !has(char::is_numeric), WeakPassword::Number),
            (self.require_lowercase && !has(char::is_lowercase), WeakPassword::Lowercase),
            (self.require_uppercase && !has(char::is_uppercase), WeakPassword::Uppercase),
            (self.require_special_char && !has(|c| !c.is_alphanumeric()), WeakPassword::SpecialChar),
            (common_passwords::is_common(text), WeakPassword::Common),
            (contains(text, local_part), WeakPassword::ContainsEmail),
            (contains(text, service_name), WeakPassword::ContainsServiceName),
        ];
        let broken: Vec<_> =
            rules.into_iter().filter(|(is_broken, _)| *is_broken).map(|(_, rule)| rule).collect();
        if broken.is_empty() { Ok(()) } else { Err(BrokenRules(broken)) }
    }
}

fn contains(password: &str, part: &str) -> bool {
    part.chars().count() >= TELLING_LENGTH && password.to_lowercase().contains(&part.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), Vec<WeakPassword>> {
        let checked =
            PasswordPolicy::default().check(&Password::new(text.to_owned()), "adalovelace", "Latchkey");
        checked.map_err(|broken| broken.rules().to_vec())
    }

    #[test]
    fn length_counts_characters_not_bytes() {
        assert_eq!(check("zwölf-7"), Err(vec![WeakPassword::Short(8)]));
        assert_eq!(check("ключ-от-дома"), Ok(()));
        assert_eq!(check(&"qz7".repeat(43)), Err(vec![WeakPassword::Long]));
        assert_eq!(check(&"🔑".repeat(2000)), Err(vec![WeakPassword::Long]));
    }

    #[test]
    fn both_spellings_of_a_letter_are_one_password() {
        let composed = Password::new("caf\u{e9} au lait".to_owned());
        let decomposed = Password::new("cafe\u{301} au lait".to_owned());
        assert_eq!(composed.expose(), decomposed.expose());
    }

    #[test]
    fn typed_bytes_are_kept_where_they_are_not_nfc() {
        assert_eq!(Password::new("caf\u{e9}".to_owned()).expose_typed(), None);
        let decomposed = Password::new("cafe\u{301} \u{fb01}".to_owned()).duplicate();
        assert_eq!(decomposed.expose_typed(), Some("cafe\u{301} \u{fb01}".as_bytes()));
        assert_eq!(decomposed.expose_nfkc().as_str(), "caf\u{e9} fi");
    }

    #[test]
    fn passwords_with_account_data_are_refused() {
        assert_eq!(check("xx-AdaLovelace-9"), Err(vec![WeakPassword::ContainsEmail]));
        assert_eq!(check("my-latchkey-pass"), Err(vec![WeakPassword::ContainsServiceName]));
    }

    #[test]
    fn class_rules_are_named() {
        let policy = PasswordPolicy {
            require_number: true,
            require_lowercase: true,
            require_uppercase: true,
            require_special_char: true,
            ..PasswordPolicy::default()
        };
        let check = |text: &str| {
            let checked = policy.check(&Password::new(text.to_owned()), "a", "b");
            checked.map_err(|broken| broken.rules().to_vec())
        };
        assert_eq!(check("Tangerine-tree"), Err(vec![WeakPassword::Number]));
        assert_eq!(check("TANGERINE-7-TREE"), Err(vec![WeakPassword::Lowercase]));
        assert_eq!(check("tangerine-7-tree"), Err(vec![WeakPassword::Uppercase]));
        assert_eq!(check("Tangerine7tree"), Err(vec![WeakPassword::SpecialChar]));
        assert_eq!(check("Tangerine-7-tree"), Ok(()));
    }

    #[test]
    fn every_broken_rule_is_told() {
        let strict = PasswordPolicy { min_length: 12, require_number: true, ..PasswordPolicy::default() };
        let broken = strict.check(&Password::new("iloveyou".to_owned()), "iloveyou", "b").unwrap_err();
        let reasons: Vec<_> = broken.rules().iter().map(|rule| rule.reason().as_str()).collect();
        assert_eq!(reasons, ["too_short", "missing_number", "too_common", "contains_email"]);
        assert!(
            broken
                .to_string()
                .starts_with("the password must have at least 12 characters; the password must")
        );
    }

    #[test]
    fn spaces_stay() {
        assert_ne!(
            Password::new(" with space ".to_owned()).expose(),
            Password::new("with space".to_owned()).expose()
        );
    }
}
