//! The SMTP transport over real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_mail::{
    Mailbox, Message, MessageId, SendError, SmtpPassword, SmtpSettings, SmtpTransport, TlsMode, Transport,
};
use mail_parser::MessageParser;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

use smtp_sink::{Moment, SinkOptions, SmtpSink, Step};

#[allow(dead_code, unreachable_pub, reason = "shared with the unit tests")]
mod smtp_sink;

fn message(id: &str) -> Message {
    Message {
        message_id: MessageId::parse(id).unwrap(),
        from: Mailbox::parse("Schlüssel <no-reply@example.org>").unwrap(),
        to: "Ada@Bücher.example".to_owned(),
        subject: "Grüße 🔑".to_owned(),
        text: "Grüße\n.\nEnde\n".to_owned(),
        html: "<p>Grüße</p>\n".to_owned(),
        date: Timestamp::from_millis(1_795_267_022_123),
    }
}

fn settings(port: u16) -> SmtpSettings {
    SmtpSettings {
        tls: TlsMode::Plain,
        timeout: Duration::from_secs(5),
        ..SmtpSettings::new("127.0.0.1", port)
    }
}

fn transport(settings: SmtpSettings) -> Transport {
    Transport::Smtp(SmtpTransport::new(settings).unwrap_or_else(|error| panic!("{error}")))
}

fn with_login(settings: SmtpSettings) -> SmtpSettings {
    SmtpSettings {
        username: Some("latchkey".to_owned()),
        password: Some(SmtpPassword::new("hunter2-secret".to_owned())),
        ..settings
    }
}

/// Error of the first mail after a scripted failure, as text.
async fn failure(step: Step) -> SendError {
    let sink = SmtpSink::start().await.unwrap();
    sink.script([step]);
    let transport = transport(settings(sink.port()));

    let error = transport.send(&message("m1")).await.unwrap_err();
    assert!(sink.received().is_empty());

    // The same transport delivers the next mail.
    transport.send(&message("m2")).await.unwrap();
    assert_eq!(sink.received().len(), 1);
    error
}

#[tokio::test]
async fn a_mail_arrives_whole() {
    let sink = SmtpSink::start().await.unwrap();
    transport(settings(sink.port())).send(&message("m1")).await.unwrap();

    let received = sink.received().remove(0);
    assert_eq!(received.from, "no-reply@example.org");
    assert_eq!(received.to, ["Ada@xn--bcher-kva.example"]);
    let mail = MessageParser::default().parse(&received.data).unwrap();
    assert_eq!(mail.subject(), Some("Grüße 🔑"));
    assert_eq!(mail.message_id(), Some("m1@example.org"));
    assert_eq!(mail.body_text(0).unwrap().replace("\r\n", "\n"), "Grüße\n.\nEnde\n");
}

#[tokio::test]
async fn a_4xx_reply_is_transient() {
    let error = failure(Step::answer(Moment::Rcpt, "451 4.7.1 greylisted, ada@example.org, come back")).await;
    assert_eq!(error, SendError::Transient("the mail server answered 451 (4.7.1) at RCPT TO".to_owned()));
}

#[tokio::test]
async fn a_refused_recipient_is_permanent() {
    let error = failure(Step::answer(Moment::Rcpt, "550 5.1.1 <Ada@example.org> unknown")).await;
    assert_eq!(error, SendError::Permanent("the mail server answered 550 (5.1.1) at RCPT TO".to_owned()));
}

#[tokio::test]
async fn a_refused_mail_is_permanent() {
    for moment in [Moment::Mail, Moment::Data, Moment::Content] {
        assert!(!failure(Step::answer(moment, "554 no")).await.is_transient(), "{moment:?}");
    }
}

#[tokio::test]
async fn a_refused_connection_is_transient() {
    for moment in [Moment::Greeting, Moment::Ehlo] {
        assert!(
            failure(Step::answer(moment, "554 5.7.1 you are on a list")).await.is_transient(),
            "{moment:?}"
        );
    }
}

#[tokio::test]
async fn a_dropped_connection_is_transient() {
    for moment in [Moment::Greeting, Moment::Ehlo, Moment::Mail, Moment::Rcpt, Moment::Data, Moment::Content]
    {
        assert!(failure(Step::hang_up(moment)).await.is_transient(), "{moment:?}");
    }
}

#[tokio::test]
async fn a_silent_server_is_transient() {
    let sink = SmtpSink::start().await.unwrap();
    sink.script([Step::silence(Moment::Rcpt)]);
    let impatient = SmtpSettings { timeout: Duration::from_millis(200), ..settings(sink.port()) };

    let error = transport(impatient).send(&message("m1")).await.unwrap_err();
    assert_eq!(error, SendError::Transient("the mail server did not answer in time at RCPT TO".to_owned()));
}

