//! Tests of the defaults of development mode and the requirements of production mode.

use std::path::Path;

use super::super::{MailTransport, Sources};
use super::{OTHER_SECRET, SECRET, assert_says, development, load, problem, problems, production};

#[test]
fn development_mails_to_files_and_verifies_nobody() {
    let settings = load(Sources::none());
    assert_eq!(settings.mail.transport, MailTransport::File);
    assert_eq!(settings.mail.dir, Path::new("./latchkey-data/mails"));
    assert_eq!(settings.mail.from.unwrap().address, "no-reply@localhost");
    assert!(!settings.editable.require_email_verification);
}

#[test]
fn owners_hear_of_their_accounts_in_production_unless_it_is_switched_off() {
    assert!(!load(Sources::none()).features.security_notifications);
    assert!(load(production(&[])).features.security_notifications);
    assert!(!load(production(&["notifications.account=false"])).features.security_notifications);
}

#[test]
fn operators_need_a_second_factor_in_production() {
    let off = "console.require_second_factor=false";
    assert!(!load(Sources::none()).console.require_second_factor);
    assert!(load(development(&["console.require_second_factor=true"])).console.require_second_factor);
    assert!(load(production(&[])).console.require_second_factor);
    assert_says(&problem(production(&[off])), &["console.require_second_factor", "leave it out"]);
}

#[test]
fn accounts_of_operators_are_protected_unless_it_is_switched_off() {
    for sources in [Sources::none(), production(&[])] {
        let settings = load(sources);
        assert!(settings.console.protect_operators);
        assert!(!settings.warnings().join("\n").contains("console."));
    }
    let off = load(production(&["console.protect_operators=false"]));
    assert!(!off.console.protect_operators);
    assert_says(&off.warnings().join("\n"), &["console.protect_operators"]);
}

#[test]
fn everything_written_follows_the_data_folder() {
    let settings = load(development(&["data.dir=/srv/latchkey/"]));
    assert_eq!(settings.mail.dir, Path::new("/srv/latchkey/mails"));
    assert_eq!(settings.storage.url.shown(), "/srv/latchkey/latchkey.db");
}

#[test]
fn the_public_url_of_development_follows_the_port() {
    let settings = load(development(&["server.bind=[::1]:9000"]));
    assert_eq!(settings.server.public_url.as_str(), "http://localhost:9000/");
    let bound = load(development(&["server.bind=127.0.0.1:0"])).bound_to(([127, 0, 0, 1], 4321).into(), None);
    assert_eq!(bound.server.public_url.as_str(), "http://localhost:4321/");
    let set = development(&["server.bind=127.0.0.1:0", "server.public_url=http://localhost:8080"]);
    let bound = load(set).bound_to(([127, 0, 0, 1], 4321).into(), None);
    assert_eq!(bound.server.public_url.as_str(), "http://localhost:8080/");
}

#[test]
fn development_stays_on_this_machine() {
    for address in ["0.0.0.0:8700", "[::]:8700", "192.168.0.1:8700"] {
        let text = problem(development(&[&format!("server.bind={address}")]));
        assert_says(&text, &["server.bind", address, "127.0.0.1", "server.mode to production"]);
    }
    load(production(&["server.bind=0.0.0.0:8700"]));
}

#[test]
fn production_names_everything_it_lacks_at_once() {
    let said = problems(development(&["server.mode=production"]));
    let places: Vec<_> = said.iter().map(|text| text.split(':').next().unwrap()).collect();
    let expected = ["server.public_url", "server.secret", "admin.api_key", "mail.transport"];
    assert_eq!(places, expected, "{said:#?}");
}

#[test]
fn production_verifies_addresses_and_sends_nothing_by_itself() {
    assert!(load(production(&[])).editable.require_email_verification);
    let text = problem(production(&["mail.transport="]));
    assert_says(&text, &["mail.transport", "\"smtp\" or \"file\"", "auth.require_email_verification"]);
    let settings = load(production(&["mail.transport=", "auth.require_email_verification=false"]));
    assert_eq!(settings.mail.transport, MailTransport::None);
}

#[test]
fn production_is_https_unless_loopback_or_allowed() {
    let text = problem(production(&["server.public_url=http://accounts.example.com"]));
    assert_says(&text, &["server.public_url", "https", "server.allow_http"]);
    for host in ["localhost:8700", "127.0.0.1", "[::1]:8700"] {
        load(production(&[&format!("server.public_url=http://{host}")]));
    }
    let allowed = ["server.public_url=http://accounts.example.com", "server.allow_http=true"];
    assert_eq!(load(production(&allowed)).warnings().len(), 2 + 1 + 1); // two secrets by --set, file mails
}

#[test]
fn short_secrets_are_refused_in_both_modes() {
    for mode in [development, production] {
        let text = problem(mode(&[&format!("server.secret={}", &SECRET[..31])]));
        assert_says(&text, &["server.secret", "31 bytes", "at least 32", "openssl rand"]);
        let text = problem(mode(&[&format!("admin.api_key={}", &OTHER_SECRET[..31])]));
        assert_says(&text, &["admin.api_key", "31 characters", "at least 32"]);
    }
}

#[test]
fn production_refuses_known_examples_and_warns_of_patterns() {
    let example = "server.secret=change-me: the output of openssl rand -hex 32";
    assert_says(&problem(production(&[example])), &["server.secret", "known example"]);
    load(development(&[example]));
    let pattern = format!("admin.api_key={}", "a".repeat(40));
    let warnings = load(production(&[&pattern])).warnings();
    assert!(warnings.iter().any(|warning| warning.starts_with("admin.api_key looks typed")), "{warnings:?}");
}

#[test]
fn a_bad_mode_is_told_alone() {
    assert_says(&problem(development(&["server.mode=staging"])), &["server.mode", "\"staging\""]);
}
