//! Tests of commands that need only the database, while settings and secrets of other parts are missing or invalid.

use latchkey_testkit::PASSWORD;

use crate::binary::Binary;

const SECRET: &str = "server.secret=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/// Binary in production mode whose secret files for mails, providers and admins do not exist.
fn without_other_secrets() -> Binary {
    Binary::bare()
        .set("server.mode=production")
        .set("server.public_url=https://accounts.example.com")
        .set(SECRET)
        .set("mail.transport=smtp")
        .set("mail.from=Latchkey <no-reply@example.com>")
        .set("mail.smtp.host=smtp.example.com")
        .set("mail.smtp.username=latchkey")
        .set("mail.smtp.ca_file=missing-ca.pem")
        .set("mail.templates_dir=missing-templates")
        .set("oauth.ca_file=missing-ca.pem")
        .set("oauth.providers.google.client_id=g")
        .variable("LATCHKEY__MAIL__SMTP__PASSWORD_FILE", "missing-password")
        .variable("LATCHKEY__OAUTH__PROVIDERS__GOOGLE__CLIENT_SECRET_FILE", "missing-secret")
        .variable("LATCHKEY__ADMIN__API_KEY_FILE", "missing-key")
}

#[tokio::test]
async fn missing_secrets_of_other_parts_block_no_command_on_the_database() {
    let binary = without_other_secrets();
    let create = ["user", "create", "ada@example.org", "--verified"];

    binary.run(&["migrate"]).await.good();
    binary.run_with_input(&create, PASSWORD).await.good();
    for command in [
        &["user", "list"][..],
        &["user", "ban", "ada@example.org"],
        &["user", "unban", "ada@example.org"],
        &["user", "delete", "ada@example.org", "--yes"],
        &["keys", "list"],
        &["keys", "rotate"],
        &["mail", "list"],
        &["mail", "retry", "--all"],
        &["migrate", "--check"],
    ] {
        binary.run(command).await.good();
    }

    let refused = binary.run(&["redirects", "test", "https://app.example/"]).await;
    assert!(refused.out.starts_with("refused: "), "{refused:#?}");
    for made in ["latchkey-data/mails", "latchkey-data/admin-key"] {
        assert!(!binary.path(made).exists(), "{made}");
    }
}

#[tokio::test]
async fn commands_of_providers_want_their_settings_and_no_password_of_mails() {
    let binary = without_other_secrets();
    binary.run(&["migrate"]).await.good();

    let refused = binary.run(&["oauth", "list"]).await;
    std::fs::write(binary.path("missing-secret"), "s").unwrap();
    let listed = binary.set("oauth.ca_file=").run(&["oauth", "list"]).await;

    refused.refused(&["LATCHKEY__OAUTH__PROVIDERS__GOOGLE__CLIENT_SECRET_FILE"]);
    assert!(!refused.err.contains("MAIL"), "{refused:#?}");
    assert!(listed.good().contains("google"), "{listed:#?}");
}

#[tokio::test]
async fn invalid_mail_settings_block_the_service_and_no_command() {
    let binary = Binary::new().set("mail.smtp.port=0").set("mail.smtp.hots=x").set("mail.from=nonsense");

    binary.run(&["user", "list"]).await.good();

    let output = binary.run(&[]).await;
    output.refused(&["mail.smtp.port (--set)", "mail.smtp.hots (--set)", "mail.from (--set)"]);
    let check = binary.run(&["config", "check"]).await;
    assert_eq!(check.code, Some(1), "{check:#?}");
}

#[tokio::test]
async fn invalid_settings_of_a_command_block_it() {
    let binary = Binary::new().set("passwords.min_length=7").set("storage.url=nonsense");

    let output = binary.run(&["user", "list"]).await;

    output.refused(&["passwords.min_length (--set)", "storage.url (--set)"]);
}
