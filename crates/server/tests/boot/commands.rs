//! Tests of commands that run on the database of a running service.

use latchkey_service::clock::{Clock, SystemClock};
use latchkey_testkit::{Authenticator, Client, Device, ManualClock, PASSWORD, Session, Value, json};

use crate::binary::{Binary, Running, eventually};

async fn signed_up(running: &Running, email: &str) -> (Client, Session) {
    let session = Session::of(&running.anon().sign_up(email, PASSWORD).send().await);
    (running.anon().with_bearer(&session.access_token), session)
}

/// Turns two-step sign-in on with an app of the real time; returns the access token of the session that this opens.
async fn turn_two_step_on(client: &Client) -> String {
    let begun = client.post("/api/auth/factors/totp", json!({"name": "My phone"})).send().await.expect(200);
    let secret = begun["secret"].as_str().unwrap();
    let code = Authenticator::new(secret, &ManualClock::at(SystemClock.now())).code();
    let confirm = json!({"factorId": begun["factorId"], "code": code});
    let confirmed = client.post("/api/auth/factors/totp/confirm", confirm).send().await.expect(200);
    confirmed["accessToken"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn user_that_is_created_can_sign_in() {
    let binary = Binary::new();
    let running = binary.serve().await;

    let output = binary
        .run_with_input(
            &["user", "create", "ada@example.org", "--name", "Ada", "--verified"],
            &format!("{PASSWORD}\n"),
        )
        .await;

    let id = output.good().trim().to_owned();
    let signed_in = running.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
    assert_eq!(signed_in["user"]["id"], Value::from(id));
    assert_eq!(signed_in["user"]["emailVerified"], true);
    assert_eq!(signed_in["user"]["profile"]["name"], "Ada");
}

#[tokio::test]
async fn user_can_be_created_without_a_running_service_and_without_a_profile() {
    let binary = Binary::new();

    let output = binary
        .run_with_input(&["user", "create", "ada@example.org", "--no-profile"], &format!("{PASSWORD}\r\n"))
        .await;

    output.good();
    let running = binary.serve().await;
    let session = Session::of(&running.anon().sign_in("ada@example.org", PASSWORD).send().await);
    let ada = running.anon().with_bearer(&session.access_token);
    ada.get("/api/profiles/me").send().await.refused(404, "PROFILE_NOT_FOUND");
}

#[tokio::test]
async fn user_that_breaks_a_rule_is_not_created() {
    let binary = Binary::new();

    let no_password = binary.run(&["user", "create", "ada@example.org"]).await;
    let weak = binary.run_with_input(&["user", "create", "ada@example.org"], "password\n").await;
    let no_address = binary.run_with_input(&["user", "create", "ada"], PASSWORD).await;

    no_password.refused(&["password", "standard input"]);
    weak.refused(&["password"]);
    no_address.refused(&["the email address"]);
    assert!(binary.run(&["user", "list"]).await.good().ends_with("0 of 0\n"));
}

#[tokio::test]
async fn user_that_exists_is_not_created_again() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good();

    let again = binary.run_with_input(&["user", "create", "ADA@example.org"], PASSWORD).await;

    assert_eq!(again.code, Some(1), "{again:#?}");
    assert!(again.err.contains("exists") || again.err.contains("taken"), "{}", again.err);
}

#[tokio::test]
async fn users_are_listed_and_found() {
    let binary = Binary::new();
    for email in ["ada@example.org", "bob@example.org", "eve@example.net"] {
        binary.run_with_input(&["user", "create", email], PASSWORD).await.good();
    }

    let all = binary.run(&["user", "list", "--limit", "2"]).await;
    let some = binary.run(&["user", "list", "--search", "eve@"]).await;

    assert!(all.good().ends_with("2 of 3\n"), "{}", all.out);
    assert!(some.good().contains("eve@example.net") && !some.out.contains("ada@"), "{}", some.out);
}

#[tokio::test]
async fn ban_acts_on_the_very_next_request_and_can_be_lifted() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let (ada, _) = signed_up(&running, "ada@example.org").await;

    binary.run(&["user", "ban", "ada@example.org"]).await.good();
    ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
    running.anon().sign_in("ada@example.org", PASSWORD).send().await.refused(403, "USER_BANNED");

    binary.run(&["user", "unban", "ada@example.org"]).await.good();
    running.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
}

