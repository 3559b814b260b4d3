//! The limit on requests in flight, one for the process. A request holds a slot from its head to the end of its answer,
//! over HTTP/1.1 and HTTP/2 alike. Refusing is the edge's matter: it gives the refusal its shape.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::quiet::InFlight;

/// Marks a request for which no slot is free: a request extension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overloaded;

/// The slots of the process.
#[derive(Debug, Clone)]
pub(super) struct RequestSlots(Arc<Semaphore>);

/// A slot, given back when it is dropped.
#[derive(Debug)]
pub(super) enum Slot {
    /// One of the process's slots.
    Held { _permit: OwnedSemaphorePermit },
    /// Health checks need none: a busy service is alive.
    Exempt,
}

impl RequestSlots {
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))))
    }

    /// A slot for a request to `path`, or [`Overloaded`]. Never waits.
    pub(super) fn take(&self, path: &str) -> Result<Slot, Overloaded> {
        if matches!(path, "/health/live" | "/health/ready") {
            return Ok(Slot::Exempt);
        }
        let permit = Arc::clone(&self.0).try_acquire_owned().map_err(|_| Overloaded)?;
        Ok(Slot::Held { _permit: permit })
    }
}

/// What a request holds while it is in flight.
#[derive(Debug)]
pub(super) struct Hold {
    /// `None` for a request that is refused for the want of one.
    pub(super) _slot: Option<Slot>,
    pub(super) _in_flight: InFlight,
}

/// The body of an answer, which holds the request's slot until it is sent or dropped.
pub(super) struct HeldBody {
    body: Body,
    _hold: Hold,
}

impl HeldBody {
    pub(super) const fn new(body: Body, hold: Hold) -> Self {
        Self { body, _hold: hold }
    }
}

impl HttpBody for HeldBody {
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
