//! Metrics of the engine: its pool of connections.

use latchkey_metrics::{About, Collect, Page};

use crate::store::Postgres;

const CONNECTIONS: About = About {
    name: "postgres_connections",
    help: "Connections of the pool by state; waiting are requests for one, and most is the size of the pool.",
};

impl Collect for Postgres {
    fn collect(&self, page: &mut Page) {
        let status = self.pool_status();
        let states = [
            ("used", status.size.saturating_sub(status.available)),
            ("idle", status.available),
            ("waiting", status.waiting),
            ("most", status.max_size),
        ];
        page.gauges(CONNECTIONS, "state", states);
    }

    fn most_series(&self) -> usize {
        4
    }
}
