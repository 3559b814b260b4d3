//! Metrics of the engine: the size of the write-ahead log, and the operations per commit.

use latchkey_metrics::cell::Cell;
use latchkey_metrics::{About, Collect, Kind, Page};

use crate::store::Sqlite;

const WAL_BYTES: About = About { name: "sqlite_wal_bytes", help: "Size of the write-ahead log." };
const BATCH: About =
    About { name: "sqlite_batch_operations", help: "Write operations that shared one commit." };

impl Collect for Sqlite {
    fn collect(&self, page: &mut Page) {
        if let Some(bytes) = self.files.log_bytes() {
            page.gauge(WAL_BYTES, bytes);
        }
        page.begin(BATCH, Kind::Histogram);
        self.writer.batches().write(page, "");
    }

    fn most_series(&self) -> usize {
        1 + self.writer.batches().series()
    }
}
