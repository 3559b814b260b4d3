//! Tests of the command-line parser.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use clap::{CommandFactory, Parser};

use super::{Cli, Command, ConfigCommand, MailCommand, Sure, UserCommand, UserRef};

fn command(line: &str) -> Command {
    Cli::try_parse_from(line.split(' ')).unwrap().into_parts().1
}

fn refusal(line: &str) -> String {
    Cli::try_parse_from(line.split(' ')).unwrap_err().to_string()
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn serve_is_the_default() {
    assert!(matches!(command("latchkey"), Command::Serve));
    assert!(matches!(command("latchkey serve"), Command::Serve));
}

#[test]
fn settings_arguments_stand_before_or_after_the_command() {
    for line in [
        "latchkey --config a.toml --set log.level=debug --set log.format=json config check",
        "latchkey config check --set log.level=debug --config a.toml --set log.format=json",
    ] {
        let (settings, command) = Cli::try_parse_from(line.split(' ')).unwrap().into_parts();
        assert!(matches!(command, Command::Config(ConfigCommand::Check(_))));
        assert_eq!(settings.config.unwrap().to_str(), Some("a.toml"));
        let texts: Vec<_> = settings.overrides.into_iter().map(super::Override::into_text).collect();
        assert_eq!(texts, ["log.level=debug", "log.format=json"]);
    }
}

#[test]
fn an_override_without_a_key_is_refused() {
    assert!(refusal("latchkey --set loglevel").contains("section.key=value"));
    assert!(refusal("latchkey --set =debug").contains("section.key=value"));
}

#[test]
fn the_value_of_an_override_is_not_in_debug() {
    let cli = Cli::try_parse_from(["latchkey", "--set", "server.secret=hunter2"]).unwrap();
    assert!(!format!("{cli:?}").contains("hunter2"));
}

#[test]
fn users_are_named_by_email_or_id() {
    let id = "0190d5f6-8a5e-7cc0-8000-000000000001";
    let Command::User(UserCommand::Ban { user }) = command(&format!("latchkey user ban {id}")) else {
        panic!("another command");
    };
    assert_eq!(user, UserRef::Id(id.parse().unwrap()));
    let Command::User(UserCommand::Delete { user, sure: Sure { yes: false } }) =
        command("latchkey user delete a@b.example")
    else {
        panic!("another command");
    };
    assert_eq!(user, UserRef::Email("a@b.example".to_owned()));
    assert!(refusal("latchkey user unban ada").contains("email address or a user id"));
}

#[test]
fn retry_takes_one_mail_or_all() {
    assert!(
        matches!(command("latchkey mail retry --all"), Command::Mail(MailCommand::Retry(args)) if args.all)
    );
    assert!(Cli::try_parse_from(["latchkey", "mail", "retry"]).is_err());
    let both = ["latchkey", "mail", "retry", "--all", "0190d5f6-8a5e-7cc0-8000-000000000001"];
    assert!(Cli::try_parse_from(both).is_err());
}

#[test]
fn passwords_are_no_arguments() {
    assert!(refusal("latchkey user create a@b.example --password x").contains("--password"));
}
