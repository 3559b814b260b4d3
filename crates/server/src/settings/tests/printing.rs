//! Tests of `config print`: its output can be read back, and hides secrets.

use super::super::{Settings, Sources};
use super::{OTHER_SECRET, SECRET, assert_says, development, load, production};

#[test]
fn what_is_printed_reads_back_as_the_same_settings() {
    let settings = load(development(&[
        "server.cors_origins=https://a.example,http://localhost:3000",
        "server.service_name=Küche \\ Co",
        "auth.code_ttl=90s",
        "limits.sign_up_per_address=7/90s",
        "log.format=json",
    ]));
    let printed = settings.to_toml();
    let again = load(Sources::none().with_file("printed.toml", printed.clone())).to_toml();
    let values = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split(" # ").next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(values(&printed), values(&again));
}

#[test]
fn every_value_has_its_source() {
    let settings = load(
        Sources::none()
            .with_file("conf/latchkey.toml", "[log]\nlevel = 'debug'")
            .with_environment([("LATCHKEY__LOG__FORMAT", "json")])
            .with_override("passwords.min_length=10"),
    );
    let printed = settings.to_toml();
    assert_says(
        &printed,
        &[
            "level = \"debug\" # file conf/latchkey.toml",
            "format = \"json\" # environment LATCHKEY__LOG__FORMAT",
            "min_length = 10 # --set",
            "bind = \"127.0.0.1:8700\" # default\n",
            "public_url = \"http://localhost:8700\" # default, from other settings",
            "# secret is not set",
            "[mail.smtp]\n",
        ],
    );
}

#[test]
fn secrets_are_shown_nowhere() {
    let settings = load(production(&["mail.smtp.password=hunter2hunter2"]));
    let shown = format!("{}\n{settings:?}\n{:?}", settings.to_toml(), settings.warnings());
    for secret in [SECRET, OTHER_SECRET, "hunter2"] {
        assert!(!shown.contains(secret), "{secret} is shown");
    }
    assert_says(&shown, &["secret = \"***\" # --set", "api_key = \"***\""]);
}

#[test]
fn warnings_name_what_is_probably_not_meant() {
    let warnings = load(production(&["limits.enabled=false", "auth.verify_email_method=link"])).warnings();
    let said = warnings.join("\n");
    assert_says(
        &said,
        &["limits.enabled", "mail.transport", "auth.allowed_redirect_urls", "server.secret is set"],
    );
}

#[test]
fn an_error_lists_its_problems_below_each_other() {
    let error = Settings::load(development(&["server.mode=production"])).unwrap_err().to_string();
    assert!(error.starts_with("The settings cannot be used:\n- server.public_url: "), "{error}");
    assert_eq!(error.lines().count(), 5, "{error}");
}

#[test]
fn settings_are_read_as_far_as_they_go() {
    let (settings, problems) = Settings::read(development(&["log.level=loud", "server.mode=production"]));
    assert_eq!(settings.log.level, "info");
    assert!(problems.iter().any(|problem| problem.place().starts_with("log.level")), "{problems:#?}");
    assert!(problems.iter().any(|problem| problem.place() == "server.public_url"), "{problems:#?}");
}
