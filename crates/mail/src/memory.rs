//! Transport for tests: stores mails in memory and fails on demand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::message::Message;
use crate::send_error::SendError;

/// A transport that stores mails in memory. Clones share their state.
#[derive(Clone, Default)]
pub struct MemoryTransport {
    state: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    sent: Vec<Message>,
    failures: VecDeque<SendError>,
}

impl MemoryTransport {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns all accepted mails, oldest first.
    #[must_use]
    pub fn sent(&self) -> Vec<Message> {
        self.state().sent.clone()
    }

    /// Returns the newest mail to this address; ASCII case is ignored.
    #[must_use]
    pub fn last_to(&self, address: &str) -> Option<Message> {
        self.state().sent.iter().rev().find(|message| message.to.eq_ignore_ascii_case(address)).cloned()
    }

    /// Removes the accepted mails. Failures requested by [`Self::fail_next`] still occur.
    pub fn clear(&self) {
        self.state().sent.clear();
    }

    /// Makes the next `count` sends fail with `error`. Failures of several calls occur in the order of the calls.
    pub fn fail_next(&self, count: usize, error: SendError) {
        self.state().failures.extend(std::iter::repeat_n(error, count));
    }

    pub(crate) fn send(&self, message: &Message) -> Result<(), SendError> {
        // Same checks as the real transports.
        message.to_rfc5322()?;
        let mut state = self.state();
        if let Some(error) = state.failures.pop_front() {
            return Err(error);
        }
        state.sent.push(message.clone());
        Ok(())
    }

    /// Locks the state. Mutex poisoning is ignored, because a panic leaves the lists consistent.
    fn state(&self) -> MutexGuard<'_, Inner> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use latchkey_domain::time::Timestamp;

    use super::*;
    use crate::address::Mailbox;
    use crate::message::MessageId;

    fn message(to: &str) -> Message {
        Message {
            message_id: MessageId::parse("m1").unwrap(),
            from: Mailbox::parse("a@example.org").unwrap(),
            to: to.to_owned(),
            subject: "s".to_owned(),
            text: "t".to_owned(),
            html: "h".to_owned(),
            date: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn clones_share_the_mails() {
        let transport = MemoryTransport::new();
        transport.clone().send(&message("Ada@example.org")).unwrap();

        assert_eq!(transport.sent().len(), 1);
        assert_eq!(transport.last_to("ada@example.org").unwrap().to, "Ada@example.org");
        assert!(transport.last_to("bob@example.org").is_none());
    }

    #[test]
    fn scripted_failures_come_in_order_and_end() {
        let transport = MemoryTransport::new();
        let (later, never) =
            (SendError::Transient("later".to_owned()), SendError::Permanent("never".to_owned()));
        transport.fail_next(2, later.clone());
        transport.fail_next(1, never.clone());

        let results: Vec<_> = (0..4).map(|_| transport.send(&message("a@example.org"))).collect();

        assert_eq!(results, [Err(later.clone()), Err(later), Err(never), Ok(())]);
        assert_eq!(transport.sent().len(), 1);
    }

    #[test]
    fn an_unusable_recipient_is_refused_for_good() {
        assert!(matches!(MemoryTransport::new().send(&message("nobody")), Err(SendError::Permanent(_))));
    }
}
