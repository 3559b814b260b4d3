//! Tests of the binary's log: its format, and the absence of secrets at the most verbose level.

use latchkey_testkit::{PASSWORD, Session, Value, json};

use crate::binary::{Binary, CommandOutput, Running, eventually};

/// New password of the user in `whole_life`.
const NEW_PASSWORD: &str = "quiet meadow 77 harbour";
const WRONG_PASSWORD: &str = "wrong meadow 78 harbour";

/// Code in the newest mail of the folder.
async fn code(binary: &Binary, mails: usize) -> String {
    let newest = eventually("the mail is written", async || {
        let mut sent = binary.mails();
        (sent.len() == mails).then(|| sent.pop()).flatten()
    })
    .await;
    let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|byte| byte.is_ascii_digit());
    newest.lines().map(str::trim).find(is_code).expect("a code").to_owned()
}

/// Makes calls with every kind of secret that a user has, and returns the secrets.
async fn whole_life(binary: &Binary, running: &Running) -> Vec<String> {
    let anon = running.anon();
    let email = "Ada.Lovelace@example.org";
    anon.sign_up(email, PASSWORD).send().await.expect(200);
    let first_code = code(binary, 1).await;
    let session = Session::of(&anon.verify(email, &first_code).send().await);
    let ada = anon.clone().with_bearer(&session.access_token);
    ada.get("/api/profiles/me?secret_query=visible").send().await.expect(200);
    anon.search("Lovelace-Query").send().await.expect(200);
    anon.sign_in(email, WRONG_PASSWORD).send().await.refused(401, "INVALID_CREDENTIALS");
    let refreshed = Session::of(&anon.refresh(&session).send().await);
    let server = Session::of(&anon.sign_in(email, PASSWORD).client_type("server").send().await);
    anon.get("/api/auth/email/verify-link?token=feedfacefeedface").send().await.page(400);
    anon.post("/api/auth/email/send-reset-password", json!({"email": email})).send().await.expect(202);
    let second_code = code(binary, 2).await;
    let body = json!({"email": email, "code": second_code});
    let token =
        anon.post("/api/auth/email/exchange-reset-password-token", body).send().await.expect(200)["token"]
            .clone();
    let body = json!({"newPassword": NEW_PASSWORD, "otp": token});
    anon.post("/api/auth/email/reset-password", body).send().await.expect(200);
    let admin_key = binary.read("latchkey-data/admin-key");
    anon.clone().with_bearer(&admin_key).get("/api/auth/users?search=ada.lovelace").send().await.expect(200);
    anon.with_bearer("admin_of_nothing_0123456789")
        .get("/api/auth/users")
        .send()
        .await
        .refused(401, "ADMIN_UNAUTHORIZED");

    let mut secrets: Vec<_> =
        [email, PASSWORD, NEW_PASSWORD, WRONG_PASSWORD, "secret_query", "Lovelace-Query"]
            .into_iter()
            .chain(["feedfacefeedface", "admin_of_nothing"])
            .map(str::to_owned)
            .collect();
    for session in [session, refreshed, server] {
        secrets.extend([session.refresh_secret().to_owned(), session.access_token.clone()]);
        secrets.extend(session.csrf_token);
    }
    secrets.extend([
        admin_key,
        binary.read("latchkey-data/server-secret"),
        token.as_str().unwrap().to_owned(),
    ]);
    secrets.extend([first_code, second_code]);
    secrets
}

#[track_caller]
fn assert_silent(output: &CommandOutput, secrets: &[String]) {
    assert!(output.err.lines().count() > 15, "{output:#?}");
    let log = output.err.to_lowercase();
    for secret in secrets {
        // Six digits can occur within a longer number by chance, so a code is searched for as a whole word.
        let is_code = secret.len() == 6;
        let mut words = log.split(|character: char| !character.is_ascii_alphanumeric());
        let is_there =
            if is_code { words.any(|word| word == secret) } else { log.contains(&secret.to_lowercase()) };
        let line = output.err.lines().find(|line| line.to_lowercase().contains(&secret.to_lowercase()));
        assert!(!is_there, "{secret} stands in the log: {line:?}");
    }
}