#[tokio::test]
async fn deletion_acts_on_the_very_next_request() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let (ada, session) = signed_up(&running, "ada@example.org").await;

    binary.run(&["user", "delete", &session.user_id, "--yes"]).await.good();

    ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
    let public = running.anon().get(&format!("/api/profiles/{}", session.user_id)).send().await;
    public.refused(404, "USER_NOT_FOUND");
}

#[tokio::test]
async fn deletion_without_a_terminal_needs_confirmation() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good();

    for input in ["", "y\n", "yes\n"] {
        let output = binary.run_with_input(&["user", "delete", "ada@example.org"], input).await;
        output.refused(&["no terminal", "--yes"]);
    }

    assert!(binary.run(&["user", "list"]).await.good().contains("ada@example.org"));
    binary.run(&["user", "delete", "--yes", "ada@example.org"]).await.good();
    assert!(binary.run(&["user", "list"]).await.good().ends_with("0 of 0\n"));
}

#[tokio::test]
async fn account_is_shown_with_its_factors_and_sessions() {
    let binary = Binary::new().set("auth.require_email_verification=true");
    let created = ["user", "create", "ada@example.org", "--verified"];
    binary.run_with_input(&created, PASSWORD).await.good();
    let shown = binary.run(&["user", "show", "ada@example.org"]).await;
    assert!(shown.good().starts_with("ada@example.org can sign in.\n"), "{}", shown.out);
    assert!(
        shown.out.contains("Two-step   off")
            && shown.out.contains("No sign-ins")
            && shown.out.contains("No open sessions"),
        "{}",
        shown.out
    );
    let running = binary.serve().await;
    let session = Session::of(&running.anon().sign_in("ada@example.org", PASSWORD).send().await);
    let ada = running.anon().with_bearer(&session.access_token);
    turn_two_step_on(&ada).await;

    let shown = binary.run(&["user", "show", &session.user_id]).await;

    for part in [
        "Two-step   on since 20",
        "App        My phone, added",
        "10 unused codes",
        "LAST SIGN-INS",
        "pwd",
        "127.0.0.1",
    ] {
        assert!(shown.good().contains(part), "{part} in {}", shown.out);
    }
}

#[tokio::test]
async fn account_is_shown_with_the_words_of_why() {
    let binary = Binary::new().set("auth.require_email_verification=true");
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good();

    for by_mail in ["code", "off"] {
        let binary = binary.clone().set(&format!("auth.email_sign_in={by_mail}"));
        let why = binary.run(&["user", "why", "ada@example.org"]).await;
        let shown = binary.run(&["user", "show", "ada@example.org"]).await;

        let can = if by_mail == "code" { "can" } else { "cannot" };
        assert!(
            why.good().starts_with(&format!("ada@example.org {can} sign in.\n  Address not verified")),
            "{why:?}"
        );
        assert_eq!(shown.good().split("\n\n").next(), Some(why.out.trim_end()), "{shown:?}");
    }
}

#[tokio::test]
async fn removal_of_factors_ends_sessions_and_needs_confirmation_without_a_terminal() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org", "--verified"], PASSWORD).await.good();
    let running = binary.serve().await;
    let session = Session::of(&running.anon().sign_in("ada@example.org", PASSWORD).send().await);
    let token = turn_two_step_on(&running.anon().with_bearer(&session.access_token)).await;
    let remove = ["user", "factors", "remove", "ada@example.org"];

    binary.run_with_input(&remove, "y\n").await.refused(&["no terminal", "--yes"]);
    let challenged = running.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
    assert!(challenged.get("challenge").is_some(), "{challenged}");
    binary.run(&[remove.as_slice(), &["--yes"]].concat()).await.good();

    let ada = running.anon().with_bearer(&token);
    ada.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
    let session = running.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
    assert!(session.get("accessToken").is_some(), "{session}");
}

#[tokio::test]
async fn passkeys_are_shown_and_removed_on_request_alone() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org", "--verified"], PASSWORD).await.good();
    let running = binary.serve().await;
    let session = Session::of(&running.anon().sign_in("ada@example.org", PASSWORD).send().await);
    let ada = running.anon().with_bearer(&session.access_token);
    let (mut passkey, id) = ada.add_passkey(&Device::at("http://localhost:3000")).await;
    let remove = ["user", "factors", "remove", "ada@example.org", "--yes"];

    binary.run(&remove).await.good();
    let shown = binary.run(&["user", "show", "ada@example.org"]).await;
    let sign_in = running.anon().sign_in_by_passkey(&mut passkey).await;
    sign_in.send().await.expect(200);
    binary.run(&[remove.as_slice(), &["--passkeys"]].concat()).await.good();

    assert!(shown.good().contains("Passkey    ") && shown.out.contains(&id), "{}", shown.out);
    let sign_in = running.anon().sign_in_by_passkey(&mut passkey).await;
    sign_in.send().await.refused(401, "UNKNOWN_PASSKEY");
}

