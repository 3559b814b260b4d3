//! The protocol settings: what one connection may cost in memory and time before a request reaches the router.

use std::time::Duration;

use hyper::rt::Executor;
use hyper_util::rt::TokioTimer;
use hyper_util::server::conn::auto::Builder;

use crate::settings::ServeSettings;

/// Header lines that the parser takes before it refuses itself: some over our own limit, so that the error response has
/// our shape. Not many, because the parser makes room for all of them at every request.
const PARSED_HEADERS: usize = 128;
/// Bytes of a head that are buffered: enough to tell a URI of 100 KB from too many headers.
const PARSED_HEAD: usize = 128 * 1024;
/// The limit on a header list of HTTP/2, in bytes with 32 for each field (RFC 9113 section 6.5.2): some over our own
/// limits on URI and headers. It also bounds the CONTINUATION frames of one head.
const PARSED_HEADER_LIST: u32 = 64 * 1024;
/// Requests at once on one HTTP/2 connection.
const CONCURRENT_STREAMS: u32 = 16;
/// Bytes of bodies that a client may send before they are read: for a stream the limit of most bodies.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 256 * 1024;
/// Bytes of one answer that are buffered for a client that does not read.
const SEND_BUFFER: usize = 64 * 1024;
/// Keep-alive of HTTP/2: the interval of pings, and the time limit of an answer to one.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_ANSWER: Duration = Duration::from_secs(10);

/// The builder of connections.
pub(super) fn builder(settings: &ServeSettings) -> Builder<StreamTasks> {
    let mut builder = Builder::new(StreamTasks { limit: settings.request_timeout * 2 });
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_read_timeout)
        .max_headers(PARSED_HEADERS)
        .max_buf_size(PARSED_HEAD)
        // A client that has closed its writing side still reads. One that is gone is noticed when it is answered, which
        // the time limit of a request bounds.
        .half_close(true);
    // h2 bounds resets by itself: 20 streams that wait to be accepted, 1,024 stream errors; then ENHANCE_YOUR_CALM.
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(PARSED_HEADER_LIST)
        .max_concurrent_streams(CONCURRENT_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_ANSWER);
    builder
}

/// Runs HTTP/2 streams as tasks, each with a deadline: the time of a request, and once more for the client to read the
/// answer. A stream past it is reset, so a client that never opens its window holds a permit for a bounded time.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamTasks {
    limit: Duration,
}

impl<F> Executor<F> for StreamTasks
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, stream: F) {
        tokio::spawn(tokio::time::timeout(self.limit, stream));
    }
}
