//! Tests of `latchkey restore`: what comes back with a backup, what does not, and what is refused.

use std::os::unix::fs::PermissionsExt;

use latchkey_testkit::{PASSWORD, Session, json};

use crate::backup::{FILE, binary, digests, sign_up};
use crate::binary::{Binary, names_in};

/// Stopped service with one user, Ada, her session, and a backup `copy.db`. Since the backup she changed her profile.
async fn backed_up() -> (Binary, Session) {
    let binary = binary();
    let running = binary.serve().await;
    let (session, ada) = sign_up(&running.anon(), "ada@example.org").await;
    ada.patch("/api/profiles/me", json!({"bio": "before"})).send().await.expect(200);
    binary.run(&["backup", "--out", "copy.db"]).await.good();
    ada.patch("/api/profiles/me", json!({"bio": "after"})).send().await.expect(200);
    running.stop().await;
    (binary, session)
}

#[tokio::test]
async fn restored_database_has_the_accounts_and_none_of_the_sessions() {
    let (binary, session) = backed_up().await;

    let output = binary.run(&["restore", "copy.db", "--force"]).await;

    assert!(output.good().contains("1 session ended, a new key signs tokens"), "{output:?}");
    let running = binary.serve().await;
    running.anon().refresh(&session).send().await.refused(401, "AUTH_UNAUTHORIZED");
    let old = running.anon().with_bearer(&session.access_token);
    old.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
    let signed_in = Session::of(&running.anon().sign_in("ada@example.org", PASSWORD).send().await);
    let ada = running.anon().with_bearer(&signed_in.access_token);
    assert_eq!(ada.get("/api/profiles/me").send().await.expect(200)["bio"], "before");
    let keys = running.anon().get("/.well-known/jwks.json").send().await.expect(200);
    assert_eq!(keys["keys"].as_array().map(Vec::len), Some(1), "no key of the backup is published");
}

#[tokio::test]
async fn kept_sessions_go_on() {
    let (binary, session) = backed_up().await;

    let output = binary.run(&["restore", "copy.db", "--force", "--keep-sessions"]).await;

    assert!(output.good().contains("The sessions of the backup are kept"), "{output:?}");
    let running = binary.serve().await;
    running.anon().refresh(&session).send().await.expect(200);
}

#[tokio::test]
async fn existing_database_is_moved_aside_by_force_alone() {
    let (binary, _) = backed_up().await;
    let there = digests(&binary.path(FILE));

    binary.run(&["restore", "copy.db"]).await.refused(&["there is a database at", "--to", "--force"]);
    assert_eq!(digests(&binary.path(FILE)), there);
    binary.run(&["restore", "copy.db", "--force"]).await.good();

    let names = names_in(&binary.path("latchkey-data"));
    let moved = names.iter().find(|name| name.starts_with("latchkey.db.before-restore-")).unwrap();
    assert_eq!(digests(&binary.path(&format!("latchkey-data/{moved}"))), there);
    assert!(!names.iter().any(|name| name.contains("partial")), "{names:?}");
}

#[tokio::test]
async fn folder_is_never_moved_aside() {
    let (binary, _) = backed_up().await;

    for force in [&[][..], &["--force"]] {
        let arguments = [&["restore", "copy.db", "--to", "latchkey-data"], force].concat();
        binary.run(&arguments).await.refused(&["latchkey-data is a folder", "latchkey-data/latchkey.db"]);
    }

    assert!(binary.path(FILE).exists());
}

#[tokio::test]
async fn folder_that_is_missing_is_made_for_its_owner_alone() {
    let (binary, _) = backed_up().await;
    let secret = binary.read("latchkey-data/server-secret");
    std::fs::remove_dir_all(binary.path("latchkey-data")).unwrap(); // a new machine

    let binary = binary.variable("LATCHKEY__SERVER__SECRET", &secret);
    binary.run(&["restore", "copy.db"]).await.good();
    binary.run(&["restore", "copy.db", "--to", "a/b/new.db"]).await.good();

    for folder in ["latchkey-data", "a", "a/b"] {
        let mode = binary.path(folder).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{folder}");
    }
    assert!(binary.path(FILE).exists() && binary.path("a/b/new.db").exists());
}

#[tokio::test]
async fn backup_is_not_restored_over_itself() {
    let (binary, _) = backed_up().await;
    std::fs::hard_link(binary.path("copy.db"), binary.path("link.db")).unwrap();
    let before = std::fs::read(binary.path("copy.db")).unwrap();

    for to in ["copy.db", "./copy.db", "link.db"] {
        let output = binary.run(&["restore", "copy.db", "--to", to, "--force"]).await;
        output.refused(&["is the backup itself", "another path"]);
    }

    assert_eq!(std::fs::read(binary.path("copy.db")).unwrap(), before);
}

#[tokio::test]
async fn restore_to_another_path_leaves_the_database_alone() {
    let (binary, _) = backed_up().await;
    let there = digests(&binary.path(FILE));

    binary.run(&["restore", "copy.db", "--to", "rehearsal.db"]).await.good();

    assert_eq!(digests(&binary.path(FILE)), there);
    let rehearsal = binary.clone().set("storage.url=sqlite:rehearsal.db").serve().await;
    rehearsal.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
}

