//! The limit on requests in flight, one for the process. A request holds a permit from its head to the end of its
//! response, over HTTP/1.1 and HTTP/2 alike. The middleware answers a request without one.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::idle_timeout::InFlight;

/// The mark of a request without a permit: a request extension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overloaded;

/// The semaphore of requests in flight.
#[derive(Debug, Clone)]
pub(super) struct RequestLimit(Arc<Semaphore>);

/// A permit, released when it is dropped.
#[derive(Debug)]
pub(super) enum RequestPermit {
    /// A permit of the semaphore.
    Held { _permit: OwnedSemaphorePermit },
    /// Health checks need none: a busy service is alive.
    Exempt,
}

impl RequestLimit {
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))))
    }

    /// Takes a permit for a request to `path`, or [`Overloaded`]. Never waits.
    pub(super) fn take(&self, path: &str) -> Result<RequestPermit, Overloaded> {
        if matches!(path, "/health/live" | "/health/ready") {
            return Ok(RequestPermit::Exempt);
        }
        let permit = Arc::clone(&self.0).try_acquire_owned().map_err(|_| Overloaded)?;
        Ok(RequestPermit::Held { _permit: permit })
    }
}

/// The permit and the count of a request in flight, until they are dropped.
#[derive(Debug)]
pub(super) struct RequestPermits {
    /// `None` for a request that is refused.
    pub(super) _permit: Option<RequestPermit>,
    pub(super) _in_flight: InFlight,
}

/// The body of a response, which holds the request's permit until it is sent or dropped.
pub(super) struct PermitBody {
    body: Body,
    _permits: RequestPermits,
}

impl PermitBody {
    pub(super) const fn new(body: Body, permits: RequestPermits) -> Self {
        Self { body, _permits: permits }
    }
}

impl HttpBody for PermitBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
