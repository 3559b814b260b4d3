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

mod connect;
pub(crate) mod failure;
pub mod settings;

/// Timeout of the QUIT command. The reply is ignored.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);

/// SMTP client for one mail server, usually a relay, with a pool of idle connections.
pub struct SmtpTransport {
    settings: SmtpSettings,
    tls: Option<TlsParameters>,
    hello: ClientId,
    idle: Mutex<Vec<AsyncSmtpConnection>>,
}

/// A mail with its SMTP envelope.
struct Envelope {
    from: Address,
    to: Address,
    mail: Vec<u8>,
}

impl Envelope {
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
            quit(connection).await;
        }
    }

    pub(crate) async fn send(&self, message: &Message) -> Result<(), SendError> {
        let envelope = Envelope::new(message)?;

        let pooled = self.idle().pop();
        if let Some(connection) = pooled {
            match self.deliver(connection, &envelope).await {
                Err(failure) if failure.is_stale_connection() => {
                    tracing::debug!("an idle SMTP connection was closed by the server: a new one is opened");
                }
                outcome => return Ok(outcome?),
            }
        }
        let connection = self.connect().await?;
        Ok(self.deliver(connection, &envelope).await?)
    }

    /// Sends one mail over an open connection, which returns to the pool only on success.
    async fn deliver(&self, mut connection: AsyncSmtpConnection, envelope: &Envelope) -> Result<(), Failure> {
        match self.converse(&mut connection, envelope).await {
            Ok(()) => {
                self.return_to_pool(connection).await;
                Ok(())
            }
            Err(failure) => Err(close_failed(connection, failure).await),
        }
    }

    async fn converse(
        &self,
        connection: &mut AsyncSmtpConnection,
        envelope: &Envelope,
    ) -> Result<(), Failure> {
        let sender = Mail::new(Some(envelope.from.clone()), Vec::new());
        let recipient = Rcpt::new(envelope.to.clone(), Vec::new());
        self.reply(Stage::Sender, connection.command(sender)).await?;
        self.reply(Stage::Recipient, connection.command(recipient)).await?;
        self.reply(Stage::Data, connection.command(Data)).await?;
        self.reply(Stage::Content, connection.message(&envelope.mail)).await?;
        Ok(())
    }

    /// Awaits one reply with the configured timeout.
    async fn reply<T>(
        &self,
        stage: Stage,
        reply: impl Future<Output = Result<T, lettre::transport::smtp::Error>>,
    ) -> Result<T, Failure> {
        match tokio::time::timeout(self.settings.timeout, reply).await {
            Ok(reply) => reply.map_err(|error| Failure::new(stage, &error)),
            Err(_) => Err(Failure { stage, cause: Cause::TimedOut }),
        }
    }

    async fn return_to_pool(&self, connection: AsyncSmtpConnection) {
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
            quit(connection).await;
        }
    }

    /// Locks the pool of idle connections. Mutex poisoning is ignored, because the list is always consistent.
    fn idle(&self) -> MutexGuard<'_, Vec<AsyncSmtpConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes a connection after a failure. QUIT is sent only if the server replied: on a broken or silent
/// connection it costs time, and half-way through STARTTLS the crate `lettre` panics in debug builds.
async fn close_failed(connection: AsyncSmtpConnection, failure: Failure) -> Failure {
    if matches!(failure.cause, Cause::Refused { .. }) {
        quit(connection).await;
    }
    failure
}

async fn quit(mut connection: AsyncSmtpConnection) {
    let _ = tokio::time::timeout(QUIT_TIMEOUT, connection.abort()).await;
}

/// Builds the TLS settings: TLS 1.2 and 1.3, with the public root certificates and those of `ca_file`.
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
