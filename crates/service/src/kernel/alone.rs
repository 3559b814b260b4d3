//! Work that one caller at a time begins, and that goes on when its caller is gone.

use std::sync::Arc;

use tokio::sync::Mutex;

use crate::error::{Error, Result};

/// The right to begin the work.
#[derive(Default)]
pub(crate) struct Alone(Arc<Mutex<()>>);

impl Alone {
    /// Waits until no such work runs, and runs this one in a task of its own, which the time limit of a request does not end.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let turn = Arc::clone(&self.0).lock_owned().await;
        let task = tokio::spawn(async move {
            let _turn = turn;
            work.await
        });
        task.await.map_err(Error::internal)?
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::atomic::{AtomicBool, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn work_whose_caller_is_gone_ends_before_the_next_begins() {
        let (alone, begun, go_on) = (Alone::default(), Arc::new(Notify::new()), Arc::new(Notify::new()));
        let has_ended = Arc::new(AtomicBool::new(false));
        let (begins, waits, ends) = (Arc::clone(&begun), Arc::clone(&go_on), Arc::clone(&has_ended));
        let first = alone.run(async move {
            begins.notify_one();
            waits.notified().await;
            ends.store(true, Ordering::SeqCst);
            Ok(())
        });
        tokio::select! {
            _ = first => panic!("it waits"),
            () = begun.notified() => {} // the first caller is dropped
        }
        go_on.notify_one();

        assert!(alone.run(async move { Ok(has_ended.load(Ordering::SeqCst)) }).await.unwrap());
    }
}