#[tokio::test]
async fn log_of_a_lost_database_is_not_read_into_the_restored_one() {
    let (binary, _) = backed_up().await;
    let running = binary.serve().await;
    sign_up(&running.anon(), "bob@example.org").await;
    running.kill().await; // leaves the log
    std::fs::remove_file(binary.path(FILE)).unwrap();

    binary.run(&["restore", "copy.db"]).await.refused(&["there is a database at"]);
    binary.run(&["restore", "copy.db", "--force"]).await.good();

    let running = binary.serve().await;
    running.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
    running.anon().sign_in("bob@example.org", PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
}

#[tokio::test]
async fn log_beside_a_database_that_was_moved_aside_is_restored_with_it() {
    let (binary, _) = backed_up().await;
    let running = binary.serve().await;
    sign_up(&running.anon(), "bob@example.org").await;
    running.kill().await; // leaves the log, which alone has Bob
    binary.run(&["restore", "copy.db", "--force"]).await.good();
    let folder = binary.path("latchkey-data");
    let names = names_in(&folder);
    let is_moved = |name: &&String| name.starts_with("latchkey.db.before-restore-") && name.ends_with('Z');
    let moved = format!("latchkey-data/{}", names.iter().find(is_moved).unwrap());

    let back = binary.run(&["restore", &moved, "--force"]).await;

    assert!(back.good().contains("-wal was restored too"), "{back:?}");
    assert!(!names_in(&folder).iter().any(|name| name.contains("partial")), "{:?}", names_in(&folder));
    let running = binary.serve().await;
    running.anon().sign_in("bob@example.org", PASSWORD).send().await.expect(200);
}

#[tokio::test]
async fn log_of_another_database_is_not_restored() {
    let (this, _) = backed_up().await;
    let other = binary();
    let running = other.serve().await;
    sign_up(&running.anon(), "bob@example.org").await;
    running.kill().await; // leaves the log, which has the first page since the file is new
    std::fs::remove_file(this.path("copy.db.json")).unwrap();
    std::fs::copy(other.path("latchkey-data/latchkey.db-wal"), this.path("copy.db-wal")).unwrap();

    let output = this.run(&["restore", "copy.db", "--to", "new.db", "--force"]).await;

    output.refused(&["the log beside the file (-wal) is not its own"]);
    assert!(!this.path("new.db").exists());
}

#[tokio::test]
async fn log_beside_a_backup_with_a_manifest_is_refused() {
    let (binary, _) = backed_up().await;
    std::fs::write(binary.path("copy.db-wal"), "x").unwrap();

    for force in [&[][..], &["--force"]] {
        let arguments = [&["restore", "copy.db", "--to", "new.db"], force].concat();
        binary.run(&arguments).await.refused(&["copy.db-wal lies beside the backup", "move it away"]);
    }

    assert!(!binary.path("new.db").exists());
}

#[tokio::test]
async fn running_service_is_not_restored_over() {
    let (binary, session) = backed_up().await;
    let running = binary.serve().await;

    let output = binary.run(&["restore", "copy.db", "--force"]).await;

    output.refused(&["is open in another process", "stop the service first"]);
    running.anon().refresh(&session).send().await.expect(200);
}

#[tokio::test]
async fn backup_of_another_secret_is_refused_before_anything_is_copied() {
    let (binary, _) = backed_up().await;
    let secret = "7f".repeat(32);
    let other = binary.clone().set(&format!("server.secret={secret}"));

    other
        .run(&["restore", "copy.db", "--to", "new.db"])
        .await
        .refused(&["server.secret is not the one of the backup"]);
    std::fs::remove_file(binary.path("copy.db.json")).unwrap();
    let forced = other.run(&["restore", "copy.db", "--to", "new.db", "--force"]).await;

    forced.refused(&["server.secret does not open the signing keys"]);
    assert!(!binary.path("new.db").exists());
}

#[tokio::test]
async fn torn_backup_is_refused() {
    let (binary, _) = backed_up().await;
    let whole = std::fs::read(binary.path("copy.db")).unwrap();
    std::fs::write(binary.path("copy.db"), &whole[..whole.len() - 4096]).unwrap();

    binary.run(&["restore", "copy.db", "--to", "new.db"]).await.refused(&["it was not copied whole"]);

    std::fs::remove_file(binary.path("copy.db.json")).unwrap();
    binary.run(&["restore", "copy.db", "--to", "new.db", "--force"]).await.refused(&["copy.db"]);
    assert!(!binary.path("new.db").exists());
}

#[tokio::test]
async fn backup_without_manifest_is_restored_by_force_alone() {
    let (binary, _) = backed_up().await;
    std::fs::remove_file(binary.path("copy.db.json")).unwrap();

    binary
        .run(&["restore", "copy.db", "--to", "new.db"])
        .await
        .refused(&["copy.db.json is missing", "--force"]);
    let forced = binary.run(&["restore", "copy.db", "--to", "new.db", "--force"]).await;

    assert!(forced.good().contains("There was no manifest"), "{forced:?}");
}

#[tokio::test]
async fn restore_is_audited() {
    let (binary, _) = backed_up().await;

    binary.run(&["restore", "copy.db", "--force"]).await.good();

    let audit = binary.run(&["audit", "--kind", "database_restored"]).await;
    assert!(audit.good().contains("database_restored"), "{audit:?}");
}
