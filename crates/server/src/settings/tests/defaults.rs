//! The embedded default documents every key, and holds what the policy says.

use std::collections::BTreeSet;
use std::time::Duration;

use latchkey_domain::limits::Rate;
use latchkey_domain::password::PasswordPolicy;

use super::super::keys::{self, KEYS};
use super::super::{DEFAULT_TOML, EDITABLE, JwtAlgorithm, ProofMethod, Settings, Sources};
use super::load;

/// The keys of the default file in order, with the comment above each and whether it is set.
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
    let known: Vec<_> = KEYS.iter().map(|key| key.name).collect();
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
fn keys_are_unique_and_editable_ones_exist() {
    let names: BTreeSet<_> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(names.len(), KEYS.len());
    assert!(EDITABLE.iter().all(|name| keys::find(name).is_some()));
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
fn numbers_of_the_policy_are_the_defaults() {
    let Settings { audit, auth, passwords, server, .. } = load(Sources::none());
    let minutes = Duration::from_mins;
    assert_eq!(auth.tokens.access_ttl, minutes(15));
    assert_eq!(auth.tokens.refresh_idle_ttl, minutes(30 * 24 * 60));
    assert_eq!(auth.tokens.refresh_absolute_ttl, minutes(90 * 24 * 60));
    assert_eq!(auth.tokens.refresh_grace, Duration::from_secs(30));
    assert_eq!(auth.tokens.algorithm, JwtAlgorithm::Es256);
    assert_eq!(auth.tokens.audience, None);
    assert_eq!((auth.codes.ttl, auth.codes.attempts), (minutes(10), 5));
    assert_eq!(auth.codes.attempts_per_hour, 10);
    assert_eq!(auth.codes.attempts_per_day, 30);
    assert_eq!(auth.links.verify_ttl, minutes(24 * 60));
    assert_eq!(auth.links.reset_ttl, minutes(30));
    assert_eq!(auth.links.reset_token_ttl, minutes(15));
    assert_eq!(auth.verify_email_method, ProofMethod::Code);
    assert_eq!(auth.redirect_param_prefix, "service");
    assert_eq!(audit.retention, minutes(400 * 24 * 60));
    assert_eq!(passwords.policy, PasswordPolicy::default());
    assert_eq!((passwords.memory_kib, passwords.iterations), (19_456, 2));
    assert_eq!((server.max_body_bytes, server.max_profile_body_bytes), (65_536, 262_144));
}

#[test]
fn limits_of_the_policy_are_the_defaults() {
    let limits = load(Sources::none()).limits;
    let rate = |burst, minutes| Rate { burst, window: Duration::from_mins(minutes) };
    let policy = limits.sign_in_per_account_and_address;
    assert!(limits.enabled);
    assert_eq!((policy.threshold, policy.window), (10, Duration::from_mins(15)));
    assert_eq!(policy.longest_delay, Duration::from_mins(15));
    assert_eq!(limits.sign_in_per_account, rate(100, 60));
    assert_eq!(limits.sign_in_known_address_age, Duration::from_hours(30 * 24));
    assert_eq!(limits.sign_in_per_address, rate(30, 5));
    assert_eq!(limits.sign_up_per_address, rate(20, 60));
    assert_eq!(limits.mail_pause_per_recipient, rate(1, 1));
    assert_eq!(limits.mail_per_recipient, rate(5, 60));
    assert_eq!(limits.mail_per_address, rate(20, 60));
    assert_eq!(limits.verification_per_address, rate(30, 15));
    assert_eq!(limits.refresh_per_address, rate(300, 5));
    assert_eq!(limits.search_per_address, rate(600, 1));
    assert_eq!(limits.csrf_per_address, rate(600, 1));
}
