//! Tests of `config print` with settings that an admin changed at run time. The command reads the database and does not
//! change it.

use latchkey_testkit::postgres::TestCluster;
use latchkey_testkit::{Value, json};

use crate::binary::{Binary, Running, names_in};

const LIST: &str = "allowed_redirect_urls = [\"https://app.example/done\"] # admin";

async fn change(binary: &Binary, running: &Running, changes: Value) {
    let admin = running.anon().with_bearer(&binary.read("latchkey-data/admin-key"));
    admin.put("/api/auth/config", changes).send().await.expect(200);
}

async fn printed(binary: &Binary) -> String {
    binary.run(&["config", "print"]).await.good().to_owned()
}

fn has_line(text: &str, wanted: &str) -> bool {
    text.lines().any(|line| line == wanted)
}

/// Asserts on this binary's engine that the output shows the changes, with and without a running service.
async fn changes_are_shown(binary: Binary) {
    let binary = binary.set("auth.verify_email_method=code");
    let running = binary.serve().await;
    let changes = json!({
        "allowedRedirectUrls": ["https://app.example/done"], "disableSignup": true, "passwordMinLength": 12,
        "defaultRedirectUrl": null,
    });
    change(&binary, &running, changes).await;

    let beside = printed(&binary).await;
    running.stop().await;
    let after = printed(&binary).await;

    for text in [beside, after] {
        for line in [
            LIST,
            "disable_sign_up = true # admin",
            "min_length = 12 # admin",
            "default_redirect_url = \"\" # admin",
        ] {
            assert!(has_line(&text, line), "{line} is missing in {text}");
        }
        assert!(has_line(&text, "verify_email_method = \"code\" # --set"), "{text}");
        assert!(has_line(&text, "require_number = false # default"), "{text}");
        assert!(text.starts_with("# Values marked \"admin\""), "{text}");
    }
}

#[tokio::test]
async fn changes_of_an_admin_are_shown_with_their_origin() {
    changes_are_shown(Binary::new()).await;
}

#[tokio::test]
async fn changes_of_an_admin_are_shown_with_their_origin_on_postgres() {
    let database = TestCluster::shared().database();
    changes_are_shown(Binary::new().on(&database)).await;
}

#[tokio::test]
async fn change_that_was_pinned_later_is_not_in_force() {
    let binary = Binary::new();
    let running = binary.serve().await;
    change(&binary, &running, json!({"passwordMinLength": 12})).await;
    running.stop().await;

    let text = printed(&binary.set("passwords.min_length=15")).await;

    assert!(has_line(&text, "min_length = 15 # --set"), "{text}");
    assert!(text.starts_with("# An admin has changed nothing at run time."), "{text}");
}

#[tokio::test]
async fn print_makes_no_database_and_leaves_nothing_beside_one() {
    let binary = Binary::new();
    assert!(printed(&binary).await.starts_with("# There is no database at ./latchkey-data/latchkey.db yet"));
    assert!(!binary.path("latchkey-data").exists());

    binary.run(&["migrate"]).await.good();
    let before = names_in(&binary.path("latchkey-data"));
    assert!(printed(&binary).await.starts_with("# An admin has changed nothing at run time."));

    assert_eq!(names_in(&binary.path("latchkey-data")), before);
}

#[tokio::test]
async fn print_does_not_migrate() {
    let database = TestCluster::shared().bare_database();
    let on_postgres = Binary::new().on(&database);
    let on_sqlite = Binary::new().set("storage.url=sqlite:empty.db");
    std::fs::write(on_sqlite.path("empty.db"), "").unwrap();

    for binary in [&on_postgres, &on_sqlite] {
        let text = printed(binary).await;
        assert!(
            text.starts_with("# The database ") && text.contains(" has no table of settings yet"),
            "{text}"
        );
        let missing = binary.run(&["migrate", "--check"]).await;
        assert!(missing.out.starts_with("Missing:\n  0001_users\n"), "{missing:#?}");
    }
}

#[tokio::test]
async fn unreadable_database_is_reported_and_the_rest_is_printed() {
    let garbage = Binary::new().set("storage.url=sqlite:garbage.db");
    std::fs::write(garbage.path("garbage.db"), "no database ".repeat(500)).unwrap();
    let unreachable = Binary::new().set("storage.url=postgres://ada:hunter2hunter2@127.0.0.1:9/x");

    for binary in [garbage, unreachable] {
        let text = printed(&binary).await;

        let note = text.lines().next().unwrap();
        assert!(
            note.starts_with("# The database ") && note.contains("cannot be read, so what an admin"),
            "{note}"
        );
        assert!(has_line(&text, "min_length = 8 # default") && !text.contains("hunter2"), "{text}");
    }
}

#[tokio::test]
async fn printed_settings_with_admin_changes_read_back_as_a_file() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let changes =
        json!({"allowedRedirectUrls": ["https://app.example/done?a=\"b\""], "verifyEmailMethod": "link"});
    change(&binary, &running, changes).await;
    running.stop().await;
    std::fs::write(binary.path("again.toml"), printed(&binary).await).unwrap();

    let again = binary.argument("--config").argument("again.toml");

    assert!(printed(&again).await.contains("verify_email_method = \"link\" # file again.toml"));
}
