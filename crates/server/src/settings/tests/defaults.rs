//! Tests of the default settings file: it documents every key, and its values match the policy.

use std::collections::BTreeSet;
use std::time::Duration;

use latchkey_domain::limits::Rate;
use latchkey_domain::password::PasswordPolicy;

use latchkey_service::settings::{EditableSettings, EmailMethod};
use latchkey_service::tokens::SigningAlgorithm;
use latchkey_service::{Lifetimes, LimitsConfig};
use latchkey_settings::{Fallback, defaults};

use super::super::keys::ITEMS;
use super::super::{DEFAULT_TOML, Settings, Sources};
use super::load;

/// Keys of the default file in order, each with a flag that is true if the file sets a value.
fn documented() -> Vec<(String, bool)> {
    let mut section = String::new();
    let mut keys = Vec::new();
    for line in DEFAULT_TOML.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.clone_into(&mut section);
        }
        let (text, is_set) = line.strip_prefix("# ").map_or((line, true), |text| (text, false));
        let Some((name, _)) = text.split_once(" = ") else {
            continue;
        };
        if !section.is_empty() && name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_') {
            keys.push((format!("{section}.{name}"), is_set));
        }
    }
    keys
}

#[test]
fn every_key_is_documented_once_and_in_order() {
    let documented: Vec<_> = documented().into_iter().map(|(name, _)| name).collect();
    let known: Vec<_> = ITEMS.iter().map(|key| key.name).collect();
    assert_eq!(documented, known);
}

#[test]
fn every_group_of_keys_has_a_comment_above() {
    let lines: Vec<_> = DEFAULT_TOML.lines().collect();
    for (index, line) in lines.iter().enumerate().skip(1) {
        let starts_group = line.contains(" = ") && !line.starts_with('#') && lines[index - 1].is_empty();
        assert!(!starts_group, "no comment above {line}");
    }
}

#[test]
fn keys_are_unique() {
    let names: BTreeSet<_> = ITEMS.iter().map(|key| key.name).collect();
    assert_eq!(names.len(), ITEMS.len());
}

#[test]
fn no_setting_at_all_starts_development() {
    let settings = load(Sources::none());
    assert!(settings.server.is_development());
    assert_eq!(settings.server.bind.to_string(), "127.0.0.1:8700");
    assert_eq!(settings.server.public_url.as_str(), "http://localhost:8700/");
    assert!(settings.server.secret.is_none() && settings.admin.api_key.is_none());
    assert_eq!(settings.warnings(), Vec::<String>::new());
}

#[test]
fn every_default_is_of_its_kind() {
    for item in ITEMS.iter().filter(|item| matches!(item.fallback, Fallback::Fixed(_))) {
        assert!(item.default_value().is_some(), "{}", item.name);
    }
}

#[test]
fn no_setting_at_all_is_the_defaults_that_tests_use() {
    let settings = load(Sources::none());
    assert_eq!(settings.lifetimes, defaults::<Lifetimes>());
    assert_eq!(settings.limits, defaults::<LimitsConfig>());
    assert_eq!(settings.editable, defaults::<EditableSettings>());
}

#[test]
fn numbers_of_the_policy_are_the_defaults() {
    let Settings { auth, editable, lifetimes, limits, passwords, server, .. } = load(Sources::none());
    let codes = limits.mailbox;
    let minutes = Duration::from_mins;
    assert_eq!(lifetimes.sessions.access_token, minutes(15));
    assert_eq!(lifetimes.sessions.refresh_idle, minutes(30 * 24 * 60));
    assert_eq!(lifetimes.sessions.refresh_absolute, minutes(90 * 24 * 60));
    assert_eq!(lifetimes.sessions.refresh_grace, Duration::from_secs(30));
    assert_eq!(lifetimes.sessions.page_idle, minutes(24 * 60));
    assert_eq!(lifetimes.sessions.console_idle, minutes(30));
    assert_eq!(lifetimes.sessions.console_absolute, minutes(8 * 60));
    assert_eq!(lifetimes.sessions.page_absolute, minutes(30 * 24 * 60));
    assert_eq!(auth.jwt_algorithm, SigningAlgorithm::Es256);
    assert_eq!(auth.jwt_audience, None);
    assert_eq!((lifetimes.mailbox.code, codes.code_attempts), (minutes(10), 5));
    assert_eq!(codes.code_attempts_per_hour, 10);
    assert_eq!(codes.code_attempts_per_day, 30);
    assert_eq!(lifetimes.mailbox.verify_link, minutes(24 * 60));
    assert_eq!(lifetimes.mailbox.reset_link, minutes(30));
    assert_eq!(lifetimes.mailbox.sign_in_link, minutes(15));
    assert_eq!(lifetimes.passwords.exchanged_reset, minutes(15));
    assert_eq!(editable.verify_email_method, EmailMethod::Code);
    assert_eq!(auth.redirect_param_prefix, "service");
    assert_eq!(lifetimes.upkeep.audit_event, minutes(400 * 24 * 60));
    assert_eq!(editable.passwords(), PasswordPolicy::default());
    assert_eq!((passwords.memory_kib, passwords.iterations), (19_456, 2));
    assert_eq!((server.max_body_bytes, server.max_profile_body_bytes), (65_536, 262_144));
}

#[test]
fn limits_of_the_policy_are_the_defaults() {
    let limits = load(Sources::none()).limits;
    let rate = |burst, minutes| Rate { burst, window: Duration::from_mins(minutes) };
    assert!(limits.all.enabled);
    assert_eq!(limits.passwords.sign_in_pair, rate(10, 15));
    assert_eq!(limits.passwords.sign_in_longest_delay, Duration::from_mins(15));
    assert_eq!(limits.passwords.sign_in_account, rate(100, 60));
    assert_eq!(limits.sessions.known_client, Duration::from_hours(30 * 24));
    assert_eq!(limits.passwords.sign_in_address, rate(30, 5));
    assert_eq!(limits.accounts.sign_up_address, rate(20, 60));
    assert_eq!(limits.mailbox.mail_recipient_pause, Duration::from_mins(1));
    assert_eq!(limits.mailbox.mail_recipient, rate(5, 60));
    assert_eq!(limits.mailbox.mail_address, rate(20, 60));
    assert_eq!(limits.mailbox.verification_address, rate(30, 15));
    assert_eq!(limits.sessions.refresh_address, rate(300, 5));
    assert_eq!(limits.profiles.public_read_address, rate(600, 1));
    assert_eq!(limits.sessions.csrf_address, rate(600, 1));
}
