//! Refusals of the parser itself: a request that is no HTTP never reaches the router, and hyper answers it with a
//! bare status. This stands between hyper and the socket and gives those answers the shape of all others.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::{HeaderMap, StatusCode};
use hyper::rt::{Read, ReadBufCursor, Write};

use crate::edge::{insist_on_https, secure_headers};
use crate::error::ApiError;

/// A connection whose bare refusals are dressed on their way out.
pub(super) struct Dressed<I> {
    inner: I,
    /// Whether clients reach the service by https.
    is_https: bool,
    /// What is left of the answer that goes out in place of a bare one.
    instead: Option<Bytes>,
}

impl<I> Dressed<I> {
    pub(super) const fn new(inner: I, is_https: bool) -> Self {
        Self { inner, is_https, instead: None }
    }
}

impl<I: Write + Unpin> Dressed<I> {
    /// Writes what is left of the answer that replaces `bare`; all of `bare` counts as written when it is out.
    fn poll_instead(&mut self, context: &mut Context<'_>, bare: &[u8]) -> Poll<io::Result<usize>> {
        while let Some(rest) = self.instead.as_mut().filter(|rest| !rest.is_empty()) {
            let written = ready!(Pin::new(&mut self.inner).poll_write(context, rest))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            rest.advance(written);
        }
        self.instead = None;
        Poll::Ready(Ok(bare.len()))
    }

    /// Whether these bytes are, or were, replaced by another answer.
    fn replaces(&mut self, bytes: &[u8]) -> bool {
        if self.instead.is_none() {
            self.instead = dress(bytes, self.is_https);
        }
        self.instead.is_some()
    }
}

impl<I: Read + Unpin> Read for Dressed<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<I: Write + Unpin> Write for Dressed<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.replaces(bytes) {
            return self.poll_instead(context, bytes);
        }
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A bare refusal has no body, hence one buffer.
        if let [only] = buffers
            && self.replaces(only)
        {
            return self.poll_instead(context, only);
        }
        Pin::new(&mut self.inner).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

/// The answer in place of `head`, where that is a whole 4xx head without a body and without the request id that
/// every answer of the router has.
fn dress(head: &[u8], is_https: bool) -> Option<Bytes> {
    if !head.starts_with(b"HTTP/1.1 4") || !head.ends_with(b"\r\n\r\n") {
        return None;
    }
    let text = std::str::from_utf8(head).ok()?;
    let lines: Vec<&str> = text.trim_end().split("\r\n").collect();
    let has = |start: &str| lines.iter().any(|line| line.to_ascii_lowercase().starts_with(start));
    if !has("content-length: 0") || has("x-request-id:") || text.trim_end().contains("\r\n\r\n") {
        return None;
    }
    let status = StatusCode::from_bytes(head.get(9..12)?).ok()?;
    let date = lines.iter().find(|line| line.to_ascii_lowercase().starts_with("date:"));
    Some(answer(status, date.copied(), is_https))
}

/// The dressed answer as it goes over the wire. The connection ends with it.
fn answer(status: StatusCode, date: Option<&str>, is_https: bool) -> Bytes {
    let mut error = ApiError::of_status(status);
    if error.status == StatusCode::BAD_REQUEST {
        error.message = "The request is not well-formed HTTP.".into();
        error = error.next_action("Send a well-formed HTTP/1.1 request.");
    }
    let mut headers = HeaderMap::new();
    error.write_headers(&mut headers);
    secure_headers(&mut headers);
    if is_https {
        insist_on_https(&mut headers);
    }
    let body = error.body();

    let status = error.status;
    let mut wire =
        format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n", body.len()).into_bytes();
    for (name, value) in &headers {
        wire.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    if let Some(date) = date {
        wire.extend([date.as_bytes(), b"\r\n"].concat());
    }
    wire.extend_from_slice(b"\r\n");
    wire.extend(body);
    Bytes::from(wire)
}