#[tokio::test]
async fn no_level_logs_passwords_codes_tokens_cookies_queries_or_addresses() {
    for format in ["text", "json"] {
        let binary = Binary::new().set("log.level=trace").set(&format!("log.format={format}"));
        let binary = binary.set("auth.require_email_verification=true");
        let running = binary.serve().await;

        let secrets = whole_life(&binary, &running).await;

        assert_silent(&running.stop().await, &secrets);
    }
}

#[tokio::test]
async fn json_log_is_one_object_a_line() {
    let running = Binary::new().set("log.format=json").serve().await;
    let answer = running.anon().get("/api/profiles/search?q=x%0Ay").send().await;
    let id = answer.header("x-request-id").unwrap().to_owned();

    let output = running.stop().await;

    let lines: Vec<Value> = output.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        lines.iter().all(|line| line["timestamp"].is_string() && line["level"].is_string()),
        "{lines:#?}"
    );
    let answered =
        lines.iter().find(|line| line["request_id"] == id.as_str()).expect("the line of the request");
    assert_eq!((&answered["route"], &answered["status"]), (&json!("/api/profiles/search"), &json!(200)));
}

#[tokio::test]
async fn every_request_has_one_line_under_its_id() {
    let running = Binary::new().serve().await;
    let answer = running.anon().get("/nowhere/at/all").send().await;
    let id = answer.header("x-request-id").unwrap().to_owned();

    let output = running.stop().await;

    let lines: Vec<_> = output.err.lines().filter(|line| line.contains(&id)).collect();
    assert_eq!(lines.len(), 1, "{output:#?}");
    assert!(lines[0].contains("status=404") && !lines[0].contains("nowhere"), "{lines:?}");
}

/// Log lines as objects.
fn objects(output: &CommandOutput) -> Vec<Value> {
    output.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn refusal_has_its_code_its_limit_and_the_client_in_its_line() {
    let binary = Binary::bare().set("server.bind=127.0.0.1:0").set("log.format=json");
    let running =
        binary.set("server.trusted_proxies=127.0.0.1").set("limits.search_per_address=1/1h").serve().await;
    let anon = running.anon().at("203.0.113.9").with_header("x-request-id", "edge-4711");
    anon.search("ada").send().await.expect(200);
    let refused = anon.search("ada").send().await;
    refused.refused(429, "TOO_MANY_REQUESTS");
    assert_eq!(refused.header("x-request-id"), Some("edge-4711"));

    let output = running.stop().await;

    let lines: Vec<_> =
        objects(&output).into_iter().filter(|line| line["request_id"] == "edge-4711").collect();
    assert_eq!(lines.len(), 2, "{output:#?}");
    assert!(lines[0]["error"].is_null() && lines[0]["client"].is_null(), "{lines:#?}");
    assert_eq!(lines[1]["error"], "TOO_MANY_REQUESTS");
    assert_eq!(lines[1]["limit"], "search and public profile, per address");
    assert_eq!(lines[1]["client"], "203.0.113.9");
}

#[tokio::test]
async fn forwarded_request_of_an_untrusted_peer_is_warned_of_once_with_the_line_to_write() {
    let running = Binary::new().serve().await;
    let forwarded = running.anon().at("203.0.113.9").with_header("x-request-id", "mine");
    for _ in 0..3 {
        let answer = forwarded.get("/health/live").send().await;
        assert_ne!(answer.header("x-request-id"), Some("mine"));
    }

    let output = running.stop().await;

    assert_eq!(output.err.matches("x-forwarded-for").count(), 1, "{output:#?}");
    assert!(output.err.contains(r#"set server.trusted_proxies = ["127.0.0.1"]"#), "{output:#?}");
    assert!(!output.err.contains("203.0.113.9"), "{output:#?}");
}

#[tokio::test]
async fn a_module_is_logged_at_a_level_of_its_own() {
    for (level, is_answered, is_stopped) in
        [("warn,latchkey_http=info", true, false), ("latchkey_http=error,info", false, true)]
    {
        let running = Binary::new().set(&format!("log.level={level}")).serve().await;
        let answer = running.anon().get("/nowhere/at/all").send().await;
        let id = answer.header("x-request-id").unwrap().to_owned();

        let output = running.stop().await;

        assert_eq!(output.err.contains(&id), is_answered, "{level}: {output:#?}");
        assert_eq!(
            output.err.lines().any(|line| line.ends_with("stopped")),
            is_stopped,
            "{level}: {output:#?}"
        );
    }
}
