#![allow(clippy::unwrap_used, clippy::expect_used)]

use mail_parser::MessageParser;

use super::*;

fn message() -> Message {
    Message {
        message_id: MessageId::parse("0198c0de-0000-7000-8000-000000000001").unwrap(),
        from: Mailbox::parse("Schlüsseldienst <no-reply@example.org>").unwrap(),
        to: "Ada@Bücher.example".to_owned(),
        subject: "Žádost o nové heslo 🔑".to_owned(),
        text: "Grüße\n.\n.leading dot\nend\n".to_owned(),
        html: "<p>Grüße</p>".to_owned(),
        date: Timestamp::from_millis(1_795_267_022_123),
    }
}

fn header_block(mail: &[u8]) -> String {
    let mail = std::str::from_utf8(mail).unwrap();
    mail.split_once("\r\n\r\n").unwrap().0.to_owned()
}

#[test]
fn a_mail_survives_a_parse() {
    let bytes = message().to_rfc5322().unwrap();
    let mail = MessageParser::default().parse(&bytes).unwrap();

    assert_eq!(mail.subject(), Some("Žádost o nové heslo 🔑"));
    assert_eq!(mail.message_id(), Some("0198c0de-0000-7000-8000-000000000001@example.org"));
    assert_eq!(mail.from().unwrap().first().unwrap().name(), Some("Schlüsseldienst"));
    assert_eq!(mail.from().unwrap().first().unwrap().address(), Some("no-reply@example.org"));
    assert_eq!(mail.to().unwrap().first().unwrap().address(), Some("Ada@xn--bcher-kva.example"));
    assert_eq!(mail.date().unwrap().to_timestamp(), 1_795_267_022);
    assert_eq!(mail.body_text(0).unwrap().replace("\r\n", "\n"), "Grüße\n.\n.leading dot\nend\n");
    assert_eq!(mail.body_html(0).unwrap(), "<p>Grüße</p>");
}

#[test]
fn only_ascii_goes_on_the_wire() {
    assert!(message().to_rfc5322().unwrap().is_ascii());
}

#[test]
fn automatic_replies_are_suppressed() {
    let headers = header_block(&message().to_rfc5322().unwrap());
    assert!(headers.contains("\r\nAuto-Submitted: auto-generated\r\n"), "{headers}");
    assert!(headers.contains("multipart/alternative"), "{headers}");
    assert!(headers.contains("MIME-Version: 1.0"), "{headers}");
}

#[test]
fn a_retry_has_the_same_bytes() {
    assert_eq!(message().to_rfc5322(), message().to_rfc5322());
}

#[test]
fn a_subject_cannot_add_a_header() {
    let hostile = Message { subject: "Hi\r\nBcc: all@evil.example\r\n\r\nbody".to_owned(), ..message() };
    let bytes = hostile.to_rfc5322().unwrap();

    let mail = MessageParser::default().parse(&bytes).unwrap();
    assert!(mail.bcc().is_none());
    assert_eq!(mail.subject(), Some("Hi Bcc: all@evil.example body"));
}

#[test]
fn a_recipient_cannot_add_a_header() {
    for to in ["a@b.example\r\nBcc: c@d.example", "a@b.example, c@d.example", "a", "", "a@b.example>"] {
        let hostile = Message { to: to.to_owned(), ..message() };
        assert_eq!(hostile.to_rfc5322(), Err(MessageError::Recipient), "{to:?}");
    }
}

#[test]
fn impossible_dates_are_refused() {
    for millis in [-1, i64::MIN, i64::MAX, LAST_DATE + 1] {
        let odd = Message { date: Timestamp::from_millis(millis), ..message() };
        assert_eq!(odd.to_rfc5322(), Err(MessageError::Date));
    }
}

#[test]
fn debug_shows_no_content() {
    let shown = format!("{:?}", message());
    assert!(!shown.contains("Ada") && !shown.contains("Gr"), "{shown}");
}

#[test]
fn message_ids_have_a_restricted_alphabet() {
    for text in ["", "a b", "a@b", "../x", "a>", "a\r\nb", &"a".repeat(101)] {
        assert_eq!(MessageId::parse(text), Err(InvalidMessageId));
    }
}
