//! The part of a request body that no handler reads, because the response does not depend on it: a wrong key, an unknown
//! path, a body that is too large. It is read and dropped before the response is sent. Otherwise the connection would
//! close while the client still sends, and the client would report a broken connection instead of the response.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, EXPECT};
use http::{HeaderValue, Request, Response, Version};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Limits, in bytes and time, on what is read and dropped. The largest file that may be uploaded fits, so that a client
/// that sends one learns why it is refused.
const MOST: usize = 128 * 1024 * 1024;
const LONGEST: Duration = Duration::from_secs(5);

/// A request body that comes back when a handler drops it before its end.
pub(super) struct LentBody {
    body: Option<Incoming>,
    is_begun: bool,
    has_ended: bool,
    back: Option<oneshot::Sender<Rest>>,
}

/// What a handler left of a body.
struct Rest {
    body: Incoming,
    is_begun: bool,
}

/// The place where an unread body comes back.
pub(super) struct Unread {
    back: oneshot::Receiver<Rest>,
    /// True if the client sends the body only once a read of it asks for it (RFC 9110 section 10.1.1).
    waits: bool,
}

/// Lends the body of a request to its handler. HTTP/2 needs none of this: it ends a single stream, not the connection.
pub(super) fn lend(request: Request<Incoming>) -> (Request<LentBody>, Option<Unread>) {
    let is_needed = request.version() < Version::HTTP_2 && !request.body().is_end_stream();
    let waits = request.headers().contains_key(EXPECT);
    let (back, unread) = is_needed.then(oneshot::channel).unzip();
    let request = request.map(|body| LentBody { body: Some(body), is_begun: false, has_ended: false, back });
    (request, unread.map(|back| Unread { back, waits }))
}

impl Unread {
    /// Reads what the handler left of the body. If that is too much, the response says that the connection closes.
    pub(super) async fn settle<B>(mut self, response: &mut Response<B>) {
        let Ok(rest) = self.back.try_recv() else { return }; // read to its end, or still being read
        if self.waits && !rest.is_begun || !discard(rest.body).await {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// Reads and drops the rest of a body. False if there is more than [`MOST`], or it takes longer than [`LONGEST`].
async fn discard(mut body: Incoming) -> bool {
    let rest = async {
        let mut taken = 0;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return false };
            taken += frame.data_ref().map_or(0, Bytes::len);
            if taken > MOST {
                return false;
            }
        }
        true
    };
    timeout(LONGEST, rest).await.unwrap_or(false)
}

impl Body for LentBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        self.is_begun = true;
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.has_ended = true;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Incoming::size_hint).unwrap_or_default()
    }
}

impl Drop for LentBody {
    fn drop(&mut self) {
        let Some((body, back)) = self.body.take().zip(self.back.take()) else { return };
        if !self.has_ended && !body.is_end_stream() {
            let is_begun = self.is_begun;
            let _ = back.send(Rest { body, is_begun }); // the client may be gone, so that nobody waits for it
        }
    }
}
