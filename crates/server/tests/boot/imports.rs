//! Tests of `latchkey import`.

use latchkey_testkit::{Value, json};
use rustix::process::Signal;

use crate::binary::{Binary, CommandOutput, eventually, terminate};

/// Hash of `password`, from the tests of the reference implementation of argon2.
const HASH: &str = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";

pub(crate) fn record(number: usize) -> Value {
    json!({"email": format!("person-{number}@example.org"), "emailVerified": true, "passwordHash": HASH,
        "name": format!("Person {number}"), "username": format!("person-{number}"), "id": format!("p{number}")})
}

/// Writes a file with this many records.
pub(crate) fn write_records(binary: &Binary, name: &str, count: usize) {
    let lines: Vec<_> = (0..count).map(|number| record(number).to_string()).collect();
    std::fs::write(binary.path(name), lines.join("\n") + "\n").unwrap();
}

async fn import(binary: &Binary, more: &[&str]) -> CommandOutput {
    binary.run(&[&["import", "people.jsonl", "--from", "latchkey"], more].concat()).await
}

/// Id of the only import.
async fn only_import(binary: &Binary) -> String {
    let list: Value = binary.run(&["import", "list", "--json"]).await.good().parse().unwrap();
    assert_eq!(list["data"].as_array().unwrap().len(), 1, "{list}");
    list["data"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn file_is_imported_and_its_accounts_sign_in() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 3);
    let dry = import(&binary, &["--dry-run", "--report", "dry.jsonl"]).await;
    assert!(dry.good().contains("3 read, 3 would be created"), "{}", dry.out);
    assert!(binary.run(&["import", "list"]).await.good().ends_with("0 imports\n"));

    let output = import(&binary, &["--report", "report.jsonl"]).await;

    assert!(output.good().contains("3 read, 3 created, 0 updated, 0 skipped, 0 refused"), "{}", output.out);
    let report = binary.read("report.jsonl");
    assert!(
        report.lines().all(|line| line.contains("importedId")) && report.lines().count() == 3,
        "{report}"
    );
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(binary.path("report.jsonl")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    let running = binary.serve().await;
    running.anon().sign_in("person-1@example.org", "password").send().await.expect(200);
}

#[tokio::test]
async fn second_import_skips_what_is_there() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 3);
    import(&binary, &[]).await.good();
    let again = import(&binary, &["--json"]).await;
    let last: Value = again.good().lines().last().unwrap().parse().unwrap();
    assert_eq!((&last["job"]["skipped"], &last["job"]["problems"]), (&json!(3), &json!({"email_taken": 3})));
}

#[tokio::test]
async fn refused_records_are_told_by_exit_code_and_line() {
    let binary = Binary::new();
    std::fs::write(binary.path("people.jsonl"), format!("{}\n{{\"email\":\"x\"}}\nnonsense\n", record(1)))
        .unwrap();

    let output = import(&binary, &[]).await;

    assert_eq!(output.code, Some(2), "{output:#?}");
    assert!(
        output.out.contains("1 email_invalid") && output.out.contains("1 json_invalid"),
        "{}",
        output.out
    );
    let show = binary.run(&["import", "show", &only_import(&binary).await]).await;
    assert!(show.good().contains("\"line\":2") && show.out.contains("\"line\":3"), "{}", show.out);
}

#[tokio::test]
async fn standard_input_is_read() {
    let binary = Binary::new();
    let output =
        binary.run_with_input(&["import", "-", "--from", "latchkey"], &format!("{}\n", record(1))).await;
    assert!(output.good().contains("1 created"), "{}", output.out);
}

#[tokio::test]
async fn bad_commands_say_what_to_do() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 1);
    binary.run(&["import", "people.jsonl"]).await.refused(&["--from", "supabase"]);
    binary.run(&["import", "people.jsonl", "--from", "excel"]).await.refused(&["excel", "supabase"]);
    binary.run(&["import", "--from", "csv"]).await.refused(&["name the file"]);
    binary.run(&["import", "nowhere.csv", "--from", "csv"]).await.refused(&["nowhere.csv"]);
    binary
        .run(&["import", "people.jsonl", "--from", "csv", "--column", "x=y"])
        .await
        .refused(&["no field", "email"]);
    std::fs::write(binary.path("empty.csv"), "").unwrap();
    binary.run(&["import", "empty.csv", "--from", "csv"]).await.refused(&["empty"]);
    std::fs::write(binary.path("x.gz"), b"\x1f\x8b\x08").unwrap();
    binary.run(&["import", "x.gz", "--from", "csv"]).await.refused(&["zcat"]);
}

#[tokio::test]
async fn clash_under_policy_fail_ends_the_import() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 2);
    import(&binary, &[]).await.good();
    write_records(&binary, "people.jsonl", 3);

    import(&binary, &["--on-conflict", "fail"]).await.refused(&["line 1", "email_taken"]);
}

