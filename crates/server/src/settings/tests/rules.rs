//! Tests of the rules between keys: each message names the key and the remedy.

use super::{OTHER_SECRET, SECRET, assert_says, development, load, problem, production};

#[test]
fn smtp_needs_a_host_and_a_sender() {
    let text = problem(development(&["mail.transport=smtp", "mail.from=a@b.example"]));
    assert_says(&text, &["mail.smtp.host", "required", "mail.transport to \"file\""]);
    let text = problem(development(&["mail.transport=smtp", "mail.smtp.host=mail.example.com"]));
    assert_says(&text, &["mail.from", "required", "no-reply@example.com"]);
}

#[test]
fn plain_smtp_is_for_loopback_alone() {
    let smtp = |host: &str| {
        let host = format!("mail.smtp.host={host}");
        development(&["mail.transport=smtp", "mail.from=a@b.example", "mail.smtp.tls=none", &host])
    };
    assert_says(&problem(smtp("mail.example.com")), &["mail.smtp.tls", "\"starttls\" or \"tls\""]);
    let settings = load(smtp("127.0.0.1"));
    assert_eq!(settings.smtp.port, 25);
}

#[test]
fn the_service_backs_up_sqlite_alone() {
    let postgres = "storage.url=postgres://u@localhost/accounts";
    let text = problem(development(&["backup.every=6h", postgres]));
    assert_says(&text, &["backup.every", "pg_dump"]);
    assert_says(&problem(development(&["backup.every=5s"])), &["backup.every", "a minute or more"]);
    let settings = load(development(&["backup.every=6h"]));
    assert_eq!(settings.backup.dir, std::path::Path::new("./latchkey-data/backups"));
    assert_eq!(load(development(&["backup.every="])).backup.every, None);
}

#[test]
fn the_smtp_port_follows_its_protection() {
    assert_eq!(load(development(&[])).smtp.port, 587);
    assert_eq!(load(development(&["mail.smtp.tls=tls"])).smtp.port, 465);
    assert_eq!(load(development(&["mail.smtp.tls=tls", "mail.smtp.port=2465"])).smtp.port, 2465);
}

#[test]
fn smtp_name_and_password_belong_together() {
    let base = ["mail.transport=smtp", "mail.from=a@b.example", "mail.smtp.host=localhost"];
    for half in ["mail.smtp.username=ada", "mail.smtp.password=secret"] {
        let text = problem(development(&[&base[..], &[half]].concat()));
        assert_says(&text, &["mail.smtp.username", "both or neither"]);
    }
}

#[test]
fn the_default_redirect_must_be_on_the_list() {
    let target = "auth.default_redirect_url=https://app.example.com/done";
    let text = problem(production(&[target]));
    assert_says(&text, &["auth.default_redirect_url", "add it to auth.allowed_redirect_urls"]);
    let other = "auth.allowed_redirect_urls=https://app.example.com/other";
    assert_says(&problem(production(&[target, other])), &["auth.default_redirect_url"]);
    load(production(&[target, "auth.allowed_redirect_urls=https://app.example.com/*"]));
}

#[test]
fn development_takes_a_local_default_redirect_without_a_list() {
    let local = "auth.default_redirect_url=http://localhost:3000/done";
    load(development(&[local]));
    assert_says(&problem(production(&[local])), &["auth.default_redirect_url"]);
}

#[test]
fn every_bad_redirect_entry_is_named() {
    let list = "auth.allowed_redirect_urls=nonsense,https://app.example.com/x,https://*/y";
    let said = super::problems(production(&[list]));
    assert_eq!(said.len(), 2, "{said:#?}");
    assert_says(&said[0], &["auth.allowed_redirect_urls", "nonsense"]);
    assert_says(&said[1], &["https://*/y"]);
}

