#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;

use super::*;
use crate::address::Mailbox;
use crate::message::MessageId;

fn message(id: &str, millis: i64) -> Message {
    Message {
        message_id: MessageId::parse(id).unwrap(),
        from: Mailbox::parse("Latchkey <no-reply@example.org>").unwrap(),
        to: "Ada@example.org".to_owned(),
        subject: "Grüße 🔑".to_owned(),
        text: "one\ntwo\n".to_owned(),
        html: "<p>one</p>\n".to_owned(),
        date: Timestamp::from_millis(millis),
    }
}

fn transport() -> (tempfile::TempDir, FileTransport) {
    let parent = tempfile::tempdir().unwrap();
    let transport = FileTransport::new(&parent.path().join("data/mails")).unwrap();
    (parent, transport)
}

fn names(transport: &FileTransport) -> BTreeSet<String> {
    let entries = std::fs::read_dir(transport.folder()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn a_mail_is_one_file_named_by_time_and_id() {
    let (_parent, transport) = transport();
    transport.send(&message("abc-1", 1_795_267_022_007)).await.unwrap();

    assert_eq!(names(&transport), BTreeSet::from(["20261121T131702007Z-abc-1.eml".to_owned()]));
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_mails() {
    use std::os::unix::fs::PermissionsExt;
    let (_parent, transport) = transport();
    transport.send(&message("abc", 0)).await.unwrap();

    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = std::fs::read_dir(transport.folder()).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(transport.folder()), mode(&file)), (0o700, 0o600));
}

#[tokio::test]
async fn a_mail_sent_again_keeps_one_file() {
    let (_parent, transport) = transport();
    for _ in 0..2 {
        transport.send(&message("abc", 5)).await.unwrap();
    }
    assert_eq!(names(&transport).len(), 1);
}

#[tokio::test]
async fn concurrent_writers_leave_whole_mails_and_nothing_else() {
    let (_parent, transport) = transport();
    let writers: Vec<_> = (0..16)
        .map(|number| {
            let transport = transport.clone();
            tokio::spawn(async move { transport.send(&message(&format!("m{}", number % 4), 5)).await })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap().unwrap();
    }

    assert_eq!(names(&transport).len(), 4);
    assert!(names(&transport).iter().all(|name| Path::new(name).extension().is_some_and(|ext| ext == "eml")));
}

#[tokio::test]
async fn mails_are_listed_newest_first() {
    let (_parent, transport) = transport();
    for millis in [2_000, 3_000, 1_000] {
        transport.send(&message(&format!("m{millis}"), millis)).await.unwrap();
    }

    let mails = transport.list(2).await.unwrap();

    let dates: Vec<_> = mails.iter().map(|mail| mail.date.as_millis()).collect();
    assert_eq!(dates, [3_000, 2_000]);
    assert_eq!((mails[0].to.as_str(), mails[0].subject.as_str()), ("Ada@example.org", "Grüße 🔑"));
}

#[tokio::test]
async fn a_listed_mail_reads_back_whole() {
    let (_parent, transport) = transport();
    transport.send(&message("abc", 1_234)).await.unwrap();
    let id = transport.list(10).await.unwrap().remove(0).id;

    let mail = transport.read(&id).await.unwrap().unwrap();

    assert_eq!(mail.from, "Latchkey <no-reply@example.org>");
    assert_eq!((mail.to.as_str(), mail.subject.as_str()), ("Ada@example.org", "Grüße 🔑"));
    assert_eq!((mail.text.as_str(), mail.html.as_str()), ("one\ntwo\n", "<p>one</p>\n"));
    assert_eq!(mail.date.as_millis(), 1_234);
}

#[tokio::test]
async fn foreign_and_unfinished_files_are_passed_over() {
    let (_parent, transport) = transport();
    transport.send(&message("abc", 1)).await.unwrap();
    for name in [".19700101T000000001Z-x.1-1.tmp", "notes.eml", "19700101T000000002Z-..eml", "README"] {
        std::fs::write(transport.folder().join(name), "Subject: x\r\n\r\n").unwrap();
    }
    assert_eq!(transport.list(10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn ids_cannot_walk_paths() {
    let (parent, transport) = transport();
    std::fs::write(parent.path().join("data/secret.eml"), "Subject: x\r\n\r\n").unwrap();
    for id in [
        "../secret",
        "/etc/passwd",
        "",
        ".",
        "..",
        "secret",
        "19700101T000000001Z-../../secret",
        "19700101T000000001Z-a/../../secret",
        "19700101T000000001Z-a\0",
        "19700101T000000001Z-",
        "19700101T000000001Z-gone",
    ] {
        assert!(transport.read(id).await.unwrap().is_none(), "{id:?}");
    }
}

#[tokio::test]
async fn a_folder_that_is_gone_is_a_transient_failure() {
    let (parent, transport) = transport();
    drop(parent);
    let error = transport.send(&message("abc", 1)).await.unwrap_err();
    assert!(error.is_transient(), "{error}");
}