#[tokio::test]
async fn stopped_import_goes_on_and_a_changed_file_does_not() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 4_000);
    let slow = ["import", "people.jsonl", "--from", "latchkey", "--rate", "500"];
    let child = binary.command(&slow).spawn().unwrap();
    eventually("a batch is written", async || {
        let list: Value = binary.run(&["import", "list", "--json"]).await.good().parse().unwrap();
        list["data"][0]["created"].as_u64().filter(|created| *created > 0)
    })
    .await;
    terminate(&child, Signal::INT);
    let output = child.wait_with_output().await.unwrap();
    assert_eq!(output.status.code(), Some(130));
    let id = only_import(&binary).await;
    let stopped: Value =
        binary.run(&["import", "show", &id, "--json"]).await.good().lines().next().unwrap().parse().unwrap();
    assert_eq!(stopped["job"]["state"], "failed");
    assert!(stopped["job"]["read"].as_u64().unwrap() < 4_000, "{stopped}");

    write_records(&binary, "people.jsonl", 3_999);
    import(&binary, &[]).await.refused(&["changed", "import undo"]);
    write_records(&binary, "people.jsonl", 4_000);
    let hashes = json!({"algorithm": "HMAC_MD5", "base64_signer_key": "a2V5", "rounds": 1}).to_string();
    std::fs::write(binary.path("hashes.json"), hashes).unwrap();
    for options in [
        &["--allow-weak"][..],
        &["--unverified"],
        &["--on-conflict", "update"],
        &["--hash-config", "hashes.json"],
    ] {
        import(&binary, options).await.refused(&["an option", "changed", "import undo"]);
    }
    let other = ["import", "people.jsonl", "--from", "csv"];
    binary.run(&other).await.refused(&["an option", "changed", "import undo"]);
    let output = import(&binary, &[]).await;

    assert!(output.good().contains("4000 read, 4000 created"), "{}", output.out);
    assert!(output.err.contains("goes on"), "{}", output.err);
    assert_eq!(only_import(&binary).await, id);
}

#[tokio::test]
async fn undo_asks_and_tells_what_stays() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 3);
    import(&binary, &[]).await.good();
    let id = only_import(&binary).await;
    binary.run(&["import", "undo", &id]).await.refused(&["--yes"]);
    let running = binary.serve().await;
    running.anon().sign_in("person-1@example.org", "password").send().await.expect(200);
    running.stop().await;

    let undone = binary.run(&["import", "undo", &id, "--yes"]).await;

    assert!(
        undone.good().contains("2 accounts deleted") && undone.out.contains("1 stays: it has signed in"),
        "{}",
        undone.out
    );
    assert!(binary.run(&["user", "list"]).await.good().contains("1 of 1"));
    binary.run(&["import", "undo", &id, "--yes"]).await.refused(&["undone"]);
}

#[tokio::test]
async fn undo_prints_a_document_if_it_is_asked_to() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 3);
    import(&binary, &[]).await.good();
    let id = only_import(&binary).await;

    let undone = binary.run(&["import", "undo", &id, "--yes", "--json"]).await;

    let document: Value = serde_json::from_str(undone.good()).unwrap();
    assert_eq!(document, json!({"deleted": 3, "signedIn": 0, "changed": 0, "gone": 0}));
}

#[tokio::test]
async fn service_that_runs_serves_beside_an_import() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 1_000);
    let running = binary.serve().await;
    let (output, ()) = tokio::join!(import(&binary, &[]), async {
        for number in 0..20 {
            let email = format!("new-{number}@example.org");
            running.anon().sign_up(&email, "correct horse battery").send().await.expect(200);
        }
    });
    assert!(output.good().contains("1000 created"), "{}", output.out);
    eventually("imported profiles are found", async || {
        let found = running.anon().search("person-999").send().await.expect(200);
        found[0]["username"].as_str().map(|_| ())
    })
    .await;
}

#[tokio::test]
async fn import_tells_that_it_pauses_for_a_service() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 3);
    let alone = import(&binary, &[]).await;
    assert!(alone.good().contains("3 created") && !alone.err.contains("in use"), "{}", alone.err);

    let _running = binary.serve().await;

    let beside = import(&binary, &["--dry-run"]).await;
    assert!(beside.good().contains("3 skipped") && beside.err.contains("in use"), "{}", beside.err);
    let at_a_rate = import(&binary, &["--dry-run", "--rate", "9000"]).await;
    assert!(!at_a_rate.err.contains("in use"), "{}", at_a_rate.err);
}

