//! SMTP transport (RFC 5321). Settings are in `settings`, the classification of failures in `failure`.

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

/// Timeout of QUIT; its reply is irrelevant.
const FAREWELL: Duration = Duration::from_secs(2);

/// SMTP client for one mail server, usually a relay, with a pool of idle connections.
pub struct SmtpTransport {
    settings: SmtpSettings,
    tls: Option<TlsParameters>,
    hello: ClientId,
    idle: Mutex<Vec<AsyncSmtpConnection>>,
}

/// A mail with its SMTP envelope.
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
    /// Checks the settings and loads certificates. Does not connect, so that a mail server that is down does
    /// not block the start.
    pub fn new(settings: SmtpSettings) -> Result<Self, InvalidSmtpSettings> {
        settings.check()?;
        let tls = match settings.tls {
            TlsMode::Plain => None,
            TlsMode::Starttls | TlsMode::Tls => Some(tls_parameters(&settings)?),
        };
        Ok(Self { settings, tls, hello: ClientId::default(), idle: Mutex::new(Vec::new()) })
    }

    /// Closes the idle connections with QUIT.
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

    /// Sends one mail over an open connection, which returns to the pool only on success.
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

    /// Awaits one reply with the configured timeout.
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

    /// Ignores poisoning: the list is always consistent.
    fn idle(&self) -> MutexGuard<'_, Vec<AsyncSmtpConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes a connection after a failure. QUIT is sent only if the server replied: on a broken or silent
/// connection it costs time, and half-way through STARTTLS the library panics in debug builds.
async fn part(connection: AsyncSmtpConnection, failure: Failure) -> Failure {
    if matches!(failure.cause, Cause::Refused { .. }) {
        hang_up(connection).await;
    }
    failure
}

async fn hang_up(mut connection: AsyncSmtpConnection) {
    let _ = tokio::time::timeout(FAREWELL, connection.abort()).await;
}

/// TLS 1.2 and 1.3 with the public root certificates and those of `ca_file`.
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
