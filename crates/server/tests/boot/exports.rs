//! Tests of `latchkey export`, and of `latchkey import` of its file.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;

use latchkey_store_suite::cluster::TestCluster;
use latchkey_testkit::{Value, json};

use crate::binary::{Binary, CommandOutput};
use crate::imports::{record, write_records};

const IMPORT: [&str; 4] = ["import", "all.jsonl", "--from", "latchkey"];

/// Exports all accounts with their secrets, and moves the file to another instance.
async fn move_export(from: &Binary, to: &Binary) {
    from.run(&["export", "--out", "out.jsonl", "--with-secrets"]).await.good();
    std::fs::rename(from.path("out.jsonl"), to.path("all.jsonl")).unwrap();
}

/// Accounts of an export with their secrets.
async fn accounts(binary: &Binary) -> Vec<Value> {
    let output = binary.run(&["export", "--out", "-", "--with-secrets"]).await;
    let lines = output.good().lines().map(|line| line.parse::<Value>().unwrap());
    lines.filter(|line| line["kind"] == "user").collect()
}

async fn import(binary: &Binary, more: &[&str]) -> CommandOutput {
    binary.run(&[&IMPORT, more].concat()).await
}

#[tokio::test]
async fn accounts_move_between_the_engines_and_back() {
    let database = TestCluster::shared().bare_database();
    let (first, second, third) = (Binary::new(), Binary::new().on(&database), Binary::new());
    let factor = json!({"totp": [{"secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "name": "Phone"}]});
    let mut with_factor = record(7);
    with_factor.as_object_mut().unwrap().extend(factor.as_object().unwrap().clone());
    std::fs::write(first.path("all.jsonl"), format!("{}\n{with_factor}\n", record(1))).unwrap();
    import(&first, &[]).await.good();
    let before = accounts(&first).await;
    assert_eq!(before.len(), 2);

    move_export(&first, &second).await;
    let mode = std::fs::metadata(second.path("all.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(import(&second, &["--dry-run"]).await.good().contains("2 would be created"));
    import(&second, &[]).await.good();
    assert_eq!(accounts(&second).await, before);
    move_export(&second, &third).await;
    import(&third, &[]).await.good();

    assert_eq!(accounts(&third).await, before);
    let running = third.serve().await;
    running.anon().sign_in("person-1@example.org", "password").send().await.expect(200);
    let challenged = running.anon().sign_in("person-7@example.org", "password").send().await.expect(200);
    assert_eq!(challenged["challenge"]["kinds"], json!(["totp"]), "{challenged}");
}

#[tokio::test]
async fn torn_or_altered_export_is_told_by_dry_run_and_import() {
    let source = Binary::new();
    write_records(&source, "all.jsonl", 3);
    import(&source, &[]).await.good();
    source.run(&["export", "--out", "out.jsonl"]).await.good();
    let whole = std::fs::read_to_string(source.path("out.jsonl")).unwrap();
    let end = whole.trim_end().rfind('\n').unwrap() + 1;
    let altered = whole.replace("Person 2", "Person 9");
    for (text, told) in [(&whole[..end], "torn"), (altered.as_str(), "altered")] {
        let target = Binary::new();
        std::fs::write(target.path("all.jsonl"), text).unwrap();

        import(&target, &["--dry-run"]).await.refused(&[told]);
        import(&target, &[]).await.refused(&[told]);

        let list: Value = target.run(&["import", "list", "--json"]).await.good().parse().unwrap();
        let job = &list["data"][0];
        assert_eq!((&job["state"], &job["created"]), (&json!("failed"), &json!(3)), "{list}");
        let shown = target.run(&["import", "show", job["id"].as_str().unwrap()]).await;
        assert!(shown.good().contains(told), "{}", shown.out);
    }
}

#[tokio::test]
async fn export_overwrites_no_file() {
    let binary = Binary::new();
    std::fs::write(binary.path("out.jsonl"), "mine").unwrap();
    binary.run(&["export", "--out", "out.jsonl"]).await.refused(&["out.jsonl exists"]);
    assert_eq!(binary.read("out.jsonl"), "mine");
}

#[tokio::test]
async fn file_of_a_killed_export_is_taken_over_and_that_of_a_living_one_is_not() {
    let binary = Binary::new();
    std::fs::write(binary.path("all.jsonl"), format!("{}\n", record(1))).unwrap();
    import(&binary, &[]).await.good();
    let unfinished = binary.path("out.jsonl.unfinished");
    std::fs::write(&unfinished, "left behind").unwrap();
    let mut held = std::fs::File::open(&unfinished).unwrap();
    held.lock().unwrap(); // as a living export does

    binary.run(&["export", "--out", "out.jsonl"]).await.refused(&["unfinished is there", "Wait for that"]);
    held.unlock().unwrap();
    binary.run(&["export", "--out", "out.jsonl"]).await.good();

    assert!(!unfinished.exists() && binary.read("out.jsonl").contains("person-1@example.org"));
    let mut seen = String::new();
    held.read_to_string(&mut seen).unwrap();
    assert_eq!(seen, "left behind", "who had the file open reads no export");
    let nowhere = binary.run(&["export", "--out", "no/folder/out.jsonl"]).await;
    nowhere.refused(&["no/folder/out.jsonl.unfinished cannot be made", "No such file"]);
}
