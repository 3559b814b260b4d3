//! Hints of the binary: command lines that it shows work as they are shown, and a new database is told.

use latchkey_testkit::PASSWORD;

use crate::binary::Binary;
use crate::imports::write_records;

/// A service with a settings file of its own, and the beginning of the command lines that it shows.
fn with_settings_file() -> (Binary, String) {
    let binary = Binary::new();
    std::fs::write(binary.path("own.toml"), "[log]\nlevel = \"info\"\n").unwrap();
    let file = binary.path("own.toml").canonicalize().unwrap();
    (binary.argument("--config").argument("own.toml"), format!("latchkey --config {} ", file.display()))
}

#[tokio::test]
async fn shown_commands_name_the_settings_file() {
    let (binary, latchkey) = with_settings_file();
    let running = binary.serve().await;
    assert_eq!(running.line("Operators"), format!("none yet: {latchkey}operator grant EMAIL --role owner"));
    running.stop().await;
    write_records(&binary, "people.jsonl", 1);

    let output = binary.run(&["import", "people.jsonl", "--from", "latchkey"]).await;

    assert!(output.good().contains(&format!(": `{latchkey}import show ")), "{output:?}");
    let missing = binary.set("storage.create=false").set("data.dir=elsewhere").run(&["user", "list"]).await;
    missing.refused(&[&format!("`{latchkey}migrate`")]);
}

#[tokio::test]
async fn report_of_an_import_does_not_name_the_command_that_prints_it() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 1);
    let imported = binary.run(&["import", "people.jsonl", "--from", "latchkey"]).await;
    let shown = imported.good().split('`').nth(1).expect("a command line").to_owned();
    let words: Vec<_> = shown.split(' ').skip(1).collect();

    let report = binary.run(&words).await;

    assert!(report.good().contains("1 read, 1 created") && !report.out.contains('`'), "{report:?}");
    let list = binary.run(&["import", "list"]).await;
    assert!(list.good().ends_with("\n1 import\n"), "{list:?}");
}

#[tokio::test]
async fn command_that_makes_a_database_unasked_says_so() {
    let binary = Binary::bare();
    let folder = binary.path("").canonicalize().unwrap();
    let made = format!("there was no database at {}/latchkey-data/latchkey.db;", folder.display());

    let output = binary.run(&["user", "list"]).await;

    assert!(output.good().ends_with("0 of 0\n"), "{output:?}");
    assert!(output.err.contains(&made) && output.err.lines().count() == 1, "{output:?}");
    assert_eq!(binary.run(&["operator", "list"]).await.err, "");
}

#[tokio::test]
async fn database_in_a_folder_of_the_settings_is_made_in_silence() {
    let (binary, _) = with_settings_file();
    for silent in
        [binary, Binary::new().set("data.dir=elsewhere"), Binary::new().set("storage.url=sqlite:a.db")]
    {
        let created = silent.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await;
        created.good();
        assert_eq!(created.err, "");
    }
}