#[tokio::test]
async fn id_of_an_account_has_one_spelling() {
    let binary = Binary::new();
    let made = binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await;
    let id = made.good().trim().to_owned();

    for other in [id.replace('-', ""), format!("{{{id}}}"), format!("urn:uuid:{id}")] {
        let user = binary.run(&["user", "ban", &other]).await;
        let mail = binary.run(&["mail", "retry", &other]).await;
        assert_eq!((user.code, mail.code), (Some(2), Some(2)), "{user:#?} {mail:#?}");
    }
    binary.run(&["user", "ban", &id.to_uppercase()]).await.good();
}

#[tokio::test]
async fn unknown_user_is_reported() {
    let binary = Binary::new();

    let by_email = binary.run(&["user", "ban", "nobody@example.org"]).await;
    let by_id = binary.run(&["user", "delete", "00000000-0000-7000-8000-000000000000", "--yes"]).await;

    assert_eq!((by_email.code, by_id.code), (Some(1), Some(1)), "{by_email:#?} {by_id:#?}");
    assert!(by_email.err.contains("user") && by_id.err.contains("user"), "{by_email:#?} {by_id:#?}");
}

#[tokio::test]
async fn rotated_key_is_served_by_the_running_service_and_old_tokens_stay_good() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let (ada, _) = signed_up(&running, "ada@example.org").await;
    let keys = async || {
        let set = running.anon().get("/.well-known/jwks.json").send().await.expect(200);
        set["keys"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key["kid"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let before = keys().await;

    let output = binary.run(&["keys", "rotate"]).await;

    let listed = output.good();
    let after =
        eventually("the new key is served", async || Some(keys().await).filter(|keys| keys.len() == 2)).await;
    assert!(after.contains(&before[0]) && after.iter().all(|key| listed.contains(key)), "{listed}");
    ada.get("/api/profiles/me").send().await.expect(200);
    let (bob, _) = signed_up(&running, "bob@example.org").await;
    bob.get("/api/profiles/me").send().await.expect(200);
}

#[tokio::test]
async fn keys_are_listed_with_their_use() {
    let binary = Binary::new();
    binary.run(&["keys", "rotate"]).await.good();

    let output = binary.run(&["keys", "list"]).await;

    let listed = output.good();
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert_eq!(listed.matches("ES256").count(), 2, "{listed}");
    assert!(listed.contains("signs") && listed.contains("accepted until"), "{listed}");
}

#[tokio::test]
async fn redirect_targets_can_be_tried() {
    let binary = Binary::new().set("auth.allowed_redirect_urls=https://app.example/done");

    let allowed = binary.run(&["redirects", "test", "https://app.example/done?x=1"]).await;
    let refused = binary.run(&["redirects", "test", "https://app.example.evil.example/done"]).await;

    assert_eq!(allowed.good(), "allowed: https://app.example/done?x=1\n");
    assert_eq!(refused.code, Some(1));
    assert!(refused.out.starts_with("refused: "), "{}", refused.out);
}

#[tokio::test]
async fn redirect_list_of_the_admin_counts_for_the_command_too() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let admin = running.anon().with_bearer(&binary.read("latchkey-data/admin-key"));
    let list = json!({"allowedRedirectUrls": ["https://app.example/done"]});
    admin.put("/api/auth/config", list).send().await.expect(200);

    let output = binary.run(&["redirects", "test", "https://app.example/done"]).await;

    assert_eq!(output.good(), "allowed: https://app.example/done\n");
}

#[tokio::test]
async fn version_is_printed() {
    let output = Binary::bare().run(&["version"]).await;

    assert_eq!(output.good(), format!("latchkey {}\n", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn printed_openapi_is_what_is_served() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let served = running.anon().get("/openapi.json").send().await;

    let printed = binary.run(&["document", "openapi"]).await;

    let printed: Value = serde_json::from_str(printed.good()).unwrap();
    assert_eq!(printed, served.json());
    assert_eq!(printed["openapi"].as_str().map(|version| &version[..3]), Some("3.1"));
}
