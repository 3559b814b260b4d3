//! Every mail in every language over SMTP: what a mail program reads is what was rendered.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use latchkey_domain::device::Device;
use latchkey_domain::time::Timestamp;
use latchkey_mail::{
    MailContext, Mailbox, Message, MessageId, Rendered, SecurityEvent, SmtpSettings, SmtpTransport, Template,
    Templates, TlsMode, Transport, UndoLink,
};
use mail_parser::MessageParser;

use smtp_sink::SmtpSink;

#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the transport")]
mod smtp_sink;

/// Maximum length of a line, without its end (RFC 5322, 2.1.1).
const LONGEST_LINE: usize = 998;
const SENT: Timestamp = Timestamp::from_millis(1_772_445_840_000);

fn context() -> MailContext {
    let link = "https://accounts.example.org/api/auth/link?token=0123456789abcdef";
    MailContext {
        service_name: "Bürgerportal 東京 Ærø".to_owned(),
        public_url: "https://accounts.example.org".to_owned(),
        recipient_name: Some("Žofie 李小龍 👩‍🚀".to_owned()),
        code: Some("482915".to_owned()),
        link: Some(link.to_owned()),
        expires_in_minutes: 10,
        contested: true,
        entered: false,
        takes_over: true,
        event: SecurityEvent {
            at: SENT,
            device: Some(Device { browser: Some("Firefox"), system: Some("Linux") }),
            address: Some("2001:db8:85a3:8d3:1319:8a2e:370:7348".to_owned()),
            provider: Some("Google".to_owned()),
            undo: Some(UndoLink { link: link.to_owned(), until: SENT }),
            codes_left: Some(9),
        },
    }
}

/// All mails in all languages, each with an id that names both.
fn rendered() -> Vec<(String, Rendered)> {
    let templates = Templates::embedded().unwrap();
    let mut mails = Vec::new();
    for locale in templates.locales() {
        for template in Template::ALL {
            let mail = templates.render(*template, &[locale], &context());
            let mail = mail.map_err(|error| error.to_string()).unwrap();
            mails.push((format!("{}-{}", locale.as_str(), template.name()), mail));
        }
    }
    mails
}

fn message(id: &str, mail: &Rendered) -> Message {
    Message {
        message_id: MessageId::parse(id).unwrap(),
        from: Mailbox::parse("Bürgerportal 東京 <no-reply@example.org>").unwrap(),
        to: "ada@example.org".to_owned(),
        subject: mail.subject.clone(),
        text: mail.text.clone(),
        html: mail.html.clone(),
        date: SENT,
    }
}

#[tokio::test]
async fn every_mail_in_every_language_arrives_as_it_was_written() {
    let sink = SmtpSink::start().await.unwrap();
    let settings = SmtpSettings { tls: TlsMode::Plain, ..SmtpSettings::new("127.0.0.1", sink.port()) };
    let transport = Transport::Smtp(SmtpTransport::new(settings).unwrap_or_else(|error| panic!("{error}")));
    let mails = rendered();

    for (id, mail) in &mails {
        transport.send(&message(id, mail)).await.unwrap();
    }

    let received = sink.received();
    assert_eq!(received.len(), mails.len());
    for ((id, written), received) in mails.iter().zip(received) {
        let data = received.data;
        assert!(data.is_ascii(), "{id}");
        assert!(data.split(|byte| *byte == b'\n').all(|line| line.len() <= LONGEST_LINE), "{id}");
        let mail = MessageParser::default().parse(&data).unwrap();
        assert_eq!(mail.subject(), Some(written.subject.as_str()), "{id}");
        assert_eq!(mail.body_text(0).unwrap().replace("\r\n", "\n"), written.text, "{id}");
        assert_eq!(mail.body_html(0).unwrap().replace("\r\n", "\n"), written.html, "{id}");
        assert_eq!(mail.message_id(), Some(format!("{id}@example.org").as_str()));
        assert_eq!(mail.date().unwrap().to_rfc3339(), "2026-03-02T10:04:00Z", "{id}");
        assert_eq!(mail.header_raw("Auto-Submitted").map(str::trim), Some("auto-generated"), "{id}");
    }
}
