//! Tests of settings from file, environment and command line, and of `config print` and `config check`.

use crate::binary::Binary;

const SECRET: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

fn with_file(text: &str) -> Binary {
    let binary = Binary::bare();
    std::fs::write(binary.path("latchkey.toml"), text).unwrap();
    binary
}

#[tokio::test]
async fn file_in_the_working_directory_wins_over_the_default() {
    let binary = with_file("[auth]\ncode_attempts = 3\n");

    let output = binary.run(&["config", "print"]).await;

    assert!(output.good().contains("code_attempts = 3 # file latchkey.toml"), "{}", output.out);
    assert!(output.good().contains("code_ttl = \"10m\" # default"), "{}", output.out);
}

#[tokio::test]
async fn named_file_is_read_instead_of_the_one_in_the_working_directory() {
    let binary = with_file("[auth]\ncode_attempts = 3\n");
    std::fs::write(binary.path("other.toml"), "[auth]\ncode_ttl = '5m'\n").unwrap();

    let output = binary.run(&["config", "print", "--config", "other.toml"]).await;

    assert!(output.good().contains("code_ttl = \"5m\" # file other.toml"), "{}", output.out);
    assert!(output.good().contains("code_attempts = 5 # default"), "{}", output.out);
}

#[tokio::test]
async fn environment_wins_over_the_file() {
    let binary = with_file("[auth]\ncode_attempts = 3\n").variable("LATCHKEY__AUTH__CODE_ATTEMPTS", "4");

    let output = binary.run(&["config", "print"]).await;

    let line = "code_attempts = 4 # environment LATCHKEY__AUTH__CODE_ATTEMPTS";
    assert!(output.good().contains(line), "{}", output.out);
}

#[tokio::test]
async fn command_line_wins_over_the_environment() {
    let binary = Binary::bare().variable("LATCHKEY__AUTH__CODE_ATTEMPTS", "4").set("auth.code_attempts=6");

    let output = binary.run(&["config", "print"]).await;

    assert!(output.good().contains("code_attempts = 6 # --set"), "{}", output.out);
}

#[tokio::test]
async fn list_in_the_environment_is_comma_separated() {
    let list = "https://a.example/x,https://b.example/y";
    let binary = Binary::bare().variable("LATCHKEY__AUTH__ALLOWED_REDIRECT_URLS", list);

    let allowed = binary.run(&["redirects", "test", "https://b.example/y"]).await;

    assert_eq!(allowed.good(), "allowed: https://b.example/y\n");
}

#[tokio::test]
async fn printed_settings_hide_secrets() {
    let secret_file = Binary::bare();
    std::fs::write(secret_file.path("secret"), format!("{SECRET}\n")).unwrap();
    let binary = secret_file
        .variable("LATCHKEY__SERVER__SECRET_FILE", "secret")
        .set("admin.api_key=Neither-This-Nor-That-Key-Is-Ever-Shown");

    let output = binary.run(&["config", "print"]).await;

    assert!(
        output.good().contains("secret = \"***\" # file named by LATCHKEY__SERVER__SECRET_FILE"),
        "{}",
        output.out
    );
    for shown in [&output.out, &output.err] {
        assert!(!shown.contains(SECRET) && !shown.contains("Neither-This"), "{shown}");
    }
}

#[tokio::test]
async fn printed_settings_read_back_as_a_file() {
    let binary = Binary::bare().set("auth.code_attempts=6");
    let printed = binary.run(&["config", "print"]).await;
    std::fs::write(binary.path("again.toml"), printed.good()).unwrap();

    let again = Binary::bare().argument("--config").argument(binary.path("again.toml").to_str().unwrap());

    let output = again.run(&["config", "check"]).await;
    assert!(
        output.good().starts_with("The settings are good (development, http://localhost:8700/)."),
        "{}",
        output.out
    );
}

#[tokio::test]
async fn check_reports_all_errors_and_starts_nothing() {
    let binary = Binary::bare().set("auth.code_atempts=6").set("auth.code_ttl=soon");

    let output = binary.run(&["config", "check"]).await;

    assert_eq!(output.code, Some(1), "{output:#?}");
    assert!(
        output.out.contains(
            "auth.code_atempts (--set): there is no such setting; did you mean auth.code_attempts?"
        )
    );
    assert!(
        output.out.contains("auth.code_ttl (--set): found the text \"soon\", wanted a duration"),
        "{}",
        output.out
    );
    assert!(!binary.path("latchkey-data").exists());
}

#[tokio::test]
async fn setting_of_the_operator_is_pinned_against_the_admin() {
    let binary = Binary::new().set("auth.disable_sign_up=true");
    let running = binary.serve().await;
    let admin = running.anon().with_bearer(&binary.read("latchkey-data/admin-key"));

    let pinned = admin.put("/api/auth/config", serde_json::json!({"disableSignup": false})).send().await;
    let free = admin.put("/api/auth/config", serde_json::json!({"passwordMinLength": 12})).send().await;

    pinned.refused(409, "SETTING_PINNED");
    assert_eq!(free.expect(200)["passwordMinLength"], 12);
}

#[tokio::test]
async fn anything_else_on_the_command_line_is_explained() {
    let binary = Binary::bare();

    let output = binary.run(&["serf"]).await;

    assert_eq!(output.code, Some(2));
    assert!(output.err.contains("serve") && output.err.contains("--help"), "{}", output.err);
}
