//! Command `latchkey health`: one request to `/health/ready`, for container engines and supervisors, whose images need no
//! other HTTP client then.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use super::{CommandError, json};
use crate::cli::HealthArgs;
use crate::settings::{Settings, SettingsError, Sources};

/// Path that is asked unless the URL has one.
const READY: &str = "/health/ready";
/// Limit of the whole request.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of the status line that is read.
const MOST_BYTES: u64 = 1024;

pub(super) async fn run(
    sources: Result<Sources, SettingsError>,
    arguments: &HealthArgs,
) -> Result<ExitCode, CommandError> {
    let url = match &arguments.url {
        Some(url) => url.clone(),
        None => own_url(sources?)?,
    };
    let fault = why_not_ready(&url, arguments.ca_file.as_deref()).await;
    let code = if fault.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if arguments.output.json {
        json::print(&json!({"url": url.as_str(), "ready": fault.is_none(), "reason": fault}))?;
        return Ok(code);
    }
    match fault {
        Some(fault) => return Err(CommandError::Refused(format!("{url} {fault}"))),
        None => println!("ready"),
    }
    Ok(code)
}

/// Asks the service; returns the reason for which it is not ready.
async fn why_not_ready(url: &Url, ca_file: Option<&Path>) -> Option<String> {
    match tokio::time::timeout(TIMEOUT, ask(url, ca_file)).await {
        Err(_) => Some(format!("did not respond within {} s", TIMEOUT.as_secs())),
        Ok(Err(reason)) => Some(format!("cannot be asked: {reason}")),
        Ok(Ok(200)) => None,
        Ok(Ok(status)) => Some(format!("is not ready: it responded {status}")),
    }
}

/// Returns the URL of the configured service on this machine. Problems of other settings are not reported: the question
/// is whether the service is ready.
fn own_url(sources: Sources) -> Result<Url, CommandError> {
    let (settings, problems) = Settings::read(sources);
    let of_bind = problems.into_iter().filter(|problem| problem.key() == "server.bind").collect::<Vec<_>>();
    if !of_bind.is_empty() {
        return Err(SettingsError::from(of_bind).into());
    }
    let address = reachable(settings.server.bind);
    Url::parse(&format!("http://{address}/")).map_err(|error| CommandError::Refused(error.to_string()))
}

/// Replaces the address that stands for all addresses by that of this machine.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Sends the request and returns the status of the response.
async fn ask(url: &Url, ca_file: Option<&Path>) -> Result<u16, String> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await;
    let stream = stream.map_err(|error| error.to_string())?;
    let path = if url.path() == "/" { READY } else { url.path() };
    let authority = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: latchkey-health/{}\r\nAccept: */*\r\nConnection: \
         close\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    );
    if url.scheme() == "http" {
        return exchange(stream, &request).await;
    }
    let name = server_name(url)?;
    let secured = TlsConnector::from(Arc::new(tls(ca_file)?)).connect(name, stream).await;
    exchange(secured.map_err(|error| error.to_string())?, &request).await
}

fn server_name(url: &Url) -> Result<ServerName<'static>, String> {
    match url.host() {
        Some(Host::Domain(name)) => {
            ServerName::try_from(name.to_owned()).map_err(|error| format!("{name}: {error}"))
        }
        Some(Host::Ipv4(ip)) => Ok(IpAddr::V4(ip).into()),
        Some(Host::Ipv6(ip)) => Ok(IpAddr::V6(ip).into()),
        None => Err("the URL has no host".to_owned()),
    }
}

/// TLS with the public root certificates that the program carries, and those of a file.
fn tls(ca_file: Option<&Path>) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(path) = ca_file {
        let unreadable = |error: String| format!("{}: {error}", path.display());
        for certificate in
            CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?
        {
            let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
            roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
        }
    }
    Ok(ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}

async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, request: &str) -> Result<u16, String> {
    let mut response = Vec::new();
    let exchanging = async {
        stream.write_all(request.as_bytes()).await?;
        (&mut stream).take(MOST_BYTES).read_to_end(&mut response).await
    };
    let outcome = exchanging.await;
    // A server that ends TLS without its closing message has responded nevertheless.
    match (status_of(&response), outcome) {
        (Some(status), _) => Ok(status),
        (None, Err(error)) => Err(error.to_string()),
        (None, Ok(_)) => Err("the response is not HTTP".to_owned()),
    }
}

/// Parses the status line, such as `HTTP/1.1 200 OK`.
fn status_of(response: &[u8]) -> Option<u16> {
    let line = response.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    words.next()?.strip_prefix("HTTP/1.")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_is_read_from_http_alone() {
        assert_eq!(status_of(b"HTTP/1.1 200 OK\r\nContent-Length: 0"), Some(200));
        assert_eq!(status_of(b"HTTP/1.0 503 Service Unavailable\r\n\r\n"), Some(503));
        for other in [&b""[..], b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1", b"HTTP/1.1 OK\r\n"] {
            assert_eq!(status_of(other), None);
        }
    }

    #[test]
    fn address_of_all_interfaces_is_asked_on_this_machine() {
        let reached = |text: &str| text.parse().map(|address| reachable(address).to_string());
        assert_eq!(reached("0.0.0.0:8700").as_deref(), Ok("127.0.0.1:8700"));
        assert_eq!(reached("[::]:80").as_deref(), Ok("[::1]:80"));
        assert_eq!(reached("10.1.2.3:80").as_deref(), Ok("10.1.2.3:80"));
    }
}
