//! The transport of tests: keeps what was sent, fails when told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::message::Message;
use crate::send_error::SendError;

/// Keeps mails in memory. Clones share what they hold.
#[derive(Clone, Default)]
pub struct MemoryTransport {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    sent: Vec<Message>,
    failures: VecDeque<SendError>,
}

impl MemoryTransport {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every mail that was taken, oldest first.
    #[must_use]
    pub fn sent(&self) -> Vec<Message> {
        self.state().sent.clone()
    }

    /// The newest mail to this address, compared without ASCII case.
    #[must_use]
    pub fn last_to(&self, address: &str) -> Option<Message> {
        self.state().sent.iter().rev().find(|message| message.to.eq_ignore_ascii_case(address)).cloned()
    }

    /// Forgets the mails that were taken.
    pub fn clear(&self) {
        self.state().sent.clear();
    }

    /// The next `count` sends fail with `error`; further calls queue up behind.
    pub fn fail_next(&self, count: usize, error: SendError) {
        self.state().failures.extend(std::iter::repeat_n(error, count));
    }

    pub(crate) fn send(&self, message: &Message) -> Result<(), SendError> {
        // Refuse what the real ones would refuse.
        message.to_rfc5322()?;
        let mut state = self.state();
        if let Some(error) = state.failures.pop_front() {
            return Err(error);
        }
        state.sent.push(message.clone());
        Ok(())
    }

    /// A panic of another test thread leaves the list whole.
    fn state(&self) -> MutexGuard<'_, State> {
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
