//! Connects to the mail server: its addresses (A and AAAA) are tried in order.

use std::cmp::Reverse;
use std::fmt;
use std::net::SocketAddr;

use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use tokio::time::{Instant, timeout_at};

use super::failure::{Cause, Failure, Stage};
use super::settings::TlsMode;
use super::{SmtpTransport, close_failed};
use crate::send_error::SendError;

const MOST_ADDRESSES: usize = 8;

/// Error: no connection to any address of the mail server was established.
pub(super) struct NoConnection(Vec<(SocketAddr, Failure)>);

impl SmtpTransport {
    pub(super) async fn connect(&self) -> Result<AsyncSmtpConnection, SendError> {
        let deadline = Instant::now() + self.settings.timeout;
        let addresses = self.resolve(deadline).await?;
        Ok(self.connect_to(&addresses, deadline).await?)
    }

    async fn resolve(&self, deadline: Instant) -> Result<Vec<SocketAddr>, Failure> {
        let failed = |cause| Failure { stage: Stage::Resolve, cause };
        let looking = tokio::net::lookup_host((self.settings.host.as_str(), self.settings.port));
        let found = timeout_at(deadline, looking).await.map_err(|_| failed(Cause::TimedOut))?;
        let mut addresses: Vec<_> =
            found.map_err(|error| failed(Cause::Broken(error.to_string())))?.collect();
        addresses.dedup();
        addresses.truncate(MOST_ADDRESSES);
        if addresses.is_empty() {
            return Err(failed(Cause::Broken("the name has no address".to_owned())));
        }
        Ok(addresses)
    }

    async fn connect_to(
        &self,
        addresses: &[SocketAddr],
        deadline: Instant,
    ) -> Result<AsyncSmtpConnection, NoConnection> {
        let mut failures = Vec::new();
        for (address, left) in addresses.iter().zip((1..=addresses.len()).rev()) {
            match self.connect_to_one(*address, left, deadline).await {
                Ok(connection) => return Ok(connection),
                Err(failure) => {
                    // Retrying a refused password at the next address would count as a second guess.
                    let is_last = failure.is_refused_auth();
                    failures.push((*address, failure));
                    if is_last {
                        break;
                    }
                }
            }
        }
        Err(NoConnection(failures))
    }

    /// Connects to one address. The TCP connect gets only a part of the remaining time, so that an unresponsive address
    /// leaves time for the next one.
    async fn connect_to_one(
        &self,
        address: SocketAddr,
        left: usize,
        deadline: Instant,
    ) -> Result<AsyncSmtpConnection, Failure> {
        let wrapping = self.tls.clone().filter(|_| self.settings.tls == TlsMode::Tls);
        let left = u32::try_from(left).unwrap_or(1).max(1);
        let share = deadline.saturating_duration_since(Instant::now()) / left;
        let opening = AsyncSmtpConnection::connect_tokio1(address, Some(share), &self.hello, wrapping, None);
        let opened = timeout_at(deadline, opening).await;
        let timed_out = || Failure { stage: Stage::Connect, cause: Cause::TimedOut };
        let opened = opened.map_err(|_| timed_out())?;
        let mut connection = opened.map_err(|error| Failure::new(Stage::Connect, &error))?;

        match self.prepare(&mut connection).await {
            Ok(()) => Ok(connection),
            Err(failure) => Err(close_failed(connection, failure).await),
        }
    }

    /// Performs STARTTLS and AUTH as configured.
    async fn prepare(&self, connection: &mut AsyncSmtpConnection) -> Result<(), Failure> {
        if let (TlsMode::Starttls, Some(tls)) = (self.settings.tls, &self.tls) {
            self.reply(Stage::StartTls, connection.starttls(tls.clone(), &self.hello)).await?;
        }
        if let (Some(username), Some(password)) = (&self.settings.username, &self.settings.password) {
            let credentials = Credentials::new(username.clone(), password.expose().to_owned());
            self.reply(Stage::Login, connection.auth(DEFAULT_MECHANISMS, &credentials)).await?;
        }
        Ok(())
    }
}

