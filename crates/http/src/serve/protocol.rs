//! HTTP protocol settings: limits on the memory and time of a connection before a request reaches the router.

use std::time::Duration;

use hyper::rt::Executor;
use hyper_util::rt::TokioTimer;
use hyper_util::server::conn::auto::Builder;

use crate::settings::ServeSettings;

/// Maximum number of header lines that the HTTP/1.1 parser accepts. It is above the limit of the settings, so that the
/// middleware refuses with its JSON error. It is small, because the parser reserves space for all lines at every
/// request.
const PARSED_HEADERS: usize = 128;
/// Buffer for a request head, in bytes. A URI of 100 KB fits, so it is refused as a URI that is too long.
const PARSED_HEAD: usize = 128 * 1024;
/// Limit on a header list of HTTP/2, counted with 32 bytes per field (RFC 9113 section 6.5.2). It is above the limits
/// of the settings on URI and headers. It also bounds the CONTINUATION frames of one head.
const PARSED_HEADER_LIST: u32 = 64 * 1024;
/// Maximum number of concurrent requests on one HTTP/2 connection.
const CONCURRENT_STREAMS: u32 = 16;
/// HTTP/2 flow control, per stream and per connection: maximum bytes of request bodies that a client may send before
/// they are read. The window of a stream is the usual limit of a body.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 256 * 1024;
/// Maximum bytes of a response that are buffered for a client that does not read.
const SEND_BUFFER: usize = 64 * 1024;
/// HTTP/2 keep-alive: the interval of pings, and the timeout of the reply to a ping.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_ANSWER: Duration = Duration::from_secs(10);

pub(super) fn builder(settings: &ServeSettings) -> Builder<StreamTasks> {
    let mut builder = Builder::new(StreamTasks { limit: settings.request_timeout * 2 });
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_read_timeout)
        .max_headers(PARSED_HEADERS)
        .max_buf_size(PARSED_HEAD)
        // A client that has closed its sending side may still read the response. A client that is gone is noticed when
        // the response is written, which the request timeout bounds.
        .half_close(true);
    // The crate `h2` limits resets itself, to 20 streams that wait to be accepted and 1,024 stream errors. Above these
    // it sends `ENHANCE_YOUR_CALM`.
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

/// Runs each HTTP/2 stream as a task with a deadline of twice the request timeout: one for the handler, one for the
/// client to read the response. At the deadline the stream is reset, so a client that never opens its window cannot
/// hold a permit forever.
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
