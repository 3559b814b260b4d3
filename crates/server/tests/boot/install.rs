//! Tests of the commands that packages, supervisors and shells use: `init`, `health`, `completions`, `man`.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use latchkey_testkit::postgres::TestCluster;

use crate::binary::{Binary, CommandOutput, eventually, names_in};

const SMTP: &str = "smtp://no-reply%40example.com@mail.example.com";

/// Runs `init` for SQLite, into the folder `etc`, with these further arguments.
async fn init(binary: &Binary, further: &[&str], input: &str) -> CommandOutput {
    let command = ["init", "--production", "--out", "etc", "--data", "data", "--bind", "127.0.0.1:0"];
    binary.run_with_input(&[command.as_slice(), further].concat(), input).await
}

#[tokio::test]
async fn init_writes_settings_and_secrets_on_which_the_service_starts() {
    let binary = Binary::bare();
    let arguments = ["--public-url", "https://accounts.example.com", "--smtp", SMTP];

    let output = init(&binary, &arguments, "mail password\n").await;

    assert!(
        output.good().contains("The settings are good (production, https://accounts.example.com/)."),
        "{output:#?}"
    );
    let files = ["admin-key", "latchkey.toml", "server-secret", "smtp-password"];
    assert_eq!(names_in(&binary.path("etc")), files);
    for name in files {
        let mode = std::fs::metadata(binary.path(&format!("etc/{name}"))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    assert_eq!(binary.read("etc/smtp-password"), "mail password");
    let settings = binary.read("etc/latchkey.toml");
    assert!(settings.contains("from = \"no-reply@accounts.example.com\""), "{settings}");
    assert!(settings.contains("username = \"no-reply@example.com\""), "{settings}");
    let secrets = [binary.read("etc/server-secret"), binary.read("etc/admin-key")];
    assert!(secrets.iter().all(|secret| secret.len() == 64) && secrets[0] != secrets[1]);
    assert!(!output.out.contains(&secrets[0]) && !output.out.contains("mail password"), "{output:#?}");

    let running = binary.argument("--config").argument("etc/latchkey.toml").serve().await;
    let admin = running.anon().with_bearer(&secrets[1]);
    admin.get("/api/auth/config").send().await.expect(200);
}

#[tokio::test]
async fn init_refuses_what_it_would_drop() {
    let binary = Binary::bare();
    let url = ["--public-url", "https://accounts.example.com", "--smtp"];

    for server in ["smtp://mail.example.com/path", "smtp://mail.example.com?x"] {
        init(&binary, &[url.as_slice(), &[server]].concat(), "")
            .await
            .refused(&["--smtp", "behind the server"]);
    }
    let set = init(&binary.clone().set("auth.min=1"), &[url.as_slice(), &[SMTP]].concat(), "").await;

    assert!(set.code == Some(2) && set.err.contains("init takes neither"), "{set:?}");
    assert!(!binary.path("etc").exists());
}

#[tokio::test]
async fn init_replaces_no_file_and_opens_no_database_of_another() {
    let binary = Binary::bare();
    let arguments = ["--public-url", "https://accounts.example.com", "--smtp", "smtp://mail.example.com"];
    init(&binary, &arguments, "").await.good();
    let secret = binary.read("etc/server-secret");

    init(&binary, &arguments, "").await.refused(&["etc/latchkey.toml exists", "--out"]);
    let elsewhere = ["init", "--production", "--data", "data", "--out", "other"];
    let other = binary.run(&[elsewhere.as_slice(), &arguments].concat()).await;

    other.refused(&["there is a database at", "--data"]);
    assert_eq!(binary.read("etc/server-secret"), secret);
    assert!(names_in(&binary.path("other")).is_empty());
}

#[tokio::test]
async fn init_that_lacks_an_answer_or_gets_a_bad_one_writes_nothing() {
    let binary = Binary::bare();
    let url = ["--public-url", "https://accounts.example.com"];

    init(&binary, &url, "").await.refused(&["--smtp is missing", "no terminal"]);
    init(&binary, &["--smtp", SMTP], "").await.refused(&["--public-url is missing"]);
    init(&binary, &[&url[..], &["--smtp", SMTP]].concat(), "")
        .await
        .refused(&["password of the mail server"]);
    init(&binary, &[&url[..], &["--smtp", "mail.example.com"]].concat(), "")
        .await
        .refused(&["wanted smtp://"]);
    let plain = ["--public-url", "http://accounts.example.com", "--smtp", "smtp://mail.example.com"];
    init(&binary, &plain, "").await.refused(&["server.public_url", "https"]);
    let development = binary.run(&["init", "--out", "etc"]).await;

    assert_eq!(development.code, Some(2), "{development:#?}");
    assert!(!binary.path("etc").exists() || names_in(&binary.path("etc")).is_empty());
    assert!(!binary.path("data").exists());
}

#[tokio::test]
async fn init_puts_the_database_url_with_its_password_into_a_file() {
    let database = TestCluster::shared().bare_database();
    let binary = Binary::bare();
    let arguments =
        ["--public-url", "https://accounts.example.com", "--smtp", SMTP, "--postgres", database.url()];

    let made = init(&binary, &arguments, "mail password\n").await;

    assert!(made.good().contains("The settings are good"), "{made:#?}");
    assert_eq!(binary.read("etc/storage-url"), database.url());
    assert!(!binary.read("etc/latchkey.toml").contains("postgres"), "{made:#?}");
    binary.argument("--config").argument("etc/latchkey.toml").serve().await.stop().await;
}

#[tokio::test]
async fn health_is_that_of_the_service() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let url = format!("http://{}", running.address);
    let own = binary.clone().set(&format!("server.bind=0.0.0.0:{}", running.address.port()));

    assert_eq!(binary.run(&["health", &url]).await.good(), "ready\n");
    assert_eq!(binary.run(&["health", &format!("{url}/health/live")]).await.good(), "ready\n");
    assert_eq!(own.set("server.mode=production").run(&["health"]).await.good(), "ready\n");
    binary.run(&["health", &format!("{url}/nowhere")]).await.refused(&["is not ready", "404"]);

    running.stop().await;
    binary.run(&["health", &url]).await.refused(&[&url, "refused"]);
    let no_url = binary.run(&["health", "localhost:8700"]).await;
    assert_eq!(no_url.code, Some(2), "{no_url:#?}");
}

#[tokio::test]
async fn service_that_waits_for_its_database_is_not_ready() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let binary = Binary::new()
        .set("storage.url=postgres://latchkey@127.0.0.1:1/latchkey")
        .set(&format!("server.bind={free}"));
    let starting = binary.start();

    let asked = eventually("the service listens", async || {
        Some(binary.run(&["health"]).await).filter(|output| !output.err.contains("cannot be asked"))
    });

    asked.await.refused(&["is not ready", "503"]);
    starting.stop().await;
}

