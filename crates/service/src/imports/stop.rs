//! The request to end an import.

use tokio::sync::watch;

/// Request to end an import. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Asks the import to end after the batch that is being written.
    pub fn ask(&self) {
        self.0.send_replace(true);
    }

    #[must_use]
    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    pub(super) async fn asked(&self) {
        // It fails if the sender is gone, which `self` holds.
        let _ = self.0.subscribe().wait_for(|is_asked| *is_asked).await;
    }
}
