//! The transport to a mail server (RFC 5321). The settings are in `settings`, the verdict on failures in `failure`.

use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lettre::Address;
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, CertificateStore, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;

use crate::message::{Message, MessageError};
use crate::send_error::SendError;

use self::failure::{Cause, Failure, Stage};
use self::settings::{InvalidSmtpSettings, SmtpSettings, TlsMode};

mod connecting;
pub(crate) mod failure;
pub mod settings;

/// How long a farewell may take; nothing depends on its answer.
const FAREWELL: Duration = Duration::from_secs(2);

/// Sends mails to one mail server, usually a relay.
pub struct SmtpTransport {
    settings: SmtpSettings,
    tls: Option<TlsParameters>,
    hello: ClientId,
    idle: Mutex<Vec<AsyncSmtpConnection>>,
}

/// A mail in its envelope.
struct Letter {
    from: Address,
    to: Address,
    mail: Vec<u8>,
}

impl Letter {
    fn new(message: &Message) -> Result<Self, MessageError> {
        let from = message.from.envelope_address().clone();
        Ok(Self { from, to: message.envelope_recipient()?, mail: message.to_rfc5322()? })
    }
}

impl SmtpTransport {
    /// Checks the settings and loads certificates. Does not connect: a mail server that is down must not keep the
    /// service from starting.
    pub fn new(settings: SmtpSettings) -> Result<Self, InvalidSmtpSettings> {
        settings.check()?;
        let tls = match settings.tls {
            TlsMode::Plain => None,
            TlsMode::Starttls | TlsMode::Tls => Some(tls_parameters(&settings)?),
        };
        Ok(Self { settings, tls, hello: ClientId::default(), idle: Mutex::new(Vec::new()) })
    }

    /// Says goodbye on the connections that wait for a next mail.
    pub async fn close_idle(&self) {
        let idle = std::mem::take(&mut *self.idle());
        for connection in idle {
            hang_up(connection).await;
        }
    }

    pub(crate) async fn send(&self, message: &Message) -> Result<(), SendError> {
        let letter = Letter::new(message)?;

        let kept = self.idle().pop();
        if let Some(connection) = kept {
            match self.deliver(connection, &letter).await {
                Err(failure) if failure.is_stale_connection() => {
                    tracing::debug!("kept SMTP connection was gone");
                }
                outcome => return Ok(outcome?),
            }
        }
        let connection = self.connect().await?;
        Ok(self.deliver(connection, &letter).await?)
    }

    /// One mail over an open connection, which is kept only if all went well.
    async fn deliver(&self, mut connection: AsyncSmtpConnection, letter: &Letter) -> Result<(), Failure> {
        match self.converse(&mut connection, letter).await {
            Ok(()) => {
                self.keep(connection).await;
                Ok(())
            }
            Err(failure) => Err(part(connection, failure).await),
        }
    }

    async fn converse(&self, connection: &mut AsyncSmtpConnection, letter: &Letter) -> Result<(), Failure> {
        let sender = Mail::new(Some(letter.from.clone()), Vec::new());
        let recipient = Rcpt::new(letter.to.clone(), Vec::new());
        self.answer(Stage::Sender, connection.command(sender)).await?;
        self.answer(Stage::Recipient, connection.command(recipient)).await?;
        self.answer(Stage::Data, connection.command(Data)).await?;
        self.answer(Stage::Content, connection.message(&letter.mail)).await?;
        Ok(())
    }

    /// Waits for one answer, no longer than the settings allow.
    async fn answer<T>(
        &self,
        stage: Stage,
        answer: impl Future<Output = Result<T, lettre::transport::smtp::Error>>,
    ) -> Result<T, Failure> {
        match tokio::time::timeout(self.settings.timeout, answer).await {
            Ok(answer) => answer.map_err(|error| Failure::new(stage, &error)),
            Err(_) => Err(Failure { stage, cause: Cause::TimedOut }),
        }
    }

    async fn keep(&self, connection: AsyncSmtpConnection) {
        let surplus = {
            let mut idle = self.idle();
            if idle.len() < self.settings.pool {
                idle.push(connection);
                None
            } else {
                Some(connection)
            }
        };
        if let Some(connection) = surplus {
            hang_up(connection).await;
        }
    }

    /// A panic elsewhere leaves the list whole.
    fn idle(&self) -> MutexGuard<'_, Vec<AsyncSmtpConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leaves after a failure. Only a server that gave an answer is said goodbye to: a broken or silent connection would
/// cost time, and one half-way to TLS makes the client library panic in debug builds.
async fn part(connection: AsyncSmtpConnection, failure: Failure) -> Failure {
    if matches!(failure.cause, Cause::Refused { .. }) {
        hang_up(connection).await;
    }
    failure
}

async fn hang_up(mut connection: AsyncSmtpConnection) {
    let _ = tokio::time::timeout(FAREWELL, connection.abort()).await;
}

/// TLS 1.2 and 1.3; the public authorities, and those of the extra file.
fn tls_parameters(settings: &SmtpSettings) -> Result<TlsParameters, InvalidSmtpSettings> {
    let mut builder =
        TlsParameters::builder(settings.host.clone()).certificate_store(CertificateStore::WebpkiRoots);
    if let Some(path) = &settings.ca_file {
        let broken = |reason: String| InvalidSmtpSettings::CaFile { path: path.clone(), reason };
        let pem = std::fs::read(path).map_err(|error| broken(error.to_string()))?;
        if !String::from_utf8_lossy(&pem).contains("-----BEGIN CERTIFICATE-----") {
            return Err(broken("holds no certificate in PEM form".to_owned()));
        }
        let certificates = Certificate::from_pem(&pem).map_err(|error| broken(error.to_string()))?;
        builder = builder.add_root_certificate(certificates);
    }
    builder.build_rustls().map_err(|error| InvalidSmtpSettings::Tls(error.to_string()))
}
