//! Tests of `latchkey operator`.

use latchkey_service::clock::{Clock, SystemClock};
use latchkey_testkit::{Authenticator, ManualClock, PASSWORD, Session, json};

use crate::binary::Binary;

/// Creates accounts with verified addresses.
async fn with_accounts(emails: &[&str]) -> Binary {
    let binary = Binary::new();
    for email in emails {
        binary.run_with_input(&["user", "create", email, "--verified"], PASSWORD).await.good();
    }
    binary
}

#[tokio::test]
async fn grant_says_that_the_console_is_off() {
    let binary = with_accounts(&["ada@example.org"]).await;
    let grant = ["operator", "grant", "ada@example.org", "--role", "owner"];

    let on = binary.run(&grant).await;
    let off = binary.clone().set("console.enabled=false").run(&grant).await;

    assert_eq!((on.code, on.err.as_str()), (Some(0), ""));
    assert!(off.good().contains("/console/activate?token="), "{}", off.out);
    assert_eq!(off.err, "The console is off: nobody can open the link until console.enabled is true.\n");
}

#[tokio::test]
async fn role_is_granted_with_a_link_and_listed() {
    let binary = with_accounts(&["ada@example.org", "bob@example.org"]).await;

    let owner = binary.run(&["operator", "grant", "ADA@example.org", "--role", "owner"]).await;
    let viewer = binary.run(&["operator", "grant", "bob@example.org", "--role", "viewer"]).await;

    for (output, text) in [(&owner, "ada@example.org has the role owner"), (&viewer, "has the role viewer")] {
        assert!(output.good().contains(text), "{}", output.out);
        let link = output.out.lines().last().unwrap();
        let (page, token) = link.split_once("?token=").unwrap();
        assert!(page.starts_with("http") && page.ends_with("/console/activate"), "{link}");
        assert_eq!(token.len(), 64, "256 bits: {token}");
    }
    assert_ne!(owner.out.lines().last(), viewer.out.lines().last());
    let list = binary.run(&["operator", "list"]).await;
    let lines: Vec<_> = list.good().lines().collect();
    assert!(lines[1].starts_with("owner") && lines[1].ends_with("ada@example.org"), "{}", list.out);
    assert!(lines[1].contains("link until") && lines[2].starts_with("viewer"), "{}", list.out);
    assert_eq!(lines[3], "2 operators");
}

#[tokio::test]
async fn grant_that_breaks_a_rule_changes_nothing() {
    let binary = with_accounts(&["bob@example.org"]).await;
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good();
    binary.run(&["user", "ban", "bob@example.org"]).await.good();
    let grant = async |email, role| binary.run(&["operator", "grant", email, "--role", role]).await;

    grant("ada@example.org", "owner").await.refused(&["ada@example.org", "not verified"]);
    grant("bob@example.org", "owner").await.refused(&["bob@example.org", "banned"]);
    grant("0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "owner").await.refused(&["user"]);
    let role = grant("ada@example.org", "king").await;
    assert!(role.err.contains("viewer, support, admin or owner"), "{}", role.err);

    assert!(binary.run(&["operator", "list"]).await.good().ends_with("0 operators\n"));
}

#[tokio::test]
async fn address_without_an_account_gets_a_link_that_is_renewed_and_revoked() {
    let binary = with_accounts(&[]).await;

    let granted = binary.run(&["operator", "grant", "Eve@example.org", "--role", "owner"]).await;

    assert!(granted.good().contains("Eve@example.org has the role owner"), "{}", granted.out);
    let list = binary.run(&["operator", "list"]).await;
    let lines: Vec<_> = list.good().lines().collect();
    assert!(lines[1].contains("no account") && lines[1].ends_with("Eve@example.org"), "{}", list.out);
    assert!(lines[1].contains("link until") && lines[2] == "1 operator", "{}", list.out);
    let json = binary.run(&["operator", "list", "--json"]).await;
    assert!(json.good().contains("\"userId\": null") || json.out.contains("\"userId\":null"), "{}", json.out);
    let renewed = binary.run(&["operator", "reactivate", "eve@example.org"]).await;
    assert_ne!(renewed.good().lines().last(), granted.out.lines().last());
    binary.run(&["operator", "revoke", "eve@example.org"]).await.good();
    binary.run(&["operator", "revoke", "eve@example.org"]).await.refused(&["no role"]);
    assert!(binary.run(&["operator", "list"]).await.good().ends_with("0 operators\n"));
}

#[tokio::test]
async fn last_owner_stays_without_force() {
    let binary = with_accounts(&["ada@example.org", "bob@example.org"]).await;
    let granted = async |email, role| binary.run(&["operator", "grant", email, "--role", role]).await;
    granted("ada@example.org", "owner").await.good();
    granted("bob@example.org", "admin").await.good();

    for command in [
        &["operator", "revoke", "ada@example.org"][..],
        &["operator", "grant", "ada@example.org", "--role", "admin"],
        &["user", "ban", "ada@example.org"],
        &["user", "delete", "ada@example.org", "--yes"],
    ] {
        binary.run(command).await.refused(&["last owner", "latchkey operator grant"]);
    }

    assert!(binary.run(&["operator", "list"]).await.good().contains("owner "));
    let forced = binary.run(&["operator", "revoke", "ada@example.org", "--force"]).await;
    assert!(forced.good().contains("nobody can enter"), "{}", forced.out);
    let revoked = binary.run(&["operator", "revoke", "bob@example.org"]).await;
    assert!(!revoked.good().contains("nobody"), "{}", revoked.out);
    binary.run(&["operator", "revoke", "bob@example.org"]).await.refused(&["no role"]);
    binary.run(&["operator", "reactivate", "bob@example.org"]).await.refused(&["no role"]);
    binary.run(&["user", "delete", "ada@example.org", "--yes"]).await.good();
}

#[tokio::test]
async fn new_link_replaces_the_one_before() {
    let binary = with_accounts(&["ada@example.org"]).await;
    let first = binary.run(&["operator", "grant", "ada@example.org", "--role", "owner"]).await;

    let second = binary.run(&["operator", "reactivate", "ada@example.org"]).await;

    assert!(second.good().contains("sleeps"), "{}", second.out);
    let token = |output: &str| output.trim_end().rsplit_once("?token=").unwrap().1.to_owned();
    assert_ne!(token(first.good()), token(&second.out));
}

#[tokio::test]
async fn factors_of_an_operator_are_removed_by_command_alone() {
    let binary = with_accounts(&["ada@example.org"]).await;
    let running = binary.serve().await;
    let session = Session::of(&running.anon().sign_in("ada@example.org", PASSWORD).send().await);
    let ada = running.anon().with_bearer(&session.access_token);
    let begun = ada.post("/api/auth/factors/totp", json!({"name": "My phone"})).send().await.expect(200);
    let app = Authenticator::new(begun["secret"].as_str().unwrap(), &ManualClock::at(SystemClock.now()));
    let confirm = json!({"factorId": begun["factorId"], "code": app.code()});
    ada.post("/api/auth/factors/totp/confirm", confirm).send().await.expect(200);
    binary.run(&["operator", "grant", "ada@example.org", "--role", "owner"]).await.good();

    let list = binary.run(&["operator", "list"]).await;
    assert!(list.good().contains(" on "), "{}", list.out);
    binary.run(&["user", "factors", "remove", "ada@example.org", "--yes"]).await.good();

    let list = binary.run(&["operator", "list"]).await;
    assert!(list.good().contains(" off "), "{}", list.out);
}
