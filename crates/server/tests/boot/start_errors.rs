//! Tests of failed starts with the log format JSON: one JSON line on standard error, also if the settings are invalid.

use latchkey_testkit::Value;

use crate::binary::{Binary, CommandOutput};

/// Parses standard error, which must be a single line.
#[track_caller]
fn line(output: &CommandOutput) -> Value {
    assert_eq!((output.code, output.err.lines().count()), (Some(1), 1), "{output:#?}");
    let line: Value =
        serde_json::from_str(&output.err).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
    assert_eq!(line["level"], "ERROR", "{line}");
    for name in ["timestamp", "message", "mend"] {
        assert!(line[name].is_string(), "{name} is missing in {line}");
    }
    line
}

#[tokio::test]
async fn address_that_is_taken_is_one_json_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let binary = Binary::bare().set(&format!("server.bind={address}")).set("log.format=json");

    let line = line(&binary.run(&[]).await);

    assert_eq!(line["key"], "server.bind");
    assert!(line["message"].as_str().unwrap().contains(&address.to_string()), "{line}");
    assert!(line["mend"].as_str().unwrap().contains("another address"), "{line}");
}

#[tokio::test]
async fn database_and_data_folder_are_named_by_their_keys() {
    let binary = Binary::new().set("log.format=json").set("log.level=off");
    std::fs::write(binary.path("file"), "no database, and no folder").unwrap();

    let folder = line(&binary.clone().set("data.dir=file/data").run(&[]).await);
    let database = line(&binary.set("storage.url=sqlite:file").run(&[]).await);

    assert_eq!((folder["key"].as_str(), database["key"].as_str()), (Some("data.dir"), Some("storage.url")));
}

#[tokio::test]
async fn wrong_secret_is_named_as_by_the_check() {
    let binary = Binary::new();
    binary.serve().await.stop().await;
    let other = binary.set("log.format=json").variable("LATCHKEY__SERVER__SECRET", &"7f".repeat(32));

    let line = line(&other.run(&[]).await);
    let checked: Value = serde_json::from_str(&other.run(&["config", "check", "--json"]).await.out).unwrap();

    assert_eq!(
        (&line["key"], &line["mend"]),
        (&checked["problems"][0]["key"], &checked["problems"][0]["mend"])
    );
    assert_eq!(line["key"], "server.secret");
    assert_eq!(line["mend"], "use the secret that the database was made with");
    assert!(!line["message"].as_str().unwrap().contains("internal error"), "{line}");
}

#[tokio::test]
async fn broken_settings_are_one_json_line_with_every_problem() {
    let binary =
        Binary::bare().set("log.format=json").set("server.mode=production").set("auth.code_ttl=soon");

    let line = line(&binary.run(&[]).await);

    let problems = line["problems"].as_array().unwrap();
    let of =
        |key: &str| problems.iter().find(|problem| problem["key"] == key).unwrap_or_else(|| panic!("{line}"));
    assert_eq!(line["key"], problems[0]["key"]);
    assert!(of("server.secret")["mend"].as_str().unwrap().contains("openssl rand -hex 32"), "{line}");
    assert!(of("auth.code_ttl")["message"].as_str().unwrap().contains("soon"), "{line}");
    assert!(of("auth.code_ttl")["mend"].as_str().unwrap().starts_with("set it to a duration"), "{line}");
    of("server.public_url");
    of("admin.api_key");
}

#[tokio::test]
async fn format_is_read_from_what_is_readable() {
    let by_variable =
        Binary::bare().variable("LATCHKEY__LOG__FORMAT", "json").variable("LATCHKEY__LOG__LEVLE", "info");
    let by_broken_file = Binary::bare();
    std::fs::write(by_broken_file.path("latchkey.toml"), "[log]\nformat = 'json'\n[server\n").unwrap();
    let by_other_bytes = Binary::bare();
    std::fs::write(by_other_bytes.path("latchkey.toml"), b"[log]\nformat = 'json'\n# caf\xe9\n").unwrap();
    let without_file = Binary::bare().set("log.format=json").argument("--config").argument("missing.toml");

    let variable = line(&by_variable.run(&[]).await);
    let file = line(&by_broken_file.run(&[]).await);
    let bytes = line(&by_other_bytes.run(&[]).await);
    let missing = line(&without_file.run(&[]).await);

    assert_eq!(
        (&variable["key"], &variable["mend"]),
        (&"log.levle".into(), &"did you mean LATCHKEY__LOG__LEVEL?".into())
    );
    assert!(file["message"].as_str().unwrap().contains("line 3 is not TOML"), "{file}");
    assert!(bytes["message"].as_str().unwrap().contains("UTF-8"), "{bytes}");
    assert!(missing["message"].as_str().unwrap().contains("missing.toml"), "{missing}");
}

#[tokio::test]
async fn secret_of_broken_settings_is_in_no_line() {
    let binary = Binary::bare().set("log.format=json").set("admin.api_key=Shorter-Than-It-Must-Be");

    let output = binary.set("storage.url=postgres://ada:hunter2hunter2@h/d?sslmode=prefer").run(&[]).await;

    line(&output);
    assert!(!output.err.contains("Shorter") && !output.err.contains("hunter2"), "{}", output.err);
}

#[tokio::test]
async fn start_without_a_format_and_every_command_print_text() {
    let json = Binary::bare().set("log.format=json").set("auth.code_ttl=soon");
    let unknown = Binary::bare().set("log.format=jsno");

    for output in [json.run(&["user", "list"]).await, json.run(&["migrate"]).await, unknown.run(&[]).await] {
        output.refused(&["latchkey: The settings cannot be used:\n- "]);
    }
}