#[test]
fn pending_account_outlives_its_mail() {
    for mail in ["auth.verify_link_ttl=48h", "auth.code_ttl=48h"] {
        let said = super::problems(development(&["auth.pending_ttl=47h", mail]));
        assert_says(&said[0], &["auth.pending_ttl", "auth.verify_link_ttl", "auth.code_ttl"]);
        load(development(&["auth.pending_ttl=48h", mail]));
    }
}

#[test]
fn a_key_signs_for_longer_than_its_tokens_live() {
    let said = super::problems(development(&["auth.key_rotation_interval=5m"]));
    assert_says(&said[0], &["auth.key_rotation_interval", "auth.access_token_ttl"]);
    load(development(&["auth.refresh_grace=0s", "auth.key_rotation_interval=0s"]));
}

#[test]
fn a_token_stays_fresh_for_half_a_minute_at_least() {
    let said = super::problems(development(&["auth.reauthentication_window=29s"]));
    assert_says(&said[0], &["auth.reauthentication_window", "30s"]);
    load(development(&["auth.reauthentication_window=30s"]));
}

#[test]
fn required_second_factors_need_required_verification() {
    let required = "auth.second_factor=required";
    let text = problem(development(&[required, "auth.require_email_verification=false"]));
    assert_says(&text, &["auth.second_factor", "auth.require_email_verification to true"]);
    load(development(&[required, "auth.require_email_verification=true"]));
    load(development(&["auth.second_factor=off", "auth.require_email_verification=false"]));
}

#[test]
fn keys_that_are_the_same_are_refused() {
    let next = format!("admin.api_key_next={OTHER_SECRET}");
    assert_says(&problem(production(&[&next])), &["admin.api_key_next", "same as admin.api_key"]);
    let admin = format!("admin.api_key={SECRET}");
    assert_says(&problem(production(&[&admin])), &["admin.api_key", "same as server.secret"]);
}

#[test]
fn an_anon_key_that_is_demanded_must_exist() {
    let text = problem(development(&["auth.require_anon_key=true"]));
    assert_says(&text, &["auth.require_anon_key", "auth.anon_key is not set"]);
    load(development(&["auth.require_anon_key=true", "auth.anon_key=anon_abc"]));
}

#[test]
fn production_does_not_hash_cheaply() {
    for text in ["passwords.iterations=1", "passwords.memory_kib=7000"] {
        let said = problem(production(&[text]));
        assert_says(&said, &["passwords.memory_kib", "19456 and 2"]);
    }
    load(production(&["passwords.memory_kib=47104", "passwords.iterations=1"]));
    load(development(&["passwords.memory_kib=8", "passwords.iterations=1"]));
}

#[test]
fn cross_site_cookies_need_https() {
    let text = problem(development(&["server.cross_site_apps=true"]));
    assert_says(&text, &["server.cross_site_apps", "https"]);
    load(production(&["server.cross_site_apps=true"]));
}

#[test]
fn a_rule_is_silent_where_its_key_is_bad_itself() {
    let text = problem(development(&["mail.transport=smtp", "mail.from=a@b.example", "mail.smtp.host=a b"]));
    assert_says(&text, &["mail.smtp.host", "host name"]);
}

#[test]
fn a_lifetime_that_never_comes_is_told_and_not_refused() {
    for (setting, named) in [
        ("auth.refresh_absolute_ttl=4s", "auth.refresh_idle_ttl is longer"),
        ("auth.refresh_idle_ttl=2s", "auth.refresh_grace is not shorter"),
        ("auth.access_token_ttl=91d", "auth.access_token_ttl is longer"),
        ("pages.session_idle_ttl=31d", "pages.session_idle_ttl is longer"),
        ("console.session_idle_ttl=9h", "console.session_idle_ttl is longer"),
    ] {
        let overrides = [setting, "auth.key_rotation_interval=0s"];
        let warnings = load(development(&overrides)).warnings();
        assert!(warnings.iter().any(|warning| warning.contains(named)), "{setting}: {warnings:?}");
    }
}