#[tokio::test]
async fn a_server_that_is_down_is_transient() {
    let sink = SmtpSink::start().await.unwrap();
    let port = sink.port();
    sink.stop().await;
    let error = transport(settings(port)).send(&message("m1")).await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn an_invalid_recipient_is_permanent_and_never_sent() {
    let sink = SmtpSink::start().await.unwrap();
    let odd = Message { to: "a@b.example>\r\nRCPT TO:<c@d.example".to_owned(), ..message("m1") };
    let error = transport(settings(sink.port())).send(&odd).await.unwrap_err();
    assert!(!error.is_transient());
    assert_eq!(sink.connections(), 0);
}

#[tokio::test]
async fn credentials_are_sent() {
    let sink = SmtpSink::start_with(SinkOptions { login: true, ..SinkOptions::default() }).await.unwrap();
    transport(with_login(settings(sink.port()))).send(&message("m1")).await.unwrap();
    // NUL latchkey NUL hunter2-secret in base64, RFC 4616.
    assert_eq!(sink.received()[0].auth.as_deref(), Some("PLAIN AGxhdGNoa2V5AGh1bnRlcjItc2VjcmV0"));
}

#[tokio::test]
async fn refused_credentials_are_transient_and_not_logged() {
    let sink = SmtpSink::start_with(SinkOptions { login: true, ..SinkOptions::default() }).await.unwrap();
    sink.script([Step::answer(Moment::Auth, "535 5.7.8 latchkey hunter2-secret is wrong")]);
    let error = transport(with_login(settings(sink.port()))).send(&message("m1")).await.unwrap_err();
    assert_eq!(error, SendError::Transient("the mail server answered 535 (5.7.8) at AUTH".to_owned()));
}

#[tokio::test]
async fn missing_credentials_are_transient() {
    let sink = SmtpSink::start_with(SinkOptions { login: true, ..SinkOptions::default() }).await.unwrap();
    let error = transport(settings(sink.port())).send(&message("m1")).await.unwrap_err();
    assert_eq!(error, SendError::Transient("the mail server answered 530 (5.7.0) at MAIL FROM".to_owned()));
}

#[tokio::test]
async fn connections_are_pooled() {
    let sink = SmtpSink::start().await.unwrap();
    let transport = transport(settings(sink.port()));
    for id in ["m1", "m2", "m3"] {
        transport.send(&message(id)).await.unwrap();
    }
    assert_eq!((sink.connections(), sink.received().len()), (1, 3));

    transport.close_idle().await;
    transport.send(&message("m4")).await.unwrap();
    assert_eq!((sink.connections(), sink.received().len()), (2, 4));
}

#[tokio::test]
async fn a_stale_pooled_connection_is_replaced() {
    let steps = [Step::hang_up(Moment::Mail), Step::answer(Moment::Mail, "421 4.4.2 idle too long")];
    for step in steps {
        let sink = SmtpSink::start().await.unwrap();
        let transport = transport(settings(sink.port()));
        transport.send(&message("m1")).await.unwrap();
        sink.script([step]);

        transport.send(&message("m2")).await.unwrap();
        assert_eq!((sink.connections(), sink.received().len()), (2, 2));
    }
}

#[tokio::test]
async fn a_server_that_comes_back_gets_the_next_mail() {
    let sink = SmtpSink::start().await.unwrap();
    let port = sink.port();
    let transport = transport(settings(port));
    transport.send(&message("m1")).await.unwrap();
    sink.stop().await;
    assert!(transport.send(&message("m2")).await.unwrap_err().is_transient());

    let sink = SmtpSink::start_with(SinkOptions { port, ..SinkOptions::default() }).await.unwrap();
    transport.send(&message("m2")).await.unwrap();
    assert_eq!(sink.received().len(), 1);
}

/// A certificate for `localhost`: TLS server configuration and PEM.
fn certificate() -> (Arc<ServerConfig>, String) {
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    (Arc::new(config), own.cert.pem())
}

/// A TLS sink, and settings that trust its certificate.
async fn tls_sink(implicit_tls: bool) -> (SmtpSink, SmtpSettings, tempfile::NamedTempFile) {
    let (config, pem) = certificate();
    let options = SinkOptions { tls: Some(config), implicit_tls, login: true, ..SinkOptions::default() };
    let sink = SmtpSink::start_with(options).await.unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pem).unwrap();
    let settings = SmtpSettings {
        host: "localhost".to_owned(),
        tls: if implicit_tls { TlsMode::Tls } else { TlsMode::Starttls },
        ca_file: Some(file.path().to_owned()),
        ..with_login(settings(sink.port()))
    };
    (sink, settings, file)
}

#[tokio::test]
async fn starttls_and_tls_protect_login_and_mail() {
    for implicit_tls in [false, true] {
        let (sink, settings, _file) = tls_sink(implicit_tls).await;
        transport(settings).send(&message("m1")).await.unwrap();
        let received = sink.received().remove(0);
        assert!(received.over_tls && received.auth.is_some());
    }
}

#[tokio::test]
async fn starttls_is_demanded() {
    let sink = SmtpSink::start().await.unwrap();
    let demanding = SmtpSettings { tls: TlsMode::Starttls, ..settings(sink.port()) };
    let error = transport(demanding).send(&message("m1")).await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("STARTTLS"), "{error}");
    assert!(sink.received().is_empty());
}

#[tokio::test]
async fn an_unknown_certificate_gets_no_mail() {
    for implicit_tls in [false, true] {
        let (sink, settings, _file) = tls_sink(implicit_tls).await;
        let strict = SmtpSettings { ca_file: None, ..settings };
        let error = transport(strict).send(&message("m1")).await.unwrap_err();
        assert!(error.is_transient() && error.to_string().contains("certificate"), "{error}");
        assert!(sink.received().is_empty());
    }
}

#[tokio::test]
async fn a_certificate_for_another_host_gets_no_mail() {
    let (sink, settings, _file) = tls_sink(false).await;
    let elsewhere = SmtpSettings { host: "127.0.0.1".to_owned(), ..settings };
    assert!(transport(elsewhere).send(&message("m1")).await.unwrap_err().is_transient());
    assert!(sink.received().is_empty());
}

#[test]
fn an_unusable_ca_file_is_an_error_at_start() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "not a certificate").unwrap();
    let settings =
        SmtpSettings { ca_file: Some(file.path().to_owned()), ..SmtpSettings::new("mail.example.org", 587) };
    let error = SmtpTransport::new(settings).err().unwrap().to_string();
    assert!(error.contains(&*file.path().to_string_lossy()), "{error}");
}