impl fmt::Display for NoConnection {
    /// Writes the failures, most informative first: a reply before a timeout, a timeout before an unreachable network.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(_, only)] = self.0.as_slice() {
            return only.fmt(f);
        }
        let mut failures: Vec<_> = self.0.iter().collect();
        failures.sort_by_key(|(_, failure)| Reverse(failure.informativeness()));
        for (number, (address, failure)) in failures.into_iter().enumerate() {
            let separator = if number == 0 { "" } else { "; " };
            write!(f, "{separator}{address}: {failure}")?;
        }
        Ok(())
    }
}

/// A failed connection is a transient error: the server has not seen the mail yet.
impl From<NoConnection> for SendError {
    fn from(failed: NoConnection) -> Self {
        Self::Transient(failed.to_string())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use std::time::Duration;

    use super::*;
    use crate::smtp::settings::{SmtpPassword, SmtpSettings};
    use crate::smtp_sink::{Moment, SinkOptions, SmtpSink, Step};

    fn transport() -> SmtpTransport {
        let settings = SmtpSettings {
            tls: TlsMode::Plain,
            timeout: Duration::from_secs(20),
            username: Some("latchkey".to_owned()),
            password: Some(SmtpPassword::new("hunter2-secret".to_owned())),
            ..SmtpSettings::new("127.0.0.1", 1)
        };
        SmtpTransport::new(settings).unwrap_or_else(|error| panic!("{error}"))
    }

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    fn closed() -> SocketAddr {
        std::net::TcpListener::bind(address(0)).unwrap().local_addr().unwrap()
    }

    async fn sink() -> SmtpSink {
        SmtpSink::start_with(SinkOptions { login: true, ..SinkOptions::default() }).await.unwrap()
    }

    async fn refusal(addresses: &[SocketAddr]) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        transport().connect_to(addresses, deadline).await.err().expect("no connection").to_string()
    }

    #[tokio::test]
    async fn the_next_address_is_tried_after_a_refusal() {
        let sink = sink().await;
        let deadline = Instant::now() + Duration::from_secs(20);

        let connected = transport().connect_to(&[closed(), address(sink.port())], deadline).await;

        assert!(connected.is_ok());
    }

    #[tokio::test]
    async fn failures_of_all_addresses_are_told() {
        let (first, second) = (closed(), closed());

        let refusal = refusal(&[first, second]).await;

        let parts: Vec<_> = refusal.split("; ").collect();
        assert_eq!(parts.len(), 2, "{refusal}");
        for (part, address) in parts.iter().zip([first, second]) {
            assert!(part.starts_with(&format!("{address}: ")) && part.contains("refused"), "{refusal}");
        }
    }

    #[tokio::test]
    async fn a_refused_login_is_told_first_and_not_repeated_elsewhere() {
        let (sink, other) = (sink().await, sink().await);
        sink.script([Step::answer(Moment::Auth, "535 5.7.8 no")]);
        let down = closed();

        let refusal = refusal(&[down, address(sink.port()), address(other.port())]).await;

        let (first, second) = refusal.split_once("; ").unwrap();
        assert!(
            first.contains(&sink.port().to_string()) && first.contains("535 (5.7.8) at AUTH"),
            "{refusal}"
        );
        assert!(second.starts_with(&down.to_string()), "{refusal}");
        assert_eq!(other.connections(), 0);
    }

    #[test]
    fn the_most_telling_failure_is_first() {
        let failed = |cause| Failure { stage: Stage::Connect, cause };
        let failures = [
            failed(Cause::Unreachable("Network is unreachable".to_owned())),
            failed(Cause::TimedOut),
            failed(Cause::Broken("Connection refused".to_owned())),
            failed(Cause::Refused { code: 554, enhanced: None }),
        ];

        let told = NoConnection((1..).map(address).zip(failures).collect()).to_string();

        let order: Vec<_> =
            told.split("; ").map(|part| part.split_once(": ").unwrap().0.to_owned()).collect();
        assert_eq!(order, ["127.0.0.1:4", "127.0.0.1:3", "127.0.0.1:2", "127.0.0.1:1"]);
    }
}
