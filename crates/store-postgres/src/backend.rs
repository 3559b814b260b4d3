//! Detection of poolers. A server announces the id of its process when a connection begins, and tells it again by
//! `pg_backend_pid()`. Behind a pooler that shares server connections the two differ, because the pooler announces a
//! number of its own.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, duplex};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_postgres::{CancelToken, Client, Error};

/// Length of a cancel request in bytes: length, code, process id, key.
const CANCEL_REQUEST: usize = 16;
/// Offset of the process id in a cancel request.
const PROCESS_ID: usize = 8;
/// Response of a server that accepts TLS.
const ACCEPTS_TLS: &[u8] = b"S";
const CURRENT: &str = "SELECT pg_backend_pid()";

/// Process id that the other side announced when the connection began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Announced(Option<i32>);

impl Announced {
    #[cfg(test)]
    pub(crate) const fn for_test(process: i32) -> Self {
        Self(Some(process))
    }

    /// Reads the process id out of a cancel request, which the driver writes into a buffer instead of a socket. The
    /// driver shows the id in no other way.
    pub(crate) async fn of(client: &Client) -> Self {
        Self(process_id(&client.cancel_token()).await.ok())
    }

    /// True if the server process that answers now is the announced one.
    pub(crate) async fn is_current(self, client: &Client) -> Result<bool, Error> {
        let Some(announced) = self.0 else { return Ok(false) };
        match client.query_typed_opt(CURRENT, &[]).await {
            Ok(Some(row)) => Ok(row.try_get::<_, i32>(0).is_ok_and(|current| current == announced)),
            Ok(None) => Ok(false),
            // A server without this function is not known well enough.
            Err(error) if error.as_db_error().is_some() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

async fn process_id(token: &CancelToken) -> io::Result<i32> {
    let (ours, mut theirs) = duplex(128);
    theirs.write_all(ACCEPTS_TLS).await?;
    token.cancel_query_raw(ours, NoHandshake).await.map_err(io::Error::other)?;
    let mut written = Vec::new();
    theirs.read_to_end(&mut written).await?;
    let request = written.last_chunk::<CANCEL_REQUEST>();
    let id = request.and_then(|request| request[PROCESS_ID..].first_chunk());
    id.map(|bytes| i32::from_be_bytes(*bytes)).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// TLS connector that leaves the buffer as it is.
struct NoHandshake;

impl TlsConnect<DuplexStream> for NoHandshake {
    type Stream = Buffer;
    type Error = io::Error;
    type Future = std::future::Ready<io::Result<Buffer>>;

    fn connect(self, stream: DuplexStream) -> Self::Future {
        std::future::ready(Ok(Buffer(stream)))
    }
}

/// The buffer in place of an encrypted stream.
struct Buffer(DuplexStream);

impl TlsStream for Buffer {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Buffer {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Buffer {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
