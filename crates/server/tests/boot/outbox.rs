//! Tests of `latchkey mail`: the outbox on the command line, beside a service whose mail server refuses everything.

use latchkey_testkit::PASSWORD;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::binary::{Binary, Running, eventually};

const UNKNOWN_ID: &str = "00000000-0000-7000-8000-000000000000";

/// Mail server that refuses every recipient with this reply; returns its port.
async fn refusing_mail_server(reply: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(refuse(stream, reply));
        }
    });
    port
}

async fn refuse(stream: TcpStream, reply: &str) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 mail.example.org\r\n").await?;
    let mut line = String::new();
    while stream.read_line(&mut line).await? > 0 {
        let answer = if line.starts_with("RCPT") { reply } else { "250 OK" };
        stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
        line.clear();
    }
    Ok(())
}

/// Service with one queued mail for that mail server.
async fn service_with_one_mail(binary: &Binary, reply: &'static str) -> Running {
    let port = refusing_mail_server(reply).await;
    let binary = binary.clone().set("auth.require_email_verification=true").set("mail.transport=smtp");
    let binary = binary.set("mail.smtp.host=127.0.0.1").set(&format!("mail.smtp.port={port}"));
    let running = binary.set("mail.smtp.tls=none").set("mail.from=accounts@example.org").serve().await;
    running.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    running
}

/// Output of `mail list`, once it contains this text.
async fn listed(binary: &Binary, what: &str) -> String {
    eventually(what, async || {
        let output = binary.run(&["mail", "list"]).await;
        Some(output.good().to_owned()).filter(|lines| lines.contains(what))
    })
    .await
}

#[tokio::test]
async fn transiently_refused_mail_is_pending_with_the_reason() {
    let binary = Binary::new();
    let _running = service_with_one_mail(&binary, "451 come back later").await;

    let lines = listed(&binary, "451").await;

    assert!(lines.contains("ada@example.org") && lines.contains("verify"), "{lines}");
    assert_eq!(binary.run(&["mail", "list", "--dead"]).await.good().lines().count(), 1);
    assert_eq!(binary.run(&["mail", "retry", "--all"]).await.good(), "0 put back into the queue\n");
}

#[tokio::test]
async fn dead_mail_is_listed_and_retried() {
    let binary = Binary::new();
    let running = service_with_one_mail(&binary, "550 nobody of this name").await;
    let dead = listed(&binary, "550").await;
    running.stop().await;
    assert!(binary.run(&["mail", "list", "--dead"]).await.good().contains("ada@example.org"), "{dead}");

    let id = dead.lines().nth(1).and_then(|line| line.split(' ').next()).unwrap();
    let output = binary.run(&["mail", "retry", id]).await;

    assert_eq!(output.good(), "1 put back into the queue\n");
    assert_eq!(binary.run(&["mail", "list", "--dead"]).await.good().lines().count(), 1);
    assert_eq!(binary.run(&["mail", "list"]).await.good().matches("ada@example.org").count(), 1);
}

#[tokio::test]
async fn unknown_mail_is_not_retried() {
    let output = Binary::new().run(&["mail", "retry", UNKNOWN_ID]).await;

    output.refused(&["There is no mail with this id."]);
}

#[tokio::test]
async fn retried_mail_is_sent_by_the_running_service() {
    let binary = Binary::new();
    let refused = service_with_one_mail(&binary, "550 nobody of this name").await;
    listed(&binary, "550").await;
    refused.stop().await;
    let _running = binary.serve().await; // mails go to files now

    binary.run(&["mail", "retry", "--all"]).await.good();

    eventually("the mail is sent", async || {
        binary.mails().pop().filter(|mail| mail.contains("ada@example.org"))
    })
    .await;
}