/// Hash that `latchkey` stored for an account.
fn stored_hash(binary: &Binary, email: &str) -> String {
    let conn = rusqlite::Connection::open(binary.path("latchkey-data/latchkey.db")).unwrap();
    let sql =
        "SELECT c.data FROM credentials AS c JOIN users AS u ON u.id = c.user_id WHERE u.email_key = ?1";
    conn.query_row(sql, [email], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn database_of_pocketbase_is_read() {
    let binary = Binary::new();
    let source = rusqlite::Connection::open(binary.path("data.db")).unwrap();
    source.execute_batch(include_str!("sources/pocketbase.sql")).unwrap();
    let link = "INSERT INTO _externalAuths (id, collectionRef, recordRef, provider, providerId)
        SELECT 'x', '_pb_users_auth_', id, 'github', '77' FROM users
        UNION ALL SELECT 'y', 'members_id', id, 'google', 'of a stranger with the same id' FROM users";
    source.execute(link, []).unwrap();
    drop(source);

    let output = binary.run(&["import", "data.db", "--from", "pocketbase", "--collection", "users"]).await;

    assert!(output.good().contains("1 read, 1 created"), "{}", output.out);
    assert!(output.out.contains("1 provider_not_configured"), "{}", output.out);
    assert!(stored_hash(&binary, "ada@example.org").starts_with("$2a$10$"));
    let again = binary.run(&["import", "data.db", "--from", "pocketbase"]).await;
    assert!(again.good().contains("1 skipped"), "{}", again.out);
    let running = binary.serve().await;
    running.anon().sign_in("ada@example.org", "correct horse battery").send().await.expect(200);
}

#[tokio::test]
async fn rows_of_better_auth_are_read_from_json_and_from_its_database() {
    let rows: Value = include_str!("sources/better-auth.json").parse().unwrap();
    let (json, database) = (Binary::new(), Binary::new());
    std::fs::write(json.path("rows.json"), rows.to_string()).unwrap();
    let source = rusqlite::Connection::open(database.path("auth.db")).unwrap();
    let schema = "CREATE TABLE user (id TEXT PRIMARY KEY, name TEXT, email TEXT, emailVerified INTEGER, image TEXT,
            createdAt TEXT, updatedAt TEXT);
        CREATE TABLE account (id TEXT PRIMARY KEY, accountId TEXT, providerId TEXT, userId TEXT, password TEXT)";
    source.execute_batch(schema).unwrap();
    for user in rows["user"].as_array().unwrap() {
        let text = |key: &str| user[key].as_str().map(str::to_owned);
        let values =
            rusqlite::params![text("id"), text("name"), text("email"), text("image"), text("createdAt")];
        source.execute("INSERT INTO user VALUES (?1, ?2, ?3, 0, ?4, ?5, ?5)", values).unwrap();
    }
    for account in rows["account"].as_array().unwrap() {
        let text = |key: &str| account[key].as_str().map(str::to_owned);
        let values = ["id", "accountId", "providerId", "userId", "password"].map(text);
        source
            .execute("INSERT INTO account VALUES (?1, ?2, ?3, ?4, ?5)", rusqlite::params_from_iter(values))
            .unwrap();
    }
    drop(source);

    for (binary, file) in [(json, "rows.json"), (database, "auth.db")] {
        let output = binary.run(&["import", file, "--from", "better-auth"]).await;
        assert!(output.good().contains("2 read, 2 created"), "{}", output.out);
        for email in ["ada@example.org", "zoe@example.org"] {
            let hash = stored_hash(&binary, email);
            assert!(hash.starts_with("$scrypt$ln=14,r=16,p=1,f=nfkc$"), "{hash}");
        }
        let running = binary.serve().await;
        running.anon().sign_in("ada@example.org", "correct horse battery").send().await.expect(200);
        running.anon().sign_in("zoe@example.org", "ﬁne Pässwörd ①").send().await.expect(200);
    }
}

#[tokio::test]
async fn account_of_firebase_signs_in_with_its_old_password() {
    let binary = Binary::new();
    // From Firebase's own reference implementation, https://github.com/firebase/scrypt.
    let config = json!({
        "base64_signer_key":
            "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
        "base64_salt_separator": "Bw==", "rounds": 8, "mem_cost": 14,
    });
    let users = json!({"users": [{
        "localId": "k1", "email": "ada@example.org", "emailVerified": true, "salt": "42xEC+ixf3L2lw==",
        "passwordHash": "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
    }]});
    std::fs::write(binary.path("config.json"), config.to_string()).unwrap();
    std::fs::write(binary.path("users.json"), users.to_string()).unwrap();

    let command = ["import", "users.json", "--from", "firebase", "--hash-config", "config.json"];
    let output = binary.run(&command).await;

    assert!(output.good().contains("1 created"), "{}", output.out);
    assert!(!stored_hash(&binary, "ada@example.org").contains("sk="), "the signer key is stored apart");
    let running = binary.serve().await;
    running.anon().sign_in("ada@example.org", "user1password").send().await.expect(200);
}
