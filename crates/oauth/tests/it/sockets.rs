//! Raw socket servers: arbitrary bytes, plain or in TLS.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// Response of the server.
#[derive(Clone)]
pub(crate) enum Bytes {
    /// These bytes, then end of stream.
    All(Vec<u8>),
    /// The first bytes, then the second repeated endlessly.
    Endless(Vec<u8>, Vec<u8>),
    /// These bytes, then silence without end of stream.
    Silence(Vec<u8>),
}

/// A running server.
pub(crate) struct Server {
    pub(crate) port: u16,
    connections: Arc<AtomicU32>,
}

impl Server {
    pub(crate) async fn plain(bytes: Bytes) -> Self {
        Self::start(bytes, None).await
    }

    pub(crate) async fn tls(bytes: Bytes, authority: &Authority, host: &str) -> Self {
        Self::start(bytes, Some(authority.acceptor(host))).await
    }

    async fn start(bytes: Bytes, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (bytes, tls) = (bytes.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, bytes).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, bytes).await;
                            }
                        }
                    }
                });
            }
        });
        Self { port, connections }
    }

    pub(crate) fn connections(&self) -> u32 {
        self.connections.load(Ordering::SeqCst)
    }
}

/// First byte of a TLS handshake. A plain-text server would wait for the end of a request in vain.
const TLS_RECORD: u8 = 0x16;

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: Bytes) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(read) if buffer[0] == TLS_RECORD && request.is_empty() && read > 0 => break,
            Ok(read) => request.extend_from_slice(&buffer[..read]),
        }
    }
    let (Bytes::All(head) | Bytes::Endless(head, _) | Bytes::Silence(head)) = &bytes;
    if stream.write_all(head).await.is_err() {
        return;
    }
    let _ = stream.flush().await;
    match bytes {
        Bytes::All(_) => {
            let _ = stream.shutdown().await;
        }
        Bytes::Endless(_, more) => while stream.write_all(&more).await.is_ok() {},
        Bytes::Silence(_) => {
            // Waits until the client disconnects.
            let _ = stream.read(&mut buffer).await;
        }
    }
}

/// A JSON response.
pub(crate) fn json(body: &str) -> Vec<u8> {
    response("200 OK", "Content-Type: application/json\r\n", body.as_bytes())
}

pub(crate) fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut response =
        format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n")
            .into_bytes();
    response.extend_from_slice(body);
    response
}

/// A private CA.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self { issuer: CertifiedIssuer::self_signed(params, key).unwrap() }
    }

    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    fn acceptor(&self, host: &str) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = tokio_rustls::rustls::crypto::aws_lc_rs::default_provider();
        let config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}