#[tokio::test]
async fn completions_are_made_for_every_shell() {
    for (shell, part) in [
        ("bash", "complete -F _latchkey"),
        ("zsh", "#compdef latchkey"),
        ("fish", "complete -c latchkey"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "set edit:completion:arg-completer[latchkey]"),
    ] {
        let script = Binary::bare().run(&["completions", shell]).await;
        assert!(script.good().contains(part), "{shell}: {}", script.out);
    }
}

#[tokio::test]
async fn manual_has_a_page_per_command_with_its_exit_codes() {
    let binary = Binary::bare();

    let page = binary.run(&["man"]).await;
    binary.run(&["man", "--out", "man"]).await.good();

    assert!(page.good().contains(".TH latchkey 1"), "{}", page.out);
    let names = names_in(&binary.path("man"));
    for name in ["latchkey.1", "latchkey-user-list.1", "latchkey-config-check.1", "latchkey-init.1"] {
        assert!(names.iter().any(|one| one == name), "{names:?}");
        assert!(binary.read(&format!("man/{name}")).contains("Exit codes:"), "{name}");
    }
    assert!(!names.iter().any(|name| name.contains("document")), "{names:?}");
}

#[tokio::test]
async fn help_states_the_exit_codes() {
    for (command, code) in [
        (&["config", "check", "--help"][..], "1  a start would fail"),
        (&["health", "--help"], "1  it is not ready"),
        (&["user", "list", "--help"], "2  wrong arguments"),
    ] {
        let help = Binary::bare().run(command).await;
        assert!(help.good().contains("Exit codes:") && help.out.contains(code), "{}", help.out);
    }
}
