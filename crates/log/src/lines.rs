//! Non-blocking writer of log lines. Log calls append to a bounded buffer and a background thread writes batches,
//! because a system call per line would take a sixth of the time of a read request. If standard error is read too
//! slowly, lines are dropped and their number is logged.

use std::io::Write;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// Batching delay. A crash loses at most the lines of this time.
const BATCH_DELAY: Duration = Duration::from_millis(5);
/// Capacity of the buffer in bytes. While the buffer is full, lines are dropped.
const CAPACITY: usize = 4 * 1024 * 1024;
/// Timeout of the final flush, so that a stalled reader does not keep the process alive.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);
/// Capacity in bytes to which the buffer shrinks after a batch.
const KEPT_CAPACITY: usize = 256 * 1024;

/// Writer of log lines. Each call of `write` passes one line.
#[derive(Clone)]
pub(super) struct Lines(Arc<Shared>);

/// Guard of the writer thread. Dropping it flushes the buffer.
#[must_use = "dropping it ends the log"]
pub struct LogThread {
    shared: Arc<Shared>,
    /// Channel that is disconnected when the writer thread has ended.
    ended: Receiver<()>,
}

#[derive(Default)]
struct Shared {
    buffer: Mutex<Buffer>,
    arrived: Condvar,
}

#[derive(Default)]
struct Buffer {
    text: Vec<u8>,
    lost: u64,
    /// True while the thread waits for a notification.
    is_asleep: bool,
    is_closed: bool,
}

/// Starts the writer thread. Returns the writer for `tracing`, and the guard that flushes it at the end.
pub(super) fn start(out: impl Write + Send + 'static) -> std::io::Result<(Lines, LogThread)> {
    let shared = Arc::<Shared>::default();
    let writer = Arc::clone(&shared);
    let (alive, ended) = sync_channel(0);
    std::thread::Builder::new().name("log".to_owned()).spawn(move || {
        writer.run(out);
        drop(alive);
    })?;
    Ok((Lines(Arc::clone(&shared)), LogThread { shared, ended }))
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, line: &[u8]) {
        let mut buffer = self.lock();
        if buffer.text.len() + line.len() > CAPACITY {
            buffer.lost += 1;
            return;
        }
        buffer.text.extend_from_slice(line);
        if std::mem::take(&mut buffer.is_asleep) {
            self.arrived.notify_one();
        }
    }

    fn run(&self, mut out: impl Write) {
        let mut text = Vec::new();
        while let Some(lost) = self.next_batch(&mut text) {
            // A write error of the log cannot be reported anywhere.
            let _ = out.write_all(&text).and_then(|()| out.flush());
            text.clear();
            text.shrink_to(KEPT_CAPACITY);
            if lost > 0 {
                tracing::warn!(lost, "log lines were lost: they came faster than standard error was read");
            }
        }
    }

    /// Waits for lines and then for the batching delay, and swaps the buffer with `text`. Returns the number of dropped
    /// lines; `None` once the log is closed and empty.
    fn next_batch(&self, text: &mut Vec<u8>) -> Option<u64> {
        let mut buffer = self.lock();
        while buffer.text.is_empty() && !buffer.is_closed {
            buffer.is_asleep = true;
            buffer = self.arrived.wait(buffer).unwrap_or_else(PoisonError::into_inner);
        }
        let batch = self.arrived.wait_timeout_while(buffer, BATCH_DELAY, |buffer| !buffer.is_closed);
        let (mut buffer, _) = batch.unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut buffer.text, text);
        let lost = std::mem::take(&mut buffer.lost);
        (!text.is_empty() || lost > 0).then_some(lost)
    }
}

impl Drop for LogThread {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.arrived.notify_one();
        let _ = self.ended.recv_timeout(FLUSH_TIMEOUT); // lines that were not written cannot be reported
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.0.append(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

    use super::*;

    /// Writer that blocks until a test reads, and reports each write.
    struct Slow {
        taken: SyncSender<Vec<u8>>,
        begun: Sender<()>,
    }

    impl Write for Slow {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            let _ = self.begun.send(());
            let _ = self.taken.send(text.to_vec());
            Ok(text.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn slow() -> (Lines, LogThread, Receiver<Vec<u8>>) {
        let (lines, thread, receiver, _) = watched();
        (lines, thread, receiver)
    }

    fn watched() -> (Lines, LogThread, Receiver<Vec<u8>>, Receiver<()>) {
        let (taken, receiver) = sync_channel(0);
        let (begun, beginnings) = channel();
        let (lines, thread) = start(Slow { taken, begun }).unwrap();
        (lines, thread, receiver, beginnings)
    }

    #[test]
    fn lines_are_written_in_their_order() {
        let (lines, thread, receiver) = slow();
        let reader = std::thread::spawn(move || receiver.iter().flatten().collect::<Vec<u8>>());
        let mut all = String::new();
        for number in 0..10_000 {
            let line = format!("line {number}\n");
            (&lines).write_all(line.as_bytes()).unwrap();
            all.push_str(&line);
        }
        drop(thread);
        drop(lines);
        assert_eq!(reader.join().unwrap(), all.as_bytes());
    }

    #[test]
    fn a_line_alone_is_written_without_another() {
        let (lines, _thread, receiver) = slow();
        (&lines).write_all(b"alone\n").unwrap();
        assert_eq!(receiver.recv().unwrap(), b"alone\n");
        drop(receiver);
    }

    #[test]
    fn a_stalled_reader_does_not_block_callers() {
        let (lines, thread, receiver, begun) = watched();
        let line = [b'x'; 1024];
        (&lines).write_all(&line).unwrap();
        begun.recv().unwrap(); // the thread is blocked in its write from here on
        for _ in 0..3 * CAPACITY / line.len() {
            (&lines).write_all(&line).unwrap();
        }
        let lost = lines.0.lock().lost;
        assert!(lost >= (CAPACITY / line.len()) as u64, "{lost} were lost");
        drop(receiver); // otherwise dropping the guard would wait for it
        drop(thread);
    }
}
