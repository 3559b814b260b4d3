//! The collector: one `POST` per batch, on a connection of its own.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use url::Url;

use super::HeadersError;
use crate::settings::TraceSettings;

/// Timeout of connecting, of each write and of each read.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes that are read of a response. Its first line is enough.
const RESPONSE: usize = 4_096;

pub(super) struct Collector {
    host: String,
    port: u16,
    /// The head of every request, up to the length of the body.
    head: String,
    tls: Option<Arc<ClientConfig>>,
}

impl Collector {
    /// Prepares requests to `traces.endpoint`; `None` if it is not set. Reads the file of headers.
    pub(super) fn of(settings: &TraceSettings) -> Result<Option<Self>, HeadersError> {
        let Some(url) = &settings.endpoint else { return Ok(None) };
        let headers = settings.headers_file.as_deref().map_or(Ok(String::new()), read_headers)?;
        let host = url.host_str().unwrap_or_default();
        Ok(Some(Self {
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: url.port_or_known_default().unwrap_or_default(),
            head: head(url, &headers),
            tls: (url.scheme() == "https").then(tls_config).flatten(),
        }))
    }

    /// Sends a batch. The error is a sentence without a header.
    pub(super) fn send(&self, body: &[u8]) -> Result<(), String> {
        let status = self.post(body).map_err(|error| error.to_string())?;
        match status {
            200..300 => Ok(()),
            status => Err(format!("it answered {status}")),
        }
    }

    fn post(&self, body: &[u8]) -> io::Result<u16> {
        let stream = self.connect()?;
        match &self.tls {
            None => self.exchange(stream, body),
            Some(tls) => {
                let name = ServerName::try_from(self.host.clone()).map_err(io::Error::other)?;
                let connection = ClientConnection::new(Arc::clone(tls), name).map_err(io::Error::other)?;
                self.exchange(StreamOwned::new(connection, stream), body)
            }
        }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut refused = io::Error::other("its name has no address");
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, TIMEOUT) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(TIMEOUT))?;
                    stream.set_write_timeout(Some(TIMEOUT))?;
                    return Ok(stream);
                }
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    fn exchange(&self, mut stream: impl Read + Write, body: &[u8]) -> io::Result<u16> {
        stream.write_all(format!("{}{}\r\n\r\n", self.head, body.len()).as_bytes())?;
        stream.write_all(body)?;
        stream.flush()?;
        let mut response = Vec::new();
        let mut part = [0; 512];
        while !response.contains(&b'\n') && response.len() < RESPONSE {
            match stream.read(&mut part)? {
                0 => break,
                read => response.extend(&part[..read]),
            }
        }
        let line = String::from_utf8_lossy(&response);
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        status
            .filter(|_| line.starts_with("HTTP/1."))
            .ok_or_else(|| io::Error::other("it does not speak HTTP/1.1"))
    }
}

/// Builds the head of a request. An endpoint without a path is that of a collector's root.
fn head(url: &Url, headers: &str) -> String {
    let path = match url.path() {
        "/" | "" => "/v1/traces",
        path => path,
    };
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let host = url.host_str().unwrap_or_default();
    format!(
        "POST {path}{query} HTTP/1.1\r\nHost: {host}{port}\r\nConnection: close\r\nUser-Agent: latchkey\r\n\
         Content-Type: application/x-protobuf\r\n{headers}Content-Length: "
    )
}

/// Reads headers, one a line, as lines of a request. Empty lines and those that begin with `#` are skipped.
fn read_headers(path: &Path) -> Result<String, HeadersError> {
    let text = fs::read_to_string(path)
        .map_err(|source| HeadersError::Unreadable { path: path.to_owned(), source })?;
    let mut headers = String::new();
    for (at, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let is_visible = |byte: u8| (b' '..=b'~').contains(&byte);
        let header = line.split_once(':').filter(|(name, value)| {
            !name.is_empty() && name.bytes().all(is_name) && value.bytes().all(is_visible)
        });
        let Some((name, value)) = header else {
            return Err(HeadersError::NoHeader { path: path.to_owned(), line: at + 1 });
        };
        headers.extend([name, ": ", value.trim(), "\r\n"]);
    }
    Ok(headers)
}

/// Trusts the public certificate authorities. `None` only if the TLS library lacks its own defaults.
fn tls_config() -> Option<Arc<ClientConfig>> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
    Some(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
