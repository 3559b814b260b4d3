//! Tests of mails as a real mail server receives them: the npm package `smtp-server`, in `../smtp`.

use std::path::Path;
use std::process::Stdio;

use latchkey_service::outbox::ListMails;
use latchkey_testkit::{PASSWORD, TestApp, both_stores, json, minutes};
use mail_parser::{MessageParser, MimeHeaders};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// Subject of the mail with a verification code, in every language.
const SUBJECTS: [(&str, &str); 8] = [
    ("en", "Your verification code for Latchkey"),
    ("de", "Ihr Bestätigungscode für Latchkey"),
    ("fr", "Votre code de confirmation pour Latchkey"),
    ("es", "Tu código de confirmación para Latchkey"),
    ("it", "Il tuo codice di conferma per Latchkey"),
    ("pt", "Seu código de confirmação para Latchkey"),
    ("ja", "Latchkey の確認コード"),
    ("zh", "用于验证 Latchkey 邮箱地址的验证码"),
];
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/smtp");

/// Running mail server. It stops when its standard input closes, at the latest at the end of the test.
struct MailServer {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    port: u16,
}

/// Mail that the service offered to the server.
struct Offered {
    code: u64,
    from: String,
    to: String,
    data: Vec<u8>,
}

impl MailServer {
    /// Starts the server on this port; 0 for any free port.
    async fn start(port: u16) -> Self {
        let is_installed = Path::new(FOLDER).join("node_modules/smtp-server").is_dir();
        assert!(is_installed, "the mail server is missing: run `cargo xtask prepare node`");
        let mut child = Command::new("node")
            .args([&format!("{FOLDER}/server.js"), &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("Node.js");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next_line().await.unwrap().expect("a mail server that listens");
        let first: Value = serde_json::from_str(&first).unwrap();
        let port = u16::try_from(first["port"].as_u64().unwrap()).unwrap();
        Self { child, lines, port }
    }

    /// Stops the server, and returns the mails that were offered.
    async fn stop(mut self) -> Vec<Offered> {
        drop(self.child.stdin.take());
        let mut offered = Vec::new();
        while let Some(line) = self.lines.next_line().await.unwrap() {
            offered.push(Offered::read(&line));
        }
        assert!(self.child.wait().await.unwrap().success());
        offered
    }
}

impl Offered {
    fn read(line: &str) -> Self {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().unwrap().to_owned();
        // The server encodes each byte of the mail as one character of the line.
        let data =
            text("data").chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect();
        Self { code: line["code"].as_u64().unwrap(), from: text("from"), to: text("to"), data }
    }
}

async fn sign_up(app: &TestApp, email: &str) {
    app.anon().sign_up(email, PASSWORD).send().await.expect(200);
}

/// Runs the mail worker once. Returns the numbers of mails sent, postponed and dead.
async fn deliver(app: &TestApp) -> (usize, usize, usize) {
    let done = app.service().outbox.deliver_due().await.unwrap();
    (done.sent, done.retried, done.dead)
}

/// The line that is a code of six digits.
fn code_in(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| line.len() == 6 && line.parse::<u32>().is_ok()).unwrap()
}

both_stores! {
    with(|b| b.verification_by_code())
    async fn mail_has_its_headers_and_both_parts_in_utf_8(mut app) {
        let server = MailServer::start(0).await;
        let from = latchkey_mail::Mailbox::parse("Schlüsseldienst <no-reply@example.org>").unwrap();
        app.restart_with(|b| b.mails_by_smtp(server.port).config(|config| config.mail_from = from)).await;
        let body = json!({"email": "Ada@example.org", "password": PASSWORD, "name": "Žofie 李 👩‍🚀"});
        app.anon().post("/api/auth/users", body).send().await.expect(200);

        assert_eq!(deliver(&app).await, (1, 0, 0));

        let offered = server.stop().await.remove(0);
        assert_eq!((offered.from.as_str(), offered.to.as_str()), ("no-reply@example.org", "Ada@example.org"));
        assert!(offered.data.is_ascii(), "only ASCII on the wire");
        let mail = MessageParser::default().parse(&offered.data).unwrap();
        let sender = mail.from().unwrap().first().unwrap();
        assert_eq!(
            (sender.name(), sender.address()),
            (Some("Schlüsseldienst"), Some("no-reply@example.org"))
        );
        assert_eq!(mail.to().unwrap().first().unwrap().address(), Some("Ada@example.org"));
        assert_eq!(mail.subject(), Some("Your verification code for Latchkey"));
        assert_eq!(mail.date().unwrap().to_rfc3339(), "2026-03-02T10:00:00Z");
        assert!(mail.message_id().unwrap().ends_with("@example.org"));
        assert_eq!(mail.header_raw("Auto-Submitted").map(str::trim), Some("auto-generated"));
        assert!(mail.content_type().is_some_and(|kind| kind.subtype() == Some("alternative")));
        for part in [mail.body_text(0).unwrap(), mail.body_html(0).unwrap()] {
            assert!(part.contains("Hello Žofie 李 👩‍🚀,"), "{part}");
        }
    }

    with(|b| b.verification_by_code())
    async fn mail_in_every_language_arrives_with_its_subject_and_code(mut app) {
        let server = MailServer::start(0).await;
        app.restart_with(|b| b.mails_by_smtp(server.port)).await;
        for (locale, _) in SUBJECTS {
            let body = json!({"email": format!("{locale}@example.org"), "password": PASSWORD, "locale": locale});
            app.anon().post("/api/auth/users", body).send().await.expect(200);
        }

        assert_eq!(deliver(&app).await, (SUBJECTS.len(), 0, 0));

        let offered = server.stop().await;
        for (locale, subject) in SUBJECTS {
            let mail = offered.iter().find(|mail| mail.to == format!("{locale}@example.org")).unwrap();
            let mail = MessageParser::default().parse(&mail.data).unwrap();
            assert_eq!(mail.subject(), Some(subject), "{locale}");
            let (text, html) = (mail.body_text(0).unwrap(), mail.body_html(0).unwrap());
            assert!(html.contains(&format!("<html lang=\"{locale}\">")), "{html}");
            assert!(html.contains(code_in(&text)), "{html}");
        }
    }

    with(|b| b.verification_by_code())
    async fn code_of_a_received_mail_verifies(mut app) {
        let server = MailServer::start(0).await;
        app.restart_with(|b| b.mails_by_smtp(server.port)).await;
        sign_up(&app, "ada@example.org").await;
        deliver(&app).await;

        let data = server.stop().await.remove(0).data;

        let mail = MessageParser::default().parse(&data).unwrap();
        let text = mail.body_text(0).unwrap();
        app.anon().verify("ada@example.org", code_in(&text)).send().await.expect(200);
    }

    with(|b| b.verification_by_link().redirects(&["https://app.example/**"]))
    async fn link_of_a_received_mail_is_whole_in_both_parts(mut app) {
        let server = MailServer::start(0).await;
        app.restart_with(|b| b.mails_by_smtp(server.port)).await;
        crate::email_calls::sign_up_to(&app.anon(), "ada@example.org", "https://app.example/")
            .send()
            .await
            .expect(200);
        deliver(&app).await;

        let data = server.stop().await.remove(0).data;

        let mail = MessageParser::default().parse(&data).unwrap();
        let text = mail.body_text(0).unwrap();
        let link = text.split_whitespace().find(|word| word.contains("verify-link?token=")).unwrap();
        assert!(mail.body_html(0).unwrap().replace("&#x2f;", "/").contains(&format!("href=\"{link}\"")));
        let landed = app.anon().get(link).send().await.redirected();
        assert!(landed.as_str().contains("service_status=success"), "{landed}");
    }

    with(|b| b.verification_by_code())
    async fn transient_refusal_is_retried_with_the_same_mail(mut app) {
        let server = MailServer::start(0).await;
        app.restart_with(|b| b.mails_by_smtp(server.port)).await;
        sign_up(&app, "grey-ada@example.org").await;
        sign_up(&app, "full-bob@example.org").await;
        assert_eq!(deliver(&app).await, (0, 2, 0));

        app.clock.advance(minutes(1));
        assert_eq!(deliver(&app).await, (2, 0, 0));

        let offered = server.stop().await;
        let codes: Vec<u64> = offered.iter().map(|mail| mail.code).collect();
        assert_eq!(codes.iter().filter(|code| **code == 250).count(), 2, "{codes:?}");
        assert!(codes[..2].contains(&451) && codes[..2].contains(&452), "{codes:?}");
        let contents = offered.iter().filter(|mail| mail.to == "full-bob@example.org").map(|mail| &mail.data);
        let contents: Vec<_> = contents.collect();
        assert_eq!(contents.len(), 2);
        assert_eq!(
            contents[0], contents[1],
            "the same message, so that a mail that arrives twice can be told"
        );
    }

    with(|b| b.verification_by_code())
    async fn refused_mail_becomes_a_dead_letter_and_the_others_are_sent(mut app) {
        let server = MailServer::start(0).await;
        app.restart_with(|b| b.mails_by_smtp(server.port)).await;
        for email in ["never-ada@example.org", "spam-bob@example.org", "cleo@example.org"] {
            sign_up(&app, email).await;
        }

        assert_eq!(deliver(&app).await, (1, 0, 2));

        app.clock.advance(minutes(600));
        assert_eq!(deliver(&app).await, (0, 0, 0));
        let listed = app.service().outbox.list(&ListMails::newest(None, 10)).await.unwrap().mails;
        for mail in listed.iter().filter(|mail| mail.email.as_typed() != "cleo@example.org") {
            let error = mail.last_error.as_deref().unwrap();
            assert!(error.contains("550") || error.contains("554"), "{error}");
            assert!(!error.contains('@'), "an error tells no address: {error}");
        }
        assert_eq!(server.stop().await.iter().filter(|mail| mail.code == 250).count(), 1);
    }

    with(|b| b.verification_by_code())
    async fn unavailable_mail_server_fails_no_request_and_loses_no_mail(mut app) {
        let server = MailServer::start(0).await;
        let port = server.port;
        app.restart_with(|b| b.mails_by_smtp(port)).await;
        sign_up(&app, "before@example.org").await;
        assert_eq!(deliver(&app).await, (1, 0, 0));
        assert_eq!(server.stop().await.len(), 1);

        for number in 0..10 {
            sign_up(&app, &format!("user{number}@example.org")).await;
        }
        assert_eq!(deliver(&app).await, (0, 10, 0));
        app.clock.advance(minutes(1));
        assert_eq!(deliver(&app).await, (0, 10, 0));
        app.restart().await;
        let server = MailServer::start(port).await;
        app.clock.advance(minutes(1));

        assert_eq!(deliver(&app).await, (10, 0, 0));
        let mut received: Vec<String> = server.stop().await.into_iter().map(|mail| mail.to).collect();
        received.sort_unstable();
        let expected: Vec<String> = (0..10).map(|number| format!("user{number}@example.org")).collect();
        assert_eq!(received, expected);
    }
}
