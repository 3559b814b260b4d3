//! The limit on requests in flight in this process. A request has a permit from its head to the end of its response,
//! over HTTP/1.1 and HTTP/2 alike. The middleware answers a request without a permit with 503.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::idle_timeout::InFlight;

/// Request extension that marks a request without a permit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overloaded;

/// Semaphore that limits the number of requests in flight.
#[derive(Debug, Clone)]
pub(super) struct RequestLimit(Arc<Semaphore>);

/// A permit for one request, released on drop.
#[derive(Debug)]
pub(super) enum RequestPermit {
    /// The request has a permit of the semaphore.
    Held { _permit: OwnedSemaphorePermit },
    /// Health checks need no permit, because an overloaded service is still alive.
    Exempt,
}

impl RequestLimit {
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))))
    }

    /// Takes a permit for a request to `path`, or returns [`Overloaded`]. Never waits.
    pub(super) fn take(&self, path: &str) -> Result<RequestPermit, Overloaded> {
        if matches!(path, "/health/live" | "/health/ready") {
            return Ok(RequestPermit::Exempt);
        }
        let permit = Arc::clone(&self.0).try_acquire_owned().map_err(|_| Overloaded)?;
        Ok(RequestPermit::Held { _permit: permit })
    }
}

/// The permit of a request in flight, together with the request's entry in the connection's counters. Both are
/// released on drop.
#[derive(Debug)]
pub(super) struct RequestPermits {
    /// `None` for a request that is refused with 503.
    pub(super) _permit: Option<RequestPermit>,
    pub(super) _in_flight: InFlight,
}

/// The body of a response, which holds the request's permit until the body is sent or dropped.
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
